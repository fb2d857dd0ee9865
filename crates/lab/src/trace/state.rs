//! The state of a run, and the history that later steps depend on, such as the contents of the caches.

use std::collections::VecDeque;

use hallpass_algorithms::{Pid, Word};

use super::cache::Caches;
use crate::machine::Local;

/// One state of a run: the private states of the processes, the memory, and the buffered stores.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RunState {
    /// The private state of each process, as a number.
    pub processes: Vec<Local>,
    /// The value of each variable.
    pub memory: Vec<Word>,
    /// The buffered stores of each process, the oldest first. Each is a variable and a value.
    pub buffers: Vec<VecDeque<(usize, Word)>>,
}

/// Everything that steps change: the state, and the history of the run.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) state: RunState,
    pub(super) past_doorway: Vec<bool>,
    pub(super) caches: Caches,
    pub(super) broken: Option<String>,
}

impl Snapshot {
    /// Returns the state without the history.
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// Returns a snapshot with this history and a different state.
    pub fn with_state(&self, state: RunState) -> Self {
        Snapshot { state, ..self.clone() }
    }

    /// Returns whether `p` has a valid cached copy of the variable with this index.
    pub fn has_copy(&self, p: Pid, var: usize) -> bool {
        self.caches.has_copy(p, var)
    }

    /// Returns why no further step is possible, or `None` if one is possible. The reason is that a variable is outside
    /// its declared range, or that a process could not execute a line of a file.
    pub fn out_of_range(&self) -> Option<&str> {
        self.broken.as_deref()
    }
}
