//! The lab: runs, checks and measures step machines.
#![forbid(unsafe_code)]

pub mod buffers;
pub mod atlas;
pub mod check;
pub mod explore;
mod fields;
pub mod fife;
pub mod graph;
pub mod hashing;
pub mod liveness;
pub mod machine;
pub mod rmr;
pub mod schedule;
pub mod space;
pub mod standing;
pub mod store;
pub mod table;
pub mod tables;
pub mod trace;

pub use machine::Machine;
