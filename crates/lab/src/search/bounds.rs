//! Finds the largest number of steps that a process takes in one section, without a stored graph.
//!
//! The states in which the process is in the section are a region. If the process takes a step within a strongly
//! connected component of the region, there is no bound. Otherwise the bound is the weight of a heaviest path: a step
//! of the process has weight 1, and any other step has weight 0. The search finds a component after all components
//! that can be reached from it, so it knows the heaviest paths from those.

use std::{ops::ControlFlow, sync::atomic::Ordering::Relaxed};

use hallpass_algorithms::{Pid, Section};

use crate::{
    compact::{LAST_SEGMENT, Memory, Numbered},
    explore::{Ended, Limits},
    graph::{Bound, Edges, HeaviestFrom, heaviest_path},
    space::{Agent, Space},
    store::Id,
    tables::Tables,
};

use super::{
    AtLevel, Marked, Nothing, Task,
    components::{Found, Region, RegionComponents, STATES_PER_CHECK, Stack, Within, components},
    numbers::Dense,
    roots, run,
    starvation::BYTES_PER_NODE,
};

/// The value that stands for a weight without a bound.
const UNBOUNDED: u32 = u32::MAX;

/// A run with the maximum number of steps in the section.
pub struct LongestRun<const W: usize> {
    /// The first state of the path. The process is in the section.
    pub start: AtLevel<W>,
    /// The agent of each step until the process leaves the section, or until the loop begins.
    pub path: Vec<Agent>,
    /// The agent of each step of a loop; empty if there is a bound.
    pub cycle: Vec<Agent>,
}

/// The largest number of steps in a section.
pub struct Longest<const W: usize> {
    /// The process that takes these steps.
    pub process: Pid,
    /// The number of its steps.
    pub bound: Bound,
    /// A run, or the limit that prevents finding one.
    pub run: Result<LongestRun<W>, Ended>,
}

/// Returns the largest number of steps that one of `processes` takes in the section. The doorway begins with the first
/// step after the remainder. `states` are all reachable states of `space`. Returns `None` if no process is ever in the
/// section.
///
/// # Errors
/// Fails if the search reaches a limit, and returns which one.
pub fn longest_section<const W: usize>(
    space: &dyn Space<W>,
    tables: &Tables,
    states: &Numbered<W>,
    (processes, section): (&[Pid], Section),
    limits: &Limits<'_>,
    memory: &Memory,
    report: &dyn Fn(Pid, u64),
) -> Result<Option<Longest<W>>, Ended> {
    let mut longest: Option<Longest<W>> = None;
    for &process in processes {
        report(process, 0);
        let within = Within::Section(process, section);
        let region = Region { space, tables, states, within, is_quotient: false };
        let weights = Weights::new(&region, process, limits, memory, &|visited| {
            report(process, visited);
        })?;
        let Some(bound) = weights.most(limits)? else { continue };
        if longest.as_ref().is_none_or(|longest| bound > longest.bound) {
            let run = weights.run(bound, limits, memory);
            longest = Some(Longest { process, bound, run });
        }
    }
    Ok(longest)
}

/// The heaviest paths of a region.
struct Weights<'a, const W: usize> {
    region: &'a Region<'a, W>,
    process: Pid,
    components: RegionComponents<'a>,
    /// For each component: the weight of a heaviest path that starts in it.
    from: Stack<'a, u32>,
}

impl<const W: usize> HeaviestFrom for Weights<'_, W> {
    fn component(&self, node: Id) -> u32 {
        self.components.of[node as usize]
    }

    fn of_component(&self, component: u32) -> Bound {
        match self.from.items[component as usize] {
            UNBOUNDED => Bound::Unbounded,
            most => Bound::Most(most),
        }
    }
}

impl<'a, const W: usize> Weights<'a, W> {
    fn new(
        region: &'a Region<'a, W>,
        process: Pid,
        limits: &Limits<'_>,
        memory: &'a Memory,
        report: &dyn Fn(u64),
    ) -> Result<Self, Ended> {
        let mut from = Stack::new(memory);
        let components = components(region, limits, memory, report, |found| {
            let heaviest = heaviest(region, process, found, &from.items);
            Ok(from.push(heaviest)?)
        })?;
        Ok(Weights { region, process, components, from })
    }

    /// Returns whether the section begins in this state. Every state of an exit section counts as a beginning: the
    /// first state is among them, and no path from a later state is heavier.
    fn begins(&self, state: &[u64; W]) -> bool {
        let tables = self.region.tables;
        match self.region.within {
            Within::Section(p, Section::Doorway) => tables.code(state, p) == tables.begin(p),
            _ => true,
        }
    }

    /// Returns the weight of a heaviest path from the beginning of the section.
    fn most(&self, limits: &Limits<'_>) -> Result<Option<Bound>, Ended> {
        let mut most = None;
        let each = |id: Id, state: [u64; W]| {
            if u64::from(id).is_multiple_of(STATES_PER_CHECK) && limits.stop.load(Relaxed) {
                return ControlFlow::Break(());
            }
            if self.region.contains(&state) && self.begins(&state) {
                most = most.max(Some(self.of_node(id)));
            }
            ControlFlow::Continue(())
        };
        let mut each = each;
        for segment in 0..=LAST_SEGMENT {
            if self.region.states.try_for_each_in(segment, &mut each).is_break() {
                return Err(Ended::Stopped);
            }
        }
        Ok(most)
    }

    /// Returns a run with `bound` steps in the section. Of the states in which such a run can begin, it begins in one
    /// that is nearest to the initial states.
    fn run(
        &self,
        bound: Bound,
        limits: &Limits<'_>,
        memory: &Memory,
    ) -> Result<LongestRun<W>, Ended> {
        let (space, states) = (self.region.space, self.region.states);
        let is_start = |state: &[u64; W]| {
            let is_start = self.region.contains(state)
                && self.begins(state)
                && self.of_node(self.region.number(state)) == bound;
            u64::from(is_start)
        };
        let task = Task { space, look: &is_start, middle: 0, until_found: true };
        let account = Memory::new(memory.left());
        let unlimited = Limits { states: u64::MAX, ..*limits };
        let (found, _) = run::<W, Nothing>(&task, &|| roots(space), &unlimited, &account);
        memory.include(&account);
        let Some(Marked { level, state, .. }) = found.marked[0] else { return Err(found.ended) };
        let start = states.find(&state).expect("the search has found every state");
        let weight = |_: Id, agent: Agent| u32::from(agent == self.process);
        let most_nodes = (memory.left() / BYTES_PER_NODE) as usize;
        let steps = AllSteps { region: self.region };
        let (path, cycle) = heaviest_path(&steps, self, weight, start, most_nodes)?;
        Ok(LongestRun { start: AtLevel { level, state }, path, cycle })
    }
}

/// Returns the weight of a heaviest path from a component. `from` has the weights for the components that were found
/// before.
fn heaviest<const W: usize>(
    region: &Region<'_, W>,
    process: Pid,
    found: &Found<'_, Dense>,
    from: &[u32],
) -> u32 {
    let mut heaviest = 0;
    for id in found.members() {
        let state = region.states.get(id);
        region.space.successors(&state, &mut |agent, next| {
            if agent >= region.tables.n {
                return;
            }
            let weight = u32::from(agent == process);
            let beyond = if region.contains(&next) {
                match found.numbers.component_of(region.number(&region.space.canonical(next))) {
                    same if same == found.component && weight > 0 => UNBOUNDED,
                    same if same == found.component => return,
                    other => from[other as usize],
                }
            } else {
                0
            };
            heaviest = heaviest.max(beyond.saturating_add(weight));
        });
    }
    heaviest
}

/// All steps of processes, also those that leave the region.
struct AllSteps<'a, const W: usize> {
    region: &'a Region<'a, W>,
}

impl<const W: usize> Edges for AllSteps<'_, W> {
    fn for_each_edge(&self, node: Id, each: &mut dyn FnMut(Agent, Id)) {
        let Region { space, tables, states, .. } = *self.region;
        space.successors(&states.get(node), &mut |agent, next| {
            if agent < tables.n {
                each(agent, self.region.number(&space.canonical(next)));
            }
        });
    }
}
