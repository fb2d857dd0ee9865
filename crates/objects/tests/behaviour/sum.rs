//! A sum to which threads add, and its specification.

use std::panic;

use hallpass_lab::linear::Specification;
use hallpass_objects::{Object, Resilient};

use crate::support::stop_if_armed;

/// A number to which operations add. An operation returns the old value.
#[derive(Clone)]
pub struct Sum(pub i64);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Op {
    Add(i64),
    /// Adds and then panics.
    Fail(i64),
    /// Returns the number. This is a read, not an operation of the object.
    Get,
}

impl Object for Sum {
    type Op = Op;
    type Ret = i64;

    fn apply(&mut self, op: &Op) -> i64 {
        let before = self.0;
        match op {
            Op::Add(n) => self.0 += n,
            Op::Fail(n) => {
                self.0 += n;
                // Panics without calling the panic hook, so that no message is printed.
                panic::resume_unwind(Box::new("it fails"));
            }
            Op::Get => {}
        }
        // An armed thread stops here, in the middle of the operation. Other threads must not see the partial effect.
        stop_if_armed();
        before
    }
}

/// The specification of [`Sum`].
pub struct Expected;

impl Specification for Expected {
    type State = i64;
    type Op = Op;
    type Ret = i64;

    fn apply(&self, state: &i64, op: &Op) -> (i64, i64) {
        match op {
            Op::Add(n) => (state + n, *state),
            Op::Fail(_) | Op::Get => (*state, *state),
        }
    }
}

pub fn perform(shared: &Resilient<Sum>, op: &Op) -> i64 {
    match op {
        Op::Get => shared.read(|sum| sum.0),
        op => shared.apply(*op),
    }
}
