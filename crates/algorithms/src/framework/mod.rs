//! The building blocks of step machines: shared memory, declared variables, lines, and the one way to
//! change lines of an algorithm on purpose.

pub mod changed;
pub mod layout;
pub(crate) mod lines;
pub mod machine;
pub mod memory;
pub mod pids;
pub mod queue;
