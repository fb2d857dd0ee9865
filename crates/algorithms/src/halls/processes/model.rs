//! The step machine as the lab explores it: a few processes, and a kernel that reports which process has died.

use alloc::string::String;

use super::{
    ahead,
    casts::{Cast, Casts},
    codecs::{ALIVE, DEAD},
    environment::{Environment, Life},
    hall_kind::{HallKind, close, resize},
    lines::{Finally, Line, Role, arrive},
    model_environment::{ModelEnvironment, without_local_lines},
    normal, reduced,
    rescue::Then,
    statements::{self, CLOSED_ADMITS_NOBODY},
    words::{Card, Meaning, Phase, Size, Tag},
};
use crate::framework::{
    layout::{Array, Layout},
    machine::{
        Algorithm, Label, Loc, Mishap,
        Next::{self, Enter, Goto, Leave, Spin},
        View,
    },
    memory::{Memory, Op, Pid, Var, Word},
    statement::{Observed, RunStatement, Transition},
};

/// The maximum number of processes that the lab explores.
pub const MAX_PROCESSES: usize = 4;

/// A hall and its processes.
pub struct ProcessesModel {
    pub(super) n: usize,
    /// The numbers in a normal state have room for the tickets of this many processes. This is more than `n` if the
    /// model has `head`: then processes may have seen more old tickets.
    pub(super) room: usize,
    pub(super) k: usize,
    pub(super) casts: Casts,
    pub(super) hall: HallKind,
    /// Whether states have the coarser normal form of `reduced.rs`.
    pub(super) is_reduced: bool,
    pub(super) layout: Layout,
    pub(super) next: Var,
    pub(super) quiet: Var,
    pub(super) card: Array,
    pub(super) slot: Array,
    /// The waiter that was chosen last. Declared only if a process wants several slots, or if the hall shrinks or has
    /// shrunk. In other models, processes do not choose waiters.
    pub(super) head: Option<Var>,
    /// Declared only if the size of the hall changes. Otherwise the size is a constant.
    pub(super) size: Option<Var>,
    pub(super) link: Array,
    pub(super) followed: Array,
    pub(super) bell: Array,
    pub(super) life: Array,
    pub(super) clock: Var,
    /// For each process: whether it has begun its only passage. Used only with [`Cast::Once`].
    pub(super) been: Array,
}

/// The private state of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// The process is at a line of a passage.
    At(Line<(), u8>),
    /// The process is about to check whether it has already made its passage.
    First,
    /// The process uses a hall that has shrunk, and is about to check whether process 0 has begun its passage.
    Late,
    /// Process 0 of a hall that has shrunk is about to go on with its critical section, unless it was killed before.
    Resume,
    /// The process is about to check whether it is registered.
    Come,
    /// The process is about to read the number on its card.
    Recall,
    /// The manager is about to make the clock expire, or to reset it.
    Clock,
    /// The manager is about to resize the hall.
    Resize,
    /// The manager is about to close the hall.
    Close,
    /// The manager is about to check whether this process sleeps.
    Look(usize),
    /// The manager is about to ring the bell of this process.
    Wake(usize),
}
use State::*;

impl ProcessesModel {
    /// Creates a hall with `k` slots for `n` processes, or with `k + 1` slots if it is resized.
    pub fn new(casts: impl Into<Casts>, n: usize, k: usize) -> Self {
        Self::with(casts.into(), HallKind::Plain, n, k)
    }

    /// Creates the same hall as [`new`](Self::new). The lab finds fewer states of it: states with the same future count
    /// as one, and the model does not stop at lines that have no effect.
    ///
    /// # Panics
    /// Panics if the hall is resized or closed.
    pub fn reduced(casts: impl Into<Casts>, n: usize, k: usize) -> Self {
        let casts = casts.into();
        assert!(!casts.has(Cast::Resize) && !casts.has(Cast::Close), "the size is a constant");
        let mut model = Self::new(casts, n, k);
        model.is_reduced = true;
        model
    }

    /// Creates a hall with `2 k` slots for `n` processes, or with one more slot if it is resized. Every process
    /// wants two slots.
    pub fn many(casts: impl Into<Casts>, n: usize, k: usize) -> Self {
        Self::with(casts.into(), HallKind::Many, n, k)
    }

    /// Creates a hall with `k` slots for `n` processes. Process `large` wants two slots (one if `k` is 1). The
    /// others want one.
    pub fn mixed(casts: impl Into<Casts>, n: usize, k: usize, large: Pid) -> Self {
        let hall = if k == 1 { HallKind::Plain } else { HallKind::Mixed { large } };
        Self::with(casts.into(), hall, n, k)
    }

    /// Creates a hall with `k + 1` slots for `n` processes. The first `k` processes want one slot. The others want two.
    pub fn spare(casts: impl Into<Casts>, n: usize, k: usize) -> Self {
        Self::with(casts.into(), HallKind::Spare, n, k)
    }

    /// Creates a hall for `n` processes that had `k + 1` slots and has `k` now. Process 0 holds the last of the `k + 1`
    /// slots from the start. Every process makes one passage.
    pub fn shrunk(casts: impl Into<Casts>, n: usize, k: usize) -> Self {
        let casts = casts.into();
        assert!(casts.has(Cast::Once), "process 0 starts in its only passage");
        Self::with(casts, HallKind::Shrunk, n, k)
    }

    /// Returns the first state of a passage.
    fn come(&self) -> State {
        if self.casts.has(Cast::Mortal) { Come } else { Recall }
    }

    /// Returns the number of slots that processes may hold.
    pub(super) fn slots(&self) -> usize {
        self.hall.slots(self.casts, self.k)
    }

    /// Returns `true` if no process holds more than one slot, and the hall has all slots that are held.
    fn has_one_slot_each(&self) -> bool {
        self.hall == HallKind::Plain && !self.casts.has(Cast::Resize)
    }

    /// Returns `true` if process `p` is the manager.
    fn is_manager(&self, p: Pid) -> bool {
        self.casts.has_manager() && p + 1 == self.n
    }

    /// Returns the number of processes that use the hall. A manager that resizes the hall also serves waiters, so it
    /// counts as a process that uses the hall.
    pub(super) fn processes(&self) -> usize {
        self.n - usize::from(self.casts.has_manager() && !self.casts.has(Cast::Resize))
    }

    /// Returns the first state of the manager after `Clock`, if it also resizes or closes the hall.
    fn manage(&self) -> Option<State> {
        match self.casts {
            casts if casts.has(Cast::Resize) => Some(Resize),
            casts if casts.has(Cast::Close) => Some(Close),
            _ => None,
        }
    }

    /// Executes a step of the manager. The steps of resizing and closing are those of `SharedHall`.
    fn step_of_manager<M: Memory>(
        &self,
        environment: &mut ModelEnvironment<'_, M>,
        at: State,
    ) -> Next<State> {
        let size = || self.size.expect("the size of this hall changes");
        let look = |process: usize| match process < self.processes() {
            true => Goto(Look(process)),
            false => Leave,
        };
        match at {
            Clock => {
                environment.memory.atomic_update(self.clock, turn, 0);
                self.manage().map_or(Leave, Goto)
            }
            Resize => {
                let slots = self.slots() as Word;
                let before = environment.memory.atomic_update(size(), resize, slots);
                match resize(before, slots) == before {
                    true => Leave,
                    false => {
                        Goto(At(Line::S1 { role: Role::Leaver(self.slots(), Finally::Leave) }))
                    }
                }
            }
            Close => match environment.memory.atomic_update(size(), close, 0) {
                0 => Leave,
                _ => look(0),
            },
            Look(process) => match Card::unpack(environment.card(process, Op::Read)).phase {
                Phase::Asleep(_) => Goto(Wake(process)),
                _ => look(process + 1),
            },
            Wake(process) => {
                environment.ring(process);
                look(process + 1)
            }
            _ => unreachable!("not a state of the manager"),
        }
    }

    /// Returns `true` if process `p` of a hall that has shrunk arrives later than process 0.
    fn is_later(&self, p: Pid) -> bool {
        self.hall == HallKind::Shrunk && p > 0
    }
}

fn turn(clock: Word, _: Word) -> Word {
    1 - clock
}

/// Converts the result of a line into the result of a step of the model.
pub(super) fn state_of(next: Next<Line<(), u8>>) -> Next<State> {
    match next {
        Goto(next) => Goto(At(next)),
        Spin(next) => Spin(At(next)),
        Enter(next) => Enter(At(next)),
        Leave => Leave,
    }
}

impl Algorithm for ProcessesModel {
    type State = State;

    fn n(&self) -> usize {
        self.n
    }

    fn k(&self) -> usize {
        self.hall.max_holders(self.casts, self.k)
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&self, p: Pid) -> State {
        match self.manage().filter(|_| !self.casts.has(Cast::Timeout)) {
            Some(managing) if self.is_manager(p) => managing,
            None if self.is_manager(p) => Clock,
            _ if self.is_later(p) => Late,
            _ if self.casts.has(Cast::Once) => First,
            _ => self.come(),
        }
    }

    fn step<M: Memory>(&self, memory: &mut M, p: Pid, at: State) -> Next<State> {
        let mut environment = ModelEnvironment { model: self, memory };
        match at {
            Clock | Resize | Close | Look(_) | Wake(_) => {
                self.step_of_manager(&mut environment, at)
            }
            Late if environment.memory.read(self.been.at(0)) == 0 => Leave,
            Late => Goto(First),
            First if environment.memory.test_and_set(self.been.at(p)) => Leave,
            First if self.hall == HallKind::Shrunk && p == 0 => Goto(Resume),
            First => Goto(self.come()),
            Resume => match environment.life(p) {
                Life::Alive => Enter(At(Line::X1 { j: self.k })),
                _ => Goto(self.come()),
            },
            Come => match environment.life(p) {
                Life::Alive => Goto(Recall),
                Life::Nobody => Goto(At(Line::J1)),
                Life::Dead(()) => Goto(At(Line::R1 { process: p, then: Then::Join })),
            },
            Recall => {
                let x = Card::unpack(environment.card(p, Op::Read)).number;
                Goto(At(arrive(&environment, p, x)))
            }
            At(line) => state_of(without_local_lines(&mut environment, p, line)),
        }
    }

    fn waits(&self, p: Pid, at: State) -> bool {
        use Line::*;
        match at {
            // The manager does not wait for a slot.
            _ if self.is_manager(p) => false,
            Clock | Resize | Close | Look(_) | Wake(_) | Late | First | Resume | Come | Recall => {
                false
            }
            At(E1 { .. } | E2 { .. } | E3 { .. } | E4 { .. } | E5 { .. }) => false,
            At(E6 { .. } | E7 { .. } | E8 { .. } | J1 | J2 | J3 { .. }) => false,
            At(R1 { then, .. } | R2 { then, .. } | R3 { then, .. } | R4 { then, .. }) => {
                then != Then::Join
            }
            At(_) => true,
        }
    }

    fn label(&self, _: Pid, at: State) -> Label {
        let line = match at {
            At(line) => line.label(),
            Late => "Late",
            First => "First",
            Resume => "Resume",
            Come => "Come",
            Recall => "Recall",
            Clock => "Clock",
            Resize => "Resize",
            Close => "Close",
            Look(_) => "Look",
            Wake(_) => "Wake",
        };
        Label { figure: "shared", line: line.into(), instance: String::new() }
    }

    fn name(&self, at: State) -> Option<usize> {
        match at {
            // In the other halls, a process may have several slots, or a slot that the hall no longer has. For these
            // halls, I2 says that slots are distinct.
            At(Line::X1 { j } | Line::X2 { j, .. }) if self.has_one_slot_each() => Some(j),
            _ => None,
        }
    }

    fn mishap(&self, p: Pid) -> Option<Mishap> {
        if self.is_eternal() {
            return Some(ahead::wake_up(self, p));
        }
        let (var, op) = (self.life.at(p), Op::CompareAndSwap { old: ALIVE, new: DEAD });
        let is_mortal = self.casts.has(Cast::Mortal) && !self.is_manager(p);
        is_mortal.then_some(Mishap { var, op, kills: true, recurs: false, name: "killed" })
    }

    fn is_unbounded(&self) -> bool {
        true
    }

    fn normalize(&self, processes: &mut [Loc<State>], memory: &mut [Word]) {
        match self.is_reduced {
            true => reduced::normalize(self, processes, memory),
            false => normal::normalize(self, processes, memory),
        }
    }

    fn advance(&self, processes: &mut [Loc<State>], memory: &mut [Word]) {
        ahead::advance(self, processes, memory);
    }

    fn invariants(&self) -> &'static [&'static str] {
        match self.hall == HallKind::Shrunk || self.casts.has(Cast::Resize) {
            true => &["I2", "I3"],
            false => &["I2"],
        }
    }

    /// Checks I2: a process in its critical section has all the slots that it wants, and their tags are valid. Checks
    /// I3: the hall has all slots that are held, unless its size says that it has shrunk, or it is closed. (If a
    /// process holds several slots, I3 is checked only for the first that it got.)
    fn broken_invariant(&self, state: &View<'_, State>) -> Option<&'static str> {
        let holds = |p: Pid, j: usize| {
            let card = Card::unpack(state.value(self.card.at(p)));
            Tag::unpack(state.value(self.slot.at(j)))
                .is_some_and(|tag| tag.process == p && tag.means(j, card) == Meaning::Held)
        };
        let size = self.size.map(|size| Size::unpack(state.value(size)));
        for (p, loc) in state.processes.iter().enumerate() {
            let Loc::Critical(At(line)) = *loc else { continue };
            let (Line::X1 { j } | Line::X2 { j, .. } | Line::X7 { j }) = line else {
                return Some("I2");
            };
            let held = (0..self.slots()).filter(|&j| holds(p, j)).count();
            if !holds(p, j) || held != self.hall.wants(self.k, p) {
                return Some("I2");
            }
            if size.is_some_and(|size| !size.is_shrunk() && size.k > 0 && j >= size.k) {
                return Some("I3");
            }
        }
        None
    }

    fn run_statements(&self) -> &'static [RunStatement] {
        const CSR: RunStatement = RunStatement::always("CSR");
        const CLOSED: RunStatement = RunStatement::always(CLOSED_ADMITS_NOBODY);
        match (self.casts.has(Cast::Mortal), self.casts.has(Cast::Close)) {
            (true, true) => &[CSR, CLOSED],
            (true, false) => &[CSR],
            (false, true) => &[CLOSED],
            (false, false) => &[],
        }
    }

    fn observe(&self, name: &str, history: u32, step: &Transition<'_, State>) -> Observed {
        match name {
            CLOSED_ADMITS_NOBODY => statements::observe_closed(self, history, step),
            _ => statements::observe_deaths(self, history, step),
        }
    }
}
