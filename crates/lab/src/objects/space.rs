//! All runs of an object with somebody watching, as a space to explore.
//!
//! Participants begin operations as they like, for ever or so many times each. The first access of an
//! operation counts as its call and the last as its return: with calls before and returns after, there
//! would be more runs, but nothing more would be asked of them.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use hallpass_algorithms::objects::universal::{Errand, copies};

use super::{
    normal::{Depth, normalize},
    observe::Fault,
    pack::{pack, unpack},
    state::{Participant, State},
    step::{Happened, Mover},
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

type Packed = [u64; WORDS];

/// A state with who watches, and what is wrong.
pub type Watched = (State, Monitor<Toy>, Option<Fault>);

/// What participants do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Programs {
    /// How many operations each begins at most; none for no end.
    pub operations: [Option<u8>; MOST],
    /// Which of the object's operations they choose from, a bit each.
    pub only: u8,
}

/// All runs.
pub struct Runs {
    /// The object.
    pub toy: Toy,
    /// The rules.
    pub variant: Variant,
    /// What participants do.
    pub programs: Programs,
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
    pub fn new(toy: Toy, variant: Variant, programs: Programs, depth: Depth) -> Self {
        assert!((1..=MOST).contains(&toy.k), "states have room for so many participants");
        Runs {
            toy,
            variant,
            programs,
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
        let mut state = State::new(&self.programs.operations[..self.toy.k]);
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
        let (state, monitor, fault) = watched;
        let happened = self.advance(agent, state, log)?;
        *fault = self.judge(agent, &happened, monitor);
        Some(happened)
    }

    fn advance(&self, agent: Agent, state: &mut State, log: bool) -> Option<Happened> {
        let (me, which) = self.agent(agent);
        if state.participants[me].busy.is_none() && self.programs.only >> which & 1 == 0 {
            return None;
        }
        let strict = self.variant.orderly;
        let mover = Mover { toy: &self.toy, variant: &self.variant, strict, log };
        let happened = mover.step(state, me, which)?;
        if happened.fault.is_none() {
            normalize(state, &self.variant, self.depth);
        }
        Some(happened)
    }

    fn judge(
        &self,
        agent: Agent,
        happened: &Happened,
        monitor: &mut Monitor<Toy>,
    ) -> Option<Fault> {
        let (me, _) = self.agent(agent);
        if let Some(deed) = happened.began {
            monitor.invoke(&self.toy, me, deed);
        }
        let explained = happened.returned.is_none_or(|ret| monitor.respond(&self.toy, me, &ret));
        happened.fault.or((!explained).then_some(Fault::Linearizable))
    }

    /// Packs a state. What is as it was `before` a step has the number it had.
    fn pack(&self, state: &State, monitor: u64, before: Option<(&State, Packed)>) -> Packed {
        self.in_use.fetch_max(state.shared.in_use(), Relaxed);
        let mut packed = [0; WORDS];
        let bytes = pack(&state.shared);
        let shared = self.shared.number_of(&bytes[..], || bytes[..].into(), SHARED_BITS);
        set_bits(&mut packed, 0, SHARED_BITS, shared);
        set_bits(&mut packed, SHARED_BITS, MONITOR_BITS, monitor);
        for (name, participant) in state.participants.iter().enumerate() {
            let at = SHARED_BITS + MONITOR_BITS + name as u32 * PARTICIPANT_BITS;
            let number = match before {
                Some((old, packed)) if old.participants[name] == *participant => {
                    bits(&packed, at, PARTICIPANT_BITS)
                }
                _ => self.participants.number(*participant, PARTICIPANT_BITS),
            };
            set_bits(&mut packed, at, PARTICIPANT_BITS, number);
        }
        packed
    }

    fn unpack(&self, packed: &Packed) -> State {
        let k = self.toy.k;
        let shared = bits(packed, 0, SHARED_BITS);
        let shared = self.shared.with(shared, |bytes| unpack(bytes, k, copies(k)));
        let participants = (0..k).map(|name| self.participant(packed, name)).collect();
        State { shared, participants }
    }

    fn fault(&self, packed: &Packed) -> Option<Fault> {
        self.monitors.with(bits(packed, SHARED_BITS, MONITOR_BITS), |(_, fault)| *fault)
    }

    fn participant(&self, packed: &Packed, name: usize) -> Participant {
        let at = SHARED_BITS + MONITOR_BITS + name as u32 * PARTICIPANT_BITS;
        self.participants.thing(bits(packed, at, PARTICIPANT_BITS))
    }

    /// What a participant is at; none between two operations.
    pub fn errand(&self, packed: &Packed, name: usize) -> Option<Errand> {
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

    fn initial(&self) -> Box<dyn Iterator<Item = Packed> + '_> {
        let (state, monitor, fault) = self.start();
        let monitor = self.monitors.number((monitor, fault), MONITOR_BITS);
        Box::new(std::iter::once(self.pack(&state, monitor, None)))
    }

    fn successors(&self, packed: &Packed, each: &mut dyn FnMut(Agent, Packed)) {
        if self.fault(packed).is_some() {
            return;
        }
        let number = bits(packed, SHARED_BITS, MONITOR_BITS);
        let state = self.unpack(packed);
        for agent in 0..self.agents() {
            let (me, which) = self.agent(agent);
            if which != 0 && state.participants[me].busy.is_some() {
                continue;
            }
            let mut next = state.clone();
            let Some(happened) = self.advance(agent, &mut next, false) else { continue };
            // Most steps are nothing to who watches.
            let monitor = if happened.is_silent() {
                number
            } else {
                let (mut monitor, _) = self.monitors.thing(number);
                let fault = self.judge(agent, &happened, &mut monitor);
                self.monitors.number((monitor, fault), MONITOR_BITS)
            };
            each(agent, self.pack(&next, monitor, Some((&state, *packed))));
        }
    }

    fn flaws(&self, packed: &Packed) -> u64 {
        let fault = self.fault(packed);
        if fault.is_some() {
            self.faulty.store(true, Relaxed);
        }
        fault.map_or(0, |fault| 1 << fault.bit())
    }
}
