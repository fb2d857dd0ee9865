//! All tests of the lab in one program, because linking the lab takes longer than most of the tests.

mod atlas;
mod by_hand;
mod choi;
mod common;
#[cfg(feature = "cli")]
mod documents;
mod engine;
mod explore;
mod language;
mod objects;
mod papers;
#[cfg(feature = "cli")]
mod program;
mod questions;
#[cfg(feature = "cli")]
mod reports;
mod rmr;
mod simulate;
mod suite;
mod timestamps;
mod trace;
