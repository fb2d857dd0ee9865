//! The graph of states that the page draws: the whole graph of a small model, or the states near the current state.

use hallpass_algorithms::Section;
use indexmap::IndexMap;
use serde::Serialize;

use super::{
    answers::Answers,
    chart::Chart,
    session::{NodeId, Session},
};
use crate::{
    space::Agent,
    standing::Standing as _,
    store::Id,
    trace::{RunState, Snapshot},
};

/// The number of states of the largest model that is drawn as a whole.
pub const MOST_DRAWN: u64 = 3000;
/// The maximum number of states that are drawn of a larger model.
const NEAR: usize = 250;

/// A drawing of states and steps.
#[derive(Clone, Debug, Serialize)]
pub struct Drawing {
    /// Whether `states` has all states that the checker has explored.
    pub whole: bool,
    /// The index of the current state.
    pub current: Option<usize>,
    /// The states that are drawn.
    pub states: Vec<Drawn>,
    /// The steps: from, to, agent. Steps that only wait are left out.
    pub steps: Vec<(u32, u32, u32)>,
}

/// A state in a drawing.
#[derive(Clone, Debug, Serialize)]
pub struct Drawn {
    /// The number of the state in the chart, if the checker has explored it.
    pub id: Option<Id>,
    /// The row of the state: the number of steps from an initial state, or from the current state.
    pub level: u32,
    /// `broken` (a safety property is violated), `doomed` (a process can be kept out of its critical section forever),
    /// `full` (k processes in the critical section), or `plain`.
    pub colour: &'static str,
    /// The number of processes in their critical sections.
    pub inside: usize,
}

fn levels(chart: &Chart, starts: Vec<Id>, most: usize) -> IndexMap<Id, u32> {
    let mut found: IndexMap<Id, u32> = starts.into_iter().map(|id| (id, 0)).collect();
    let mut index = 0;
    while let Some((&id, &level)) = found.get_index(index) {
        for (_, to) in chart.graph.edges(id) {
            if found.len() < most {
                found.entry(to).or_insert(level + 1);
            }
        }
        index += 1;
    }
    found
}

fn drawn(chart: &Chart, answers: &Answers, id: Id, level: u32, k: usize) -> Drawn {
    let inside =
        (0..chart.n).filter(|&p| chart.sections.section(id, p) == Section::Critical).count();
    let colour = if chart.violations[id as usize] != 0 {
        "broken"
    } else if (0..chart.n).any(|p| answers.can_be_kept_out(id, p)) {
        "doomed"
    } else if inside == k {
        "full"
    } else {
        "plain"
    };
    Drawn { id: Some(id), level, colour, inside }
}

/// Draws the explored states: all of them if they are few, else those near the state `here`.
pub(super) fn explored(chart: &Chart, answers: &Answers, here: Option<Id>, k: usize) -> Drawing {
    let whole = chart.states() <= MOST_DRAWN;
    let found = match here {
        _ if whole => levels(chart, (0..chart.roots).collect(), usize::MAX),
        Some(here) => levels(chart, vec![here], NEAR),
        None => IndexMap::new(),
    };
    let steps = found.iter().enumerate().flat_map(|(from, (&id, _))| {
        let found = &found;
        chart.graph.edges(id).filter(move |&(_, to)| to != id).filter_map(move |(agent, to)| {
            Some((from as u32, found.get_index_of(&to)? as u32, agent as u32))
        })
    });
    Drawing {
        whole,
        current: here.and_then(|here| found.get_index_of(&here)),
        steps: steps.collect(),
        states: found.iter().map(|(&id, &level)| drawn(chart, answers, id, level, k)).collect(),
    }
}

/// Draws the states near `node` with the interpreter alone, for a node about which the checker has no answers.
pub(super) fn played(session: &Session, node: NodeId) -> Result<Drawing, String> {
    const MOST: usize = 120;
    let moment = &session.node(node)?.moment;
    let machine = session.subject().machine();
    let (n, k) = (machine.n(), machine.k());
    let mut run = session.subject().interpreter(moment.snapshot.state().memory.clone());
    let mut found: IndexMap<RunState, (u32, Snapshot)> = IndexMap::new();
    found.insert(run.normal(moment.snapshot.state()), (0, moment.snapshot.clone()));
    let mut steps = Vec::new();
    let mut index = 0;
    while let Some((_, (level, snapshot))) = found.get_index(index) {
        let (level, snapshot) = (*level, snapshot.clone());
        let stopped = |agent: Agent| agent < n && moment.stopped >> agent & 1 == 1;
        for agent in (0..session.subject().agents()).filter(|&agent| !stopped(agent)) {
            run.restore(&snapshot);
            if run.step(agent).is_err() {
                continue;
            }
            let state = run.normal(run.state());
            let to = match found.get_index_of(&state) {
                Some(to) => to,
                None if found.len() < MOST => {
                    found.insert_full(state, (level + 1, run.snapshot())).0
                }
                None => continue,
            };
            if to != index {
                steps.push((index as u32, to as u32, agent as u32));
            }
        }
        index += 1;
    }
    let mut draw = |level: u32, snapshot: &Snapshot| {
        run.restore(snapshot);
        let inside = (0..n).filter(|&p| run.stand(p).section == Section::Critical).count();
        let state = snapshot.state();
        let broken = inside > k
            || snapshot.out_of_range().is_some()
            || machine.broken_invariant(&state.processes, &state.memory).is_some();
        let colour = if broken {
            "broken"
        } else if inside == k {
            "full"
        } else {
            "plain"
        };
        Drawn { id: None, level, colour, inside }
    };
    let states = found.values().map(|(level, snapshot)| draw(*level, snapshot)).collect();
    Ok(Drawing { whole: false, current: Some(0), states, steps })
}
