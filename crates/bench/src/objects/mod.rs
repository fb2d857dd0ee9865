//! Compares shared objects. The benchmark measures how long threads take for operations on one priority queue,
//! without disturbance and while threads are paused or stopped in an operation.
//!
//! This repeats the experiments of Anderson and Moir's Figures 10 and 11: a fixed number of operations is
//! divided among more and more threads.
//!
//! | module | contents |
//! |---|---|
//! | [`heap`] | the object, and operations on it |
//! | [`contestants`] | one small file for each way to share the object, and the list of them |
//! | [`stage`] | threads on one queue |
//! | [`stall`] | stopping a thread in the middle of its operation |
//! | [`preempt`] | pausing a thread at any instruction |
//! | [`stopwatch`] | the longest operation of a thread |
//! | [`curve`] | the time for a number of operations, with pauses or without |
//! | [`stopped`] | throughput of the other threads while some are stopped |
//! | [`memory`] | memory in use while some threads are stopped |
//! | [`measure`] | rounds over all of this, and medians over rounds |
//! | [`options`] | the command line |
//! | [`report`] | the figures, as JSON |
//! | [`findings`] | conclusions from the figures |
//! | [`table`], [`plot`] | the figures as text, and as pictures |

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
pub mod stopwatch;
pub mod table;
