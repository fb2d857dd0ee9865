//! `libhallpass`: halls of processes for C and C++. `include/hallpass.h` is generated from this crate.
//!
//! Every function that can fail returns a [`HallpassResult`] and writes its result through a pointer. No
//! panic reaches the caller: it becomes [`HallpassResult::HallpassInternal`]. Handles are opaque. A null
//! pointer where a handle or a text is needed is an error, not a crash.

mod hall;
mod pass;
mod result;
mod status;

pub use hall::*;
pub use pass::*;
pub use result::*;
pub use status::*;
