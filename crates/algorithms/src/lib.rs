//! k-exclusion algorithms of the literature, each written once, as a step machine.
//!
//! A step machine makes at most one access to shared memory a step and keeps everything else in a
//! small private state, so the same source runs on real atomics, under the exhaustive checker and
//! in the simulator that counts remote references: all three are implementations of [`Memory`].
//!
//! | module | what is in it |
//! |---|---|
//! | [`memory`] | [`Memory`], its operations, and [`Var`], an index that names a variable |
//! | [`layout`] | what variables an algorithm declares: name, range, initial value, home |
//! | [`machine`] | [`Algorithm`], the trait of a step machine, and where a process stands |
//! | [`pids`] | a small set of processes |
//! | [`queue`] | a queue of processes in one word |
//! | [`timestamps`] | concurrent timestamp systems, for the algorithms that build on one |
//! | [`anderson_moir`] | Anderson & Moir 1997, Figures 1, 2, 3, 5, 7, 8 and 9 |
//! | [`afek`] | Afek et al. 1994, Figure 2 |
//! | [`zehavi`] | Zehavi's Algorithm 1, and the Bakery algorithm it starts from |
//! | [`changed`] | an algorithm with some lines changed, for variants that are wrong on purpose |
//! | [`choi`] | Choi 2011: O(log k) remote references |
//! | [`claims`] | claims on a store such as etcd, from no paper |
//! | [`hall`] | the semaphore behind `Hall`, from no paper |
//! | [`omori`] | Omori et al. 2002: NAIVE, EXCL and GTEX |
//! | [`turnstile`] | the door before a resilient object, from no paper |
//! | [`universal`] | any object, shared by k participants, from no paper |
//! | [`registry`] | every algorithm by its identifier, with its paper's claims |
//!
//! ```
//! use hallpass_algorithms::{Algorithm, Memory, Next, Op, Var, Word, anderson_moir};
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
//!         Next::Enter(exit) => break exit, // alone, so nothing to wait for
//!         Next::Leave => unreachable!("a passage enters before it leaves"),
//!     }
//! };
//! assert!(matches!(algorithm.step(&mut memory, 0, holding), Next::Goto(_)));
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod afek;
pub mod anderson_moir;
pub mod changed;
pub mod choi;
pub mod claims;
pub mod hall;
pub mod layout;
pub mod machine;
pub mod memory;
pub mod omori;
pub mod pids;
pub mod queue;
pub mod registry;
pub mod shared;
pub mod timestamps;
pub mod turnstile;
pub mod universal;
pub mod zehavi;

pub use layout::{Array, Decl, Domain, Init, Kind, Layout};
pub use machine::{Algorithm, Label, Loc, Mishap, Next, Section, View};
pub use memory::{Memory, Op, Pid, Var, Word};
pub use pids::Pids;
