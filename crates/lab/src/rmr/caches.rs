//! Which variables one process has a valid copy of, beside each state.

use hallpass_algorithms::{Pid, Section};

use crate::{
    graph::Graph,
    schedule::{CacheAtStart, Conventions, FailedRmw, WriterCopy},
    space::{Agent, Space},
    standing::{Standing, States},
    store::Id,
    tables::{Access, Row, Step},
};

/// An explored graph with the cache of one process.
pub(super) struct Caches<'a, const W: usize> {
    pub graph: &'a Graph,
    pub states: &'a States<'a, W>,
    pub process: Pid,
    pub conventions: Conventions,
    /// For each variable, its bit in the cache; none for one that the process never reads.
    bits: Vec<Option<u32>>,
}

/// A state and a cache take one word together.
const CACHE_SHIFT: u32 = 32;
const MOST_CACHED: usize = 31;

/// What an access amounts to.
#[derive(PartialEq, Eq)]
enum Kind {
    Nothing,
    Read,
    Write,
}

impl<'a, const W: usize> Caches<'a, W> {
    /// The caches of `process`; none if it reads more variables than fit.
    pub fn new(
        graph: &'a Graph,
        states: &'a States<'a, W>,
        process: Pid,
        conventions: Conventions,
    ) -> Option<Self> {
        let mut bits = vec![None; states.tables.vars.len()];
        let mut count = 0;
        for row in states.tables.rows(process) {
            let reads = row.access == Access::Read
                || row.access == Access::ReadModifyWrite
                    && conventions.failed_rmw == FailedRmw::Read;
            if reads && bits[row.var as usize].is_none() {
                bits[row.var as usize] = Some(count);
                count += 1;
            }
        }
        (count as usize <= MOST_CACHED).then_some(Caches {
            graph,
            states,
            process,
            conventions,
            bits,
        })
    }

    /// The state without the cache.
    pub fn id(state: &[u64; 1]) -> Id {
        state[0] as u32
    }

    fn kind(&self, row: &Row, step: &Step) -> Kind {
        match row.access {
            Access::None => Kind::Nothing,
            Access::Read => Kind::Read,
            Access::ReadModifyWrite
                if step.failed && self.conventions.failed_rmw == FailedRmw::Read =>
            {
                Kind::Read
            }
            Access::Write | Access::ReadModifyWrite => Kind::Write,
        }
    }

    fn access(&self, id: Id, agent: Agent) -> (Kind, u64) {
        let (tables, state) = (self.states.tables, self.states.explored.store.get(id));
        let row = tables.row(&state, agent);
        let bit = match row.access {
            Access::None => None,
            _ => self.bits[row.var as usize],
        };
        (self.kind(row, tables.step(&state, row)), bit.map_or(0, |bit| 1 << (CACHE_SHIFT + bit)))
    }

    /// Whether the agent's step makes the process a remote reference.
    pub fn is_remote(&self, state: &[u64; 1], agent: Agent) -> bool {
        if agent != self.process {
            return false;
        }
        match self.access(Self::id(state), agent) {
            (Kind::Nothing, _) => false,
            (Kind::Read, bit) => state[0] & bit == 0,
            (Kind::Write, _) => true,
        }
    }

    fn cache_after(&self, state: &[u64; 1], agent: Agent) -> u64 {
        let cache = state[0] >> CACHE_SHIFT << CACHE_SHIFT;
        let (kind, bit) = self.access(Self::id(state), agent);
        match (kind, agent == self.process) {
            (Kind::Nothing, _) | (Kind::Read, false) => cache,
            (Kind::Read, true) => cache | bit,
            (Kind::Write, false) => cache & !bit,
            (Kind::Write, true) => match self.conventions.writer_copy {
                WriterCopy::AsItWas => cache,
                WriterCopy::Gained => cache | bit,
                WriterCopy::Lost => cache & !bit,
            },
        }
    }
}

impl<const W: usize> Space<1> for Caches<'_, W> {
    fn agents(&self) -> usize {
        self.graph.agents
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; 1]> + '_> {
        let word = |id: Id| [u64::from(id)];
        match self.conventions.cache {
            // Every passage starts alike, so each place where one can start is a beginning.
            CacheAtStart::Cold => {
                let begins = |id: &Id| self.states.begins(*id, self.process);
                Box::new(self.states.explored.ids().filter(begins).map(word))
            }
            CacheAtStart::Warm => Box::new((0..self.states.explored.roots()).map(word)),
        }
    }

    fn successors(&self, state: &[u64; 1], each: &mut dyn FnMut(Agent, [u64; 1])) {
        let from = Self::id(state);
        let cold = self.conventions.cache == CacheAtStart::Cold;
        if cold && self.states.section(from, self.process) == Section::Remainder {
            return; // the passage is over
        }
        for (agent, to) in self.graph.edges(from) {
            let over = cold && self.states.section(to, self.process) == Section::Remainder;
            let cache = if over { 0 } else { self.cache_after(state, agent) };
            each(agent, [cache | u64::from(to)]);
        }
    }
}
