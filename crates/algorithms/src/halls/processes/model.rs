//! The step machine as the lab explores it: a few processes, and a kernel that reports which process has died.

use alloc::string::String;

use super::{
    codecs::{ALIVE, DEAD},
    environment::{Environment, Life},
    hall_kind::{HallKind, resize},
    lines::{Finally, Line, Role, arrive},
    model_environment::{ModelEnvironment, without_local_lines},
    normal,
    rescue::Then,
    words::{Card, Meaning, Size, Tag},
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

/// The assumptions about processes: whether they die, whether they give up, and how many passages they
/// make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cast {
    /// No process dies.
    Plain,
    /// Any process may die, even in its remainder, and comes back as another process.
    Mortal,
    /// Waiters may give up. The last process is a clock that runs out at any time.
    Timeout,
    /// No process dies, and each makes one passage. This limit lets the lab explore more processes.
    Once,
    /// Any process may die, and each makes one passage.
    MortalOnce,
}

impl Cast {
    /// Returns `true` if some process may die.
    fn is_mortal(self) -> bool {
        matches!(self, Cast::Mortal | Cast::MortalOnce)
    }

    fn is_once(self) -> bool {
        matches!(self, Cast::Once | Cast::MortalOnce)
    }
}

/// A hall and its processes.
pub struct ProcessesModel {
    pub(super) n: usize,
    /// The numbers in a normal state have room for the tickets of this many processes. A process that wants several
    /// slots may have seen more old tickets than others.
    pub(super) room: usize,
    pub(super) k: usize,
    pub(super) cast: Cast,
    pub(super) hall: HallKind,
    pub(super) layout: Layout,
    pub(super) next: Var,
    pub(super) quiet: Var,
    pub(super) card: Array,
    pub(super) slot: Array,
    /// Declared only if processes choose waiters: if a process wants several slots, or the size of the hall changes.
    pub(super) head: Option<Var>,
    /// Declared only if the size of the hall changes. Otherwise the size is a constant.
    pub(super) size: Option<Var>,
    pub(super) link: Array,
    pub(super) followed: Array,
    pub(super) bell: Array,
    pub(super) life: Array,
    pub(super) clock: Var,
    pub(super) been: Array,
}

/// The private state of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// The process is at a line of a passage.
    At(Line<(), u8>),
    /// The process is about to check whether it has already made its passage.
    First,
    /// The process uses a hall that has shrunk, and is about to check whether process 0 is already there.
    Late,
    /// Process 0 of a hall that has shrunk is about to go on with its critical section, unless it was killed before.
    Resume,
    /// The process is about to check whether it is registered.
    Come,
    /// The process is about to read the number on its card.
    Recall,
    /// The process is about to turn the clock.
    Clock,
    /// The process is about to resize the hall.
    Resize,
}
use State::*;

impl ProcessesModel {
    /// Creates a hall with `k` slots for `n` processes.
    pub fn new(cast: Cast, n: usize, k: usize) -> Self {
        Self::with(cast, HallKind::Plain, n, k)
    }

    /// Creates a hall with `2 k` slots for `n` processes. Every process wants two slots.
    pub fn many(cast: Cast, n: usize, k: usize) -> Self {
        Self::with(cast, HallKind::Many, n, k)
    }

    /// Creates a hall with `k` slots for `n` processes. Process `large` wants two slots (one if `k` is 1). The others want
    /// one.
    pub fn mixed(cast: Cast, n: usize, k: usize, large: Pid) -> Self {
        let hall = if k == 1 { HallKind::Plain } else { HallKind::Mixed { large } };
        Self::with(cast, hall, n, k)
    }

    /// Creates a hall with `k + 1` slots for `n` processes. The first `k` processes want one slot. The others want two.
    pub fn spare(cast: Cast, n: usize, k: usize) -> Self {
        Self::with(cast, HallKind::Spare, n, k)
    }

    /// Creates a hall with `k + 1` slots for `n - 1` processes. The last process removes the last slot at some time, and
    /// later adds it again. Nobody is killed: a process that is killed while it adds a slot may not have woken a waiter.
    pub fn resized(n: usize, k: usize) -> Self {
        Self::with(Cast::Once, HallKind::Resized, n, k)
    }

    /// Creates a hall for `n` processes that had `k + 1` slots and has `k` now. Process 0 holds the last of the `k + 1`
    /// slots from the start. Every process makes one passage.
    pub fn shrunk(cast: Cast, n: usize, k: usize) -> Self {
        assert!(cast.is_once(), "process 0 starts in its only passage");
        Self::with(cast, HallKind::Shrunk, n, k)
    }

    /// Returns the first state of a passage.
    fn come(&self, cast: Cast) -> State {
        if cast.is_mortal() { Come } else { Recall }
    }

    /// Returns the number of slots that processes may hold.
    pub(super) fn slots(&self) -> usize {
        self.hall.slots(self.k)
    }

    /// Returns `true` if the last process is a clock.
    pub(super) fn has_clock(&self) -> bool {
        self.cast == Cast::Timeout
    }

    /// Returns the number of processes that use the hall: all but the clock.
    pub(super) fn processes(&self) -> usize {
        self.n - usize::from(self.has_clock())
    }

    /// Returns `true` if process `p` resizes the hall.
    fn is_resizer(&self, p: Pid) -> bool {
        self.hall == HallKind::Resized && p + 1 == self.n
    }

    /// Returns `true` if process `p` of a hall that has shrunk arrives later than process 0.
    fn is_later(&self, p: Pid) -> bool {
        self.hall == HallKind::Shrunk && p > 0
    }
}

fn turn(clock: Word, _: Word) -> Word {
    1 - clock
}

/// Returns the state of a process whose next line is known.
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
        self.hall.max_holders(self.k)
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&self, p: Pid) -> State {
        match self.cast {
            Cast::Timeout if p + 1 == self.n => Clock,
            _ if self.is_resizer(p) => Resize,
            _ if self.is_later(p) => Late,
            cast if cast.is_once() => First,
            cast => self.come(cast),
        }
    }

    fn step<M: Memory>(&self, memory: &mut M, p: Pid, at: State) -> Next<State> {
        let mut environment = ModelEnvironment { model: self, memory };
        match at {
            Clock => {
                environment.memory.atomic_update(self.clock, turn, 0);
                Leave
            }
            Resize => {
                let size = self.size.expect("the size of this hall changes");
                let before = environment.memory.atomic_update(size, resize, self.k as Word);
                match resize(before, self.k as Word) == before {
                    true => Leave,
                    false => {
                        Goto(At(Line::S1 { role: Role::Leaver(self.slots(), Finally::Leave) }))
                    }
                }
            }
            Late if environment.memory.read(self.been.at(0)) == 0 => Leave,
            Late => Goto(First),
            First if environment.memory.test_and_set(self.been.at(p)) => Leave,
            First if self.hall == HallKind::Shrunk && p == 0 => Goto(Resume),
            First => Goto(self.come(self.cast)),
            Resume => match environment.life(p) {
                Life::Alive => Enter(At(Line::X1 { j: self.k })),
                _ => Goto(self.come(self.cast)),
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
            // It does not wait for a slot.
            _ if self.is_resizer(p) => false,
            Clock | Resize | Late | First | Resume | Come | Recall => false,
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
        };
        Label { figure: "shared", line: line.into(), instance: String::new() }
    }

    fn name(&self, at: State) -> Option<usize> {
        match at {
            // In the other halls, a process has several slots or a slot that the hall no longer has. There, I2 says that
            // slots are distinct.
            At(Line::X1 { j } | Line::X2 { j, .. }) if self.hall == HallKind::Plain => Some(j),
            _ => None,
        }
    }

    fn mishap(&self, p: Pid) -> Option<Mishap> {
        let (var, op) = (self.life.at(p), Op::CompareAndSwap { old: ALIVE, new: DEAD });
        self.cast.is_mortal().then_some(Mishap { var, op, kills: true, name: "killed" })
    }

    fn is_unbounded(&self) -> bool {
        true
    }

    fn normalize(&self, processes: &mut [Loc<State>], memory: &mut [Word]) {
        normal::normalize(self, processes, memory);
    }

    fn invariants(&self) -> &'static [&'static str] {
        match self.hall {
            HallKind::Shrunk | HallKind::Resized => &["I2", "I3"],
            _ => &["I2"],
        }
    }

    /// Checks I2: a process in its critical section has all its slots, with its valid tags. Checks I3: the hall has all
    /// slots that are held, unless its size says that it has shrunk.
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
            if size.is_some_and(|size| !size.is_shrunk() && j >= size.k) {
                return Some("I3");
            }
        }
        None
    }

    fn run_statements(&self) -> &'static [RunStatement] {
        const MORTAL: &[RunStatement] = &[RunStatement::always("CSR")];
        if self.cast.is_mortal() { MORTAL } else { &[] }
    }

    /// Evaluates CSR, critical-section re-entry: a process that was killed in its critical section keeps its
    /// slot until it enters again. The hall does not promise this: a rescue frees the slot. The history has
    /// a bit for each process that was killed in its critical section and has not entered again.
    fn observe(&self, _: &str, history: u32, step: &Transition<'_, State>) -> Observed {
        let is_in = |view: &View<'_, State>, p: Pid| matches!(view.processes[p], Loc::Critical(_));
        let (mut kept, mut inside) = (history, 0);
        for p in 0..self.n {
            if is_in(&step.after, p) {
                kept &= !(1 << p);
                inside += 1;
            } else if is_in(&step.before, p) && step.mover != Some(p) {
                kept |= 1 << p;
            }
        }
        let found = inside + kept.count_ones() as usize > self.k;
        Observed { history: kept, applies: kept != 0, found }
    }
}
