//! `libhallpass`: halls of processes for C and C++. `include/hallpass.h` is generated from this crate.
//!
//! A function that can fail returns a [`HallpassResult`] and writes its other results through pointers. No
//! panic reaches the caller: a panic becomes [`HallpassResult::HallpassInternal`]. Handles are opaque. If a handle
//! or a string is a null pointer, the function returns an error and does not crash.

mod hall;
mod pass;
mod result;
mod status;

pub use hall::*;
pub use pass::*;
pub use result::*;
pub use status::*;
