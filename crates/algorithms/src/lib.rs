//! k-exclusion algorithms from the literature and the protocols of hallpass, each written once as a step
//! machine.
//!
//! A step machine makes at most one access to shared memory per step, and keeps everything else in a
//! small private state. So the same source runs on real atomics, under the exhaustive checker, and in
//! the simulator that counts remote references. Each of the three implements [`Memory`].
//!
//! | module | contents |
//! |---|---|
//! | [`framework`] | [`Memory`], [`Layout`], [`Algorithm`], [`Pids`]: the building blocks of a step machine |
//! | [`papers`] | the algorithms of the literature, one folder per paper |
//! | [`halls`] | the protocols behind `Hall`, `SharedHall` and `ClusterHall` |
//! | [`objects`] | the universal construction and the turnstile behind resilient objects |
//! | [`registry`] | every algorithm by its identifier |
//!
//! The feature `full` is on by default. Without it, this crate contains only the framework and the step
//! machine of the hall for threads.
//!
//! ```
//! # #[cfg(feature = "full")] {
//! use hallpass_algorithms::{Algorithm, Memory, Next, Op, Var, Word, papers::anderson_moir};
//!
//! /// Shared memory for a single thread: a vector.
//! struct Plain(Vec<Word>);
//! impl Memory for Plain {
//!     fn access(&mut self, var: Var, op: Op) -> Word {
//!         let old = self.0[var.index()];
//!         self.0[var.index()] = op.leaves(old);
//!         old
//!     }
//! }
//!
//! let algorithm = anderson_moir::inductive::<anderson_moir::Fig3>(3, 2);
//! let mut memory = Plain(algorithm.layout().first_initial());
//! let mut at = algorithm.begin(0);
//! let holding = loop {
//!     match algorithm.step(&mut memory, 0, at) {
//!         Next::Goto(next) | Next::Spin(next) => at = next,
//!         Next::Enter(exit) => break exit, // process 0 never waits, because no other process competes
//!         Next::Leave => unreachable!("a passage enters before it leaves"),
//!     }
//! };
//! assert!(matches!(algorithm.step(&mut memory, 0, holding), Next::Goto(_)));
//! # }
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod framework;
pub mod halls;
#[cfg(feature = "full")]
pub mod objects;
#[cfg(feature = "full")]
pub mod papers;
#[cfg(feature = "full")]
pub mod registry;

pub use framework::{
    layout::{Array, Codec, Decl, Domain, Init, Kind, Layout},
    machine::{Algorithm, Label, Loc, Mishap, Next, Section, View},
    memory::{AtomicWord, Memory, Op, Pid, Var, Word},
    pids::Pids,
    stale::StaleRule,
    statement::{Observed, RunStatement, Side, StatementKind, Transition},
};
