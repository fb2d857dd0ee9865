//! Counts remote references per passage, on average over long runs.
//!
//! The average of a run is the number of remote references of all processes, divided by the number of completed
//! passages of all processes. The answer is the largest long-term average that a run can have. It is the largest ratio
//! of references to passages on any cycle of the graph. For cache-coherent memory (CC), the states of the graph include
//! the caches of all processes. The run need not be fair: any process may stop.

use hallpass_algorithms::{Pid, Section};

use super::{
    Answer, Answered, Subject,
    ratio::{Cost, largest},
};
use crate::{
    explore::explore,
    graph::{Bound, Graph},
    rmr::Caches,
    schedule::CostModel,
    space::{Agent, Space},
    standing::Standing,
    store::Id,
    tables::Access,
};

/// The number of bits of a state for the caches of all processes: its second word, and half of its first word.
const MAX_BITS: u32 = 96;

/// The explored states, extended by the caches of all processes.
struct AllCaches<'a, const W: usize> {
    subject: &'a Subject<'a, W>,
    caches: Vec<Caches<'a, W>>,
    /// The first bit of each process's cache.
    first: Vec<u32>,
}

impl<'a, const W: usize> AllCaches<'a, W> {
    /// Creates the space, or returns `None` if the caches have too many bits.
    fn new(subject: &'a Subject<'a, W>) -> Option<Self> {
        let of =
            |p: Pid| Caches::new(subject.steps, subject.states, p, subject.questions.conventions);
        let caches: Vec<_> = (0..subject.questions.n).map(of).collect::<Option<_>>()?;
        let mut next = 0;
        let first = caches
            .iter()
            .map(|cache| {
                next += cache.len();
                next - cache.len()
            })
            .collect();
        (next <= MAX_BITS).then_some(AllCaches { subject, caches, first })
    }

    fn id(state: &[u64; 2]) -> Id {
        state[0] as Id
    }

    /// Returns the state with the cache of `p` only.
    fn of(&self, state: &[u64; 2], p: Pid) -> [u64; 1] {
        let all = u128::from(state[1]) | u128::from(state[0] >> 32) << 64;
        let cache = (all >> self.first[p]) as u64 & ((1 << self.caches[p].len()) - 1);
        [u64::from(Self::id(state)) | cache << 32]
    }

    fn pack(&self, id: Id, caches: impl Iterator<Item = u64>) -> [u64; 2] {
        let all = caches
            .zip(&self.first)
            .fold(0u128, |all, (cache, first)| all | u128::from(cache) << first);
        [u64::from(id) | ((all >> 64) as u64) << 32, all as u64]
    }
}

impl<const W: usize> Space<2> for AllCaches<'_, W> {
    fn agents(&self) -> usize {
        self.subject.steps.agents
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; 2]> + '_> {
        let nothing = |id| self.pack(id, std::iter::empty());
        Box::new((0..self.subject.explored().roots()).map(nothing))
    }

    fn successors(&self, state: &[u64; 2], each: &mut dyn FnMut(Agent, [u64; 2])) {
        for (agent, to) in self.subject.steps.edges(Self::id(state)) {
            let caches = self.caches.iter().enumerate().map(|(p, cache)| {
                let section = self.subject.states.section(to, p);
                cache.after(&self.of(state, p), agent, section == Section::Remainder)
            });
            each(agent, self.pack(to, caches));
        }
    }
}

impl<const W: usize> Subject<'_, W> {
    pub(super) fn amortised(&self, model: CostModel) -> Answered {
        let most = match model {
            CostModel::Cc => self.amortised_cc(),
            CostModel::Dsm => Ok(largest(
                self.steps,
                &self.costs(
                    self.steps,
                    |node| node,
                    |node, agent| {
                        let row = self.tables().row(&self.explored().store.get(node), agent);
                        let home = self.machine.layout().decls()[row.var as usize].home;
                        row.access != Access::None && home != Some(agent)
                    },
                ),
            )),
        };
        match most {
            Ok(Some(ratio)) => Answered::new(Answer::Ratio(ratio)),
            Ok(None) => Answered::new(Answer::Number(Bound::Unbounded)),
            Err(why) => Answered::partial(why),
        }
    }

    fn amortised_cc(&self) -> Result<Option<super::Ratio>, &'static str> {
        let caches = AllCaches::new(self).ok_or("the processes read too many variables")?;
        let limits = self.resources.less(self.resources.bytes / 2).limits();
        let cached = explore::<2>(&caches, &limits);
        let bytes = cached.bytes + 3 * cached.graph_bytes(self.steps.agents);
        if !cached.is_complete() || bytes > self.resources.bytes {
            return Err("not all states with caches fit in the limits");
        }
        let graph = cached.graph(&caches, self.resources.threads);
        let id = |node: Id| AllCaches::<W>::id(&cached.store.get(node));
        let remote = |node: Id, agent: Agent| {
            caches.caches[agent].is_remote(&caches.of(&cached.store.get(node), agent), agent)
        };
        Ok(largest(&graph, &self.costs(&graph, id, remote)))
    }

    /// Returns the cost of each edge of `graph`. `id` returns the explored state of a node.
    fn costs(
        &self,
        graph: &Graph,
        id: impl Fn(Id) -> Id,
        remote: impl Fn(Id, Agent) -> bool,
    ) -> Vec<Cost> {
        let mut costs = vec![Cost::default(); graph.targets.len()];
        for node in 0..graph.len() as Id {
            for (agent, to) in graph.edges(node) {
                let is_in = |node: Id| self.states.section(id(node), agent);
                let passage = is_in(to) == Section::Remainder && is_in(node) != Section::Remainder;
                let references = u8::from(remote(node, agent));
                costs[node as usize * graph.agents + agent] = Cost { references, passage };
            }
        }
        costs
    }
}
