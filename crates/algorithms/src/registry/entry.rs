//! The registry's record of an algorithm.

/// The cost model: which accesses count as remote memory references.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CostModel {
    /// Cache-coherent: an access is remote if it misses the cache.
    Cc,
    /// Distributed shared memory: an access is remote unless the variable is in the memory of the process that makes
    /// the access.
    Dsm,
}

/// A bound on the remote memory references of a passage, as a paper states it.
#[derive(Clone, Copy, Debug)]
pub struct RmrBound {
    /// The theorem or lemma that states the bound.
    pub source: &'static str,
    /// The cost model to which the bound applies.
    pub model: CostModel,
    /// The bound at n, k and contention c.
    pub bound: fn(n: u64, k: u64, c: u64) -> u64,
    /// The bound as a formula.
    pub formula: &'static str,
}

impl RmrBound {
    /// Creates a bound for cache-coherent memory.
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
    /// The algorithm is expected to meet its specification.
    Sound,
    /// The form that the paper prints. It does not meet the specification.
    Printed,
    /// A deliberately wrong variant: a sound algorithm with a *defect* in one place. The checker must reject it.
    Broken,
}

/// The primitives of an algorithm that uses only reads and writes.
pub const READS_AND_WRITES: &str = "reads and writes only";

/// The value of [`Entry::paper`] for the algorithms of hallpass.
pub const OURS: &str = "hallpass";

/// The maximum number of processes of any algorithm in the registry.
pub const MAX_PROCESSES: usize = 32;

/// The record of one algorithm in the registry.
///
/// [`Entry::new`] creates an entry with defaults. The other methods that return an entry change some of them:
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
    /// The identifier, without the `+names` that [`nameable`](Self::nameable) permits.
    pub id: &'static str,
    /// The difference from the other entries of its family, in a few words.
    pub title: &'static str,
    /// The authors and the year of the paper, such as `Choi 2011`.
    pub paper: &'static str,
    /// The figure or section.
    pub figure: &'static str,
    /// The primitives that the algorithm uses besides reads and writes, or [`READS_AND_WRITES`] if it uses no others.
    pub primitives: &'static str,
    /// Whether the algorithm is expected to meet its specification.
    pub standing: Standing,
    /// The bounds that the paper states, at most one for each cost model.
    pub bounds: [Option<RmrBound>; 2],
    /// Whether the paper promises FIFE (first in, first enabled). FIFE means: if process p leaves its doorway before
    /// process q leaves its remainder, then p has entered its critical section or is enabled when q enters. A process
    /// is *enabled* if it enters in every run in which it keeps taking steps.
    pub promises_fife: bool,
    /// Whether the algorithm promises FIFE in the strong sense. This means: if process p leaves its doorway before
    /// process q leaves its remainder, and both are in the waiting room, then q is enabled only if p is.
    pub promises_fife_strong: bool,
    /// The maximum number of times that a process is overtaken, if the algorithm promises a maximum.
    pub promises_bypass: Option<u32>,
    /// Whether the paper promises that every process enters its critical section as long as fewer than k
    /// processes have stopped. If not, it promises this only as long as no process has stopped.
    pub promises_resilience: bool,
    /// Whether the algorithm promises that every process that tries to enter its critical section does so
    /// (starvation freedom). If not, it promises only that some process does (deadlock freedom).
    pub promises_everybody: bool,
    /// Whether the algorithm promises that no process waits in its exit section.
    pub promises_exit: bool,
    /// Whether the step machine makes every step of the algorithm. If not, numbers of its steps have no meaning.
    pub counts_steps: bool,
    /// The minimum n - k.
    pub min_gap: usize,
    /// The maximum n.
    pub max_processes: usize,
    /// The maximum k.
    pub max_k: usize,
    /// Whether the identifier may be followed by `+names`, which stands for k-assignment on top of the algorithm.
    pub nameable: bool,
}

impl Entry {
    /// Creates an entry for an algorithm that uses only reads and writes. At every size, the algorithm
    /// promises k-exclusion, starvation freedom as long as fewer than k processes have stopped, and an
    /// exit without waiting.
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
            promises_bypass: None,
            promises_resilience: true,
            promises_everybody: true,
            promises_exit: true,
            counts_steps: true,
            min_gap: 1,
            max_processes: MAX_PROCESSES,
            max_k: MAX_PROCESSES,
            nameable: false,
        }
    }

    /// Sets the title, which says how this entry differs from the others of its family.
    pub const fn titled(self, title: &'static str) -> Self {
        Entry { title, ..self }
    }

    /// Sets the figure or section of the paper.
    pub const fn figure(self, figure: &'static str) -> Self {
        Entry { figure, ..self }
    }

    /// Sets the primitives that the algorithm uses besides reads and writes.
    pub const fn using(self, primitives: &'static str) -> Self {
        Entry { primitives, ..self }
    }

    /// Adds a bound on remote memory references.
    ///
    /// # Panics
    ///
    /// Panics if the entry already has two bounds.
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

    /// Promises first-in-first-enabled, also in the strong sense.
    pub const fn fife_strong(self) -> Self {
        Entry { promises_fife: true, promises_fife_strong: true, ..self }
    }

    /// Promises that a process is overtaken at most `limit` times. A process p is overtaken when a process that left
    /// its remainder after p left its doorway enters its critical section while p is not yet enabled.
    pub const fn bypass(self, limit: u32) -> Self {
        Entry { promises_bypass: Some(limit), ..self }
    }

    /// Promises progress only as long as no process has stopped.
    pub const fn without_resilience(self) -> Self {
        Entry { promises_resilience: false, ..self }
    }

    /// Promises only that some process enters its critical section: deadlock freedom, but not starvation freedom.
    pub const fn deadlock_free_only(self) -> Self {
        Entry { promises_everybody: false, ..self }
    }

    /// Allows processes to wait in the exit section.
    pub const fn waits_in_exit(self) -> Self {
        Entry { promises_exit: false, ..self }
    }

    /// Marks the entry as a step machine that leaves out steps of the algorithm.
    pub const fn leaves_out_steps(self) -> Self {
        Entry { counts_steps: false, ..self }
    }

    /// Restricts the algorithm to n - k >= `min_gap`.
    pub const fn min_gap(self, min_gap: usize) -> Self {
        Entry { min_gap, ..self }
    }

    /// Restricts the algorithm to n <= `max_processes`.
    pub const fn max_processes(self, max_processes: usize) -> Self {
        Entry { max_processes, ..self }
    }

    /// Restricts the algorithm to k <= `max_k`.
    pub const fn max_k(self, max_k: usize) -> Self {
        Entry { max_k, ..self }
    }

    /// Marks the entry as a deliberately wrong variant. `title` says what is changed.
    pub const fn wrong(self, title: &'static str) -> Self {
        Entry { standing: Standing::Broken, title, bounds: [None, None], ..self }
    }

    /// Marks the entry as the form that the paper prints, which fails. `title` describes that form.
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

    /// Returns how many processes may stop permanently without starving another process, according to
    /// the paper.
    pub fn crashes(&self, k: usize) -> usize {
        if self.promises_resilience { k.saturating_sub(1) } else { 0 }
    }

    /// Returns whether the algorithm exists for `n` processes and `k` slots.
    pub fn exists(&self, n: usize, k: usize) -> bool {
        1 <= k && k <= self.max_k && k + self.min_gap <= n && n <= self.max_processes
    }
}

/// Returns the smallest d with k * 2^d >= n.
pub(crate) const fn log2(n: u64, k: u64) -> u64 {
    n.div_ceil(k).next_power_of_two().trailing_zeros() as u64
}
