//! Compares semaphores for threads: the cost of a passage, fairness, waits.
//!
//! | module | contents |
//! |---|---|
//! | [`contestants`] | a small file per contestant, and the list of them |
//! | [`race`] | threads on one semaphore for some time: one sample |
//! | [`tasks`] | tasks on one semaphore for some time: one sample |
//! | [`witness`] | detects more than k holders, or two holders of one slot |
//! | [`workloads`] | the numbers of threads and slots, and the quantity to measure |
//! | [`measure`] | rounds over workloads and contestants, and medians over rounds |
//! | [`options`] | the command line |
//! | [`report`] | the figures, as JSON |
//! | [`table`], [`plot`] | the figures as text, and as pictures |
//! | [`bars`] | the performance goals of `Hall` (*bars*), as one table |

pub mod bars;
pub mod contestants;
pub mod measure;
pub mod options;
pub mod plot;
pub mod race;
pub mod report;
pub mod table;
pub mod tasks;
pub mod witness;
pub mod workloads;
