//! What the public interface promises, one test a promise. Where threads are needed, the test waits
//! until they sleep where it wants them; nothing depends on how long anything takes, except that time
//! limits run out, and not at once.
//!
//! Every test runs on halls of both kinds: slots in the word, and a count with numbers beside it.

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
