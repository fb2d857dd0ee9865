//! The lab runs, checks and measures step machines: k-exclusion algorithms of papers and the protocols of
//! hallpass.
//!
//! | module | contents |
//! |---|---|
//! | [`catalogue`] | algorithms that are not in the [registry](hallpass_algorithms::registry): files, and step machines of other crates |
//! | [`machine`] | the trait object [`Machine`], which hides an algorithm's type |
//! | [`tables`] | a step machine compiled into tables, so that a step is a look-up |
//! | [`space`], [`buffers`] | the states of a step machine, under sequential consistency and with store buffers |
//! | [`explore`], [`store`], [`state_index`], [`hashing`] | exploration of every interleaving, breadth first |
//! | [`search`], [`compact`] | exploration with less memory: it keeps the set of states, and no graph |
//! | [`graph`], [`standing`], [`liveness`], [`fife`], [`bypass`] | analyses of the graph of all steps |
//! | [`check`] | a question about an algorithm, and the report |
//! | [`questions`] | questions about whole runs: statements of the papers, order, time, averages |
//! | [`rmr`], [`svg`] | remote memory references: exact counts, searches, plots |
//! | [`schedule`], [`trace`] | runs: replay strings, confirmation, text and HTML |
//! | [`explorer`] | an algorithm played step by step in a browser; the user is the scheduler |
//! | [`timestamps`], [`objects`] | timestamp systems and objects, explored in the same way |
//! | [`atlas`] | models with their expected results |
//! | [`papers`] | the statements of the papers, with verdicts computed from the atlas |
//! | [`linear`] | a linearizability checker |
//! | [`counted`] | a count with its noun in the singular or the plural, for reports |
//! | `program` | code that the programs `hallpass-lab` and `hallpass-bench` share; needs the feature `cli` |
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use hallpass_lab::check::{Property, Question, Resources, Verdict, check};
//!
//! let stop = AtomicBool::new(false);
//! let resources = Resources {
//!     states: 1_000_000,
//!     bytes: 1 << 30,
//!     threads: 1,
//!     stop: &stop,
//!     phase: &|_| (),
//!     progress: &|_| (),
//! };
//! let report = check(&Question::everything("am-fig3", 3, 2), &resources)?;
//! assert_eq!(report.verdict(), Verdict::Holds);
//! assert_eq!(report.outcome(Property::Starvation).resilience, Some(2));
//! # Ok::<(), hallpass_lab::check::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod atlas;
pub mod buffers;
pub mod bypass;
pub mod catalogue;
pub mod check;
pub mod compact;
pub mod counted;
pub mod explore;
pub mod explorer;
mod fields;
pub mod fife;
pub mod graph;
pub mod hashing;
pub mod linear;
pub mod liveness;
pub mod machine;
mod numbers;
pub mod objects;
pub mod papers;
#[cfg(feature = "cli")]
pub mod program;
pub mod questions;
pub mod rmr;
pub mod schedule;
pub mod search;
pub mod space;
pub mod standing;
pub mod state_index;
pub mod store;
pub mod svg;
pub mod tables;
pub mod timestamps;
pub mod trace;

pub use machine::Machine;
