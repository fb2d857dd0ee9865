//! The building blocks of step machines: shared memory, declared variables, lines, and a way to replace
//! lines of an algorithm by deliberately wrong lines.

pub mod changed;
pub mod layout;
pub(crate) mod lines;
pub mod machine;
pub mod memory;
pub mod pids;
#[cfg_attr(not(feature = "full"), allow(dead_code))]
pub mod queue;
pub mod stale;
pub mod statement;
