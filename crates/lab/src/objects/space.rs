//! All runs of an object with somebody watching, as a space to explore.
//!
//! Participants begin operations as they like, for ever or so many times each. The first access of an
//! operation counts as its call and the last as its return: with calls before and returns after, there
//! would be more runs, but nothing more would be asked of them.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use hallpass_algorithms::universal::{Errand, copies};

use super::{
    normal::{Depth, normalize},
    observe::Fault,
    pack::{pack, unpack},
    shop::{Happened, Mover},
    state::{Participant, State},
    toys::Toy,
    variants::Variant,
};
use crate::{
    linear::Monitor,
    numbers::{Numbers, bits, set_bits},
    space::{Agent, Space},
};

/// The words that a state takes, and the most participants that fit.
pub const WORDS: usize = 2;
/// The most participants.
pub const MOST: usize = 4;

const SHARED_BITS: u32 = 32;
const PARTICIPANT_BITS: u32 = 18;
const MONITOR_BITS: u32 = 128 - SHARED_BITS - MOST as u32 * PARTICIPANT_BITS;

/// A state with who watches, and what is wrong.
pub type Watched = (State, Monitor<Toy>, Option<Fault>);

/// All runs.
pub struct Runs {
    /// The object.
    pub toy: Toy,
    /// The rules.
    pub variant: Variant,
    /// How many operations each participant begins at most.
    pub operations: Option<u8>,
    /// The normal form.
    pub depth: Depth,
    shared: Numbers<Box<[u8]>>,
    participants: Numbers<Participant>,
    monitors: Numbers<(Monitor<Toy>, Option<Fault>)>,
    faulty: AtomicBool,
    in_use: AtomicU32,
}

impl Runs {
    /// All runs.
    pub fn new(toy: Toy, variant: Variant, operations: Option<u8>, depth: Depth) -> Self {
        assert!((1..=MOST).contains(&toy.k), "states have room for so many participants");
        Runs {
            toy,
            variant,
            operations,
            depth,
            shared: Numbers::new(),
            participants: Numbers::new(),
            monitors: Numbers::new(),
            faulty: AtomicBool::new(false),
            in_use: AtomicU32::new(0),
        }
    }

    /// Before the first step.
    pub fn start(&self) -> Watched {
        let mut state = State::new(self.toy.k, self.operations);
        normalize(&mut state, &self.variant, self.depth);
        (state, Monitor::new(Toy::INITIAL), None)
    }

    /// How many operations there are to choose from.
    fn choices(&self) -> usize {
        self.toy.kind.operations().len()
    }

    /// The agents are, for each participant and each operation, who begins it; the first of these also
    /// moves on. This is the participant, and the operation.
    pub fn agent(&self, agent: Agent) -> (usize, usize) {
        (agent / self.choices(), agent % self.choices())
    }

    /// One step; none if the agent cannot move.
    pub fn step(&self, agent: Agent, watched: &mut Watched, log: bool) -> Option<Happened> {
        let (me, which) = self.agent(agent);
        let (state, monitor, fault) = watched;
        let strict = self.variant.orderly;
        let mover = Mover { toy: &self.toy, variant: &self.variant, strict, log };
        let happened = mover.step(state, me, which)?;
        if let Some(deed) = happened.began {
            monitor.invoke(&self.toy, me, deed);
        }
        *fault = happened.fault;
        if let Some(ret) = happened.returned
            && !monitor.respond(&self.toy, me, &ret)
        {
            *fault = fault.or(Some(Fault::Linearizable));
        }
        if fault.is_none() {
            normalize(state, &self.variant, self.depth);
        }
        Some(happened)
    }

    fn pack(&self, (state, monitor, fault): Watched) -> [u64; WORDS] {
        self.in_use.fetch_max(state.shared.in_use(), Relaxed);
        let mut packed = [0; WORDS];
        let shared = self.shared.number(pack(&state.shared), SHARED_BITS);
        set_bits(&mut packed, 0, SHARED_BITS, shared);
        let monitor = self.monitors.number((monitor, fault), MONITOR_BITS);
        set_bits(&mut packed, SHARED_BITS, MONITOR_BITS, monitor);
        let mut at = SHARED_BITS + MONITOR_BITS;
        for participant in state.participants {
            let number = self.participants.number(participant, PARTICIPANT_BITS);
            set_bits(&mut packed, at, PARTICIPANT_BITS, number);
            at += PARTICIPANT_BITS;
        }
        packed
    }

    fn unpack(&self, packed: &[u64; WORDS]) -> Watched {
        let k = self.toy.k;
        let shared = bits(packed, 0, SHARED_BITS);
        let shared = self.shared.with(shared, |bytes| unpack(bytes, k, copies(k)));
        let (monitor, fault) = self.monitors.thing(bits(packed, SHARED_BITS, MONITOR_BITS));
        let participants = (0..k).map(|name| self.participant(packed, name)).collect();
        (State { shared, participants }, monitor, fault)
    }

    fn participant(&self, packed: &[u64; WORDS], name: usize) -> Participant {
        let at = SHARED_BITS + MONITOR_BITS + name as u32 * PARTICIPANT_BITS;
        self.participants.thing(bits(packed, at, PARTICIPANT_BITS))
    }

    /// What a participant is at; none between two operations.
    pub fn errand(&self, packed: &[u64; WORDS], name: usize) -> Option<Errand> {
        self.participant(packed, name).busy.map(|busy| busy.errand)
    }

    /// Whether something was wrong with a state.
    pub fn is_faulty(&self) -> bool {
        self.faulty.load(Relaxed)
    }

    /// The most copies that were in use at once.
    pub fn most_in_use(&self) -> u32 {
        self.in_use.load(Relaxed)
    }

    /// The bytes that the parts of states take, about.
    pub fn bytes(&self) -> u64 {
        const SHARED: usize = 140; // with what the table takes beside it
        const MONITOR: usize = 200;
        (self.shared.len() * SHARED + self.monitors.len() * MONITOR) as u64
    }

    /// How many different shared parts, participants and monitors there are.
    pub fn parts(&self) -> [usize; 3] {
        [self.shared.len(), self.participants.len(), self.monitors.len()]
    }
}

impl Space<WORDS> for Runs {
    fn agents(&self) -> usize {
        self.toy.k * self.choices()
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; WORDS]> + '_> {
        Box::new(std::iter::once(self.pack(self.start())))
    }

    fn successors(&self, packed: &[u64; WORDS], mut each: impl FnMut(Agent, [u64; WORDS])) {
        let watched = self.unpack(packed);
        if watched.2.is_some() {
            return;
        }
        for agent in 0..self.agents() {
            let (me, which) = self.agent(agent);
            if which != 0 && watched.0.participants[me].busy.is_some() {
                continue;
            }
            let mut next = watched.clone();
            if self.step(agent, &mut next, false).is_some() {
                each(agent, self.pack(next));
            }
        }
    }

    fn flaws(&self, packed: &[u64; WORDS]) -> u64 {
        let monitor = bits(packed, SHARED_BITS, MONITOR_BITS);
        let fault = self.monitors.with(monitor, |(_, fault)| *fault);
        if fault.is_some() {
            self.faulty.store(true, Relaxed);
        }
        fault.map_or(0, |fault| 1 << fault.bit())
    }
}
