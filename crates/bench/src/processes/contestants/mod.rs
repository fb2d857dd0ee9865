//! The contestants among processes. A new one costs a small file and one line in [`field`].

mod files;
mod floor;
mod hall;
mod posix;
mod robust;
mod sysv;

use std::{fmt, path::Path};

use super::race::{self, Load};
use crate::common::{Order, Sample, Semaphore};

/// Shared state, created before the processes.
pub trait Venue: Sized {
    /// Handle of one process.
    type Handle: Semaphore;

    /// Creates it with `k` slots; files go to `folder`, which is private. Fails if there is none of
    /// that size, or if it cannot be made.
    fn make(k: usize, folder: &Path) -> Result<Self, String>;

    /// A process joins.
    fn join(&self) -> Self::Handle;
}

/// The contestant that all others are compared with: a lower bound on their cost.
pub const FLOOR: &str = "floor";
/// This project's semaphore.
pub const HALLPASS: &str = "hallpass";
/// The one that is quick, and that a killed process breaks.
pub const POSIX: &str = "posix-sem";
/// The one that outlives a killed process.
pub const SYSV: &str = "sysv-undo";

type Run = fn(&Load) -> Result<Sample, String>;

/// One semaphore, and how to run it.
pub struct Contestant {
    /// The name, without spaces.
    pub name: &'static str,
    /// In which order it lets processes in.
    pub order: Order,
    /// What happens to a slot whose holder is killed.
    pub after_death: &'static str,
    run: Run,
}

impl fmt::Debug for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Contestant {
    /// Runs the processes on a new one; or says why there is none of that size.
    pub fn run(&self, load: &Load) -> Result<Sample, String> {
        (self.run)(load)
    }
}

/// All of them.
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

/// Why a contestant has only one place.
fn only_one(k: usize) -> Result<(), String> {
    if k == 1 { Ok(()) } else { Err("it has one place only".into()) }
}
