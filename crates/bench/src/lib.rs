//! Measures the halls and objects of hallpass, and other semaphores, locks and objects, in one run.
//!
//! | module | contents |
//! |---|---|
//! | [`threads`] | semaphores for threads: the cost of a passage, fairness, waits |
//! | [`processes`] | semaphores for processes, and the effect of killing a process |
//! | [`cluster`] | halls on etcd and PostgreSQL, compared with `etcdctl lock` |
//! | [`objects`] | shared objects, and threads that stop in the middle of an operation |
//! | [`common`] | the parts that several of these share |
//!
//! The first four modules are *families*. Each family has these modules: `options` is its command line, `measure` runs
//! it, `report` contains the figures and writes them as JSON, `table` prints them. In `threads` and `objects`, `plot`
//! draws them. Except in `cluster`, the contestants of a family are small files in its folder `contestants`.
//!
//! ```
//! use std::time::Duration;
//!
//! use hallpass_bench::{
//!     common::work::Work,
//!     threads::{contestants, race::{Load, Observe}},
//! };
//!
//! let (inside, outside) = (Work::of_nanos(100), Work::of_nanos(100));
//! let load = Load { threads: 4, k: 2, inside, outside, time: Duration::from_millis(5) };
//! for contestant in contestants::field() {
//!     let sample = contestant.run(&load, Observe::Nothing)?;
//!     println!("{}: {:?} ns for each passage", contestant.name, sample.nanos());
//! }
//! # Ok::<(), String>(())
//! ```
//!
//! Unsafe code is in calls to the C library, in the code that forks processes, shares memory with them or pauses
//! threads, and in some contestants.
#![deny(unsafe_code)]

pub mod cluster;
pub mod common;
pub mod objects;
pub mod processes;
pub mod threads;
