//! All runs of a system with somebody watching, as a space to explore.
//!
//! A state is a few numbers: where each process stands, what all registers hold together, and what
//! the observer remembers, each with its own table.

use std::sync::{
    RwLock,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use hallpass_algorithms::{Op, Word};
use indexmap::IndexMap;

use super::{
    observe::{Fault, Observer},
    subject::{Happened, IDLE, Place, Procedure, State, Subject},
};
use crate::{
    numbers::{Numbers, bits, set_bits},
    space::{Agent, Space},
};

/// Bits of a place's number, of the number of all registers, and of an observer.
const PLACE_BITS: u32 = 24;
const MEMORY_BITS: u32 = 28;
const OBSERVER_BITS: u32 = 28;

/// The words that a state of `n` processes takes.
pub const fn words(n: usize) -> usize {
    (PLACE_BITS * n as u32 + MEMORY_BITS + OBSERVER_BITS).div_ceil(u64::BITS) as usize
}

/// Which procedures a process may begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Role {
    /// Label.
    pub labels: bool,
    /// Scan.
    pub scans: bool,
}

impl Role {
    /// Both.
    pub const BOTH: Role = Role { labels: true, scans: true };
}

type Steps = IndexMap<(u8, Place, Place), Option<Procedure>, foldhash::fast::FixedState>;

/// All runs.
pub struct Runs<'a, O> {
    /// The system.
    pub subject: &'a dyn Subject,
    /// What each process may do.
    pub roles: Vec<Role>,
    memories: Numbers<Box<[Word]>>,
    observers: Numbers<(O, Option<Fault>)>,
    faulty: AtomicBool,
    /// The steps of processes from place to place, by who takes them.
    steps: RwLock<Steps>,
}

impl<'a, O: Observer> Runs<'a, O> {
    /// All runs of `subject` in which each process keeps to its role.
    pub fn new(subject: &'a dyn Subject, roles: Vec<Role>) -> Self {
        Runs {
            subject,
            roles,
            memories: Numbers::new(),
            observers: Numbers::new(),
            faulty: AtomicBool::new(false),
            steps: RwLock::new(IndexMap::default()),
        }
    }

    fn pack<const W: usize>(&self, state: State, observer: O, fault: Option<Fault>) -> [u64; W] {
        let mut packed = [0; W];
        let mut at = 0;
        for &place in &state.places {
            assert!(place < 1 << PLACE_BITS, "too many private states to explore");
            set_bits(&mut packed, at, PLACE_BITS, place.into());
            at += PLACE_BITS;
        }
        let memory = self.memories.number(state.memory.into(), MEMORY_BITS);
        set_bits(&mut packed, at, MEMORY_BITS, memory);
        let observer = self.observers.number((observer, fault), OBSERVER_BITS);
        set_bits(&mut packed, at + MEMORY_BITS, OBSERVER_BITS, observer);
        packed
    }

    fn unpack<const W: usize>(&self, packed: &[u64; W]) -> (State, O, Option<Fault>) {
        let n = self.subject.n();
        let places = (0..n as u32).map(|p| bits(packed, p * PLACE_BITS, PLACE_BITS) as Place);
        let at = n as u32 * PLACE_BITS;
        let memory = self.memories.thing(bits(packed, at, MEMORY_BITS)).into_vec();
        let observer = bits(packed, at + MEMORY_BITS, OBSERVER_BITS);
        let (observer, fault) = self.observers.thing(observer);
        (State { places: places.collect(), memory }, observer, fault)
    }

    /// The agents are, for each process and each way that a system leaves open: one step on, or the
    /// first of Label; and the first of Scan.
    pub fn agent(&self, agent: Agent) -> (usize, Procedure, Word) {
        let coins = self.subject.coins() as usize;
        let start =
            if (agent / coins).is_multiple_of(2) { Procedure::Label } else { Procedure::Scan };
        (agent / coins / 2, start, (agent % coins) as Word)
    }

    /// One step; none if the agent cannot move.
    pub fn step(
        &self,
        agent: Agent,
        state: &mut State,
        observer: &mut O,
    ) -> Option<(Happened, Option<Fault>)> {
        let (p, start, coin) = self.agent(agent);
        let may = match (state.places[p] == IDLE, start) {
            (true, Procedure::Label) => self.roles[p].labels,
            (true, Procedure::Scan) => self.roles[p].scans,
            (false, start) => start == Procedure::Label,
        };
        if !may {
            return None;
        }
        let from = state.places[p];
        let happened = self.subject.step(p, start, coin, state);
        if self.subject.fresh().is_none() {
            self.note(p, from, state.places[p], &happened); // marks come and go between steps
        }
        let mut fault = happened.accesses.iter().find_map(|&(var, op, old)| {
            let decl = self.subject.layout().decl(var);
            let range = !matches!(op, Op::Read) && !decl.allows(op.leaves(old));
            range.then_some(Fault::Range)
        });
        if fault.is_none() {
            fault = observer.observe(self.subject, p, &happened, state);
        }
        Some((happened, fault))
    }

    fn note(&self, p: usize, from: Place, to: Place, happened: &Happened) {
        // A first step of Label and one of Scan both come from the place of those in neither.
        let key = (p as u8 | u8::from(happened.began == Some(Procedure::Scan)) << 7, from, to);
        if self.steps.read().expect("no panic while held").contains_key(&key) {
            return;
        }
        self.steps.write().expect("no panic while held").insert(key, happened.began);
    }

    /// The most steps that a procedure took, over all ways from place to place that were seen; none
    /// if there is a way around in a circle.
    pub fn max_steps(&self, procedure: Procedure) -> Option<u32> {
        let steps = self.steps.read().expect("no panic while held");
        let mut next: IndexMap<(u8, Place), Vec<Place>, foldhash::fast::FixedState> =
            IndexMap::default();
        let mut first = Vec::new();
        for (&(p, from, to), &began) in steps.iter() {
            match began {
                Some(began) if began == procedure => first.push((p & 0x7f, to)),
                Some(_) => {}
                None => next.entry((p, from)).or_default().push(to),
            }
        }
        // Depth first, each place once; on the way there 0, then its longest way.
        let mut longest: IndexMap<(u8, Place), u32, foldhash::fast::FixedState> =
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

    /// Whether something was wrong with a state.
    pub fn is_faulty(&self) -> bool {
        self.faulty.load(Relaxed)
    }

    /// The contents of all registers that were seen.
    pub fn memories(&self) -> Vec<Box<[Word]>> {
        self.memories.all()
    }

    /// What was wrong with a state.
    pub fn fault<const W: usize>(&self, state: &[u64; W]) -> Option<Fault> {
        let at = self.subject.n() as u32 * PLACE_BITS + MEMORY_BITS;
        self.observers.with(bits(state, at, OBSERVER_BITS), |(_, fault)| *fault)
    }
}

impl<const W: usize, O: Observer> Space<W> for Runs<'_, O> {
    fn agents(&self) -> usize {
        self.subject.n() * 2 * self.subject.coins() as usize
    }

    fn bits(&self) -> u32 {
        PLACE_BITS * self.subject.n() as u32 + MEMORY_BITS + OBSERVER_BITS
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; W]> + '_> {
        let observer = O::new(self.subject);
        Box::new(std::iter::once(self.pack(self.subject.initial(), observer, None)))
    }

    fn successors(&self, packed: &[u64; W], each: &mut dyn FnMut(Agent, [u64; W])) {
        let (state, observer, fault) = self.unpack(packed);
        if fault.is_some() {
            return;
        }
        let coins = self.subject.coins() as usize;
        for first in (0..Space::<W>::agents(self)).step_by(coins) {
            for agent in first..first + coins {
                let (mut state, mut observer) = (state.clone(), observer.clone());
                let step = self.step(agent, &mut state, &mut observer);
                let tossed = step.as_ref().is_some_and(|(happened, _)| happened.tossed);
                if let Some((_, fault)) = step {
                    each(agent, self.pack(state, observer, fault));
                }
                if !tossed {
                    break;
                }
            }
        }
    }

    fn flaws(&self, state: &[u64; W]) -> u64 {
        let fault = self.fault(state);
        if fault.is_some() {
            self.faulty.store(true, Relaxed);
        }
        fault.map_or(0, |fault| 1 << fault.bit())
    }
}
