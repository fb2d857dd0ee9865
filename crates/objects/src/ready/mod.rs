//! Ready-made objects. Each is a [`Resilient`](crate::Resilient) around a plain object.
//!
//! Operations that change the object are values, so that other threads can apply them. Operations that only read call
//! [`Resilient::read`](crate::Resilient::read).

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
