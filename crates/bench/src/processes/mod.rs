//! Semaphores among processes side by side, and what happens when a process is killed.
//!
//! | module | what is in it |
//! |---|---|
//! | [`contestants`] | a small file per contestant, and the list of them |
//! | [`race`] | processes on one semaphore for some time: one sample |
//! | [`workloads`] | how many processes, which k |
//! | [`death`] | from the death of a holder to its successor being in |
//! | [`parked`] | what it costs to wait |
//! | [`measure`] | rounds over workloads and contestants, and medians over rounds |
//! | [`options`] | what to measure, on a command line |
//! | [`report`] | what was measured, as JSON |
//! | [`table`] | the same as text |
//! | [`process`], [`memory`] | processes, and memory they share |

mod clock;
pub mod contestants;
pub mod death;
pub mod measure;
pub mod memory;
pub mod options;
pub mod parked;
pub mod process;
pub mod race;
pub mod report;
pub mod table;
pub mod workloads;

use std::{io, path::Path};

use tempfile::TempDir;

/// A directory for files that are mapped or locked: in memory if possible, for a disk
/// would be measured as well.
fn folder() -> io::Result<TempDir> {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }
}
