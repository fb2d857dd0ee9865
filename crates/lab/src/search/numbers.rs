//! The numbers that a depth-first search assigns to states.
//!
//! A state is *unseen*, *open* or *closed*. The search opens a state when it visits the state for the first time, and
//! closes it when the component of the state is complete. The search compares numbers to find the smallest one. So the
//! number of a closed state must be larger than the numbers of all open states, and has no other meaning for the
//! search.

use super::{bits::Bits, open::OpenStates};
use crate::{
    compact::{Memory, OutOfMemory},
    store::{Id, NONE},
};

/// The number of an unseen state.
pub(super) const UNSEEN: u32 = 0;

/// The numbers of states.
pub(super) trait Numbers {
    /// Returns [`UNSEEN`], the number of an open state, or a number that is larger than those of all open states.
    fn get(&self, id: Id) -> u32;
    /// Opens a state.
    ///
    /// # Errors
    /// Fails if this reaches the limit on memory.
    fn open(&mut self, id: Id, number: u32) -> Result<(), OutOfMemory>;
    /// Changes the number of an open state.
    fn set(&mut self, id: Id, number: u32);
    /// Begins to close a component. From this call until [`end_close`](Numbers::end_close), the members of the
    /// component can be distinguished from the states of components that were closed before.
    fn begin_close(&mut self, members: impl Iterator<Item = Id>, component: u32);
    /// Ends the closing of the component that [`begin_close`](Numbers::begin_close) began to close.
    fn end_close(&mut self, members: impl Iterator<Item = Id>);
}

/// One number for each state: 4 bytes. A closed state has the number of its component.
pub(super) struct Dense(Vec<u32>);

impl Dense {
    /// Creates the numbers of `states` unseen states. The caller accounts for the memory.
    pub fn new(states: Id) -> Self {
        Dense(vec![UNSEEN; states as usize])
    }

    /// Returns the component of a closed state.
    #[inline]
    pub fn component_of(&self, id: Id) -> u32 {
        NONE - 1 - self.0[id as usize]
    }

    /// Returns the component of each state, or [`NONE`] if it is unseen.
    pub fn into_components(self) -> Vec<u32> {
        let mut of = self.0;
        of.iter_mut().for_each(|number| {
            *number = if *number == UNSEEN { NONE } else { NONE - 1 - *number };
        });
        of
    }
}

impl Numbers for Dense {
    #[inline]
    fn get(&self, id: Id) -> u32 {
        self.0[id as usize]
    }

    #[inline]
    fn open(&mut self, id: Id, number: u32) -> Result<(), OutOfMemory> {
        self.set(id, number);
        Ok(())
    }

    #[inline]
    fn set(&mut self, id: Id, number: u32) {
        self.0[id as usize] = number;
    }

    fn begin_close(&mut self, members: impl Iterator<Item = Id>, component: u32) {
        for id in members {
            self.0[id as usize] = NONE - 1 - component;
        }
    }

    fn end_close(&mut self, _: impl Iterator<Item = Id>) {}
}

/// Two bits for each state, and a number for each open state. Few states are open at the same time.
pub(super) struct Sparse<'a> {
    seen: Bits<'a>,
    closed: Bits<'a>,
    open: OpenStates<'a>,
}

impl<'a> Sparse<'a> {
    /// Creates the numbers of `states` unseen states.
    ///
    /// # Errors
    /// Fails if this reaches the limit on memory.
    pub fn new(states: Id, memory: &'a Memory) -> Result<Self, OutOfMemory> {
        let seen = Bits::new(states, memory)?;
        let closed = Bits::new(states, memory)?;
        Ok(Sparse { seen, closed, open: OpenStates::new(memory) })
    }

    /// Returns whether a state belongs to the component that is being closed. The search must have seen the state, and
    /// the state must be reachable from this component.
    #[inline]
    pub fn is_closing(&self, id: Id) -> bool {
        !self.closed.contains(id)
    }
}

impl Numbers for Sparse<'_> {
    #[inline]
    fn get(&self, id: Id) -> u32 {
        if !self.seen.contains(id) {
            UNSEEN
        } else if self.closed.contains(id) {
            NONE
        } else {
            self.open.get(id)
        }
    }

    #[inline]
    fn open(&mut self, id: Id, number: u32) -> Result<(), OutOfMemory> {
        self.seen.insert(id);
        self.open.insert(id, number)
    }

    #[inline]
    fn set(&mut self, id: Id, number: u32) {
        self.open.set(id, number);
    }

    fn begin_close(&mut self, _: impl Iterator<Item = Id>, _: u32) {}

    fn end_close(&mut self, members: impl Iterator<Item = Id>) {
        for id in members {
            self.closed.insert(id);
            self.open.remove(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_numbers_order_states_as_dense_numbers_do() {
        const STATES: Id = 50_000;
        let memory = Memory::new(1 << 30);
        let mut dense = Dense::new(STATES);
        let mut sparse = Sparse::new(STATES, &memory).expect("enough memory");
        let mut random = fastrand::Rng::with_seed(1);
        let mut open = Vec::new();
        for id in 0..STATES {
            dense.open(id, id + 1).expect("enough memory");
            sparse.open(id, id + 1).expect("enough memory");
            open.push(id);
            if random.u32(..3) == 0 {
                let from = random.usize(..open.len()).max(open.len().saturating_sub(3));
                let members = open.split_off(from);
                dense.begin_close(members.iter().copied(), id);
                assert!(members.iter().all(|&member| sparse.is_closing(member)));
                sparse.end_close(members.iter().copied());
            }
        }
        for id in open {
            assert_eq!(sparse.get(id), dense.get(id));
        }
        for id in 0..STATES {
            assert_eq!(
                sparse.get(id) == NONE,
                dense.component_of(id) < STATES && dense.get(id) > STATES
            );
        }
        let used = (1 << 30) - memory.left();
        drop(sparse);
        assert_eq!(memory.left(), 1 << 30, "{used} bytes were in use");
    }
}
