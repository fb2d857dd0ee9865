//! Guarantees of halls for threads only. The guarantees of all halls are in the crate
//! `hallpass-conformance`, which `tests/conformance.rs` runs.
//!
//! A test that needs threads waits until they sleep at the expected place. Every test runs on halls of both
//! kinds: slot numbers in the word, and a count with slot numbers beside it.

mod auto_traits;
mod closing;
mod many;
mod order;
#[cfg(feature = "papers")]
mod papers;
mod resizing;
mod slots;
mod support;
mod tasks;
mod wakers;
