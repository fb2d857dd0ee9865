//! Decides first come, first served: if a process leaves its doorway before another process leaves its
//! remainder, the first process enters its critical section before the second one. Lamport,
//! "A New Solution of Dijkstra's Concurrent Programming Problem", 1974.

use hallpass_algorithms::{Pid, Section};

use super::{Answer, Answered, Subject};
use crate::{
    explore::explore,
    fife::{FIRST_WAITS, IN_ORDER, id_of, still_waits},
    graph::Graph,
    schedule::Finding,
    space::{Agent, Space},
    standing::Standing,
    store::Id,
};

/// An ordered pair of processes. Each state has two bits of history: whether `first` has left its doorway
/// and waits, and whether it left its doorway before `second` left its remainder.
struct Order<'a, S> {
    graph: &'a Graph,
    standing: &'a S,
    roots: Id,
    first: Pid,
    second: Pid,
}

impl<S: Standing> Space<1> for Order<'_, S> {
    fn agents(&self) -> usize {
        self.graph.agents
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; 1]> + '_> {
        Box::new((0..self.roots).map(|id| [u64::from(id)]))
    }

    fn successors(&self, state: &[u64; 1], each: &mut dyn FnMut(Agent, [u64; 1])) {
        let from = id_of(state);
        for (agent, to) in self.graph.edges(from) {
            let waited = state[0] & FIRST_WAITS != 0;
            let waits = still_waits(self.standing, self.first, to, waited);
            let outside = self.standing.section(to, self.second) != Section::Remainder;
            let begins = self.standing.section(from, self.second) == Section::Remainder;
            let in_order = waits && outside && (begins || state[0] & IN_ORDER != 0);
            let mut next = u64::from(to);
            next |= if waits { FIRST_WAITS } else { 0 };
            next |= if in_order { IN_ORDER } else { 0 };
            each(agent, [next]);
        }
    }

    fn violations(&self, state: &[u64; 1]) -> u64 {
        let inside = self.standing.section(id_of(state), self.second) == Section::Critical;
        u64::from(inside && state[0] & IN_ORDER != 0)
    }
}

impl<const W: usize> Subject<'_, W> {
    pub(super) fn fcfs(&self) -> Answered {
        let n = self.questions.n;
        let pairs: Vec<(Pid, Pid)> = match self.alike() {
            true => vec![(0, 1)],
            false => {
                (0..n).flat_map(|i| (0..n).filter(move |&j| j != i).map(move |j| (i, j))).collect()
            }
        };
        let mut shortest: Option<crate::schedule::Schedule> = None;
        for (first, second) in pairs {
            let roots = self.explored().roots();
            let order = Order { graph: self.graph, standing: self.states, roots, first, second };
            let histories = explore::<1>(&order, &self.resources.limits());
            if !histories.is_complete() {
                return Answered::partial("not all histories were explored");
            }
            let Some(id) = histories.violating(0) else { continue };
            let (start, steps) = histories.path(&order, id);
            if shortest.as_ref().is_none_or(|run| run.stem.len() > steps.len()) {
                let steps: Vec<Agent> = steps.iter().map(|&(agent, _)| agent).collect();
                let finding = Finding::Fcfs { first, second };
                shortest = Some(self.schedule(id_of(&start), &steps, Vec::new(), finding));
            }
        }
        match shortest {
            Some(run) => Answered { run: Some(run), ..Answered::new(Answer::Violated) },
            None => Answered::new(Answer::Holds),
        }
    }
}
