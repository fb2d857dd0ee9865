//! Semaphores side by side: what a passage costs, who gets in how often, how long they wait.
//!
//! | module | what is in it |
//! |---|---|
//! | [`semaphore`] | [`Semaphore`], what a contestant implements |
//! | [`contestants`] | a small file per contestant, and the list of them |
//! | [`work`] | work of a known length, to do inside and outside |
//! | [`race`] | threads on one semaphore for some time: one sample |
//! | [`witness`] | sees whether more than k are in |
//! | [`workloads`] | how many threads, which k, what is measured |
//! | [`measure`] | rounds over workloads and contestants, and medians over rounds |
//! | [`report`] | what was measured, as JSON |
//! | [`table`] | the same as text |
//! | [`plot`] | the same as pictures |
//!
//! Unsafe code is in one file: the adapter of POSIX semaphores.
#![deny(unsafe_code)]

pub mod contestants;
pub mod measure;
pub mod plot;
pub mod race;
pub mod report;
pub mod semaphore;
pub mod table;
pub mod witness;
pub mod work;
pub mod workloads;

pub use contestants::{Camp, Contestant, Order};
pub use semaphore::Semaphore;
