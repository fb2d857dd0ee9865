//! The normal form of a state, for algorithms that count without bound.

use hallpass_algorithms::Pid;

use crate::{
    machine::{Local, Machine},
    tables::Tables,
};

/// Brings states into the normal form that the algorithm defines.
pub struct Normal<'a> {
    machine: &'a dyn Machine,
    /// For each process and private state: whether a step from or to this state may leave the normal form.
    counts: Vec<Vec<bool>>,
}

impl<'a> Normal<'a> {
    /// Prepares the normal form for `machine`. Returns `None` if the step machine does not count without
    /// bound.
    pub fn of(machine: &'a dyn Machine, tables: &Tables) -> Option<Self> {
        let counts = |codes: &Vec<Local>| codes.iter().map(|&at| machine.counts(at)).collect();
        machine
            .is_unbounded()
            .then(|| Normal { machine, counts: tables.codes.iter().map(counts).collect() })
    }

    /// Replaces `to` with its normal form. `to` is the state after a step of `p` from a normal form. Does
    /// nothing if the step cannot have left the normal form.
    #[inline]
    pub fn after_step<const W: usize>(
        &self,
        tables: &Tables,
        p: Pid,
        from: &[u64; W],
        to: &mut [u64; W],
    ) {
        let counts = &self.counts[p];
        if counts[tables.code(from, p)] || counts[tables.code(to, p)] {
            self.apply(tables, to);
        }
    }

    /// Executes the steps that the algorithm takes ahead of time (see [`Machine::advance`]). Then replaces `state` with
    /// its normal form. Sets the flag `out_of_range` of the state if the normal form does not fit into the tables.
    fn apply<const W: usize>(&self, tables: &Tables, state: &mut [u64; W]) {
        let mut private = tables.private(state);
        let mut memory = tables.memory(state);
        self.machine.advance(&mut private, &mut memory);
        self.machine.normalize(&mut private, &mut memory);
        if !tables.set(state, &private, &memory) {
            tables.out_of_range.set(state, 1);
        }
    }
}
