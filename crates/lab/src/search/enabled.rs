//! Decides FIFE (first in, first enabled) without a stored graph (see [`fife`](crate::fife) for the argument).
//!
//! For each process of a pair, the search needs 4 bytes per state and 1 byte per component, to know in which states
//! the process is enabled. The states with their history are in a separate compact set.

use hallpass_algorithms::{Pid, Section};

use crate::{
    compact::{Memory, Numbered},
    explore::{Ended, Limits},
    fife::{self, IN_ORDER, OVERTAKEN, OVERTAKEN_STRONG, SECOND_WAITS, history, id_of},
    graph::shortest_within,
    liveness::{CycleSearch, fair_cycle_within},
    space::{Agent, Space},
    store::{Id, NONE},
    tables::Tables,
};

use super::{
    components::{Region, RegionComponents, Stack, Within, components},
    run_to, search,
    starvation::{BYTES_PER_NODE, Decoded},
};

/// The component reaches a loop in which the process takes steps.
const REACHES: u8 = 1;
/// The component contains a loop in which the process takes steps.
const HERE: u8 = 2;

/// The states in which a process is in its entry section and not enabled (see
/// [`liveness::KeptOut`](crate::liveness::KeptOut)).
pub struct KeptOut<'a, const W: usize> {
    region: Region<'a, W>,
    process: Pid,
    components: RegionComponents<'a>,
    /// For each component: [`REACHES`] and [`HERE`].
    reaches: Stack<'a, u8>,
    memory: &'a Memory,
}

impl<'a, const W: usize> KeptOut<'a, W> {
    /// Computes the states in which `process` is in its entry section and not enabled. `states` are all reachable
    /// states of `space`.
    ///
    /// # Errors
    /// Fails if the computation reaches a limit. The error says which one.
    pub fn new(
        space: &'a dyn Space<W>,
        tables: &'a Tables,
        states: &'a Numbered<W>,
        process: Pid,
        (limits, memory): (&Limits<'_>, &'a Memory),
        report: &dyn Fn(u64),
    ) -> Result<Self, Ended> {
        let within = Within::Entry(process);
        let region = Region { space, tables, states, within, is_quotient: false };
        let mut reaches: Stack<'a, u8> = Stack::new(memory);
        let components = components(&region, limits, memory, report, |found| {
            let mut flags = 0;
            for id in found.members() {
                region.for_each_step(&states.get(id), 0, |agent, to| {
                    match found.numbers.component_of(to) {
                        same if same != found.component => {
                            flags |= reaches.items[same as usize] & REACHES;
                        }
                        _ if agent == process => flags |= REACHES | HERE,
                        _ => {}
                    }
                });
            }
            Ok(reaches.push(flags)?)
        })?;
        Ok(KeptOut { region, process, components, reaches, memory })
    }

    fn flags(&self, id: Id) -> u8 {
        match self.components.of[id as usize] {
            NONE => 0,
            component => self.reaches.items[component as usize],
        }
    }

    fn contains(&self, id: Id) -> bool {
        self.flags(id) & REACHES != 0
    }

    /// Returns a run from `node` in which the process never enters: the path to a cycle, and a cycle in
    /// which the process takes steps. Any other process may have stopped.
    fn evidence(&self, node: Id, limits: &Limits<'_>) -> Result<(Vec<Agent>, Vec<Agent>), Ended> {
        let most = (self.memory.left() / BYTES_PER_NODE) as usize;
        let here = |id: Id| self.flags(id) & HERE != 0;
        let (path, at) = shortest_within(&self.region, node, |id| self.contains(id), here, most)?
            .expect("it reaches a cycle");
        let of = &self.components.of;
        let inside = |id: Id| of[id as usize] == of[at as usize];
        let standing = Decoded { tables: self.region.tables, states: self.region.states };
        let any_number = self.region.tables.n;
        let is_process = |_: Id, agent: Agent| agent == self.process;
        let search = CycleSearch { cost: any_number, most, stop: Some(limits.stop) };
        let cycle = fair_cycle_within(&self.region, &standing, &inside, at, search, is_process)?;
        Ok((path, cycle))
    }
}

/// An ordered pair of processes, as a [`Space`] (see [`fife::Pair`]). A state of this space is the number of a state of
/// the algorithm, with three bits of history.
pub struct Pair<'a, const W: usize> {
    /// The process that leaves its doorway first.
    pub first: Pid,
    /// The process that enters its doorway afterwards.
    pub second: Pid,
    /// The states in which `first` is not enabled.
    pub first_kept_out: &'a KeptOut<'a, W>,
    /// The states in which `second` is not enabled.
    pub second_kept_out: &'a KeptOut<'a, W>,
}

/// A run in which `second` overtakes `first`.
pub struct Overtaking<const W: usize> {
    /// The initial state.
    pub start: [u64; W],
    /// The agent of each step until the loop begins.
    pub stem: Vec<Agent>,
    /// The number of steps until `first` is overtaken.
    pub at: usize,
    /// The agent of each step of a loop in which `first` never enters.
    pub cycle: Vec<Agent>,
}

/// The violations of FIFE for a pair.
pub struct Overtakings<const W: usize> {
    /// For [`OVERTAKEN`] and [`OVERTAKEN_STRONG`]: a run, or the limit that prevents finding one. `None` if there is no
    /// violation.
    pub runs: [Option<Result<Overtaking<W>, Ended>>; 2],
    /// The reason why the search ended.
    pub ended: Ended,
}

impl<const W: usize> Pair<'_, W> {
    fn region(&self) -> &Region<'_, W> {
        &self.first_kept_out.region
    }

    /// Searches for violations.
    pub fn overtakings(&self, limits: &Limits<'_>) -> Overtakings<W> {
        let memory = self.first_kept_out.memory;
        let limits = Limits { states: u64::MAX, bytes: memory.left(), ..*limits };
        let found = search(self, &limits);
        let account = Memory::new(found.bytes);
        if account.take(found.bytes).is_ok() {
            memory.include(&account);
        }
        let run = |bit: u32| {
            let goal = found.violating(bit)?;
            Some(run_to(self, &goal, &limits).and_then(|(start, steps)| {
                let here = steps.last().map_or(start, |&(_, state)| state);
                let (way, cycle) = self.first_kept_out.evidence(id_of(&here), &limits)?;
                let at = steps.len();
                let stem = steps.iter().map(|&(agent, _)| agent).chain(way).collect();
                Ok(Overtaking { start: self.region().states.get(id_of(&start)), stem, at, cycle })
            }))
        };
        Overtakings { runs: [run(OVERTAKEN), run(OVERTAKEN_STRONG)], ended: found.ended }
    }
}

impl<const W: usize> Space<1> for Pair<'_, W> {
    fn agents(&self) -> usize {
        self.region().space.agents()
    }

    fn word_bits(&self) -> [u32; 1] {
        [fife::BITS]
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; 1]> + '_> {
        let Region { space, .. } = *self.region();
        let number = |state| u64::from(self.region().number(&space.canonical(state)));
        Box::new(space.initial().map(move |state| [number(state)]))
    }

    fn successors(&self, state: &[u64; 1], each: &mut dyn FnMut(Agent, [u64; 1])) {
        let Region { space, tables, states, .. } = *self.region();
        let from = states.get(id_of(state));
        let second_from = tables.section(&from, self.second);
        space.successors(&from, &mut |agent, to| {
            let sections = [self.first, self.second].map(|p| tables.section(&to, p));
            let id = self.region().number(&space.canonical(to));
            each(agent, [u64::from(id) | history(state[0], second_from, sections)]);
        });
    }

    fn violations(&self, state: &[u64; 1]) -> u64 {
        let id = id_of(state);
        if state[0] & IN_ORDER == 0 || !self.first_kept_out.contains(id) {
            return 0;
        }
        let section = self.region().tables.section(&self.region().states.get(id), self.second);
        let inside = section == Section::Critical;
        let enabled = state[0] & SECOND_WAITS != 0 && !self.second_kept_out.contains(id);
        u64::from(inside) << OVERTAKEN | u64::from(enabled) << OVERTAKEN_STRONG
    }
}
