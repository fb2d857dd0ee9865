//! The normal form of a state, where an algorithm counts without bound.

use crate::{machine::Machine, tables::Tables};

/// Brings states into the normal form that the algorithm defines.
#[derive(Clone, Copy)]
pub struct Normal<'a>(&'a dyn Machine);

impl<'a> Normal<'a> {
    /// The normal form that `machine` needs, if it needs one.
    pub fn of(machine: &'a dyn Machine) -> Option<Self> {
        machine.is_unbounded().then_some(Normal(machine))
    }

    /// Replaces `state` by its normal form. One that the tables have no room for is a fault.
    pub fn apply<const W: usize>(&self, tables: &Tables, state: &mut [u64; W]) {
        let mut private = tables.private(state);
        let mut memory = tables.memory(state);
        self.0.normalize(&mut private, &mut memory);
        if !tables.set(state, &private, &memory) {
            tables.fault.set(state, 1);
        }
    }
}
