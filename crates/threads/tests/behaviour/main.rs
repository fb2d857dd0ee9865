//! Guarantees that only halls for threads give. The crate `hallpass-conformance` tests the guarantees of all
//! halls; `tests/conformance.rs` runs it.
//!
//! A test that needs threads waits until they sleep at the expected point. Every test runs on halls of both kinds.
//! If a hall has at most 32 slots, each slot is a bit of one word. If it can have more slots, the word is a count,
//! and the slot numbers are in other words.

mod auto_traits;
mod bypass;
mod closing;
mod grid;
mod large;
mod many;
mod order;
#[cfg(feature = "papers")]
mod papers;
mod pool;
mod resizing;
mod slots;
mod support;
mod tasks;
mod wakers;
