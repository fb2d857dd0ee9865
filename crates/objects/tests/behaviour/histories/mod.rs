//! Real threads perform random operations on each ready-made object. A plain sequential object,
//! implemented separately in these tests, must explain the results.
//!
//! Limits: the tests check only the interleavings that happen. Many short histories contain more different
//! interleavings than one long history. The turnstile, which assigns slots to threads, admits fast threads one after
//! another. So some operations sleep in the middle, and other operations overtake them. The tests in `handles.rs` do
//! not use the turnstile.

mod map;
mod numbers;
mod queues;

use std::{fmt::Debug, hash::Hash, sync::Barrier, thread};

use fastrand::Rng;
use hallpass_lab::linear::{Specification, Violation, check};

use crate::support::{Recorder, within};
use map::Sorted;
use numbers::{Number, Numbers, Torn};
use queues::{Fifo, GreatestFirst};

/// The result of an operation, as a list of numbers.
type Ret = Vec<i64>;

/// An object, its specification, and random operations on it.
trait Subject: Default {
    type State: Clone + Ord + Hash + Default;
    type Op: Clone + Ord + Hash + Debug + Send;
    type Shared: Sync;

    fn expected(state: &mut Self::State, op: &Self::Op) -> Ret;
    fn shared(k: usize) -> Self::Shared;
    fn choose(random: &mut Rng) -> Self::Op;
    fn perform(shared: &Self::Shared, op: &Self::Op) -> Ret;
}

/// The specification of a subject.
struct SpecificationOf<S>(S);

impl<S: Subject> Specification for SpecificationOf<S> {
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

/// Checks one history.
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
    check(&SpecificationOf(S::default()), S::State::default(), &recorder.history())
}

/// Checks histories with k from 1 to 4 and with 3 to 8 threads. Returns the first violation.
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

/// Shows that the tests of linearizability can fail.
#[test]
fn an_addition_in_two_operations_is_not_linearizable() {
    let violation = within("random operations", histories::<Torn>).unwrap_err();
    println!("{violation}");
}
