//! Shared data that a stalled or dead thread cannot block.
//!
//! [`Resilient`] makes a linearizable shared object of any sequential one: at most k threads are in
//! at once, each with a name of its own, and under these names they run a wait-free construction.
//! An operation completes as long as fewer than k others have stopped inside.

mod bell;
mod construction;
mod copy;
mod error;
mod object;
mod resilient;
mod turnstile;
mod value;
mod wait_free;
mod words;

pub use error::BuildError;
pub use object::Object;
pub use resilient::Resilient;
pub use value::ResilientCell;
pub use wait_free::{Handle, WaitFree};
