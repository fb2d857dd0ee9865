//! Checks timestamp systems: every run is a run of UCTSS (the unbounded system of Afek et al.) and has
//! the properties that the papers state. A timestamp system has two procedures. With Label, a process takes a new
//! timestamp. Scan returns the order of all processes by their timestamps. A *label* is a timestamp of bounded size.
//!
//! | module | contents |
//! |---|---|
//! | [`subject`], [`systems`] | a system of any type behind one object; all systems by identifier |
//! | [`models`] | models of the labels alone, which assume a snapshot instead of implementing it |
//! | [`observe`] | observers of a run, and the violations that a run can show |
//! | [`refinement`], [`marks`] | whether a run is a run of UCTSS; which timestamps still exist |
//! | [`properties`] | (1) to (5) of Afek et al., and Zehavi's properties |
//! | [`snapshots`] | the guarantees of the snapshots that the labels use |
//! | [`space`], [`random`] | all runs, and random runs |
//! | [`mod@check`] | a question about a system, and the report |
//! | [`text`] | a run as text, one line for each step |
//!
//! Processes begin Label or Scan any number of times, in any order, and every interleaving of single
//! accesses is explored. A procedure begins with its first access and ends with its last access.
//! A procedure that begins earlier or ends later overlaps more procedures, so fewer requirements apply to it.
//! Such runs would show no further violation.

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
