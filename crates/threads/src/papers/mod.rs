//! Halls that run a published algorithm (feature `papers`).

use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

use hallpass_algorithms::{
    Algorithm, Pid,
    registry::{self, Scope, Standing, Visitor},
};

use crate::{error::BuildError, hall::Hall};

mod native;
use native::Native;

/// A hall that runs a published algorithm, returned by [`Hall::with`].
///
/// An algorithm for n processes identifies them by number. A caller first takes the smallest free process number from
/// an inner [`Hall`]; if all n numbers are taken, it waits there. Then it runs the algorithm. These algorithms do not
/// wake waiters, so a caller that has to wait in the algorithm spins and yields.
pub struct PaperHall {
    processes: Hall,
    algorithm: Box<dyn Passages>,
    k: usize,
}

/// A guard of a [`PaperHall`]. Dropping it frees the slot.
#[must_use = "dropping a pass frees its slot"]
pub struct PaperPass<'a> {
    hall: &'a PaperHall,
    process: Pid,
    slot: usize,
}

/// An algorithm behind a trait object.
trait Passages: Send + Sync {
    /// Enters as process `p`, and returns its slot.
    fn enter(&self, p: Pid) -> usize;
    /// Leaves as process `p`.
    fn leave(&self, p: Pid);
}

/// An algorithm. For each process in its critical section, `exits` has the line at which the exit section of this
/// process begins. Only the process itself accesses its element.
struct Named<A: Algorithm> {
    native: Native<A>,
    exits: Box<[Mutex<Option<A::State>>]>,
}

impl<A: Algorithm + Send + Sync> Passages for Named<A> {
    fn enter(&self, p: Pid) -> usize {
        let exit = self.native.enter(p);
        *self.exits[p].lock().unwrap_or_else(PoisonError::into_inner) = Some(exit);
        self.native.algorithm().name(exit).expect("the algorithm was built with names")
    }

    fn leave(&self, p: Pid) {
        let exit = self.exits[p].lock().unwrap_or_else(PoisonError::into_inner).take();
        self.native.leave(p, exit.expect("the process has entered"));
    }
}

/// Turns an algorithm into a trait object.
struct Hide;

impl Visitor for Hide {
    const SCOPE: Scope = Scope::SoundNamed;
    type Output = Box<dyn Passages>;

    fn visit<A: Algorithm + Send + Sync + 'static>(self, algorithm: A) -> Self::Output {
        let exits = (0..algorithm.n()).map(|_| Mutex::new(None)).collect();
        Box::new(Named { native: Native::new(algorithm), exits })
    }
}

/// Published algorithms (feature `papers`).
impl Hall {
    /// Creates a hall that runs a published algorithm for `n` processes. At most `n` threads run the algorithm at the
    /// same time, and at most `k` of them hold a slot. Further threads wait.
    ///
    /// `hallpass-lab list` shows the algorithms and their guarantees. In these algorithms, a waiter cannot give up. So
    /// the only method that takes a slot is [`acquire`](PaperHall::acquire).
    ///
    /// # Errors
    /// Returns [`BuildError`] if there is no such algorithm, if it is wrong on purpose, or if it does not
    /// exist for `n` and `k`.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// let hall = Hall::with("choi", 16, 4)?;
    /// assert!(hall.acquire().slot() < 4);
    /// # Ok::<(), hallpass_threads::BuildError>(())
    /// ```
    pub fn with(algorithm: &str, n: usize, k: usize) -> Result<PaperHall, BuildError> {
        PaperHall::new(algorithm, n, k)
    }
}

impl PaperHall {
    fn new(algorithm: &str, n: usize, k: usize) -> Result<Self, BuildError> {
        let error = |error: registry::Error| BuildError(error.to_string());
        let (entry, named) = registry::entry(algorithm).map_err(error)?;
        if entry.standing != Standing::Sound {
            return Err(BuildError(format!("`{algorithm}` is wrong on purpose: {}", entry.title)));
        }
        if !entry.nameable {
            return Err(BuildError(format!(
                "`{algorithm}` is a model for the lab, not a published algorithm: `Hall::new({k})` is a fair hall"
            )));
        }
        let id = if named { algorithm.to_string() } else { format!("{algorithm}+names") };
        let algorithm = registry::visit(&id, n, k, Hide).map_err(error)?;
        let processes = Hall::builder(n).build()?;
        Ok(PaperHall { processes, algorithm, k })
    }

    /// Blocks until the caller enters the critical section of the algorithm.
    ///
    /// This cannot fail, because a `PaperHall` cannot be closed.
    pub fn acquire(&self) -> PaperPass<'_> {
        let process = self.processes.acquire().expect("the inner hall is never closed");
        let slot = self.algorithm.enter(process.slot());
        let (hall, number) = (self, process.slot());
        process.forget(); // `PaperPass::drop` gives the number back
        PaperPass { hall, process: number, slot }
    }

    /// Returns the number of slots of the hall.
    pub fn slots(&self) -> usize {
        self.k
    }
}

impl PaperPass<'_> {
    /// Returns the slot of this pass: a number from 0 to k-1 that no other pass of the hall has.
    pub fn slot(&self) -> usize {
        self.slot
    }
}

impl Drop for PaperPass<'_> {
    fn drop(&mut self) {
        self.hall.algorithm.leave(self.process);
        self.hall.processes.release_slot(self.process as u32);
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
