//! The contestants of the benchmark of processes. A new contestant needs a small file and one line in [`field`].

mod files;
mod floor;
mod hall;
mod posix;
mod robust;
mod sysv;

use std::{fmt, path::Path};

use super::race::{self, Load};
use crate::common::{Order, Sample, Semaphore};

/// A semaphore that the parent creates before it forks the processes.
pub trait ProcessSemaphore: Sized {
    /// The semaphore as one process uses it.
    type Handle: Semaphore;

    /// Creates the semaphore with `k` slots. It may create files in `folder`, which only this run uses. Fails if the
    /// semaphore cannot have that many slots or cannot be created.
    fn make(k: usize, folder: &Path) -> Result<Self, String>;

    /// Opens the semaphore in a child process.
    fn join(&self) -> Self::Handle;
}

/// A lower bound on the cost of all other contestants.
pub const FLOOR: &str = "floor";
/// `SharedHall` of hallpass.
pub const HALLPASS: &str = "hallpass";
/// A fast semaphore that loses the slot of a killed process.
pub const POSIX: &str = "posix-sem";
/// A semaphore that frees the slot of a killed process.
pub const SYSV: &str = "sysv-undo";

type Run = fn(&Load) -> Result<Sample, String>;

/// One semaphore, and how to run it.
pub struct Contestant {
    /// The name, without spaces.
    pub name: &'static str,
    /// The order in which waiters get a slot.
    pub order: Order,
    /// The fate of a slot whose holder is killed: `freed`, `lost`, or `-` if the contestant limits nothing.
    pub after_death: &'static str,
    run: Run,
}

impl fmt::Debug for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Contestant {
    /// Runs the processes on a new semaphore. Fails if the semaphore cannot have as many slots as the load asks for or
    /// cannot be created, or if a process makes no passage for a long time.
    pub fn run(&self, load: &Load) -> Result<Sample, String> {
        (self.run)(load)
    }
}

/// Returns all contestants.
pub fn field() -> Vec<Contestant> {
    use Order::{Barging, Fifo, Open};
    let one = |name, order, after_death, run| Contestant { name, order, after_death, run };
    vec![
        one(FLOOR, Open, "-", race::run::<floor::Floor>),
        one(HALLPASS, Fifo, "freed", race::run::<hall::Hall>),
        one(POSIX, Barging, "lost", race::run::<posix::Posix>),
        one("robust-mutex", Barging, "freed", race::run::<robust::Robust>),
        one(SYSV, Barging, "freed", race::run::<sysv::SysV>),
        one("flock", Barging, "freed", race::run::<files::Flock>),
        one("ofd-lock", Barging, "freed", race::run::<files::Ofd>),
    ]
}

/// Checks that `k` is 1, for a contestant that has only one slot.
fn only_one(k: usize) -> Result<(), String> {
    if k == 1 { Ok(()) } else { Err("it has only one slot".into()) }
}
