//! Random operations by real threads on each ready-made object: what they returned must be explained
//! by a plain object used by one at a time, which is written down here once more.
//!
//! Limits: these are the interleavings that happen. Many short histories give more different ones
//! than a long one. The door keeps threads apart that are quick, so some operations dawdle;
//! `handles.rs` goes without the door.

mod common;

use std::{fmt::Debug, hash::Hash, sync::Barrier, thread};

use common::{Recorder, dawdle, within};
use fastrand::Rng;
use hallpass_lab::linear::{Specification, Violation, check};
use hallpass_objects::{Counter, Map, PriorityQueue, Queue, Statistics};

/// What operations return: numbers, as many as there are to tell.
type Ret = Vec<i64>;

/// An object, what it should do, and how to use it.
trait Subject: Default {
    type State: Clone + Ord + Hash + Default;
    type Op: Clone + Ord + Hash + Debug + Send;
    type Shared: Sync;

    fn expected(state: &mut Self::State, op: &Self::Op) -> Ret;
    fn shared(k: usize) -> Self::Shared;
    fn choose(random: &mut Rng) -> Self::Op;
    fn perform(shared: &Self::Shared, op: &Self::Op) -> Ret;
}

struct By<S>(S);

impl<S: Subject> Specification for By<S> {
    type State = S::State;
    type Op = S::Op;
    type Ret = Ret;

    fn apply(&self, state: &S::State, op: &S::Op) -> (S::State, Ret) {
        let mut state = state.clone();
        let ret = S::expected(&mut state, op);
        (state, ret)
    }
}

const OPERATIONS: usize = 6;

/// One history of so many threads.
fn history<S: Subject>(k: usize, threads: usize, seed: u64) -> Result<(), Violation> {
    let shared = S::shared(k);
    let recorder = Recorder::new(threads);
    let start = Barrier::new(threads);
    thread::scope(|scope| {
        for process in 0..threads {
            let (shared, recorder, start) = (&shared, &recorder, &start);
            let mut random = Rng::with_seed(seed ^ (process as u64) << 32);
            scope.spawn(move || {
                start.wait();
                for _ in 0..OPERATIONS {
                    let op = S::choose(&mut random);
                    recorder.call(process, op, |op| S::perform(shared, op));
                }
            });
        }
    });
    check(&By(S::default()), S::State::default(), &recorder.history())
}

/// All sizes, and then the first violation, if there was one.
fn histories<S: Subject>() -> Result<(), Violation> {
    let mut seed = 0;
    for k in 1..=4 {
        for threads in 3..=8 {
            for _ in 0..24 {
                seed += 1;
                history::<S>(k, threads, seed)?;
            }
        }
    }
    Ok(())
}

fn is_linearizable<S: Subject + 'static>() {
    if let Err(violation) = within("random operations", histories::<S>) {
        panic!("{violation}");
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum ItemsOp {
    Push(i64),
    Force(i64),
    Extend([i64; 2]),
    Pop,
    PopIfEven,
    PopMany(usize),
    Peek,
    Len,
    Clear,
}

impl ItemsOp {
    fn choose(random: &mut Rng) -> ItemsOp {
        let item = random.i64(0..100);
        match random.u8(..16) {
            0..4 => ItemsOp::Push(item),
            4 => ItemsOp::Force(item),
            5 => ItemsOp::Extend([item, random.i64(0..100)]),
            6..10 => ItemsOp::Pop,
            10 => ItemsOp::PopIfEven,
            11 => ItemsOp::PopMany(2),
            12..14 => ItemsOp::Peek,
            14 => ItemsOp::Len,
            _ => ItemsOp::Clear,
        }
    }
}

/// The next item of the state is its first.
fn expected_of_items(state: &mut Vec<i64>, room: usize, op: &ItemsOp) -> Ret {
    let take = |state: &mut Vec<i64>, most: usize| -> Ret {
        let rest = state.split_off(most.min(state.len()));
        std::mem::replace(state, rest)
    };
    let full = state.len() == room;
    match *op {
        ItemsOp::Push(item) if full => vec![item],
        ItemsOp::Push(item) | ItemsOp::Force(item) => {
            state.push(item);
            take(state, usize::from(full))
        }
        ItemsOp::Extend(items) if state.len() + items.len() > room => items.to_vec(),
        ItemsOp::Extend(items) => {
            state.extend(items);
            vec![]
        }
        ItemsOp::Pop => take(state, 1),
        ItemsOp::PopIfEven if state.first().is_some_and(|item| item % 2 == 0) => take(state, 1),
        ItemsOp::PopIfEven => vec![],
        ItemsOp::PopMany(most) => take(state, most),
        ItemsOp::Peek => take(&mut state.clone(), 1),
        ItemsOp::Len => vec![state.len() as i64],
        ItemsOp::Clear => {
            state.clear();
            vec![]
        }
    }
}

const ROOM: usize = 4;

/// A queue with little room.
#[derive(Default)]
struct Fifo;

impl Subject for Fifo {
    type State = Vec<i64>;
    type Op = ItemsOp;
    type Shared = Queue<i64>;

    fn expected(state: &mut Vec<i64>, op: &ItemsOp) -> Ret {
        expected_of_items(state, ROOM, op)
    }

    fn shared(k: usize) -> Queue<i64> {
        Queue::bounded(k, ROOM)
    }

    fn choose(random: &mut Rng) -> ItemsOp {
        ItemsOp::choose(random)
    }

    fn perform(queue: &Queue<i64>, op: &ItemsOp) -> Ret {
        let one = match *op {
            ItemsOp::Push(item) => queue.try_push(item).err(),
            ItemsOp::Force(item) => queue.force_push(item),
            ItemsOp::Extend(items) => return queue.try_extend(items).err().unwrap_or_default(),
            ItemsOp::Pop => queue.pop(),
            ItemsOp::PopIfEven => queue.pop_if(is_even),
            ItemsOp::PopMany(most) => return queue.pop_many(most),
            ItemsOp::Peek => queue.peek(),
            ItemsOp::Len => Some(queue.len() as i64),
            ItemsOp::Clear => {
                queue.clear();
                None
            }
        };
        Vec::from_iter(one)
    }
}

fn is_even(item: &i64) -> bool {
    dawdle();
    item % 2 == 0
}

fn double(value: Option<&i64>) -> Option<i64> {
    dawdle();
    value.map(|value| value * 2)
}

fn negate(n: i64) -> i64 {
    dawdle();
    -n
}

#[derive(Default)]
struct GreatestFirst;

impl Subject for GreatestFirst {
    /// In descending order.
    type State = Vec<i64>;
    type Op = ItemsOp;
    type Shared = PriorityQueue<i64>;

    fn expected(state: &mut Vec<i64>, op: &ItemsOp) -> Ret {
        let ret = expected_of_items(state, usize::MAX, op);
        state.sort_by(|a, b| b.cmp(a));
        ret
    }

    fn shared(k: usize) -> PriorityQueue<i64> {
        PriorityQueue::new(k)
    }

    fn choose(random: &mut Rng) -> ItemsOp {
        ItemsOp::choose(random)
    }

    fn perform(queue: &PriorityQueue<i64>, op: &ItemsOp) -> Ret {
        let one = match *op {
            ItemsOp::Push(item) | ItemsOp::Force(item) => {
                queue.push(item);
                None
            }
            ItemsOp::Extend(items) => {
                queue.extend(items);
                None
            }
            ItemsOp::Pop => queue.pop(),
            ItemsOp::PopIfEven => queue.pop_if(is_even),
            ItemsOp::PopMany(most) => return queue.pop_many(most),
            ItemsOp::Peek => queue.peek(),
            ItemsOp::Len => Some(queue.len() as i64),
            ItemsOp::Clear => {
                queue.clear();
                None
            }
        };
        Vec::from_iter(one)
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum MapOp {
    Insert(u8, i64),
    Extend(i64),
    GetOrInsert(u8, i64),
    Double(u8),
    CompareExchange(u8, Option<i64>, Option<i64>),
    Remove(u8),
    PopFirst,
    PopLast,
    Get(u8),
    Last,
    Values,
}

#[derive(Default)]
struct Sorted;

impl Subject for Sorted {
    /// By key; a list, so that no map is needed to test one.
    type State = Vec<(u8, i64)>;
    type Op = MapOp;
    type Shared = Map<u8, i64>;

    fn expected(state: &mut Vec<(u8, i64)>, op: &MapOp) -> Ret {
        let get = |state: &Vec<(u8, i64)>, key: u8| {
            state.iter().find(|entry| entry.0 == key).map(|entry| entry.1)
        };
        let put = |state: &mut Vec<(u8, i64)>, key: u8, value: Option<i64>| {
            let before = get(state, key);
            state.retain(|entry| entry.0 != key);
            state.extend(value.map(|value| (key, value)));
            state.sort();
            before
        };
        let one = match *op {
            MapOp::Insert(key, value) => put(state, key, Some(value)),
            MapOp::Extend(value) => {
                put(state, 1, Some(value));
                put(state, 3, Some(value));
                None
            }
            MapOp::GetOrInsert(key, value) => {
                let there = get(state, key).unwrap_or(value);
                put(state, key, Some(there));
                Some(there)
            }
            MapOp::Double(key) => put(state, key, get(state, key).map(|value| value * 2)),
            MapOp::CompareExchange(key, current, new) if get(state, key) == current => {
                put(state, key, new);
                None
            }
            MapOp::CompareExchange(key, ..) => Some(get(state, key).unwrap_or(NONE)),
            MapOp::Remove(key) => put(state, key, None),
            MapOp::PopFirst if state.is_empty() => None,
            MapOp::PopFirst => Some(state.remove(0).1),
            MapOp::PopLast => state.pop().map(|entry| entry.1),
            MapOp::Get(key) => get(state, key),
            MapOp::Last => state.last().map(|entry| entry.1),
            MapOp::Values => return state.iter().map(|entry| entry.1).collect(),
        };
        Vec::from_iter(one)
    }

    fn shared(k: usize) -> Map<u8, i64> {
        Map::new(k)
    }

    fn choose(random: &mut Rng) -> MapOp {
        let (key, value) = (random.u8(..4), random.i64(1..5));
        match random.u8(..11) {
            0 => MapOp::Insert(key, value),
            1 => MapOp::Extend(value),
            2 => MapOp::GetOrInsert(key, value),
            3 => MapOp::Double(key),
            4 => {
                let mut maybe = || random.bool().then(|| random.i64(1..3));
                MapOp::CompareExchange(key, maybe(), maybe())
            }
            5 => MapOp::Remove(key),
            6 => MapOp::PopFirst,
            7 => MapOp::PopLast,
            8 => MapOp::Get(key),
            9 => MapOp::Last,
            _ => MapOp::Values,
        }
    }

    fn perform(map: &Map<u8, i64>, op: &MapOp) -> Ret {
        let one = match *op {
            MapOp::Insert(key, value) => map.insert(key, value),
            MapOp::Extend(value) => {
                map.extend([(1, value), (3, value)]);
                None
            }
            MapOp::GetOrInsert(key, value) => Some(map.get_or_insert(key, value)),
            MapOp::Double(key) => map.update(key, double),
            MapOp::CompareExchange(key, current, new) => {
                map.compare_exchange(key, current, new).err().map(|there| there.unwrap_or(NONE))
            }
            MapOp::Remove(key) => map.remove(key),
            MapOp::PopFirst => map.pop_first().map(|entry| entry.1),
            MapOp::PopLast => map.pop_last().map(|entry| entry.1),
            MapOp::Get(key) => map.get(&key),
            MapOp::Last => map.last().map(|entry| entry.1),
            MapOp::Values => return map.values(),
        };
        Vec::from_iter(one)
    }
}

/// Says that there is no value, where nothing would say something else.
const NONE: i64 = -1;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum NumberOp {
    Add(i64),
    Sub(i64),
    Max(i64),
    Swap(i64),
    CompareExchange(i64, i64),
    Negate,
    Get,
}

#[derive(Default)]
struct Number;

impl Subject for Number {
    type State = i64;
    type Op = NumberOp;
    type Shared = Counter;

    fn expected(state: &mut i64, op: &NumberOp) -> Ret {
        let before = *state;
        match *op {
            NumberOp::Add(n) => *state += n,
            NumberOp::Sub(n) => *state -= n,
            NumberOp::Max(n) if n > before => *state = n,
            NumberOp::Swap(n) => *state = n,
            NumberOp::CompareExchange(current, new) if before == current => *state = new,
            NumberOp::Negate => *state = -before,
            _ => {}
        }
        match *op {
            NumberOp::Sub(_) => vec![*state],
            _ => vec![before],
        }
    }

    fn shared(k: usize) -> Counter {
        Counter::new(k, 0)
    }

    fn choose(random: &mut Rng) -> NumberOp {
        let n = random.i64(0..5);
        match random.u8(..8) {
            0..2 => NumberOp::Add(n),
            2 => NumberOp::Sub(n),
            3 => NumberOp::Max(n),
            4 => NumberOp::Swap(n),
            5 => NumberOp::CompareExchange(n, random.i64(0..5)),
            6 => NumberOp::Negate,
            _ => NumberOp::Get,
        }
    }

    fn perform(counter: &Counter, op: &NumberOp) -> Ret {
        vec![match *op {
            NumberOp::Add(n) => counter.fetch_add(n),
            NumberOp::Sub(n) => counter.sub(n),
            NumberOp::Max(n) => counter.fetch_max(n),
            NumberOp::Swap(n) => counter.swap(n),
            NumberOp::CompareExchange(current, new) => {
                counter.compare_exchange(current, new).unwrap_or_else(|there| there)
            }
            NumberOp::Negate => counter.fetch_update(negate),
            NumberOp::Get => counter.get(),
        }]
    }
}

/// A counter whose additions are a read and a write, and others come in between.
#[derive(Default)]
struct Torn;

impl Subject for Torn {
    type State = i64;
    type Op = NumberOp;
    type Shared = Counter;

    fn expected(state: &mut i64, op: &NumberOp) -> Ret {
        Number::expected(state, op)
    }

    fn shared(k: usize) -> Counter {
        Number::shared(k)
    }

    fn choose(random: &mut Rng) -> NumberOp {
        Number::choose(random)
    }

    fn perform(counter: &Counter, op: &NumberOp) -> Ret {
        let NumberOp::Add(n) = *op else { return Number::perform(counter, op) };
        let before = counter.get();
        thread::yield_now();
        counter.swap(before + n);
        vec![before]
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum SummaryOp {
    Record(i64),
    RecordAll([i64; 2]),
    Look,
    Take,
}

#[derive(Default)]
struct Numbers;

impl Subject for Numbers {
    /// All numbers so far. Sorted, because their order does not show.
    type State = Vec<i64>;
    type Op = SummaryOp;
    type Shared = Statistics;

    fn expected(state: &mut Vec<i64>, op: &SummaryOp) -> Ret {
        match op {
            SummaryOp::Record(n) => state.push(*n),
            SummaryOp::RecordAll(all) => state.extend(all),
            SummaryOp::Look | SummaryOp::Take => {
                let (Some(min), Some(max)) = (state.iter().min(), state.iter().max()) else {
                    return vec![];
                };
                let (count, sum) = (state.len() as i64, state.iter().sum::<i64>());
                // Squared distances from the mean, times the count to stay whole.
                let squares = state.iter().map(|n| n * n).sum::<i64>() * count - sum * sum;
                let seen = vec![count, sum, squares, *min, *max];
                if *op == SummaryOp::Take {
                    state.clear();
                }
                return seen;
            }
        }
        state.sort();
        vec![]
    }

    fn shared(k: usize) -> Statistics {
        Statistics::new(k)
    }

    fn choose(random: &mut Rng) -> SummaryOp {
        match random.u8(..8) {
            0..3 => SummaryOp::Record(random.i64(0..9)),
            3 => SummaryOp::RecordAll([random.i64(0..9), random.i64(0..9)]),
            4..7 => SummaryOp::Look,
            _ => SummaryOp::Take,
        }
    }

    fn perform(statistics: &Statistics, op: &SummaryOp) -> Ret {
        let summary = match *op {
            SummaryOp::Record(n) => {
                statistics.record(n as f64);
                return vec![];
            }
            SummaryOp::RecordAll(all) => {
                statistics.record_all(all.map(|n| n as f64));
                return vec![];
            }
            SummaryOp::Look => statistics.summary(),
            SummaryOp::Take => statistics.take(),
        };
        let (Some(min), Some(max)) = (summary.min(), summary.max()) else { return vec![] };
        let count = summary.count() as f64;
        let squares = summary.variance().unwrap_or(0.0) * (count - 1.0) * count;
        [count, summary.sum(), squares, min, max].map(|x| x.round() as i64).to_vec()
    }
}

#[test]
fn queues_are_linearizable() {
    is_linearizable::<Fifo>();
}

#[test]
fn priority_queues_are_linearizable() {
    is_linearizable::<GreatestFirst>();
}

#[test]
fn maps_are_linearizable() {
    is_linearizable::<Sorted>();
}

#[test]
fn counters_are_linearizable() {
    is_linearizable::<Number>();
}

#[test]
fn statistics_are_linearizable() {
    is_linearizable::<Numbers>();
}

/// The tests above can fail.
#[test]
fn a_read_and_a_write_are_not_an_addition() {
    let violation = within("random operations", histories::<Torn>).unwrap_err();
    println!("{violation}");
}
