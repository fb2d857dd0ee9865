//! The space of all runs of a shared object, with a linearizability monitor.
//!
//! Processes begin operations at any time, without limit or up to a limit for each process. The first
//! access of an operation counts as its call, and the last access counts as its return. With separate steps for
//! calls and returns, more operations would overlap, and more answers would be allowed. So such steps would show
//! no further violation.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use hallpass_algorithms::objects::universal::{Intent, copies};

use super::{
    normal::{Reduction, normalize},
    object::SmallObject,
    observe::Violation,
    pack::{pack, unpack},
    state::{ModelState, ProcessState},
    step::{StepRecord, Stepper},
    variants::Variant,
};
use crate::{
    linear::Monitor,
    numbers::{Numbers, bits, set_bits},
    space::{Agent, Space},
};

/// The number of words of a packed state.
pub const WORDS: usize = 2;
/// The maximum number of processes.
pub const MAX_PROCESSES: usize = 4;

const SHARED_BITS: u32 = 32;
const PROCESS_BITS: u32 = 18;
const MONITOR_BITS: u32 = 128 - SHARED_BITS - MAX_PROCESSES as u32 * PROCESS_BITS;

type Packed = [u64; WORDS];

/// A state, its monitor, and the property that it violates, if any.
pub type MonitoredState = (ModelState, Monitor<SmallObject>, Option<Violation>);

/// The operations that processes may begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Workload {
    /// For each process: the number of operations that it may begin, or `None` for no limit.
    pub operations: [Option<u8>; MAX_PROCESSES],
    /// The operations of the object from which processes choose, one bit each.
    pub only: u8,
}

/// All runs of a model.
pub struct Runs {
    /// The object that the processes share.
    pub object: SmallObject,
    /// The construction, or a wrong variant.
    pub variant: Variant,
    /// The operations that processes may begin.
    pub workload: Workload,
    /// The parts of a state that are replaced by a normal form.
    pub reduction: Reduction,
    shared: Numbers<Box<[u8]>>,
    processes: Numbers<ProcessState>,
    monitors: Numbers<(Monitor<SmallObject>, Option<Violation>)>,
    has_violation: AtomicBool,
    in_use: AtomicU32,
}

impl Runs {
    /// Creates the space of all runs.
    ///
    /// # Panics
    /// Panics if `object.k` is not between 1 and [`MAX_PROCESSES`].
    pub fn new(
        object: SmallObject,
        variant: Variant,
        workload: Workload,
        reduction: Reduction,
    ) -> Self {
        assert!(
            (1..=MAX_PROCESSES).contains(&object.k),
            "k must be between 1 and {MAX_PROCESSES}, got {}",
            object.k
        );
        Runs {
            object,
            variant,
            workload,
            reduction,
            shared: Numbers::new(),
            processes: Numbers::new(),
            monitors: Numbers::new(),
            has_violation: AtomicBool::new(false),
            in_use: AtomicU32::new(0),
        }
    }

    /// Returns the state before the first step.
    pub fn start(&self) -> MonitoredState {
        let mut state = ModelState::new(&self.workload.operations[..self.object.k]);
        normalize(&mut state, &self.variant, self.reduction);
        (state, Monitor::new(SmallObject::INITIAL), None)
    }

    /// Returns the number of operations of the object.
    fn choices(&self) -> usize {
        self.object.kind.operations().len()
    }

    /// Returns the process and the operation of an agent. Each process has one agent for each operation of the
    /// object. The agent begins this operation. The first agent of a process also continues an operation.
    pub fn agent(&self, agent: Agent) -> (usize, usize) {
        (agent / self.choices(), agent % self.choices())
    }

    /// Executes one step. Returns `None` if the agent cannot take one.
    pub fn step(
        &self,
        agent: Agent,
        monitored: &mut MonitoredState,
        log: bool,
    ) -> Option<StepRecord> {
        let (state, monitor, violation) = monitored;
        let record = self.advance(agent, state, log)?;
        *violation = self.judge(agent, &record, monitor);
        Some(record)
    }

    fn advance(&self, agent: Agent, state: &mut ModelState, log: bool) -> Option<StepRecord> {
        let (me, which) = self.agent(agent);
        if state.processes[me].ongoing.is_none() && self.workload.only >> which & 1 == 0 {
            return None;
        }
        let strict = self.variant.orderly;
        let stepper = Stepper { object: &self.object, variant: &self.variant, strict, log };
        let record = stepper.step(state, me, which)?;
        if record.violation.is_none() {
            normalize(state, &self.variant, self.reduction);
        }
        Some(record)
    }

    fn judge(
        &self,
        agent: Agent,
        record: &StepRecord,
        monitor: &mut Monitor<SmallObject>,
    ) -> Option<Violation> {
        let (me, _) = self.agent(agent);
        if let Some(operation) = record.began {
            monitor.invoke(&self.object, me, operation);
        }
        let explained = record.returned.is_none_or(|ret| monitor.respond(&self.object, me, &ret));
        record.violation.or((!explained).then_some(Violation::Linearizable))
    }

    /// Packs a state. A process that is unchanged since the state `before` the step keeps its number.
    fn pack(
        &self,
        state: &ModelState,
        monitor: u64,
        before: Option<(&ModelState, Packed)>,
    ) -> Packed {
        self.in_use.fetch_max(state.shared.in_use(), Relaxed);
        let mut packed = [0; WORDS];
        let bytes = pack(&state.shared);
        let shared = self.shared.number_of(&bytes[..], || bytes[..].into(), SHARED_BITS);
        set_bits(&mut packed, 0, SHARED_BITS, shared);
        set_bits(&mut packed, SHARED_BITS, MONITOR_BITS, monitor);
        for (index, process) in state.processes.iter().enumerate() {
            let at = SHARED_BITS + MONITOR_BITS + index as u32 * PROCESS_BITS;
            let number = match before {
                Some((old, packed)) if old.processes[index] == *process => {
                    bits(&packed, at, PROCESS_BITS)
                }
                _ => self.processes.number(*process, PROCESS_BITS),
            };
            set_bits(&mut packed, at, PROCESS_BITS, number);
        }
        packed
    }

    fn unpack(&self, packed: &Packed) -> ModelState {
        let k = self.object.k;
        let shared = bits(packed, 0, SHARED_BITS);
        let shared = self.shared.with(shared, |bytes| unpack(bytes, k, copies(k)));
        let processes = (0..k).map(|process| self.process(packed, process)).collect();
        ModelState { shared, processes }
    }

    fn violation(&self, packed: &Packed) -> Option<Violation> {
        self.monitors.with(bits(packed, SHARED_BITS, MONITOR_BITS), |(_, violation)| *violation)
    }

    fn process(&self, packed: &Packed, process: usize) -> ProcessState {
        let at = SHARED_BITS + MONITOR_BITS + process as u32 * PROCESS_BITS;
        self.processes.thing(bits(packed, at, PROCESS_BITS))
    }

    /// Returns the intent of the operation that a process executes, or `None` between two operations.
    pub fn intent(&self, packed: &Packed, process: usize) -> Option<Intent> {
        self.process(packed, process).ongoing.map(|ongoing| ongoing.intent)
    }

    /// Returns whether the search has found a violation so far.
    pub fn has_violation(&self) -> bool {
        self.has_violation.load(Relaxed)
    }

    /// Returns the maximum number of copies that were in use at once.
    pub fn max_in_use(&self) -> u32 {
        self.in_use.load(Relaxed)
    }

    /// Estimates the number of bytes that the tables of parts take.
    pub fn bytes(&self) -> u64 {
        const SHARED: usize = 140; // including the table's own entry
        const MONITOR: usize = 200;
        (self.shared.len() * SHARED + self.monitors.len() * MONITOR) as u64
    }

    /// Returns the number of distinct shared states, process states and monitors.
    pub fn parts(&self) -> [usize; 3] {
        [self.shared.len(), self.processes.len(), self.monitors.len()]
    }
}

impl Space<WORDS> for Runs {
    fn agents(&self) -> usize {
        self.object.k * self.choices()
    }

    fn initial(&self) -> Box<dyn Iterator<Item = Packed> + '_> {
        let (state, monitor, violation) = self.start();
        let monitor = self.monitors.number((monitor, violation), MONITOR_BITS);
        Box::new(std::iter::once(self.pack(&state, monitor, None)))
    }

    fn successors(&self, packed: &Packed, each: &mut dyn FnMut(Agent, Packed)) {
        if self.violation(packed).is_some() {
            return;
        }
        let number = bits(packed, SHARED_BITS, MONITOR_BITS);
        let state = self.unpack(packed);
        for agent in 0..self.agents() {
            let (me, which) = self.agent(agent);
            if which != 0 && state.processes[me].ongoing.is_some() {
                continue;
            }
            let mut next = state.clone();
            let Some(record) = self.advance(agent, &mut next, false) else { continue };
            // Most steps do not affect the monitor.
            let monitor = if record.is_silent() {
                number
            } else {
                let (mut monitor, _) = self.monitors.thing(number);
                let violation = self.judge(agent, &record, &mut monitor);
                self.monitors.number((monitor, violation), MONITOR_BITS)
            };
            each(agent, self.pack(&next, monitor, Some((&state, *packed))));
        }
    }

    fn violations(&self, packed: &Packed) -> u64 {
        let violation = self.violation(packed);
        if violation.is_some() {
            self.has_violation.store(true, Relaxed);
        }
        violation.map_or(0, |violation| 1 << violation.bit())
    }
}
