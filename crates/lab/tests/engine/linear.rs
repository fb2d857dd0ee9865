//! Tests of the linearizability checker with histories whose verdict is known, and with long histories.

use std::collections::VecDeque;

use hallpass_lab::linear::{Event, Monitor, Specification, check};

pub(super) type History<S> = Vec<Event<<S as Specification>::Op, <S as Specification>::Ret>>;

/// The operations of all objects in these tests. Their meaning depends on the object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Op {
    Put(u8),
    Get,
}
use Op::{Get, Put};

fn call<R>(process: usize, op: Op) -> Event<Op, R> {
    Event::invoke(process, op)
}

fn back<R>(process: usize, ret: R) -> Event<Op, R> {
    Event::returned(process, ret)
}

/// A register: Put writes, Get reads.
pub(super) struct Register;

impl Specification for Register {
    type State = u8;
    type Op = Op;
    type Ret = u8;

    fn apply(&self, state: &u8, op: &Op) -> (u8, u8) {
        match *op {
            Put(value) => (value, 0),
            Get => (*state, *state),
        }
    }
}

/// A counter: Put adds and returns the old value, Get reads.
pub(super) struct Counter;

impl Specification for Counter {
    type State = u8;
    type Op = Op;
    type Ret = u8;

    fn apply(&self, state: &u8, op: &Op) -> (u8, u8) {
        match *op {
            Put(value) => (state.wrapping_add(value), *state),
            Get => (*state, *state),
        }
    }
}

/// A FIFO queue.
pub(super) struct Queue;

impl Specification for Queue {
    type State = VecDeque<u8>;
    type Op = Op;
    type Ret = Option<u8>;

    fn apply(&self, state: &VecDeque<u8>, op: &Op) -> (VecDeque<u8>, Option<u8>) {
        let mut state = state.clone();
        let ret = match *op {
            Put(value) => {
                state.push_back(value);
                None
            }
            Get => state.pop_front(),
        };
        (state, ret)
    }
}

#[test]
fn a_read_during_a_write_returns_the_old_or_the_new_value() {
    for read in [0, 1] {
        let history = [call(0, Put(1)), call(1, Get), back(1, read), back(0, 0)];
        check(&Register, 0, &history).unwrap();
    }
    let history = [call(0, Put(1)), back(0, 0), call(1, Get), back(1, 0)];
    assert_eq!(check(&Register, 0, &history).unwrap_err().at, 3);
}

#[test]
fn a_read_of_the_old_value_after_the_new_one_is_rejected() {
    let history = [call(0, Put(1)), call(1, Get), back(1, 1), call(2, Get), back(2, 0), back(0, 0)];
    let violation = check(&Register, 0, &history).unwrap_err();
    assert_eq!((violation.at, violation.process), (4, 2));
    assert_eq!(violation.possible, ["1"]);
    assert_eq!(
        violation.to_string(),
        "not linearizable: no order of the operations explains the result of process 2 (event 4)\n\
         \x20 event  process 0  process 1  process 2\n\
         \x20     0  Put(1)\n\
         \x20     1             Get\n\
         \x20     2             -> 1\n\
         \x20     3                        Get\n\
         \x20     4                        -> 0\n\
         possible results: 1"
    );
}

#[test]
fn a_write_that_never_returns_may_take_effect_late_or_never() {
    let mut history: History<Register> = vec![call(0, Put(1))];
    for _ in 0..100 {
        history.extend([call(1, Get), back(1, 0)]);
    }
    check(&Register, 0, &history).unwrap();
    history.extend([call(1, Get), back(1, 1)]);
    check(&Register, 0, &history).unwrap();
    history.extend([call(1, Get), back(1, 0)]);
    assert_eq!(check(&Register, 0, &history).unwrap_err().at, history.len() - 1);
}

/// These reads could return any value that the counter ever had. The search must not try all of them.
#[test]
fn reads_that_never_return_do_not_slow_the_search() {
    let mut history: History<Counter> = (0..8).map(|reader| call(reader, Get)).collect();
    for i in 0..200 {
        history.extend([call(8, Put(1)), back(8, i)]);
    }
    check(&Counter, 0, &history).unwrap();
    history.push(back(3, 201));
    let violation = check(&Counter, 0, &history).unwrap_err();
    assert_eq!((violation.at, violation.possible.len()), (408, 201));
}

/// The examples of Herlihy and Wing's Figure 1.
#[test]
fn queues_of_herlihy_and_wing() {
    let none = None;
    let good = [
        call(0, Put(1)),
        call(1, Put(2)),
        back(1, none),
        back(0, none),
        call(1, Get),
        back(1, Some(1)),
        call(2, Get),
        back(2, Some(2)),
    ];
    check(&Queue, VecDeque::new(), &good).unwrap();
    let overtaken = [
        call(0, Put(1)),
        back(0, none),
        call(1, Put(2)),
        call(0, Get),
        back(1, none),
        back(0, Some(2)),
    ];
    assert_eq!(check(&Queue, VecDeque::new(), &overtaken).unwrap_err().at, 5);
    let before_the_return = [call(0, Put(1)), call(1, Get), back(1, Some(1)), back(0, none)];
    check(&Queue, VecDeque::new(), &before_the_return).unwrap();
    let twice = [
        call(0, Put(1)),
        call(1, Put(2)),
        back(0, none),
        back(1, none),
        call(0, Get),
        call(2, Get),
        back(0, Some(2)),
        back(2, Some(2)),
    ];
    assert_eq!(check(&Queue, VecDeque::new(), &twice).unwrap_err().possible, ["Some(1)"]);
}

#[test]
fn a_counter_that_loses_an_update_is_rejected() {
    let history = [
        call(0, Put(1)),
        call(1, Put(1)),
        back(0, 0),
        back(1, 0), // both operations found 0
    ];
    let violation = check(&Counter, 0, &history).unwrap_err();
    assert_eq!(violation.at, 3);
    assert_eq!(violation.possible, ["1"]);
}

#[test]
fn a_violation_is_permanent() {
    let mut monitor = Monitor::<Register>::new(0);
    monitor.invoke(&Register, 0, Get);
    assert!(!monitor.respond(&Register, 0, &9));
    monitor.invoke(&Register, 0, Get);
    assert!(!monitor.respond(&Register, 0, &0));
    assert!(monitor.is_violated());
}

#[test]
#[should_panic(expected = "process 3 calls an operation while one is under way")]
fn a_process_executes_one_operation_at_a_time() {
    let _ = check(&Register, 0, &[call(3, Get), call(3, Get)]);
}

#[test]
#[should_panic(expected = "process 3 has called nothing")]
fn a_return_needs_a_call() {
    let _ = check(&Register, 0, &[call(0, Get), back(3, 0)]);
}

/// Two histories that allow the same future. In the second history, the return of a read made the monitor consider
/// orders that no longer matter.
#[test]
fn histories_with_the_same_future_have_equal_monitors() {
    let mut early = Monitor::<Counter>::new(0);
    early.invoke(&Counter, 0, Put(1));
    early.invoke(&Counter, 1, Put(2));

    let mut late = Monitor::<Counter>::new(0);
    late.invoke(&Counter, 1, Put(2));
    late.invoke(&Counter, 2, Get);
    late.invoke(&Counter, 0, Put(1));
    assert!(late.respond(&Counter, 2, &0));
    assert_eq!(late, early);

    // The write stores the value that is already there, so it makes no difference whether a read comes
    // before or after it.
    let mut write = Monitor::<Register>::new(1);
    write.invoke(&Register, 0, Put(1));
    let before = write.clone();
    write.invoke(&Register, 1, Get);
    assert!(write.respond(&Register, 1, &1));
    assert_eq!(write, before);
    assert_eq!(write.breadth(), 1);
}

/// A checker that tries every order of overlapping operations would never finish. Queues stay short in
/// this test, so Gets soon settle the order of overlapping Puts.
#[test]
fn long_histories_are_checked() {
    let mut random = fastrand::Rng::with_seed(5);
    for processes in 2..=6 {
        let history = run(&Counter, 0, processes, 50_000, (0, 255), &mut random);
        check(&Counter, 0, &history).unwrap();
        let history = run(&Queue, VecDeque::new(), processes, 50_000, (0, 255), &mut random);
        check(&Queue, VecDeque::new(), &history).unwrap();
    }
}

/// Returns a history of a correct object, except that `lies` of 256 returns are wrong. Values are less
/// than `limit`.
pub(super) fn run<S>(
    spec: &S,
    mut state: S::State,
    processes: usize,
    events: usize,
    (lies, limit): (u8, u8),
    random: &mut fastrand::Rng,
) -> History<S>
where
    S: Specification<Op = Op>,
    S::Ret: Lie,
{
    enum At<R> {
        Out,
        Called(Op),
        Done(R),
    }
    let mut at: Vec<At<S::Ret>> = (0..processes).map(|_| At::Out).collect();
    let mut history = Vec::new();
    while history.len() < events {
        let process = random.usize(..processes);
        at[process] = match std::mem::replace(&mut at[process], At::Out) {
            At::Out => {
                // There are more gets than puts, so that queues stay short.
                let op = if random.u8(..4) < 1 { Put(random.u8(1..limit)) } else { Get };
                history.push(Event::invoke(process, op));
                At::Called(op)
            }
            At::Called(op) => {
                let (next, ret) = spec.apply(&state, &op);
                state = next;
                At::Done(ret)
            }
            At::Done(ret) => {
                let ret = if random.u8(..) < lies { ret.lie(random) } else { ret };
                history.push(Event::returned(process, ret));
                At::Out
            }
        };
    }
    history
}

pub(super) trait Lie {
    fn lie(&self, random: &mut fastrand::Rng) -> Self;
}

impl Lie for u8 {
    fn lie(&self, random: &mut fastrand::Rng) -> u8 {
        random.u8(..4)
    }
}

impl Lie for Option<u8> {
    fn lie(&self, random: &mut fastrand::Rng) -> Option<u8> {
        random.bool().then(|| random.u8(1..3))
    }
}
