//! `libhallpass`: halls of processes for C and C++. `include/hallpass.h` is generated from this crate.
//!
//! A function that can fail returns a [`HallpassResult`] and writes its other results through pointers. No
//! panic reaches the caller: in such a function, a panic becomes [`HallpassResult::HallpassInternal`]. Handles are
//! opaque. A null pointer crashes no function. A function that can fail returns an error for a null pointer that it
//! does not allow. Any other function does nothing, or returns a value such as 0.

mod hall;
mod pass;
mod result;
mod status;

pub use hall::*;
pub use pass::*;
pub use result::*;
pub use status::*;
