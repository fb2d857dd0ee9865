//! The lab: runs, checks and measures step machines.
//!
//! | module | what is in it |
//! |---|---|
//! | [`machine`] | any algorithm behind one object |
//! | [`tables`], [`space`], [`store`], [`explore`] | every interleaving of it, breadth first |
//! | [`graph`], [`liveness`], [`fife`] | what is decided on the graph of all steps |
//! | [`check`] | a question about an algorithm, and the report |
//! | [`rmr`] | remote memory references: exact, searched, drawn |
//! | [`schedule`], [`trace`] | runs: replayed, confirmed, printed, shown |
//! | [`timestamps`], [`objects`] | families of their own, on the same explorer |
//! | [`atlas`] | many models with what is expected of them |
//! | [`linear`] | whether operations that overlapped are linearizable |
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
pub mod check;
pub mod explore;
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
pub mod rmr;
pub mod schedule;
pub mod space;
pub mod standing;
pub mod store;
pub mod table;
pub mod tables;
pub mod timestamps;
pub mod trace;

pub use machine::Machine;
