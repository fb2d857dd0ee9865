//! A paper's algorithm in the place of ours.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

use hallpass_algorithms::{
    Algorithm, Pid,
    registry::{self, Standing, Visitor},
};

use crate::{error::BuildError, hall::Hall, native::Native};

/// A hall that runs a paper's algorithm; see [`Hall::with`].
///
/// An algorithm for n processes knows them by number. Who comes takes the smallest number that is
/// free, from a hall of our own; the (n+1)st waits there. Who waits inside the algorithm spins, and
/// lets others run: these algorithms are about what a busy wait costs, and nobody wakes anybody.
pub struct PaperHall {
    processes: Hall,
    algorithm: Box<dyn Passages>,
    k: usize,
}

/// A pass of a [`PaperHall`]. Dropping it gives the slot back.
#[must_use = "who drops its pass is out again"]
pub struct PaperPass<'a> {
    hall: &'a PaperHall,
    process: Pid,
    slot: usize,
}

/// Passages of an algorithm whose type no longer matters.
trait Passages: Send + Sync {
    /// Gets `p` in, under this name.
    fn enter(&self, p: Pid) -> usize;
    /// Gets it out again.
    fn leave(&self, p: Pid);
}

/// An algorithm, and where the exit section of each begins who is in. Only the process itself looks.
struct Named<A: Algorithm> {
    native: Native<A>,
    exits: Box<[Mutex<Option<A::State>>]>,
}

impl<A: Algorithm + Send + Sync> Passages for Named<A> {
    fn enter(&self, p: Pid) -> usize {
        let exit = self.native.enter(p);
        *self.exits[p].lock().unwrap_or_else(PoisonError::into_inner) = Some(exit);
        self.native.algorithm().name(exit).expect("it was built with names")
    }

    fn leave(&self, p: Pid) {
        let exit = self.exits[p].lock().unwrap_or_else(PoisonError::into_inner).take();
        self.native.leave(p, exit.expect("it has entered"));
    }
}

/// Hides the type.
struct Hide;

impl Visitor for Hide {
    type Output = Box<dyn Passages>;

    fn visit<A: Algorithm + Send + Sync + 'static>(self, algorithm: A) -> Self::Output {
        let exits = (0..algorithm.n()).map(|_| Mutex::new(None)).collect();
        Box::new(Named { native: Native::new(algorithm), exits })
    }
}

impl PaperHall {
    pub(crate) fn new(algorithm: &str, n: usize, k: usize) -> Result<Self, BuildError> {
        let error = |error: registry::Error| BuildError(error.to_string());
        let (entry, named) = registry::entry(algorithm).map_err(error)?;
        if entry.standing != Standing::Sound {
            return Err(BuildError(format!("`{algorithm}` is wrong on purpose: {}", entry.title)));
        }
        if !entry.nameable {
            return Err(BuildError(format!(
                "`{algorithm}` is there for the lab; `Hall::new({k})` runs it natively"
            )));
        }
        let id = if named { algorithm.to_string() } else { format!("{algorithm}+names") };
        let algorithm = registry::visit(&id, n, k, Hide).map_err(error)?;
        let processes = Hall::builder(n).build()?;
        Ok(PaperHall { processes, algorithm, k })
    }

    /// Waits for a pass, as the algorithm has it.
    pub fn acquire(&self) -> PaperPass<'_> {
        let process = self.processes.acquire().expect("the inner hall is never closed");
        let slot = self.algorithm.enter(process.slot());
        let (hall, number) = (self, process.slot());
        process.forget(); // until the pass is dropped
        PaperPass { hall, process: number, slot }
    }

    /// How many slots there are.
    pub fn slots(&self) -> usize {
        self.k
    }
}

impl PaperPass<'_> {
    /// Which slot it is: from 0 to one less than there are, and nobody else's.
    pub fn slot(&self) -> usize {
        self.slot
    }
}

impl Drop for PaperPass<'_> {
    fn drop(&mut self) {
        self.hall.algorithm.leave(self.process);
        self.hall.processes.release(self.process as u32);
    }
}

impl fmt::Debug for PaperPass<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaperPass").field("slot", &self.slot).finish()
    }
}

impl fmt::Debug for PaperHall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaperHall").field("slots", &self.k).finish_non_exhaustive()
    }
}
