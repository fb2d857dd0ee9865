//! Guarantees that only halls for threads give. The crate `hallpass-conformance` tests the guarantees of all
//! halls; `tests/conformance.rs` runs it.
//!
//! A test that needs a waiting thread waits until the thread sleeps in the queue. Most tests run on narrow and on wide
//! halls. A narrow hall has at most 32 slots, and each slot is a bit of one word. A wide hall can have more slots: the
//! word has bits for the first 16 slots and counts the other free slots, whose numbers are kept outside the word.

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
