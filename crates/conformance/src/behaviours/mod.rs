//! The behaviours that a hall promises, one function each. [`conformance!`](crate::conformance) turns each
//! function into a test.

pub mod closing;
pub mod crowd;
pub mod forget;
pub mod many;
pub mod order;
pub mod resizing;
pub mod sizes;
pub mod slots;
pub mod tasks;
pub mod time;
