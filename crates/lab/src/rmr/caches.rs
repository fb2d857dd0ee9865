//! Explored states, extended by the cache of one process. The cache is the set of variables of which the
//! process has a valid copy.

use hallpass_algorithms::{Pid, Section};

use crate::{
    graph::Graph,
    schedule::{CacheAtStart, Conventions, FailedRmw, WriterCopy},
    space::{Agent, Space},
    standing::{Standing, States},
    store::Id,
    tables::{Access, Row, Step},
};

/// An explored graph, extended by the cache of one process.
pub(crate) struct Caches<'a, const W: usize> {
    pub graph: &'a Graph,
    pub states: &'a States<'a, W>,
    pub process: Pid,
    pub conventions: Conventions,
    /// For each variable: its bit in the cache, or `None` if the process never reads the variable.
    bits: Vec<Option<u32>>,
}

/// The position of the cache in the word of an extended state. The low 32 bits are the number of the state
/// without the cache.
const CACHE_SHIFT: u32 = 32;
const MAX_CACHED: usize = 31;

/// The effect of an access on the caches.
#[derive(PartialEq, Eq)]
enum Effect {
    Nothing,
    Read,
    Write,
}

impl<'a, const W: usize> Caches<'a, W> {
    /// Creates the space of states extended by the cache of `process`. Returns `None` if the process
    /// reads more than `MAX_CACHED` variables.
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
        (count as usize <= MAX_CACHED).then_some(Caches {
            graph,
            states,
            process,
            conventions,
            bits,
        })
    }

    /// Returns the number of the state, without the cache.
    pub fn id(state: &[u64; 1]) -> Id {
        state[0] as u32
    }

    /// Returns the number of variables that the process may have in its cache.
    pub fn len(&self) -> u32 {
        self.bits.iter().flatten().count() as u32
    }

    /// Returns the cache after the agent's step, as a number. `over` means that the process is in its
    /// remainder after the step.
    pub fn after(&self, state: &[u64; 1], agent: Agent, over: bool) -> u64 {
        if over && self.conventions.cache == CacheAtStart::Cold {
            return 0;
        }
        self.cache_after(state, agent) >> CACHE_SHIFT
    }

    fn effect(&self, row: &Row, step: &Step) -> Effect {
        match row.access {
            Access::None => Effect::Nothing,
            Access::Read => Effect::Read,
            Access::ReadModifyWrite
                if step.failed && self.conventions.failed_rmw == FailedRmw::Read =>
            {
                Effect::Read
            }
            Access::Write | Access::ReadModifyWrite => Effect::Write,
        }
    }

    fn bit(&self, var: usize) -> u64 {
        self.bits[var].map_or(0, |bit| 1 << (CACHE_SHIFT + bit))
    }

    fn access(&self, id: Id, agent: Agent) -> (Effect, u64) {
        let (tables, state) = (self.states.tables, self.states.explored.store.get(id));
        // A mishap changes its variable without an access by a process. This invalidates every copy.
        if let Some(p) = agent.checked_sub(tables.n) {
            return match tables.var_changed_by_mishap(&state, p) {
                Some(var) => (Effect::Write, self.bit(var)),
                None => (Effect::Nothing, 0),
            };
        }
        let row = tables.row(&state, agent);
        match row.access {
            Access::None => (Effect::Nothing, 0),
            _ => (self.effect(row, tables.step(&state, row)), self.bit(row.var as usize)),
        }
    }

    /// Returns whether the agent's step is a remote reference of the process.
    pub fn is_remote(&self, state: &[u64; 1], agent: Agent) -> bool {
        if agent != self.process {
            return false;
        }
        match self.access(Self::id(state), agent) {
            (Effect::Nothing, _) => false,
            (Effect::Read, bit) => state[0] & bit == 0,
            (Effect::Write, _) => true,
        }
    }

    fn cache_after(&self, state: &[u64; 1], agent: Agent) -> u64 {
        let cache = state[0] >> CACHE_SHIFT << CACHE_SHIFT;
        let (effect, bit) = self.access(Self::id(state), agent);
        match (effect, agent == self.process) {
            (Effect::Nothing, _) | (Effect::Read, false) => cache,
            (Effect::Read, true) => cache | bit,
            (Effect::Write, false) => cache & !bit,
            (Effect::Write, true) => match self.conventions.writer_copy {
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
            // Every passage starts with an empty cache. So each state in which a passage can start is an
            // initial state.
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
