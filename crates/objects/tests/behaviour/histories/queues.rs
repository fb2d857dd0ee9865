//! Histories of the FIFO queue and the priority queue.

use fastrand::Rng;
use hallpass_objects::{PriorityQueue, Queue};

use super::{Ret, Subject};
use crate::support::sleep_sometimes;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ItemsOp {
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

/// Applies the operation to a plain queue with at most `capacity` items. The next item comes first.
fn expected_of_items(state: &mut Vec<i64>, capacity: usize, op: &ItemsOp) -> Ret {
    let take = |state: &mut Vec<i64>, count: usize| -> Ret {
        let rest = state.split_off(count.min(state.len()));
        std::mem::replace(state, rest)
    };
    let full = state.len() == capacity;
    match *op {
        ItemsOp::Push(item) if full => vec![item],
        ItemsOp::Push(item) | ItemsOp::Force(item) => {
            state.push(item);
            take(state, usize::from(full))
        }
        ItemsOp::Extend(items) if state.len() + items.len() > capacity => items.to_vec(),
        ItemsOp::Extend(items) => {
            state.extend(items);
            vec![]
        }
        ItemsOp::Pop => take(state, 1),
        ItemsOp::PopIfEven if state.first().is_some_and(|item| item % 2 == 0) => take(state, 1),
        ItemsOp::PopIfEven => vec![],
        ItemsOp::PopMany(count) => take(state, count),
        ItemsOp::Peek => take(&mut state.clone(), 1),
        ItemsOp::Len => vec![state.len() as i64],
        ItemsOp::Clear => {
            state.clear();
            vec![]
        }
    }
}

const CAPACITY: usize = 4;

/// A queue with a small capacity.
#[derive(Default)]
pub struct Fifo;

impl Subject for Fifo {
    type State = Vec<i64>;
    type Op = ItemsOp;
    type Shared = Queue<i64>;

    fn expected(state: &mut Vec<i64>, op: &ItemsOp) -> Ret {
        expected_of_items(state, CAPACITY, op)
    }

    fn shared(k: usize) -> Queue<i64> {
        Queue::bounded(k, CAPACITY)
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
            ItemsOp::PopMany(count) => return queue.pop_many(count),
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
    sleep_sometimes();
    item % 2 == 0
}

#[derive(Default)]
pub struct GreatestFirst;

impl Subject for GreatestFirst {
    /// The items in descending order.
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
            ItemsOp::PopMany(count) => return queue.pop_many(count),
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
