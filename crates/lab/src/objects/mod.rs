//! Shared objects: the universal construction, every interleaving of it at small sizes.
//!
//! | module | what is in it |
//! |---|---|
//! | [`toys`] | the objects that are shared |
//! | [`variants`] | the construction, and what is wrong on purpose |
//! | [`state`], [`shop`], [`step`] | what there is, and what a step does to it; races |
//! | [`normal`] | finitely many states, though numbers grow |
//! | [`space`], [`observe`] | all runs, somebody watching; what can be wrong |
//! | [`mod@check`], [`steps`] | a question, the report, the most steps of an operation |
//! | [`text`] | a run, a line a step |
//! | [`suite`] | what is expected |

pub mod check;
pub mod normal;
mod numbering;
pub mod observe;
mod pack;
pub mod shop;
pub mod space;
pub mod state;
pub mod step;
pub mod steps;
pub mod suite;
pub mod text;
pub mod toys;
pub mod variants;

pub use check::{Error, Question, Report, check};
