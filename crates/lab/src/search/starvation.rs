//! Decides starvation and deadlock without a stored graph (see [`liveness`](crate::liveness) for the argument).
//!
//! For each victim, and for deadlock, a depth-first search finds the components of the graph one after another. In
//! addition to the set of reachable states, the search needs 3 bits for each state, and a number for each state on its
//! stacks. A stored graph would need 4 bytes for each step.

use std::sync::atomic::Ordering::Relaxed;

use hallpass_algorithms::{Pid, Section};

use crate::{
    compact::{Memory, Numbered},
    explore::{Ended, Limits},
    liveness::{CycleSearch, fair_cycle_within},
    space::{Agent, Space},
    standing::Standing,
    store::Id,
    tables::Tables,
};

use super::{
    AtLevel, Marked, Nothing, Task,
    bits::Bits,
    components::{Found, Region, STATES_PER_CHECK, Within, for_each_component},
    numbers::Sparse,
    roots, run,
    unfold::Unfolded,
};

/// The maximum number of processes. Sets of processes have 8 bits.
pub const MOST_PROCESSES: usize = 8;

/// The victim on a quotient by renamings. Such a quotient merges states that differ only by a renaming of the other
/// processes.
pub const FIXED_VICTIM: Pid = 0;

/// The memory that the search for a loop takes for each node, with room for growth.
pub(super) const BYTES_PER_NODE: u64 = 128;

/// A run in which a process starves, or in which no process enters.
pub struct Lasso<const W: usize> {
    /// The first state of the loop.
    pub start: AtLevel<W>,
    /// The agent of each step of the loop.
    pub cycle: Vec<Agent>,
}

/// The cheapest way to starve a process, or to keep all processes out.
pub struct Trap<const W: usize> {
    /// The process that starves. `None` if no process enters.
    pub victim: Option<Pid>,
    /// The smallest number of stopped processes.
    pub cost: usize,
    /// A run, or the limit that prevents finding one.
    pub lasso: Result<Lasso<W>, Ended>,
}

impl<const W: usize> Trap<W> {
    /// Returns a rank: the cost, then the length of the path. A trap with a smaller rank is preferred.
    fn rank(&self) -> (usize, u32) {
        (self.cost, self.lasso.as_ref().map_or(u32::MAX, |lasso| lasso.start.level))
    }
}

/// Returns the cheapest way to starve one of `victims`. `states` are all reachable states of `space`.
///
/// If the space is a quotient by renamings, process 0 must keep its number, and it is the only victim. The loop of
/// the lasso then begins in the representative `start`.
///
/// # Errors
/// Fails if the search reaches a limit. The error says which one.
pub fn cheapest_trap<const W: usize>(
    space: &dyn Space<W>,
    tables: &Tables,
    states: &Numbered<W>,
    (victims, is_quotient): (&[Pid], bool),
    limits: &Limits<'_>,
    memory: &Memory,
    phase: &dyn Fn(&str),
) -> Result<Option<Trap<W>>, Ended> {
    assert!(tables.n <= MOST_PROCESSES, "the caller checks the size");
    assert!(!is_quotient || *victims == [FIXED_VICTIM], "only the victim keeps its number");
    let mut best: Option<Trap<W>> = None;
    for &victim in victims {
        let report = |visited: u64| {
            let millions = visited / 1_000_000;
            phase(&format!("starvation of process {victim}, {millions} million states visited"));
        };
        report(0);
        let region = Region { space, tables, states, within: Within::Entry(victim), is_quotient };
        let traps = Traps::new(&region, limits, memory, &report)?;
        let Some(cost) = traps.cost else { continue };
        if best.as_ref().is_none_or(|best| cost <= best.cost) {
            phase("finding a run to the cheapest trap");
            let trap =
                Trap { victim: Some(victim), cost, lasso: traps.lasso(cost, limits, memory) };
            if best.as_ref().is_none_or(|best| trap.rank() < best.rank()) {
                best = Some(trap);
            }
        }
    }
    Ok(best)
}

/// Returns the cheapest way to keep all processes out while one tries to enter. `states` are all reachable states of
/// `space`.
///
/// # Errors
/// Fails if the search reaches a limit. The error says which one.
pub fn cheapest_deadlock<const W: usize>(
    space: &dyn Space<W>,
    tables: &Tables,
    states: &Numbered<W>,
    limits: &Limits<'_>,
    memory: &Memory,
    phase: &dyn Fn(&str),
) -> Result<Option<Trap<W>>, Ended> {
    assert!(tables.n <= MOST_PROCESSES, "the caller checks the size");
    let report =
        |visited: u64| phase(&format!("deadlock, {} million states visited", visited / 1_000_000));
    report(0);
    let region = Region { space, tables, states, within: Within::NoneEnters, is_quotient: false };
    let traps = Traps::new(&region, limits, memory, &report)?;
    let Some(cost) = traps.cost else { return Ok(None) };
    phase("finding a run to the cheapest trap");
    Ok(Some(Trap { victim: None, cost, lasso: traps.lasso(cost, limits, memory) }))
}

/// The cheapest traps found so far: components in which a victim takes steps and as few processes as possible have
/// stopped.
struct Traps<'a, const W: usize> {
    region: &'a Region<'a, W>,
    /// The states of these components.
    members: Bits<'a>,
    cost: Option<usize>,
    memory: &'a Memory,
}

impl<'a, const W: usize> Traps<'a, W> {
    fn new(
        region: &'a Region<'a, W>,
        limits: &Limits<'_>,
        memory: &'a Memory,
        report: &dyn Fn(u64),
    ) -> Result<Self, Ended> {
        let members = Bits::new(region.states.len(), memory)?;
        let mut traps = Traps { region, members, cost: None, memory };
        for_each_component(region, limits, memory, report, |found| {
            // Most components have one state and no loop.
            if found.has_loop
                && let Some(cost) = traps.cost_of(found, limits)?
            {
                traps.add(cost, found);
            }
            Ok(())
        })?;
        Ok(traps)
    }

    /// Adds a component, unless a cheaper one is known.
    fn add(&mut self, cost: usize, found: &Found<'_, Sparse<'_>>) {
        if self.cost.is_none_or(|least| cost < least) {
            self.cost = Some(cost);
            self.members.clear();
        }
        if self.cost == Some(cost) {
            found.members().for_each(|id| self.members.insert(id));
        }
    }

    /// Returns the processes that take steps in a component, as a set of bits. On a quotient, only the victim has the
    /// same number in all merged states, and the set contains at most the victim.
    fn movers(&self, found: &Found<'_, Sparse<'_>>, limits: &Limits<'_>) -> Result<u8, Ended> {
        let tables = self.region.tables;
        let of_others = if self.region.is_quotient { !(1 << FIXED_VICTIM) } else { 0 };
        let all = (u8::MAX >> (MOST_PROCESSES - tables.n)) & !of_others;
        let mut movers = 0;
        for (index, id) in found.members().enumerate() {
            if (index as u64).is_multiple_of(STATES_PER_CHECK) && limits.stop.load(Relaxed) {
                return Err(Ended::Stopped);
            }
            // A process that is known to move in the component needs no look-up.
            let known = movers | of_others;
            self.region.for_each_step(&self.region.states.get(id), known, |process, to| {
                if process < tables.n && found.numbers.is_closing(to) {
                    movers |= 1 << process;
                }
            });
            if movers == all {
                break;
            }
        }
        Ok(movers)
    }

    /// Returns the processes that a loop through this state keeps out, as a set of bits. In the region
    /// [`Within::NoneEnters`], no step ends an entry section. So a process that is in its entry section in one state of
    /// a component is in its entry section in all states of this component.
    fn victims(&self, state: &[u64; W]) -> u64 {
        let tables = self.region.tables;
        match self.region.within {
            Within::Entry(victim) | Within::Section(victim, _) => 1 << victim,
            Within::NoneEnters => (0..tables.n)
                .filter(|&p| tables.section(state, p).is_entry())
                .fold(0, |victims, p| victims | 1 << p),
        }
    }

    /// Returns the number of processes that have stopped in a component, if a victim moves in it. A process that
    /// does not move in a component is in the same section in all of its states.
    fn cost_of(
        &self,
        found: &Found<'_, Sparse<'_>>,
        limits: &Limits<'_>,
    ) -> Result<Option<usize>, Ended> {
        let state = self.region.states.get(found.last);
        let victims = self.victims(&state);
        if victims == 0 {
            return Ok(None);
        }
        let mut movers = u64::from(self.movers(found, limits)?);
        if movers & victims == 0 {
            return Ok(None);
        }
        if self.region.is_quotient {
            let inside = |id| found.numbers.is_closing(id);
            let unfolded = Unfolded::new(self.region, &inside, &state);
            movers = unfolded.movers(self.most_nodes())?;
            self.memory.include_bytes(unfolded.bytes());
        }
        let tables = self.region.tables;
        let has_stopped =
            |p: &Pid| movers >> p & 1 == 0 && tables.section(&state, *p) != Section::Remainder;
        Ok(Some((0..tables.n).filter(has_stopped).count()))
    }

    /// Returns the maximum number of nodes of a search in one component.
    fn most_nodes(&self) -> usize {
        (self.memory.left() / BYTES_PER_NODE) as usize
    }

    /// Returns a run with a shortest path to a loop with `cost` stopped processes, and a shortest such loop.
    fn lasso(&self, cost: usize, limits: &Limits<'_>, memory: &Memory) -> Result<Lasso<W>, Ended> {
        let (space, states) = (self.region.space, self.region.states);
        let is_trap = |state: &[u64; W]| {
            let id = states.find(state).expect("the search has found every state");
            u64::from(self.members.contains(id))
        };
        let task = Task { space, look: &is_trap, middle: 0, until_found: true };
        let account = Memory::new(memory.left());
        let unlimited = Limits { states: u64::MAX, ..*limits };
        let (found, _) = run::<W, Nothing>(&task, &|| roots(space), &unlimited, &account);
        memory.include(&account);
        let Some(Marked { level, state, .. }) = found.marked[0] else { return Err(found.ended) };
        let start = states.find(&state).expect("the search has found every state");
        let is_victim = |node: Id, agent: Agent| match self.region.within {
            Within::Entry(victim) | Within::Section(victim, _) => agent == victim,
            Within::NoneEnters => {
                agent < self.region.tables.n
                    && self.region.tables.section(&states.get(node), agent).is_entry()
            }
        };
        let search = CycleSearch { cost, most: self.most_nodes(), stop: Some(limits.stop) };
        // The members of other components do no harm: no path leads from them back to the start.
        let inside = |id: Id| self.members.contains(id);
        let cycle = if self.region.is_quotient {
            let unfolded = Unfolded::new(self.region, &inside, &state);
            fair_cycle_within(&unfolded, &unfolded, &|_: Id| true, 0, search, is_victim)
        } else {
            let standing = Decoded { tables: self.region.tables, states };
            fair_cycle_within(self.region, &standing, &inside, start, search, is_victim)
        }?;
        Ok(Lasso { start: AtLevel { level, state }, cycle })
    }
}

/// The sections of processes in numbered states.
pub(super) struct Decoded<'a, const W: usize> {
    pub tables: &'a Tables,
    pub states: &'a Numbered<W>,
}

impl<const W: usize> Standing for Decoded<'_, W> {
    fn n(&self) -> usize {
        self.tables.n
    }

    fn section(&self, id: Id, p: Pid) -> Section {
        self.tables.section(&self.states.get(id), p)
    }

    fn begins(&self, id: Id, p: Pid) -> bool {
        self.tables.code(&self.states.get(id), p) == self.tables.begin(p)
    }

    fn has_settled(&self, _: Id, _: Pid) -> bool {
        true // the search has no store buffers
    }
}
