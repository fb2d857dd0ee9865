//! Checks the construction behind [`WaitFree`] without the turnstile that admits the threads of a `Resilient`: all
//! handles operate at the same time, and some operations panic.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::Barrier,
    thread,
};

use crate::support::{Recorder, sleep_sometimes, within};
use fastrand::Rng;
use hallpass_lab::linear::{Specification, Violation, check};
use hallpass_objects::{Handle, Object, WaitFree};

/// A FIFO queue.
#[derive(Clone)]
struct Fifo(Vec<u8>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Op {
    /// Adds an item and returns the new length. Without the length, the test could not distinguish many
    /// orders of pushes.
    Push(u8),
    Pop,
    /// Removes all items and then panics.
    Fail,
    /// Returns the first item. This is a read, not an operation of the object.
    First,
}

/// The result of an operation, or `Err` if it panicked.
type Ret = Result<Option<u8>, ()>;

impl Object for Fifo {
    type Op = Op;
    type Ret = Option<u8>;

    fn apply(&mut self, op: &Op) -> Option<u8> {
        if fastrand::u8(..8) == 0 {
            thread::yield_now();
        }
        if fastrand::u8(..64) == 0 {
            sleep_sometimes();
        }
        match op {
            Op::Push(item) => {
                self.0.push(*item);
                Some(self.0.len() as u8)
            }
            Op::Pop => (!self.0.is_empty()).then(|| self.0.remove(0)),
            Op::Fail => {
                self.0.clear();
                panic::resume_unwind(Box::new("it fails"))
            }
            Op::First => unreachable!("`First` is a read"),
        }
    }
}

struct Expected;

impl Specification for Expected {
    type State = Vec<u8>;
    type Op = Op;
    type Ret = Ret;

    fn apply(&self, state: &Vec<u8>, op: &Op) -> (Vec<u8>, Ret) {
        match (op, state.as_slice()) {
            (Op::Push(item), items) => {
                ([items, &[*item]].concat(), Ok(Some(items.len() as u8 + 1)))
            }
            (Op::Pop, [first, rest @ ..]) => (rest.to_vec(), Ok(Some(*first))),
            (Op::First, [first, ..]) => (state.clone(), Ok(Some(*first))),
            (Op::Pop | Op::First, []) => (Vec::new(), Ok(None)),
            (Op::Fail, _) => (state.clone(), Err(())),
        }
    }
}

fn choose(random: &mut Rng) -> Op {
    match random.u8(..16) {
        0..6 => Op::Push(random.u8(..)),
        6..12 => Op::Pop,
        12..14 => Op::Fail,
        _ => Op::First,
    }
}

fn perform(handle: &mut Handle<'_, Fifo>, op: &Op) -> Ret {
    match op {
        Op::First => Ok(handle.read(|fifo| fifo.0.first().copied())),
        op => panic::catch_unwind(AssertUnwindSafe(|| handle.apply(*op))).map_err(|_| ()),
    }
}

fn history(k: usize, seed: u64) -> Result<(), Violation> {
    const OPERATIONS: usize = 8;
    let shared = WaitFree::new(k, Fifo(Vec::new()));
    let recorder = Recorder::new(k);
    let start = Barrier::new(k);
    thread::scope(|scope| {
        for process in 0..k {
            let mut handle = shared.handle().unwrap();
            let (recorder, start) = (&recorder, &start);
            let mut random = Rng::with_seed(seed ^ (process as u64) << 32);
            scope.spawn(move || {
                start.wait();
                for _ in 0..OPERATIONS {
                    let op = choose(&mut random);
                    let _ = recorder.call(process, op, |op| perform(&mut handle, op));
                }
            });
        }
    });
    check(&Expected, Vec::new(), &recorder.history())
}

#[test]
fn histories_of_handles_are_linearizable() {
    for k in 1..=8 {
        let all = within("handles", move || (0..100).try_for_each(|seed| history(k, seed)));
        all.unwrap_or_else(|violation| panic!("k = {k}: {violation}"));
    }
}
