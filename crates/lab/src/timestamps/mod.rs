//! Timestamp systems: every run is one of UCTSS, and has the properties that the papers state.
//!
//! | module | what is in it |
//! |---|---|
//! | [`subject`], [`systems`] | any system behind one object, by its identifier |
//! | [`models`] | labels over a snapshot that is assumed |
//! | [`observe`] | who watches a run, and what can be wrong with one |
//! | [`refinement`], [`marks`] | whether it is a run of UCTSS; which timestamps are still anywhere |
//! | [`properties`] | (1) to (5) of Afek et al., and Zehavi's |
//! | [`snapshots`] | what the snapshots under the labels promise |
//! | [`space`], [`random`] | all runs, and random ones |
//! | [`mod@check`] | a question about a system, and the report |
//! | [`text`] | a run, a line a step |
//!
//! Processes begin Label or Scan again and again, as they like, and every interleaving of single
//! accesses is looked at. The first access of a procedure counts as its begin and the last as its
//! end: with begins before and ends after, there would be more runs, but nothing more would be
//! asked of them.

pub mod check;
pub mod marks;
pub mod models;
pub mod observe;
pub mod properties;
pub mod random;
pub mod refinement;
pub mod snapshots;
pub mod space;
pub mod subject;
pub mod systems;
pub mod text;

pub use check::{Error, Outcome, Part, Question, Report, check};
