//! Entries: the registry's record of an algorithm.

/// The machine on which remote memory references are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CostModel {
    /// Cache-coherent: an access is remote if it misses the cache.
    Cc,
    /// Distributed shared memory: an access is remote if the variable lives with another process.
    Dsm,
}

/// A bound on remote memory references per passage, as a paper states it.
#[derive(Clone, Copy, Debug)]
pub struct RmrBound {
    /// Where the paper states it.
    pub source: &'static str,
    /// The machine it is about.
    pub model: CostModel,
    /// The bound at n, k and contention c.
    pub bound: fn(n: u64, k: u64, c: u64) -> u64,
    /// The bound as a formula.
    pub formula: &'static str,
}

impl RmrBound {
    /// Creates a bound for cache-coherent machines.
    pub const fn cc(
        source: &'static str,
        formula: &'static str,
        bound: fn(u64, u64, u64) -> u64,
    ) -> Self {
        RmrBound { source, model: CostModel::Cc, bound, formula }
    }

    /// Creates a bound for distributed shared memory.
    pub const fn dsm(
        source: &'static str,
        formula: &'static str,
        bound: fn(u64, u64, u64) -> u64,
    ) -> Self {
        RmrBound { source, model: CostModel::Dsm, bound, formula }
    }
}

/// Whether an algorithm is expected to meet its specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Expected to meet its specification.
    Sound,
    /// The form that the paper prints, which fails.
    Printed,
    /// A variant that is wrong on purpose; the checker must reject it.
    Broken,
}

/// The primitives of an algorithm that needs nothing else.
pub const READS_AND_WRITES: &str = "reads and writes only";

/// [`Entry::paper`] of this project's own algorithms.
pub const OURS: &str = "hallpass";

/// The largest number of processes that any algorithm here is built for.
pub const MAX_PROCESSES: usize = 32;

/// The registry's record of an algorithm.
///
/// [`Entry::new`] makes an entry with defaults, and each of the methods that follow it changes one
/// of them:
///
/// ```
/// use hallpass_algorithms::registry::{Entry, RmrBound, Standing};
///
/// const BASE: Entry = Entry::new("Somebody 1990", "Fig. 1").using("fetch-and-add").fife();
/// let sound = BASE
///     .titled("two counters")
///     .with_bound(RmrBound::cc("Theorem 2", "4(n-k)", |n, k, _| 4 * (n - k)));
/// let wrong = BASE.wrong("line 3 dropped");
/// assert_eq!(wrong.standing, Standing::Broken);
/// assert_eq!(sound.bounds().count(), 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The identifier, without `+names`.
    pub id: &'static str,
    /// The difference to the other entries of its family, in a few words.
    pub title: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// The figure or section.
    pub figure: &'static str,
    /// The primitives it uses besides reads and writes.
    pub primitives: &'static str,
    /// Whether it is expected to meet its specification.
    pub standing: Standing,
    /// The bounds that the paper states, at most one for each cost model.
    pub bounds: [Option<RmrBound>; 2],
    /// Whether the paper promises first-in-first-enabled.
    pub promises_fife: bool,
    /// Whether it promises FIFE in the strong sense: no process is enabled before one that completed
    /// its doorway earlier and is still waiting.
    pub promises_fife_strong: bool,
    /// Whether the paper promises that every process gets in while fewer than k have stopped. If
    /// not, it promises that only while no process has stopped.
    pub promises_resilience: bool,
    /// Whether it promises that every process gets in (starvation freedom). If not, only that some
    /// process does (deadlock freedom).
    pub promises_everybody: bool,
    /// Whether it promises that no process waits in its exit section.
    pub promises_exit: bool,
    /// The smallest n - k it exists for.
    pub min_gap: usize,
    /// The largest n it exists for.
    pub max_processes: usize,
    /// The largest k it exists for.
    pub max_k: usize,
    /// Whether it may carry `+names`.
    pub nameable: bool,
}

impl Entry {
    /// Makes the entry of an algorithm that uses reads and writes only and promises k-exclusion,
    /// starvation freedom while fewer than k processes have stopped, and an exit without waiting, at
    /// every size.
    pub const fn new(paper: &'static str, figure: &'static str) -> Self {
        Entry {
            id: "",
            title: "",
            paper,
            figure,
            primitives: READS_AND_WRITES,
            standing: Standing::Sound,
            bounds: [None, None],
            promises_fife: false,
            promises_fife_strong: false,
            promises_resilience: true,
            promises_everybody: true,
            promises_exit: true,
            min_gap: 1,
            max_processes: MAX_PROCESSES,
            max_k: MAX_PROCESSES,
            nameable: false,
        }
    }

    /// Sets what distinguishes it from the other entries of its family.
    pub const fn titled(self, title: &'static str) -> Self {
        Entry { title, ..self }
    }

    /// Sets the figure or section of the paper.
    pub const fn figure(self, figure: &'static str) -> Self {
        Entry { figure, ..self }
    }

    /// Sets the primitives it uses besides reads and writes.
    pub const fn using(self, primitives: &'static str) -> Self {
        Entry { primitives, ..self }
    }

    /// Adds a bound on remote memory references.
    ///
    /// # Panics
    ///
    /// If there are two bounds already.
    pub const fn with_bound(self, bound: RmrBound) -> Self {
        let bounds = match self.bounds {
            [None, _] => [Some(bound), None],
            [first, None] => [first, Some(bound)],
            _ => panic!("an entry has at most one bound for each cost model"),
        };
        Entry { bounds, ..self }
    }

    /// Promises first-in-first-enabled.
    pub const fn fife(self) -> Self {
        Entry { promises_fife: true, ..self }
    }

    /// Promises first-in-first-enabled in the strong sense, which implies [`Entry::fife`].
    pub const fn fife_strong(self) -> Self {
        Entry { promises_fife: true, promises_fife_strong: true, ..self }
    }

    /// Promises progress only while no process has stopped.
    pub const fn without_resilience(self) -> Self {
        Entry { promises_resilience: false, ..self }
    }

    /// Promises only that some process gets in: freedom from deadlock, not from starvation.
    pub const fn deadlock_free_only(self) -> Self {
        Entry { promises_everybody: false, ..self }
    }

    /// Allows processes to wait in the exit section.
    pub const fn waits_in_exit(self) -> Self {
        Entry { promises_exit: false, ..self }
    }

    /// Restricts it to n - k >= `min_gap`.
    pub const fn min_gap(self, min_gap: usize) -> Self {
        Entry { min_gap, ..self }
    }

    /// Restricts it to n <= `max_processes`.
    pub const fn max_processes(self, max_processes: usize) -> Self {
        Entry { max_processes, ..self }
    }

    /// Restricts it to k <= `max_k`.
    pub const fn max_k(self, max_k: usize) -> Self {
        Entry { max_k, ..self }
    }

    /// Makes it the entry of a variant that is wrong on purpose; `title` says what is changed.
    pub const fn wrong(self, title: &'static str) -> Self {
        Entry { standing: Standing::Broken, title, bounds: [None, None], ..self }
    }

    /// Makes it the entry of the form that the paper prints, which fails; `title` says how it reads.
    pub const fn printed(self, title: &'static str) -> Self {
        Entry { standing: Standing::Printed, ..self.wrong(title) }
    }

    /// Returns the bound for one cost model.
    pub fn bound(&self, model: CostModel) -> Option<RmrBound> {
        self.bounds().find(|bound| bound.model == model)
    }

    /// Iterates over the bounds that the paper states.
    pub fn bounds(&self) -> impl Iterator<Item = RmrBound> {
        self.bounds.into_iter().flatten()
    }

    /// Returns how many processes may stop permanently without starving another, as the paper has it.
    pub fn crashes(&self, k: usize) -> usize {
        if self.promises_resilience { k.saturating_sub(1) } else { 0 }
    }

    /// Returns whether it exists for `n` processes of which `k` may be in.
    pub fn exists(&self, n: usize, k: usize) -> bool {
        1 <= k && k <= self.max_k && k + self.min_gap <= n && n <= self.max_processes
    }
}

/// Returns the smallest d with k 2^d >= n.
pub(crate) const fn log2(n: u64, k: u64) -> u64 {
    n.div_ceil(k).next_power_of_two().trailing_zeros() as u64
}
