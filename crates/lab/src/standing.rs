//! The sections of processes in the states of an explored graph.

use hallpass_algorithms::{Pid, Section};

use crate::{explore::Explored, store::Id, tables::Tables};

/// The parts of a state that the analyses need in addition to its edges.
pub trait Standing: Sync {
    /// Returns the number of processes.
    fn n(&self) -> usize;
    /// Returns the part of the passage in which `p` is.
    fn section(&self, id: Id, p: Pid) -> Section;
    /// Returns whether `p` has left its remainder and not made a step yet.
    fn begins(&self, id: Id, p: Pid) -> bool;
    /// Returns whether no store of `p` is still in its buffer.
    fn has_settled(&self, id: Id, p: Pid) -> bool;
}

/// Returns whether no store of a process is still in its buffer.
pub type Settled<'a, const W: usize> = &'a (dyn Fn(&[u64; W], Pid) -> bool + Sync);

/// The states of an exploration of `tables`.
pub struct States<'a, const W: usize> {
    /// The tables that decode the states.
    pub tables: &'a Tables,
    /// The states.
    pub explored: &'a Explored<W>,
    /// Whether the stores of a process have reached memory. `None` without store buffers.
    pub settled: Option<Settled<'a, W>>,
}

impl<const W: usize> Standing for States<'_, W> {
    fn n(&self) -> usize {
        self.tables.n
    }

    #[inline]
    fn section(&self, id: Id, p: Pid) -> Section {
        self.tables.section(&self.explored.store.get(id), p)
    }

    #[inline]
    fn begins(&self, id: Id, p: Pid) -> bool {
        self.tables.code(&self.explored.store.get(id), p) == self.tables.begin(p)
    }

    fn has_settled(&self, id: Id, p: Pid) -> bool {
        self.settled.is_none_or(|settled| settled(&self.explored.store.get(id), p))
    }
}
