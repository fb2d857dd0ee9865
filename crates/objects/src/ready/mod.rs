//! Objects that people ask for, each a [`Resilient`](crate::Resilient) around a plain one.
//!
//! Operations that change something are values, so that others can apply them; those that only look
//! read the object in place, without a copy.

mod counter;
mod items;
mod map;
mod priority_queue;
mod queue;
mod statistics;
mod tree;

pub use counter::Counter;
pub use map::Map;
pub use priority_queue::PriorityQueue;
pub use queue::Queue;
pub use statistics::{Statistics, Summary};
