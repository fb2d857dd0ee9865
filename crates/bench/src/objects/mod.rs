//! Shared objects side by side: how long threads take for operations on one priority queue, and what
//! becomes of them when threads are paused or stopped inside.
//!
//! This repeats the experiments of Anderson and Moir's Figures 10 and 11: a number of operations is
//! divided among more and more threads.
//!
//! | module | what is in it |
//! |---|---|
//! | [`heap`] | the object, and operations on it |
//! | [`contestants`] | a small file per way to share it, and the list of them |
//! | [`stage`] | threads on one queue |
//! | [`stall`] | stopping a thread inside its operation |
//! | [`preempt`] | pausing a thread wherever it is |
//! | [`curve`] | the time for a number of operations, with pauses or without |
//! | [`stopped`] | what others get done while some are stopped |
//! | [`memory`] | how much memory is in use meanwhile |
//! | [`measure`] | rounds over all of this, and medians over rounds |
//! | [`options`] | what to measure, on a command line |
//! | [`report`] | what was measured, as JSON |
//! | [`findings`] | what it comes down to |
//! | [`table`], [`plot`] | the same as text, and as pictures |

pub mod contestants;
pub mod curve;
pub mod findings;
pub mod heap;
pub mod measure;
pub mod memory;
pub mod options;
pub mod plot;
pub mod preempt;
pub mod report;
pub mod stage;
pub mod stall;
pub mod stopped;
pub mod table;
