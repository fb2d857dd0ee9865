//! Shared objects: the universal construction, explored in every interleaving at small sizes. The
//! [construction](hallpass_algorithms::objects::universal) explains the words that its models use: head, copy, request,
//! buffer, guard and mark.
//!
//! | module | contents |
//! |---|---|
//! | [`object`] | the small objects that are shared |
//! | [`variants`] | the construction and its wrong variants |
//! | [`state`], [`environment`], [`step`] | the state, and the effect of a step on it; races |
//! | [`normal`] | normal forms, which give finitely many states although numbers grow |
//! | [`space`], [`observe`] | all runs with a linearizability monitor; the properties |
//! | [`mod@check`], [`bounds`] | questions and reports; the maximum number of steps of an operation |
//! | [`text`] | a run as text, one line per step |
//! | [`suite`] | the expected results |

pub mod bounds;
pub mod check;
pub mod environment;
pub mod normal;
mod numbering;
pub mod object;
pub mod observe;
mod pack;
pub mod space;
pub mod state;
pub mod step;
pub mod suite;
pub mod text;
pub mod variants;

pub use check::{Error, Question, Report, check};
