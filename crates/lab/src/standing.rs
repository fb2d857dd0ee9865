//! The sections of processes in the states of an explored graph.

use hallpass_algorithms::{Pid, Section};

use crate::{explore::Explored, store::Id, tables::Tables};

/// The facts about a state that the analyses need in addition to its edges.
pub trait Standing: Sync {
    /// Returns the number of processes.
    fn n(&self) -> usize;
    /// Returns the section in which `p` is in the state `id`.
    fn section(&self, id: Id, p: Pid) -> Section;
    /// Returns whether `p` is in the private state that it has just after it has left its remainder.
    fn begins(&self, id: Id, p: Pid) -> bool;
    /// Returns whether the store buffer of `p` is empty.
    fn has_settled(&self, id: Id, p: Pid) -> bool;
}

/// A function that returns whether the store buffer of a process is empty.
pub type Settled<'a, const W: usize> = &'a (dyn Fn(&[u64; W], Pid) -> bool + Sync);

/// The states of an exploration of `tables`.
pub struct States<'a, const W: usize> {
    /// The tables that decode the states.
    pub tables: &'a Tables,
    /// The states.
    pub explored: &'a Explored<W>,
    /// Whether the store buffer of a process is empty. `None` if the model has no store buffers.
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
