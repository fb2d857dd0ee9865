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
//! | `processes` | all of this among processes, on Linux |
//! | `machines` | halls on clusters of etcd, on Linux |
//! | [`objects`] | shared objects, and threads that stop inside |
//!
//! ```
//! use std::time::Duration;
//!
//! use hallpass_bench::{contestants, race::{Load, Watch}, work::Work};
//!
//! let (inside, outside) = (Work::of_nanos(100), Work::of_nanos(100));
//! let load = Load { threads: 4, k: 2, inside, outside, time: Duration::from_millis(5) };
//! for contestant in contestants::field() {
//!     let sample = contestant.run(&load, Watch::Nothing)?;
//!     println!("{}: {:?} ns for each passage", contestant.name, sample.nanos());
//! }
//! # Ok::<(), String>(())
//! ```
//!
//! Unsafe code is in the adapters of what the system offers, and where processes are made or threads
//! paused.
#![deny(unsafe_code)]

pub mod contestants;
#[cfg(target_os = "linux")]
pub mod machines;
pub mod measure;
pub mod objects;
pub mod plot;
#[cfg(target_os = "linux")]
pub mod processes;
pub mod race;
pub mod report;
pub mod semaphore;
pub mod table;
pub mod witness;
pub mod work;
pub mod workloads;

pub use contestants::{Camp, Contestant, Order};
pub use semaphore::Semaphore;
