//! The lab: runs, checks and measures step machines.
#![forbid(unsafe_code)]

pub mod buffers;
pub mod explore;
mod fields;
pub mod graph;
pub mod machine;
pub mod schedule;
pub mod space;
pub mod store;
pub mod tables;

pub use machine::Machine;
