//! Decides starvation and deadlock without a stored graph (see [`liveness`](crate::liveness) for the argument).
//!
//! For each victim, and for deadlock, the search needs 5 bytes per state in addition to the set, and the stacks of
//! a depth-first search. A stored graph needs 4 bytes for each step.

use std::{
    ops::ControlFlow,
    sync::{
        OnceLock,
        atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering::Relaxed},
    },
};

use hallpass_algorithms::{Pid, Section};

use crate::{
    compact::{Memory, Numbered, SEGMENTS},
    explore::{Ended, Limits},
    graph::Part,
    liveness::{CycleSearch, fair_cycle_within},
    space::{Agent, Space},
    standing::Standing,
    store::{Id, NONE},
    tables::Tables,
};

use super::{
    AtLevel, Task,
    components::{Region, RegionComponents, STATES_PER_CHECK, Within, components},
    run,
    unfold::Unfolded,
};

/// The maximum number of processes. Sets of processes have 8 bits.
pub const MOST_PROCESSES: usize = 8;

/// The victim on a quotient by renamings. The quotient does not rename it.
pub const FIXED_VICTIM: Pid = 0;

/// Set in the movers of a component if a thread has computed its cost. On a quotient, no other bit of these movers is
/// used, except that of the victim.
const DONE: u8 = 0x80;

/// The memory that the search for a loop takes for each node, with room for growth.
pub(super) const BYTES_PER_NODE: u64 = 128;

/// A run in which a process starves, or in which no process enters.
pub struct Lasso<const W: usize> {
    /// The first state of the loop.
    pub start: AtLevel<W>,
    /// The processes that take steps in the loop, in order.
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
/// Fails if this reaches a limit, and returns which one.
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
        let components = components(&region, limits, memory, &report, |_| Ok(()))?;
        let traps = Traps::new(&region, components, limits, memory)?;
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
/// Fails if this reaches a limit, and returns which one.
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
    let components = components(&region, limits, memory, &report, |_| Ok(()))?;
    let traps = Traps::new(&region, components, limits, memory)?;
    let Some(cost) = traps.cost else { return Ok(None) };
    phase("finding a run to the cheapest trap");
    Ok(Some(Trap { victim: None, cost, lasso: traps.lasso(cost, limits, memory) }))
}

/// The components in which a victim takes steps.
struct Traps<'a, const W: usize> {
    region: &'a Region<'a, W>,
    components: RegionComponents<'a>,
    /// For each component: the processes that take steps in it.
    movers: Vec<AtomicU8>,
    cost: Option<usize>,
    memory: &'a Memory,
}

impl<const W: usize> Drop for Traps<'_, W> {
    fn drop(&mut self) {
        self.memory.give_back(self.movers.len() as u64);
    }
}

impl<'a, const W: usize> Traps<'a, W> {
    fn new(
        region: &'a Region<'a, W>,
        components: RegionComponents<'a>,
        limits: &Limits<'_>,
        memory: &'a Memory,
    ) -> Result<Self, Ended> {
        memory.take(u64::from(components.count))?;
        let movers = (0..components.count).map(|_| AtomicU8::new(0)).collect();
        let mut traps = Traps { region, components, movers, cost: None, memory };
        traps.for_each_in_region(limits, |id, state| {
            traps.note_movers(id, state);
            Ok(())
        })?;
        let cheapest = AtomicU32::new(u32::MAX);
        traps.for_each_in_region(limits, |id, state| {
            if region.is_quotient && traps.movers_at(id).fetch_or(DONE, Relaxed) & DONE != 0 {
                return Ok(());
            }
            if let Some(cost) = traps.cost_of(id, state)? {
                cheapest.fetch_min(cost as u32, Relaxed);
            }
            Ok(())
        })?;
        traps.cost = Some(cheapest.into_inner() as usize).filter(|&cost| cost != u32::MAX as usize);
        Ok(traps)
    }

    fn movers_at(&self, id: Id) -> &AtomicU8 {
        &self.movers[self.components.of[id as usize] as usize]
    }

    /// Calls `each` with every state of the region, on several threads. Ends if `each` fails.
    fn for_each_in_region(
        &self,
        limits: &Limits<'_>,
        each: impl Fn(Id, &[u64; W]) -> Result<(), Ended> + Sync,
    ) -> Result<(), Ended> {
        let next = AtomicUsize::new(0);
        let failed = OnceLock::new();
        let visit = |id: Id, state: [u64; W]| {
            if u64::from(id).is_multiple_of(STATES_PER_CHECK) && limits.stop.load(Relaxed) {
                failed.get_or_init(|| Ended::Stopped);
            }
            if self.components.of[id as usize] != NONE
                && let Err(limit) = each(id, &state)
            {
                failed.get_or_init(|| limit);
            }
            if failed.get().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        std::thread::scope(|scope| {
            for _ in 0..limits.threads.max(1) {
                scope.spawn(|| {
                    loop {
                        let segment = next.fetch_add(1, Relaxed);
                        if segment >= SEGMENTS
                            || self.region.states.try_for_each_in(segment as u8, visit).is_break()
                        {
                            return;
                        }
                    }
                });
            }
        });
        failed.into_inner().map_or(Ok(()), Err)
    }

    fn note_movers(&self, id: Id, state: &[u64; W]) {
        let component = self.components.of[id as usize];
        let movers = self.movers_at(id);
        // A process that is known to move in the component needs no look-up. On a quotient, only the victim has
        // the same number in all merged states.
        let of_others = if self.region.is_quotient { !(1 << FIXED_VICTIM) } else { 0 };
        let known = movers.load(Relaxed) | of_others;
        self.region.for_each_step(state, known, |process, to| {
            if self.components.of[to as usize] == component {
                movers.fetch_or(1 << process, Relaxed);
            }
        });
    }

    /// Returns the processes that a loop through this state keeps out, as a set of bits. If no process ends its entry
    /// section in a component, a process that is in its entry section in one state is there in all states.
    fn victims(&self, state: &[u64; W]) -> u64 {
        let tables = self.region.tables;
        match self.region.within {
            Within::Entry(victim) | Within::Section(victim, _) => 1 << victim,
            Within::NoneEnters => (0..tables.n)
                .filter(|&p| tables.section(state, p).is_entry())
                .fold(0, |victims, p| victims | 1 << p),
        }
    }

    /// Returns the number of processes that have stopped in the component of this state, if a victim moves
    /// in it. A process that does not move in a component is in the same section in all of its states.
    fn cost_of(&self, id: Id, state: &[u64; W]) -> Result<Option<usize>, Ended> {
        let mut movers = u64::from(self.movers_at(id).load(Relaxed) & !self.done());
        if movers & self.victims(state) == 0 {
            return Ok(None);
        }
        if self.region.is_quotient {
            movers = self.unfolded(id, state).movers(self.most_nodes())?;
        }
        let tables = self.region.tables;
        let has_stopped =
            |p: &Pid| movers >> p & 1 == 0 && tables.section(state, *p) != Section::Remainder;
        Ok(Some((0..tables.n).filter(has_stopped).count()))
    }

    /// Returns the bit of the movers that is not the bit of a process.
    fn done(&self) -> u8 {
        if self.region.is_quotient { DONE } else { 0 }
    }

    fn unfolded(&self, id: Id, state: &[u64; W]) -> Unfolded<'_, W> {
        Unfolded::new(self.region, &self.components.of, id, state)
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
            let is_inside = self.components.of[id as usize] != NONE;
            u64::from(is_inside && self.cost_of(id, state) == Ok(Some(cost)))
        };
        let task = Task { space, look: &is_trap, middle: 0, until_found: true };
        let mut roots = space.initial().map(|state| space.canonical(state));
        let account = Memory::new(memory.left());
        let unlimited = Limits { states: u64::MAX, ..*limits };
        let (found, _) = run::<W, [u64; W]>(&task, &mut roots, &unlimited, &account);
        memory.include(&account);
        let Some((level, state)) = found.marked[0] else { return Err(found.ended) };
        let start = states.find(&state).expect("the search has found every state");
        let is_victim = |node: Id, agent: Agent| match self.region.within {
            Within::Entry(victim) | Within::Section(victim, _) => agent == victim,
            Within::NoneEnters => {
                agent < self.region.tables.n
                    && self.region.tables.section(&states.get(node), agent).is_entry()
            }
        };
        let search = CycleSearch { cost, most: self.most_nodes(), stop: Some(limits.stop) };
        let cycle = if self.region.is_quotient {
            let unfolded = self.unfolded(start, &state);
            fair_cycle_within(&unfolded, &unfolded, &|_: Id| true, 0, search, is_victim)
        } else {
            let of = &self.components.of;
            let inside = Component { of, component: of[start as usize] };
            let standing = Decoded { tables: self.region.tables, states };
            fair_cycle_within(self.region, &standing, &inside, start, search, is_victim)
        }?;
        Ok(Lasso { start: AtLevel { level, state }, cycle })
    }
}

/// One component.
pub(super) struct Component<'a> {
    pub of: &'a [u32],
    pub component: u32,
}

impl Part for Component<'_> {
    fn node(&self, node: Id) -> bool {
        self.of[node as usize] == self.component
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
