//! Bypass: the largest number of times that one process is overtaken.
//!
//! A process is *overtaken* when another process, which left its remainder after the first had left its doorway, enters
//! its critical section while the first is not yet *enabled*. A process is enabled if no schedule can keep it out of
//! its critical section forever. FIFE (first in, first enabled) means that no process is ever overtaken. The analysis
//! chooses one process as the victim and explores the graph of all steps once more, with a history of the victim. The
//! history records whether the victim has left its doorway, and which of the other processes left their remainders
//! after that. The bound is the largest number of overtakings on a path through the strongly connected components. If a
//! cycle contains an overtaking, there is no bound.

use hallpass_algorithms::{Pid, Section};

use crate::{
    explore::{Ended, Explored, Limits, explore},
    fife::{id_of, still_waits},
    graph::{Bound, Graph, Heaviest},
    liveness::KeptOut,
    space::{Agent, Space},
    standing::Standing,
    store::Id,
};

/// The history of one process, with the results that the check needs.
pub struct Victim<'a, S> {
    /// The graph of all steps.
    pub graph: &'a Graph,
    /// The section of each process in each state.
    pub standing: &'a S,
    /// The number of initial states, which have the lowest numbers.
    pub roots: Id,
    /// The process that may be overtaken.
    pub victim: Pid,
    /// The states in which the victim is not enabled.
    pub kept_out: &'a KeptOut,
}

/// The bit of a state that is set if the victim has left its doorway and not yet entered its critical section.
const WAITS: u64 = 1 << 32;

/// The maximum number of processes with which the history of a victim fits into a state.
pub const MAX_PROCESSES: usize = 32;

impl<S: Standing> Space<1> for Victim<'_, S> {
    fn agents(&self) -> usize {
        self.graph.agents
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; 1]> + '_> {
        Box::new((0..self.roots).map(|id| [u64::from(id)]))
    }

    fn successors(&self, state: &[u64; 1], each: &mut dyn FnMut(Agent, [u64; 1])) {
        let from = id_of(state);
        for (agent, to) in self.graph.edges(from) {
            let mut next = u64::from(to);
            if still_waits(self.standing, self.victim, to, state[0] & WAITS != 0) {
                next |= WAITS;
                for p in self.others() {
                    let began = self.standing.section(from, p) == Section::Remainder;
                    let outside = self.standing.section(to, p) != Section::Remainder;
                    if outside && (began || state[0] & self.later(p) != 0) {
                        next |= self.later(p);
                    }
                }
            }
            each(agent, [next]);
        }
    }

    fn violations(&self, _: &[u64; 1]) -> u64 {
        0
    }
}

/// How often the victim can be overtaken.
pub struct Overtaken {
    /// The maximum number of times.
    pub bound: Bound,
    /// A run in which the victim is overtaken this often. `None` if the victim is never overtaken.
    pub run: Option<Run>,
    /// The reason why the exploration of the histories ended.
    pub ended: Ended,
}

/// A run that shows the number of times that a process is overtaken.
pub struct Run {
    /// The initial state.
    pub start: Id,
    /// The agents of the steps up to the last overtaking, or to the start of the cycle.
    pub stem: Vec<Agent>,
    /// The state after the stem.
    pub end: Id,
    /// The agents of a cycle that contains an overtaking; empty if there is a bound.
    pub cycle: Vec<Agent>,
}

impl<S: Standing> Victim<'_, S> {
    /// Returns the bit that is set if process `p` began its passage after the victim had left its doorway. The victim
    /// itself has no such bit.
    fn later(&self, p: Pid) -> u64 {
        1 << (33 + p - usize::from(p > self.victim))
    }

    fn others(&self) -> impl Iterator<Item = Pid> {
        let victim = self.victim;
        (0..self.standing.n()).filter(move |&p| p != victim)
    }

    /// Returns the number of times that a step overtakes the victim: 0 or 1.
    fn overtakes(&self, from: &[u64; 1], to: &[u64; 1]) -> u32 {
        let enters = |p: Pid| {
            to[0] & self.later(p) != 0
                && self.standing.section(id_of(to), p) == Section::Critical
                && self.standing.section(id_of(from), p) != Section::Critical
        };
        u32::from(self.kept_out.contains(id_of(to)) && self.others().any(enters))
    }

    /// Returns the state `id` with a history: the processes of the set `later` began after the victim had left its
    /// doorway. `later` is `None` if the victim has not left its doorway.
    pub(crate) fn with_history(&self, id: Id, later: Option<u64>) -> u64 {
        let Some(later) = later else { return u64::from(id) };
        let bits = self.others().filter(|p| later >> p & 1 == 1).map(|p| self.later(p));
        bits.fold(u64::from(id) | WAITS, |all, bit| all | bit)
    }

    /// Computes the maximum number of times that the victim is overtaken.
    pub fn most(&self, limits: &Limits<'_>) -> Overtaken {
        self.most_in(self, limits)
    }

    /// Computes the maximum number of times that the victim is overtaken in runs from the initial states of `space`.
    /// Apart from its initial states, `space` is the space of this victim.
    pub(crate) fn most_in(&self, space: &dyn Space<1>, limits: &Limits<'_>) -> Overtaken {
        let histories = explore::<1>(space, limits);
        let graph = histories.graph(space, limits.threads);
        let state = |id: Id| histories.store.get(id);
        let part = |id: Id| state(id)[0] & WAITS != 0 && self.kept_out.contains(id_of(&state(id)));
        let weight = |from: Id, agent: Agent| {
            graph.target(from, agent).map_or(0, |to| self.overtakes(&state(from), &state(to)))
        };
        let heaviest = Heaviest::new(&graph, &part, weight);
        let mut most = (Bound::Most(0), None);
        for id in histories.ids().filter(|&id| part(id)) {
            let bound = heaviest.from(id);
            if bound > most.0 {
                most = (bound, Some(id));
            }
        }
        let (bound, from) = most;
        let run = from.map(|from| {
            let (path, cycle) = heaviest.path(&graph, weight, from);
            self.run(space, &histories, &graph, from, bound, (path, cycle))
        });
        Overtaken { bound, run, ended: histories.ended }
    }

    /// Returns the run from an initial state through `from`, cut off after the last overtaking.
    fn run(
        &self,
        space: &dyn Space<1>,
        histories: &Explored<1>,
        graph: &Graph,
        from: Id,
        bound: Bound,
        (path, cycle): (Vec<Agent>, Vec<Agent>),
    ) -> Run {
        let (start, steps) = histories.path(space, from);
        let mut stem: Vec<Agent> = steps.iter().map(|&(agent, _)| agent).collect();
        let (mut at, mut count) = (from, 0);
        for agent in path {
            if bound == Bound::Most(count) {
                break;
            }
            let to = graph.target(at, agent).expect("the path follows edges");
            count += self.overtakes(&histories.store.get(at), &histories.store.get(to));
            stem.push(agent);
            at = to;
        }
        Run { start: id_of(&start), stem, end: id_of(&histories.store.get(at)), cycle }
    }
}
