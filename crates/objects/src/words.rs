//! Words that several threads access.

/// On cache lines of its own: they are fetched in pairs.
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);
