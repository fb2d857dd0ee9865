//! Compares semaphores for processes, and measures the effect of a kill.
//!
//! | module | content |
//! |---|---|
//! | [`contestants`] | a small file per contestant, and the list of them |
//! | [`race`] | processes on one semaphore for some time: one sample |
//! | [`workloads`] | numbers of processes and slots |
//! | [`death`] | time from the death of a holder until its successor has the slot |
//! | [`parked`] | cost of waiting |
//! | [`measure`] | rounds over workloads and contestants, and medians over rounds |
//! | [`options`] | the command line |
//! | [`report`] | the results, as JSON |
//! | [`table`] | the results, as text |
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

/// Creates a directory for files that are mapped or locked. It is in memory if possible, so that the speed of
/// a disk does not matter.
fn folder() -> io::Result<TempDir> {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }
}
