//! Measures the time of the longest entry section.
//!
//! Time passes as in Peterson & Fischer 1977 and Lynch 1996. Each step happens at a time, and times never decrease.
//! Two limits, l and c, apply to a process that has not stopped. In its entry and exit sections, the time from one
//! of its steps to its next one is at most l. The time that it stays in its critical section is at most c. There is
//! no lower limit, so any number of steps may happen at the same time. A process may stay in its remainder forever.
//!
//! `rounds` is the time for l = c = 1. If every step happens as late as possible, all times are whole numbers. The
//! clock can then advance from r to r + 1 if and only if every process outside its remainder that has not stopped
//! has taken a step at time r. So the graph is explored once more, and each state also has two sets: the processes that
//! have taken a step since the clock last advanced, and the stopped processes. The time is the largest number of
//! advances on a path.
//!
//! `sections` is the time for l = 0, c = 1. Only critical sections take time. A process that has not stopped never
//! pauses in its entry or exit section, so time passes only while all such processes take steps again and again. So the
//! clock can advance only in a state on a *waiting cycle*: a cycle on which no process leaves its critical section, and
//! every process that is in its entry or exit section and has not stopped takes steps. A process that is in its
//! critical section when the clock advances leaves before the clock advances again.
//!
//! If c is much larger than l, the time is `sections` times c, plus a multiple of l that does not depend on c.

use std::collections::HashMap;

use hallpass_algorithms::{Pid, Section};

use super::{Answer, Answered, Subject};
use crate::{
    explore::explore,
    graph::{Bound, Graph, Heaviest, Part, components},
    space::{Agent, Space},
    standing::Standing,
    store::Id,
};

/// The maximum number of processes whose sets fit into a state.
const MAX_PROCESSES: usize = 16;

/// A set of processes, one bit for each.
type Set = u32;

fn has(set: Set, p: Pid) -> bool {
    set >> p & 1 == 1
}

/// A state of the clock: the number of an explored state, and two sets of processes.
#[derive(Clone, Copy)]
struct Timed {
    id: Id,
    /// With `rounds`, the processes that need not take a step before the clock advances. With `sections`, the processes
    /// that have to leave their critical sections before the clock advances.
    marked: Set,
    stopped: Set,
}

impl Timed {
    fn unpack(state: &[u64; 1]) -> Self {
        let set = |shift: u32| (state[0] >> shift) as u16 as Set;
        Timed { id: state[0] as Id, marked: set(32), stopped: set(48) }
    }

    fn pack(self) -> [u64; 1] {
        [u64::from(self.id) | u64::from(self.marked) << 32 | u64::from(self.stopped) << 48]
    }
}

/// The rule by which the clock advances.
enum Clock {
    /// l = c = 1.
    Rounds,
    /// l = 0, c = 1. For each set of stopped processes: whether each state is on a waiting cycle.
    Sections(HashMap<Set, Vec<bool>>),
}

/// The explored states with a clock, during the entry section of one process. Agent n is the clock, and
/// agent n + 1 + q stops process q.
struct Timeline<'a, S> {
    graph: &'a Graph,
    standing: &'a S,
    starts: Vec<Id>,
    process: Pid,
    crashes: u32,
    clock: Clock,
}

impl<S: Standing> Timeline<'_, S> {
    fn n(&self) -> usize {
        self.standing.n()
    }

    fn set(&self, is: impl Fn(Pid) -> bool) -> Set {
        (0..self.n()).filter(|&p| is(p)).fold(0, |set, p| set | 1 << p)
    }

    /// Returns the processes that need not take a step: they are in their remainder, or have stopped.
    fn idle(&self, id: Id, stopped: Set) -> Set {
        self.set(|p| has(stopped, p) || self.standing.section(id, p) == Section::Remainder)
    }

    fn critical(&self, id: Id) -> Set {
        self.set(|p| self.standing.section(id, p) == Section::Critical)
    }

    /// Returns the state after the step of `agent` to `to`, or after a process has stopped.
    fn after(&self, from: Timed, agent: Option<Agent>, to: Id, stopped: Set) -> Timed {
        let moved = agent.map_or(0, |agent| 1 << agent);
        let marked = match self.clock {
            Clock::Rounds => from.marked | moved | self.idle(to, stopped),
            Clock::Sections(_) => from.marked & self.critical(to) & !stopped,
        };
        Timed { id: to, marked, stopped }
    }

    /// Returns the state after the clock has advanced, if it can.
    fn tick(&self, now: Timed) -> Option<Timed> {
        let Timed { id, marked, stopped } = now;
        let (ready, marked) = match &self.clock {
            Clock::Rounds => (marked == self.set(|_| true), self.idle(id, stopped)),
            Clock::Sections(waiting) => {
                (marked == 0 && waiting[&stopped][id as usize], self.critical(id) & !stopped)
            }
        };
        ready.then_some(Timed { marked, ..now })
    }
}

impl<S: Standing> Space<1> for Timeline<'_, S> {
    fn agents(&self) -> usize {
        2 * self.n() + 1
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; 1]> + '_> {
        // At the start, every process has just taken a step.
        let marked = match self.clock {
            Clock::Rounds => self.set(|_| true),
            Clock::Sections(_) => 0,
        };
        Box::new(self.starts.iter().map(move |&id| Timed { id, marked, stopped: 0 }.pack()))
    }

    fn successors(&self, state: &[u64; 1], each: &mut dyn FnMut(Agent, [u64; 1])) {
        let now = Timed::unpack(state);
        if !self.standing.section(now.id, self.process).is_entry() {
            return;
        }
        for (agent, to) in self.graph.edges(now.id) {
            if !has(now.stopped, agent) {
                each(agent, self.after(now, Some(agent), to, now.stopped).pack());
            }
        }
        if let Some(later) = self.tick(now) {
            each(self.n(), later.pack());
        }
        if now.stopped.count_ones() < self.crashes {
            let idle = self.idle(now.id, now.stopped);
            for q in (0..self.n()).filter(|&q| q != self.process && !has(idle, q)) {
                let stopped = now.stopped | 1 << q;
                each(self.n() + 1 + q, self.after(now, None, now.id, stopped).pack());
            }
        }
    }
}

/// The steps that only wait, for l = 0: the process stays in its entry section, no process leaves its
/// critical section, and no stopped process takes a step.
struct Waiting<'a, S> {
    standing: &'a S,
    process: Pid,
    stopped: Set,
}

impl<S: Standing> Part for Waiting<'_, S> {
    fn node(&self, node: Id) -> bool {
        self.standing.section(node, self.process).is_entry()
    }

    fn edge(&self, from: Id, agent: Agent, _: Id) -> bool {
        !has(self.stopped, agent) && self.standing.section(from, agent) != Section::Critical
    }
}

/// Returns for each state whether it is on a waiting cycle.
fn waits_everywhere<S: Standing>(graph: &Graph, waiting: &Waiting<'_, S>) -> Vec<bool> {
    let found = components(graph, waiting);
    let mut is_waiting = vec![false; graph.len()];
    for component in 0..found.count() {
        let members = found.members(component);
        let mut movers: Set = 0;
        for &node in members {
            for (agent, to) in graph.edges(node) {
                if found.of(to) == component && waiting.edge(node, agent, to) {
                    movers |= 1 << agent;
                }
            }
        }
        // A process that takes no step is in the same section in all states of the component.
        let may_rest = |q: Pid| {
            let section = waiting.standing.section(members[0], q);
            has(waiting.stopped, q) || matches!(section, Section::Remainder | Section::Critical)
        };
        if (0..waiting.standing.n()).all(|q| has(movers, q) || may_rest(q)) {
            members.iter().for_each(|&node| is_waiting[node as usize] = true);
        }
    }
    is_waiting
}

impl<const W: usize> Subject<'_, W> {
    pub(super) fn rounds(&self) -> Answered {
        self.longest(|_| Clock::Rounds)
    }

    pub(super) fn sections(&self) -> Answered {
        let (n, crashes) = (self.questions.n as u32, self.questions.crashes as u32);
        self.longest(|process| {
            let sets = (0..1 << n).filter(|set: &Set| set.count_ones() <= crashes);
            Clock::Sections(
                sets.filter(|&set| !has(set, process))
                    .map(|stopped| {
                        let waiting = Waiting { standing: self.states, process, stopped };
                        (stopped, waits_everywhere(self.steps, &waiting))
                    })
                    .collect(),
            )
        })
    }

    fn longest(&self, clock: impl Fn(Pid) -> Clock) -> Answered {
        if self.questions.n > MAX_PROCESSES {
            return Answered::partial(format!("at most {MAX_PROCESSES} processes can be timed"));
        }
        let mut longest = Bound::Most(0);
        for process in self.observed() {
            let starts = self.explored().ids().filter(|&id| self.states.begins(id, process));
            let timeline = Timeline {
                graph: self.steps,
                standing: self.states,
                starts: starts.collect(),
                process,
                crashes: self.questions.crashes as u32,
                clock: clock(process),
            };
            let limits = self.resources.less(self.resources.bytes / 2).limits();
            let timed = explore::<1>(&timeline, &limits);
            let agents = Space::<1>::agents(&timeline);
            if !timed.is_complete()
                || timed.bytes + timed.graph_bytes(agents) > self.resources.bytes
            {
                return Answered::partial("not all timed states fit in the limits");
            }
            let graph = timed.graph(&timeline, self.resources.threads);
            let at = |node: Id| Timed::unpack(&timed.store.get(node)).id;
            let part = |node: Id| self.states.section(at(node), process).is_entry();
            let ticks = |_: Id, agent: Agent| u32::from(agent == self.questions.n);
            let heaviest = Heaviest::new(&graph, &part, ticks);
            let most = (0..timed.roots()).map(|start| heaviest.from(start)).max();
            longest = longest.max(most.unwrap_or(Bound::Most(0)));
        }
        Answered::new(Answer::Number(longest))
    }
}
