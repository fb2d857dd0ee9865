//! The lab: runs, checks and measures step machines.
#![forbid(unsafe_code)]

pub mod explore;
pub mod graph;
pub mod machine;
pub mod schedule;
pub mod space;
pub mod store;
pub mod tables;
pub mod trace;

pub use machine::Machine;
