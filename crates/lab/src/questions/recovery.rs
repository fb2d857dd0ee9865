//! Questions about processes that are killed and come back: the longest exit section and the longest doorway
//! while others are killed, and the remote references of a super-passage.
//!
//! The terms are those of Golab and Ramaraju, "Recoverable mutual exclusion", Distributed Computing 32,
//! 2019. A passage ends when the process returns to its remainder, or when it is killed. A *super-passage*
//! begins with a passage that starts while no super-passage of the process is under way. It ends with the
//! first passage that is not cut off by the death of the process. The cost of a super-passage depends on
//! the number of deaths while it lasts: those of the process itself, and those of others, after which the
//! process may have to clean up.

use hallpass_algorithms::{Pid, Section};

use super::{Answer, Answered, Subject};
use crate::{
    explore::explore,
    graph::{Bound, Heaviest},
    rmr::Caches,
    schedule::{CacheAtStart, Conventions, FailedRmw},
    space::{Agent, Space},
    standing::Standing,
    store::Id,
};

/// The second word of a state while no super-passage is under way. During a super-passage, this word is the number
/// of deaths so far.
const NONE_UNDER_WAY: u64 = u64::MAX;

/// The explored states, extended by the cache of one process and by the deaths during its super-passage.
struct SuperPassages<'a, const W: usize> {
    subject: &'a Subject<'a, W>,
    caches: Caches<'a, W>,
    process: Pid,
    /// The maximum number of deaths during a super-passage. The deaths of all processes count. Runs with more
    /// deaths are left out.
    deaths: u64,
}

impl<const W: usize> SuperPassages<'_, W> {
    fn id(state: &[u64; 2]) -> Id {
        Caches::<W>::id(&[state[0]])
    }

    fn section(&self, id: Id) -> Section {
        self.subject.states.section(id, self.process)
    }

    /// Returns the number of deaths after a step, or `None` if there are too many.
    fn deaths_after(&self, before: u64, agent: Agent, from: Id, to: Id) -> Option<u64> {
        let (was, is) = (self.section(from), self.section(to));
        let begins = was == Section::Remainder && is != Section::Remainder;
        let ends = was != Section::Remainder && is == Section::Remainder;
        match before {
            NONE_UNDER_WAY => Some(if begins { 0 } else { NONE_UNDER_WAY }),
            _ if ends && agent == self.process => Some(NONE_UNDER_WAY),
            count if agent >= self.subject.questions.n => {
                (count < self.deaths).then_some(count + 1)
            }
            count => Some(count),
        }
    }
}

impl<const W: usize> Space<2> for SuperPassages<'_, W> {
    fn agents(&self) -> usize {
        self.subject.graph.agents
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; 2]> + '_> {
        Box::new((0..self.subject.explored().roots()).map(|id| [u64::from(id), NONE_UNDER_WAY]))
    }

    fn successors(&self, state: &[u64; 2], each: &mut dyn FnMut(Agent, [u64; 2])) {
        let from = Self::id(state);
        for (agent, to) in self.subject.graph.edges(from) {
            let Some(deaths) = self.deaths_after(state[1], agent, from, to) else { continue };
            // A passage begins with an empty cache, and a killed process loses its cache.
            let over = self.section(to) == Section::Remainder;
            let cache = self.caches.after(&[state[0]], agent, over);
            each(agent, [u64::from(to) | cache << 32, deaths]);
        }
    }
}

impl<const W: usize> Subject<'_, W> {
    /// Returns the largest number of remote references of a super-passage with cache-coherent memory, during
    /// which processes are killed at most `deaths` times. The deaths of the process itself count too.
    pub(super) fn super_passage(&self, deaths: u32) -> Answered {
        // In `halls::processes`, a waiter that polls its variable `bell` makes a read-modify-write that changes
        // nothing. This access counts as a read, because otherwise every waiter would make remote references without
        // bound.
        let conventions = Conventions {
            cache: CacheAtStart::Cold,
            failed_rmw: FailedRmw::Read,
            ..self.questions.conventions
        };
        let mut worst = Bound::Most(0);
        for process in self.observed() {
            let Some(caches) = Caches::new(self.graph, self.states, process, conventions) else {
                return Answered::partial("the process reads too many variables");
            };
            let space = SuperPassages { subject: self, caches, process, deaths: deaths.into() };
            let limits = self.resources.less(self.resources.bytes / 2).limits();
            let explored = explore::<2>(&space, &limits);
            let bytes = explored.bytes + explored.graph_bytes(self.graph.agents);
            if !explored.is_complete() || bytes > self.resources.bytes {
                return Answered::partial("not all states with caches fit in the limits");
            }
            let graph = explored.graph(&space, self.resources.threads);
            let part = |node: Id| explored.store.get(node)[1] != NONE_UNDER_WAY;
            let remote = |node: Id, agent: Agent| {
                let state = explored.store.get(node);
                u32::from(agent == process && space.caches.is_remote(&[state[0]], agent))
            };
            let heaviest = Heaviest::new(&graph, &part, remote);
            let all = explored.ids().filter(|&node| part(node)).map(|node| heaviest.from(node));
            worst = worst.max(all.max().unwrap_or(Bound::Most(0)));
        }
        Answered::new(Answer::Number(worst))
    }

    /// Returns how many of its own steps a process takes at most in a section. Any process may be killed at any
    /// time. The death of the process itself ends the section.
    pub(super) fn own_steps(&self, section: Section) -> Answered {
        let mut worst = Bound::Most(0);
        for process in self.observed() {
            let part = |node: Id| self.states.section(node, process) == section;
            let own = |_: Id, agent: Agent| u32::from(agent == process);
            let heaviest = Heaviest::new(self.graph, &part, own);
            let all = self.explored().ids().filter(|&id| part(id)).map(|id| heaviest.from(id));
            worst = worst.max(all.max().unwrap_or(Bound::Most(0)));
        }
        Answered::new(Answer::Number(worst))
    }
}
