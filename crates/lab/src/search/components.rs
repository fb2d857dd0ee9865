//! Strongly connected components of a graph that is not stored. A step is computed whenever it is needed.

use std::{ops::ControlFlow, sync::atomic::Ordering::Relaxed};

use hallpass_algorithms::{Pid, Section};

use crate::{
    compact::{LAST_SEGMENT, Memory, Numbered, OutOfMemory, Sought},
    explore::{Ended, Limits},
    graph::Edges,
    space::{Agent, Space},
    store::Id,
    tables::Tables,
};

use super::numbers::{Dense, Numbers, Sparse, UNSEEN};

/// The reason why every state that a step leads to has a number.
const FOUND: &str = "the search has found every successor";

/// The states and steps of a region.
#[derive(Clone, Copy)]
pub(super) enum Within {
    /// The states in which the process is in its entry section.
    Entry(Pid),
    /// The states in which the process is in this section.
    Section(Pid, Section),
    /// All states, and the steps by which no process ends its entry section.
    NoneEnters,
}

/// A part of the graph of all states: some states, and steps of processes between them. Mishaps count as steps if they
/// recur.
pub(super) struct Region<'a, const W: usize> {
    pub space: &'a dyn Space<W>,
    pub tables: &'a Tables,
    pub states: &'a Numbered<W>,
    pub within: Within,
    /// Whether the space merges states that differ only by a renaming of processes. The process of the region keeps its
    /// number.
    pub is_quotient: bool,
}

impl<const W: usize> Region<'_, W> {
    #[inline]
    pub fn contains(&self, state: &[u64; W]) -> bool {
        match self.within {
            Within::Entry(p) => self.tables.section(state, p).is_entry(),
            Within::Section(p, section) => self.tables.section(state, p) == section,
            Within::NoneEnters => true,
        }
    }

    /// Returns whether a step from a state of the region belongs to the region.
    #[inline]
    pub fn has_step(&self, from: &[u64; W], agent: Agent, to: &[u64; W]) -> bool {
        let is_mishap = agent >= self.tables.n;
        (!is_mishap || self.tables.mishaps_recur)
            && match self.within {
                Within::Entry(_) | Within::Section(..) => self.contains(to),
                // A mishap that recurs does not change the section of its process.
                Within::NoneEnters => {
                    is_mishap
                        || !self.tables.section(from, agent).is_entry()
                        || self.tables.section(to, agent).is_entry()
                }
            }
    }

    /// Lists the steps within the region: the process that takes each step, and the next state.
    #[inline]
    fn steps(&self, state: &[u64; W], steps: &mut Vec<(Agent, [u64; W])>) {
        steps.clear();
        self.space.successors(state, &mut |agent, next| {
            if self.has_step(state, agent, &next) {
                steps.push((agent, self.space.canonical(next)));
            }
        });
    }

    /// Returns the number of a state that the search has found.
    pub fn number(&self, state: &[u64; W]) -> Id {
        self.states.find(state).expect(FOUND)
    }

    /// Calls `each` with the steps within the region. Skips the processes in `skip`.
    pub fn for_each_step(&self, state: &[u64; W], skip: u8, mut each: impl FnMut(Agent, Id)) {
        self.space.successors(state, &mut |agent, next| {
            if self.has_step(state, agent, &next) && u32::from(skip) >> agent & 1 == 0 {
                each(agent, self.number(&self.space.canonical(next)));
            }
        });
    }
}

impl<const W: usize> Edges for Region<'_, W> {
    fn for_each_edge(&self, node: Id, each: &mut dyn FnMut(Agent, Id)) {
        self.for_each_step(&self.states.get(node), 0, each);
    }
}

/// A stack whose memory counts towards the limit.
pub(super) struct Stack<'a, T> {
    pub items: Vec<T>,
    memory: &'a Memory,
}

impl<'a, T> Stack<'a, T> {
    pub fn new(memory: &'a Memory) -> Self {
        Stack { items: Vec::new(), memory }
    }

    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), OutOfMemory> {
        if self.items.len() == self.items.capacity() {
            let more = self.items.len() / 4 + 1024;
            self.memory.take((more * size_of::<T>()) as u64)?;
            self.items.reserve_exact(more);
        }
        self.items.push(item);
        Ok(())
    }
}

impl<T> Drop for Stack<'_, T> {
    fn drop(&mut self) {
        self.memory.give_back((self.items.capacity() * size_of::<T>()) as u64);
    }
}

/// The components of a region. A component has a larger number than the components that can be reached from it.
pub(super) struct RegionComponents<'a> {
    /// For each state: its component, or [`NONE`](crate::store::NONE) outside the region.
    pub of: Vec<u32>,
    memory: &'a Memory,
}

impl Drop for RegionComponents<'_> {
    fn drop(&mut self) {
        self.memory.give_back(self.of.len() as u64 * 4);
    }
}

/// A component that the search has just found. All components that can be reached from it have been found before.
pub(super) struct Found<'a, N> {
    pub component: u32,
    /// The states of the component, without `last`.
    pub others: &'a [Id],
    pub last: Id,
    /// Whether some step of the region leads from a state of the component to a state of the component.
    pub has_loop: bool,
    pub numbers: &'a N,
}

impl<N> Found<'_, N> {
    pub fn members(&self) -> impl Iterator<Item = Id> {
        self.others.iter().copied().chain([self.last])
    }
}

/// The bit of a mark (see [`DepthFirst::marks`]) that is set while the state may still be the root of its component.
const ROOT: u8 = 0x80;
/// The bit of a mark that is set if a step leads from the state to itself.
const SELF: u8 = 0x40;
/// The bits of a mark that count the children that are left to visit. A state has at most one child for each agent.
const CHILDREN: u8 = 0x3f;

/// The depth-first search of Pearce (see [`graph::components`](crate::graph::components)). Each state of the region is
/// visited once. The visit computes the steps from the state, and puts the children that are left to visit on the stack
/// `children`. So the search computes the steps from a state only once.
struct DepthFirst<'a, const W: usize, N, F> {
    region: &'a Region<'a, W>,
    numbers: N,
    /// The number of the next state that is visited.
    next: u32,
    /// The number of components that are complete.
    closed: u32,
    /// The states on the path from the start of the search to the current state. Each is a *call* of the search.
    calls: Stack<'a, Id>,
    /// For each call, a mark: the number of children that are left to visit, [`ROOT`] and [`SELF`].
    marks: Stack<'a, u8>,
    /// The children that are left to visit: those of the first call, then those of the second, and so on.
    children: Stack<'a, Id>,
    /// The states that the search has left, and whose component is not complete.
    waiting: Stack<'a, Id>,
    /// The steps from the state that is being visited, and what the look-up of their states needs.
    steps: Vec<(Agent, [u64; W])>,
    sought: Sought,
    /// The number of states visited so far.
    visited: u64,
    limits: &'a Limits<'a>,
    report: &'a dyn Fn(u64),
    each: F,
}

/// Finds the components of a region, and calls `each` with every component when it is found. Calls `report` from
/// time to time with the number of states visited.
///
/// # Errors
/// Fails if the search reaches a limit. The error says which one.
pub(super) fn components<'m, const W: usize>(
    region: &Region<'_, W>,
    limits: &Limits<'_>,
    memory: &'m Memory,
    report: &dyn Fn(u64),
    each: impl FnMut(&Found<'_, Dense>) -> Result<(), Ended>,
) -> Result<RegionComponents<'m>, Ended> {
    let states = region.states.len();
    memory.take(u64::from(states) * 4)?;
    match depth_first(region, Dense::new(states), limits, memory, report, each) {
        Ok(numbers) => Ok(RegionComponents { of: numbers.into_components(), memory }),
        Err(ended) => {
            memory.give_back(u64::from(states) * 4);
            Err(ended)
        }
    }
}

/// Calls `each` with every component of a region, like [`components`], but does not keep the components.
///
/// # Errors
/// Fails if the search reaches a limit. The error says which one.
pub(super) fn for_each_component<const W: usize>(
    region: &Region<'_, W>,
    limits: &Limits<'_>,
    memory: &Memory,
    report: &dyn Fn(u64),
    each: impl FnMut(&Found<'_, Sparse<'_>>) -> Result<(), Ended>,
) -> Result<(), Ended> {
    let numbers = Sparse::new(region.states.len(), memory)?;
    depth_first(region, numbers, limits, memory, report, each).map(|_| ())
}

/// Returns the numbers of all states.
fn depth_first<const W: usize, N: Numbers>(
    region: &Region<'_, W>,
    numbers: N,
    limits: &Limits<'_>,
    memory: &Memory,
    report: &dyn Fn(u64),
    each: impl FnMut(&Found<'_, N>) -> Result<(), Ended>,
) -> Result<N, Ended> {
    let mut search = DepthFirst {
        region,
        numbers,
        next: 1,
        closed: 0,
        calls: Stack::new(memory),
        marks: Stack::new(memory),
        children: Stack::new(memory),
        waiting: Stack::new(memory),
        steps: Vec::new(),
        sought: Sought::default(),
        visited: 0,
        limits,
        report,
        each,
    };
    let ended = (0..=LAST_SEGMENT).try_for_each(|segment| {
        region.states.try_for_each_in(segment, |id, state| match search.explore_from(id, &state) {
            Ok(()) => ControlFlow::Continue(()),
            Err(ended) => ControlFlow::Break(ended),
        })
    });
    match ended {
        ControlFlow::Break(ended) => Err(ended),
        ControlFlow::Continue(()) => Ok(search.numbers),
    }
}

/// The number of states after which a loop over states checks for a stop.
pub(super) const STATES_PER_CHECK: u64 = 1 << 10;

impl<const W: usize, N, F> DepthFirst<'_, W, N, F>
where
    N: Numbers,
    F: FnMut(&Found<'_, N>) -> Result<(), Ended>,
{
    /// Visits every state of the region that is reachable from this state and was not visited before.
    fn explore_from(&mut self, id: Id, state: &[u64; W]) -> Result<(), Ended> {
        if u64::from(id).is_multiple_of(STATES_PER_CHECK) {
            self.check_stop()?;
        }
        if self.numbers.get(id) != UNSEEN || !self.region.contains(state) {
            return Ok(());
        }
        self.visit(id, state)?;
        while !self.calls.items.is_empty() {
            self.proceed()?;
        }
        Ok(())
    }

    /// Visits a state for the first time.
    fn visit(&mut self, id: Id, state: &[u64; W]) -> Result<(), Ended> {
        self.count_visit()?;
        let mut number = self.next;
        self.numbers.open(id, number)?;
        self.next += 1;
        self.region.steps(state, &mut self.steps);
        let states = self.region.states;
        states.prepare(state, &self.steps, &mut self.sought);
        let mut mark = ROOT;
        for (index, (_, next)) in self.steps.iter().enumerate() {
            if next == state {
                mark |= SELF;
                continue;
            }
            let child = states.find_prepared(index, next, &self.sought).expect(FOUND);
            match self.numbers.get(child) {
                UNSEEN => {
                    self.children.push(child)?;
                    mark += 1;
                }
                seen if seen < number => {
                    number = seen;
                    mark &= !ROOT;
                }
                _ => {}
            }
        }
        self.numbers.set(id, number);
        self.calls.push(id)?;
        self.marks.push(mark)?;
        Ok(())
    }

    /// Counts a visit. Reports progress and checks for a stop from time to time.
    fn count_visit(&mut self) -> Result<(), Ended> {
        const STATES_PER_REPORT: u64 = 1 << 16;
        self.visited += 1;
        if self.visited.is_multiple_of(STATES_PER_REPORT) {
            (self.report)(self.visited);
        }
        if self.visited.is_multiple_of(STATES_PER_CHECK) {
            self.check_stop()?;
        }
        Ok(())
    }

    fn check_stop(&self) -> Result<(), Ended> {
        if self.limits.stop.load(Relaxed) { Err(Ended::Stopped) } else { Ok(()) }
    }

    /// Visits the next child of the current state, or leaves the state.
    fn proceed(&mut self) -> Result<(), Ended> {
        let id = *self.calls.items.last().expect("a state is being visited");
        let mark = self.marks.items.last_mut().expect("each call has a mark");
        if *mark & CHILDREN != 0 {
            let child = *self.children.items.last().expect("a child is left");
            let seen = self.numbers.get(child);
            if seen == UNSEEN {
                return self.visit(child, &self.region.states.get(child));
            }
            self.children.items.pop();
            *mark -= 1;
            if seen < self.numbers.get(id) {
                self.numbers.set(id, seen);
                *mark &= !ROOT;
            }
            return Ok(());
        }
        let mark = *mark;
        self.calls.items.pop();
        self.marks.items.pop();
        if mark & ROOT == 0 {
            self.waiting.push(id)?;
            return Ok(());
        }
        self.close(id, mark & SELF != 0)
    }

    /// Ends the component whose root is `id`.
    fn close(&mut self, id: Id, leads_to_itself: bool) -> Result<(), Ended> {
        let first = self.numbers.get(id);
        let is_outside = |member: &Id| self.numbers.get(*member) < first;
        let begin = self.waiting.items.iter().rposition(is_outside).map_or(0, |last| last + 1);
        let others = &self.waiting.items[begin..];
        let members = || others.iter().copied().chain([id]);
        self.numbers.begin_close(members(), self.closed);
        let has_loop = leads_to_itself || !others.is_empty();
        let (component, numbers) = (self.closed, &self.numbers);
        (self.each)(&Found { component, others, last: id, has_loop, numbers })?;
        self.numbers.end_close(members());
        self.waiting.items.truncate(begin);
        self.next = first;
        self.closed += 1;
        Ok(())
    }
}
