//! The step machine as the lab explores it: a few processes, and a kernel that reports which process has died.

use alloc::{format, string::String, vec::Vec};

use super::{
    codecs::{ALIVE, CardCodec, DEAD, LifeCodec, NOBODY, TagCodec},
    environment::{Environment, Life},
    lines::{self, Line},
    normal,
    rescue::Then,
    words::{Card, FREE, Meaning, Phase, Tag, after, waits_with},
};
use crate::framework::{
    layout::{Array, Decl, Init, Kind, Layout},
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
    k: usize,
    cast: Cast,
    layout: Layout,
    pub(super) next: Var,
    pub(super) quiet: Var,
    pub(super) card: Array,
    pub(super) slot: Array,
    link: Array,
    followed: Array,
    bell: Array,
    life: Array,
    clock: Var,
    been: Array,
}

/// The private state of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// The process is at a line of a passage.
    At(Line<(), u8>),
    /// The process is about to check whether it has already made its passage.
    First,
    /// The process is about to check whether it is registered.
    Come,
    /// The process is about to read the number on its card.
    Recall,
    /// The process is about to turn the clock.
    Clock,
}
use State::*;

impl ProcessesModel {
    /// Creates a hall with `k` slots for `n` processes.
    pub fn new(cast: Cast, n: usize, k: usize) -> Self {
        let mut layout = Layout::default();
        let next = layout.add(Decl::number("next", -2, normal::max_ticket(n) + 3, 1).unbounded());
        let quiet = layout
            .add(Decl::number("quiet", -2, normal::max_ticket(n) + 3, 1).unbounded().waited_on());
        let cards = Self::all_cards(n, k);
        let idle = Card::new(Phase::Idle, after(waits_with(0))).pack();
        let card = layout.array(n, |p| {
            let name = format!("card[{p}]");
            let kind = Kind::custom(CardCodec);
            Decl::listed(name, kind, cards.clone(), Init::Is(idle)).unbounded().at(p)
        });
        let tags: Vec<Word> = (0..n)
            .flat_map(|process| {
                normal::tag_numbers(n).map(move |number| Tag { process, number }.pack())
            })
            .chain([FREE])
            .collect();
        let slot = layout.array(k, |j| {
            let name = format!("slot[{j}]");
            let kind = Kind::custom(TagCodec);
            Decl::listed(name, kind, tags.clone(), Init::Is(FREE)).unbounded()
        });
        let link =
            layout.array(n, |p| Decl::number(format!("link[{p}]"), 0, n as Word, n as Word).at(p));
        let followed = layout.array(n, |p| Decl::flag(format!("followed[{p}]"), false).at(p));
        let bell = layout.array(n, |p| Decl::flag(format!("bell[{p}]"), false).at(p).waited_on());
        let life = layout.array(n, |p| {
            let (name, kind) = (format!("life[{p}]"), Kind::custom(LifeCodec));
            Decl::listed(name, kind, (NOBODY..=DEAD).collect(), Init::Is(ALIVE)).waited_on()
        });
        let clock = layout.add(Decl::flag("clock", false));
        let been = layout.array(n, |p| Decl::flag(format!("been[{p}]"), false).at(p));
        ProcessesModel {
            n,
            k,
            cast,
            layout,
            next,
            quiet,
            card,
            slot,
            link,
            followed,
            bell,
            life,
            clock,
            been,
        }
    }

    fn all_cards(n: usize, k: usize) -> Vec<Word> {
        let given = (0..k).flat_map(|j| [Phase::Granted(j), Phase::Unrung(j), Phase::In(j)]);
        let waiting = given
            .chain([Phase::Waiting, Phase::Asleep, Phase::Vacant])
            .flat_map(|phase| normal::waiting_numbers(n).map(move |x| (phase, x)));
        let idle = [Phase::Idle, Phase::Vacant, Phase::Arriving]
            .into_iter()
            .flat_map(|phase| normal::idle_numbers(n).map(move |x| (phase, x)));
        waiting.chain(idle).map(|(phase, number)| Card::new(phase, number).pack()).collect()
    }

    /// Returns the first state of a passage.
    fn come(&self, cast: Cast) -> State {
        if cast.is_mortal() { Come } else { Recall }
    }

    /// Returns the number of processes that use the hall: all but the clock.
    fn processes(&self) -> usize {
        self.n - usize::from(self.cast == Cast::Timeout)
    }
}

/// The environment on declared variables.
pub(super) struct ModelEnvironment<'a, M> {
    pub(super) model: &'a ProcessesModel,
    pub(super) memory: &'a mut M,
}

impl<M: Memory> Environment for ModelEnvironment<'_, M> {
    type Identity = ();
    /// One bit for each process.
    type WatchSet = u8;

    fn processes(&self) -> usize {
        self.model.processes()
    }

    fn size(&mut self) -> usize {
        self.model.k // a constant in the model, so this is not an access
    }

    fn next(&mut self, op: Op) -> Word {
        self.memory.access(self.model.next, op)
    }

    fn quiet(&mut self, op: Op) -> Word {
        self.memory.access(self.model.quiet, op)
    }

    fn card(&mut self, process: usize, op: Op) -> Word {
        self.memory.access(self.model.card.at(process), op)
    }

    fn slot(&mut self, slot: usize, op: Op) -> Word {
        self.memory.access(self.model.slot.at(slot), op)
    }

    fn link(&mut self, process: usize, op: Op) -> Word {
        self.memory.access(self.model.link.at(process), op)
    }

    fn followed(&mut self, process: usize, op: Op) -> Word {
        self.memory.access(self.model.followed.at(process), op)
    }

    fn ring(&mut self, process: usize) {
        self.memory.write(self.model.bell.at(process), 1);
    }

    /// Does nothing: a waiter that is awake may take its next step at any time.
    fn nudge(&mut self, _: usize) {}

    fn rung(&mut self, me: usize) -> bool {
        self.memory.access(self.model.bell.at(me), Op::Clear(1)) != 0
    }

    fn expired(&mut self, _: usize) -> bool {
        self.model.cast == Cast::Timeout && self.memory.read(self.model.clock) != 0
    }

    fn life(&mut self, process: usize) -> Life<()> {
        match self.memory.read(self.model.life.at(process)) {
            NOBODY => Life::Nobody,
            ALIVE => Life::Alive,
            _ => Life::Dead(()),
        }
    }

    fn register(&mut self, me: usize) -> bool {
        self.memory.compare_and_swap(self.model.life.at(me), NOBODY, ALIVE)
    }

    fn unregister(&mut self, process: usize, (): ()) {
        self.memory.compare_and_swap(self.model.life.at(process), DEAD, NOBODY);
    }

    fn watch_nobody(&mut self) -> u8 {
        0
    }

    fn watch(&mut self, watch: u8, process: usize) -> u8 {
        watch | 1 << process
    }

    fn next_watched(&mut self, watch: u8, process: usize) -> Option<usize> {
        (process..self.model.processes()).find(|i| watch >> i & 1 == 1)
    }
}

/// Executes a line. Then also executes the next line, if that line makes no access in the model, where
/// the number of slots is a constant.
fn without_local_lines<M: Memory>(
    environment: &mut ModelEnvironment<'_, M>,
    p: Pid,
    line: Line<(), u8>,
) -> Next<Line<(), u8>> {
    match lines::step(environment, p, line) {
        Goto(local @ (Line::E3 { .. } | Line::S2 { .. })) => lines::step(environment, p, local),
        next => next,
    }
}

fn turn(clock: Word, _: Word) -> Word {
    1 - clock
}

impl Algorithm for ProcessesModel {
    type State = State;

    fn n(&self) -> usize {
        self.n
    }

    fn k(&self) -> usize {
        self.k
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&self, p: Pid) -> State {
        match self.cast {
            Cast::Timeout if p + 1 == self.n => Clock,
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
            First if environment.memory.test_and_set(self.been.at(p)) => Leave,
            First => Goto(self.come(self.cast)),
            Come => match environment.life(p) {
                Life::Alive => Goto(Recall),
                Life::Nobody => Goto(At(Line::J1)),
                Life::Dead(()) => Goto(At(Line::R1 { process: p, then: Then::Join })),
            },
            Recall => {
                let x = Card::unpack(environment.card(p, Op::Read)).number;
                Goto(At(Line::E1 { x }))
            }
            At(line) => match without_local_lines(&mut environment, p, line) {
                Goto(next) => Goto(At(next)),
                Spin(next) => Spin(At(next)),
                Enter(next) => Enter(At(next)),
                Leave => Leave,
            },
        }
    }

    fn waits(&self, _: Pid, at: State) -> bool {
        use Line::*;
        match at {
            Clock | First | Come | Recall => false,
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
            First => "First",
            Come => "Come",
            Recall => "Recall",
            Clock => "Clock",
        };
        Label { figure: "shared", line: line.into(), instance: String::new() }
    }

    fn name(&self, at: State) -> Option<usize> {
        match at {
            At(Line::X1 { j } | Line::X2 { j, .. }) => Some(j),
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
        &["I2"]
    }

    /// Checks I2: a process in its critical section has a slot with its valid tag.
    fn broken_invariant(&self, state: &View<'_, State>) -> Option<&'static str> {
        let broken = state.processes.iter().enumerate().any(|(p, loc)| {
            let Loc::Critical(At(line)) = *loc else { return false };
            let (Line::X1 { j } | Line::X2 { j, .. }) = line else { return true };
            let card = Card::unpack(state.value(self.card.at(p)));
            Tag::unpack(state.value(self.slot.at(j)))
                .is_none_or(|tag| tag.process != p || tag.means(j, card) != Meaning::Held)
        });
        broken.then_some("I2")
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
