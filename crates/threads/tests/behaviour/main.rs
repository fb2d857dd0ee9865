//! Guarantees that only halls for threads give. The crate `hallpass-conformance` tests the guarantees of all
//! halls; `tests/conformance.rs` runs it.
//!
//! A test that needs threads waits until they sleep at the expected place. Every test runs on halls of both
//! kinds: with at most 32 slots, whose numbers are bits of one word; and with more, where the word is a count and
//! the slot numbers are beside it.

mod auto_traits;
mod closing;
mod grid;
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
