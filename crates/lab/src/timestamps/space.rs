//! The space of all runs of a system with an observer.
//!
//! A state consists of a few numbers: the position of each process, the contents of all registers
//! together, and the state of the observer. Each number is an index into a table.

use std::sync::{
    RwLock,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use hallpass_algorithms::{Op, Word};
use indexmap::IndexMap;

use super::{
    observe::{Observer, Violation},
    subject::{Happened, IDLE, Position, Procedure, State, Subject},
};
use crate::{
    numbers::{Numbers, bits, set_bits},
    space::{Agent, Space},
};

/// The numbers of bits for the index of a position, of the contents of all registers, and of an
/// observer.
const POSITION_BITS: u32 = 24;
const MEMORY_BITS: u32 = 28;
const OBSERVER_BITS: u32 = 28;

/// Returns the number of words that a state of `n` processes takes.
pub const fn words(n: usize) -> usize {
    (POSITION_BITS * n as u32 + MEMORY_BITS + OBSERVER_BITS).div_ceil(u64::BITS) as usize
}

/// The procedures that a process may begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Role {
    /// Whether the process may begin Label.
    pub labels: bool,
    /// Whether the process may begin Scan.
    pub scans: bool,
}

impl Role {
    /// The role of a process that may begin both procedures.
    pub const BOTH: Role = Role { labels: true, scans: true };
}

type Steps = IndexMap<(u8, Position, Position), Option<Procedure>, foldhash::fast::FixedState>;

/// All runs of a system.
pub struct Runs<'a, O> {
    /// The timestamp system to explore.
    pub subject: &'a dyn Subject,
    /// The role of each process.
    pub roles: Vec<Role>,
    memories: Numbers<Box<[Word]>>,
    observers: Numbers<(O, Option<Violation>)>,
    has_violation: AtomicBool,
    /// The steps of each process from position to position, if they are recorded.
    steps: Option<RwLock<Steps>>,
}

impl<'a, O: Observer> Runs<'a, O> {
    /// Creates the space of all runs of `subject` in which each process keeps to its role.
    pub fn new(subject: &'a dyn Subject, roles: Vec<Role>) -> Self {
        Runs {
            subject,
            roles,
            memories: Numbers::new(),
            observers: Numbers::new(),
            has_violation: AtomicBool::new(false),
            steps: None,
        }
    }

    /// Records the steps, for [`Runs::max_steps`].
    pub fn recording_steps(self) -> Self {
        Runs { steps: Some(RwLock::default()), ..self }
    }

    fn pack<const W: usize>(
        &self,
        state: State,
        observer: O,
        violation: Option<Violation>,
    ) -> [u64; W] {
        let mut packed = [0; W];
        let mut at = 0;
        for &position in &state.positions {
            assert!(position < 1 << POSITION_BITS, "too many private states to explore");
            set_bits(&mut packed, at, POSITION_BITS, position.into());
            at += POSITION_BITS;
        }
        let memory = self.memories.number(state.memory.into(), MEMORY_BITS);
        set_bits(&mut packed, at, MEMORY_BITS, memory);
        let observer = self.observers.number((observer, violation), OBSERVER_BITS);
        set_bits(&mut packed, at + MEMORY_BITS, OBSERVER_BITS, observer);
        packed
    }

    fn unpack<const W: usize>(&self, packed: &[u64; W]) -> (State, O, Option<Violation>) {
        let n = self.subject.n();
        let positions =
            (0..n as u32).map(|p| bits(packed, p * POSITION_BITS, POSITION_BITS) as Position);
        let at = n as u32 * POSITION_BITS;
        let memory = self.memories.thing(bits(packed, at, MEMORY_BITS)).into_vec();
        let observer = bits(packed, at + MEMORY_BITS, OBSERVER_BITS);
        let (observer, violation) = self.observers.thing(observer);
        (State { positions: positions.collect(), memory }, observer, violation)
    }

    /// Returns the process, the procedure and the coin of an agent (see [`Subject::coins`]). There are two
    /// agents for each process and each value of the coin. One takes the next step, or the first step of Label.
    /// The other takes the first step of Scan.
    pub fn agent(&self, agent: Agent) -> (usize, Procedure, Word) {
        let coins = self.subject.coins() as usize;
        let start =
            if (agent / coins).is_multiple_of(2) { Procedure::Label } else { Procedure::Scan };
        (agent / coins / 2, start, (agent % coins) as Word)
    }

    /// Makes one step. Returns `None` if the agent cannot take one.
    pub fn step(
        &self,
        agent: Agent,
        state: &mut State,
        observer: &mut O,
    ) -> Option<(Happened, Option<Violation>)> {
        let (p, start, coin) = self.agent(agent);
        let may = match (state.positions[p] == IDLE, start) {
            (true, Procedure::Label) => self.roles[p].labels,
            (true, Procedure::Scan) => self.roles[p].scans,
            (false, start) => start == Procedure::Label,
        };
        if !may {
            return None;
        }
        let from = state.positions[p];
        let happened = self.subject.step(p, start, coin, state);
        if let Some(steps) = &self.steps {
            self.note(steps, p, [from, state.positions[p]], &happened);
        }
        let mut violation = happened.accesses.iter().find_map(|&(var, op, old)| {
            let decl = self.subject.layout().decl(var);
            let range = !matches!(op, Op::Read) && !decl.allows(op.leaves(old));
            range.then_some(Violation::Range)
        });
        if violation.is_none() {
            violation = observer.observe(self.subject, p, &happened, state);
        }
        Some((happened, violation))
    }

    fn note(&self, steps: &RwLock<Steps>, p: usize, from_to: [Position; 2], happened: &Happened) {
        // In a system with marks, the observer replaces marks between steps, which changes positions. Without their
        // marks, the positions form paths.
        let [from, to] = from_to.map(|at| self.subject.renew(p, at, &mut |_, _| 0));
        // The first steps of Label and Scan both start from the idle position. Bit 7 distinguishes them.
        let key = (p as u8 | u8::from(happened.began == Some(Procedure::Scan)) << 7, from, to);
        if steps.read().expect("no panic while held").contains_key(&key) {
            return;
        }
        steps.write().expect("no panic while held").insert(key, happened.began);
    }

    /// Returns the maximum number of steps of a procedure, over all paths of recorded positions. Returns `None` if the
    /// paths have a cycle.
    ///
    /// # Panics
    /// Panics if the steps are not [recorded](Runs::recording_steps).
    pub fn max_steps(&self, procedure: Procedure) -> Option<u32> {
        let steps = self.steps.as_ref().expect("the steps are recorded");
        let steps = steps.read().expect("no panic while held");
        let mut next: IndexMap<(u8, Position), Vec<Position>, foldhash::fast::FixedState> =
            IndexMap::default();
        let mut first = Vec::new();
        for (&(p, from, to), &began) in steps.iter() {
            match began {
                Some(began) if began == procedure => first.push((p & 0x7f, to)),
                Some(_) => {}
                None => next.entry((p, from)).or_default().push(to),
            }
        }
        // A depth-first search that visits each position once. A position on the current path has 0. A
        // finished position has the length of its longest path.
        let mut longest: IndexMap<(u8, Position), u32, foldhash::fast::FixedState> =
            IndexMap::default();
        let mut max = 0;
        for start in first {
            let mut stack = vec![(start, false)];
            while let Some((at, done)) = stack.pop() {
                let targets = if at.1 == IDLE { None } else { next.get(&at) };
                let targets = targets.map_or(&[][..], Vec::as_slice);
                if done {
                    let best = targets.iter().map(|&to| longest[&(at.0, to)]).max();
                    longest.insert(at, 1 + best.unwrap_or(0));
                } else if let Some(&known) = longest.get(&at) {
                    if known == 0 {
                        return None;
                    }
                } else {
                    longest.insert(at, 0);
                    stack.push((at, true));
                    for &to in targets {
                        match longest.get(&(at.0, to)) {
                            Some(0) => return None,
                            Some(_) => {}
                            None => stack.push(((at.0, to), false)),
                        }
                    }
                }
            }
            max = max.max(longest[&start]);
        }
        Some(max)
    }

    /// Returns whether some run shows a violation.
    pub fn has_violation(&self) -> bool {
        self.has_violation.load(Relaxed)
    }

    /// Returns all contents of the registers that were seen.
    pub fn memories(&self) -> Vec<Box<[Word]>> {
        self.memories.all()
    }

    /// Returns the violation that the state shows, if any.
    pub fn violation<const W: usize>(&self, state: &[u64; W]) -> Option<Violation> {
        let at = self.subject.n() as u32 * POSITION_BITS + MEMORY_BITS;
        self.observers.with(bits(state, at, OBSERVER_BITS), |(_, violation)| *violation)
    }
}

impl<const W: usize, O: Observer> Space<W> for Runs<'_, O> {
    fn agents(&self) -> usize {
        self.subject.n() * 2 * self.subject.coins() as usize
    }

    fn bits(&self) -> u32 {
        POSITION_BITS * self.subject.n() as u32 + MEMORY_BITS + OBSERVER_BITS
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; W]> + '_> {
        let observer = O::new(self.subject);
        Box::new(std::iter::once(self.pack(self.subject.initial(), observer, None)))
    }

    fn successors(&self, packed: &[u64; W], each: &mut dyn FnMut(Agent, [u64; W])) {
        let (state, observer, violation) = self.unpack(packed);
        if violation.is_some() {
            return;
        }
        let coins = self.subject.coins() as usize;
        for first in (0..Space::<W>::agents(self)).step_by(coins) {
            for agent in first..first + coins {
                let (mut state, mut observer) = (state.clone(), observer.clone());
                let step = self.step(agent, &mut state, &mut observer);
                let tossed = step.as_ref().is_some_and(|(happened, _)| happened.tossed);
                if let Some((_, violation)) = step {
                    each(agent, self.pack(state, observer, violation));
                }
                if !tossed {
                    break;
                }
            }
        }
    }

    fn violations(&self, state: &[u64; W]) -> u64 {
        let violation = self.violation(state);
        if violation.is_some() {
            self.has_violation.store(true, Relaxed);
        }
        violation.map_or(0, |violation| 1 << violation.bit())
    }
}
