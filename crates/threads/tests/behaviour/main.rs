//! Guarantees of the public interface, one test for each. A test that needs threads waits until they sleep at
//! the expected place. No test depends on how long anything takes, except that deadlines pass, and not at once.
//!
//! Every test runs on halls of both kinds: slot numbers in the word, and a count with slot numbers beside it.

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
mod time;
mod wakers;
