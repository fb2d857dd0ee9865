//! States with store buffers: total store order, as on x86.

use hallpass_algorithms::Pid;

use super::{Agent, Sequential, Space};
use crate::{buffers::Buffers, tables::Access};

/// Total store order. A write waits in a first-in-first-out buffer of its process. The buffer may move
/// it to memory at any time.
///
/// - If the process's own buffer holds a store to the variable, a read returns the value of the youngest
///   such store. Otherwise it returns the value in memory.
/// - A read-modify-write waits until the buffer of its process is empty, and then takes effect immediately.
/// - Agents `0..n` are the processes, `n..2n` their buffers.
/// - A process in its remainder does not count towards contention, even if its buffer holds stores.
/// - Properties are checked on memory and private states. A store that waits in a buffer is not in memory.
pub struct StoreBuffers<'a> {
    /// The initial states, the contention, and the properties to look for. The tables must come from
    /// [`Buffers::compile`].
    pub base: Sequential<'a>,
    /// The compiled buffers.
    pub buffers: &'a Buffers,
}

impl StoreBuffers<'_> {
    /// Returns whether no store of `p` waits in its buffer.
    #[inline]
    pub fn buffer_is_empty(&self, state: &[u64], p: Pid) -> bool {
        self.content(state, p) == 0
    }

    #[inline]
    fn content(&self, state: &[u64], p: Pid) -> usize {
        self.base.tables.extra[p].get(state)
    }

    /// Returns the state after the step of `p`, or `None` if `p` cannot take a step.
    #[inline]
    fn step<const W: usize>(&self, state: &[u64; W], p: Pid) -> Option<[u64; W]> {
        let tables = self.base.tables;
        if !self.base.may_move(state, p) {
            return None;
        }
        let content = self.content(state, p);
        let row = tables.row(state, p);
        let own = match row.access {
            Access::Read => self.buffers.newest(p, content, row),
            Access::ReadModifyWrite if content != 0 => return None,
            _ => None,
        };
        let step = match own {
            Some(value) => tables.step_on(row, value),
            None => tables.step(state, row),
        };
        let mut next = *state;
        if step.out_of_range {
            tables.out_of_range.set(&mut next, 1);
        } else if row.access == Access::Write {
            let longer = self.buffers.longer(p, content, tables.code(state, p))?;
            tables.extra[p].set(&mut next, longer);
            tables.apply_local(&mut next, p, step);
        } else {
            tables.apply(&mut next, p, row, step);
        }
        Some(next)
    }

    /// Returns the state after the step of the buffer of `p`, or `None` if the buffer is empty.
    #[inline]
    fn flush<const W: usize>(&self, state: &[u64; W], p: Pid) -> Option<[u64; W]> {
        let tables = self.base.tables;
        let (var, value, rest) = self.buffers.oldest(p, self.content(state, p))?;
        let mut next = *state;
        tables.vars[var].set(&mut next, value);
        tables.extra[p].set(&mut next, rest);
        Some(next)
    }
}

impl<const W: usize> Space<W> for StoreBuffers<'_> {
    fn agents(&self) -> usize {
        2 * self.base.tables.n
    }

    fn bits(&self) -> u32 {
        self.base.tables.bits
    }

    fn word_bits(&self) -> [u32; W] {
        self.base.tables.word_bits()
    }

    fn parts(&self) -> Vec<[u64; W]> {
        self.base.tables.parts()
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; W]> + '_> {
        self.base.initial() // content 0 is the empty buffer
    }

    #[inline]
    fn successors(&self, state: &[u64; W], each: &mut dyn FnMut(Agent, [u64; W])) {
        let n = self.base.tables.n;
        if self.base.tables.out_of_range.get(state) != 0 {
            return;
        }
        for p in 0..n {
            if let Some(next) = self.step(state, p) {
                each(p, next);
            }
        }
        for p in 0..n {
            if let Some(next) = self.flush(state, p) {
                each(n + p, next);
            }
        }
    }

    #[inline]
    fn violations(&self, state: &[u64; W]) -> u64 {
        self.base.violations(state)
    }
}
