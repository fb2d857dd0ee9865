//! The protocol as the lab sees it: a few processes, and a store that is one word.

use alloc::string::String;
use core::marker::PhantomData;

use super::{
    broken::{Rules, Sound},
    halls::{all_halls, fewer, owns},
    lines::{
        ClaimState,
        Line::{self, *},
    },
    register::{self, Hall, MAX_PROCESSES, Mind, Slot},
    words::{HallCodec, pack_line},
};
use crate::framework::{
    layout::{Decl, Init, Kind, Layout},
    machine::{
        Algorithm, Label, Loc, Mishap,
        Next::{self, Enter, Goto, Leave, Spin},
        View,
    },
    memory::{Memory, Op, Pid, Var, Word},
};

/// What may happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cast {
    /// Nothing but claims.
    Plain,
    /// Anybody may die, at any line.
    Mortal,
    /// The lease of anybody may end, though its owner lives and may be inside.
    Expiry,
    /// Anybody's connection may break: what it asked for has happened, but it does not hear so.
    Unheard,
    /// Waiters may give up: the last process is a clock that runs out at any time.
    Timeout,
    /// The last process does not wait.
    Try,
    /// The last process makes the hall smaller by a slot, and larger again.
    Resize,
    /// The last process closes the hall.
    Close,
}

impl Cast {
    /// Whether the last process is not after a slot.
    pub(super) fn has_manager(self) -> bool {
        matches!(self, Cast::Timeout | Cast::Resize | Cast::Close)
    }

    /// Whether claims may be lost.
    pub(super) fn loses_claims(self) -> bool {
        matches!(self, Cast::Mortal | Cast::Expiry)
    }
}

/// A hall and those who use it.
pub struct ClusterModel<R = Sound> {
    n: usize,
    k: usize,
    cast: Cast,
    layout: Layout,
    hall: Var,
    rules: PhantomData<R>,
}

/// Where a process stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// On a line of a passage.
    At(Line<Pid>),
    /// About to see which slot is free: what it knows when it makes its claim may be old.
    Guess,
    /// About to turn the clock, or to change the door.
    Manage,
}
use State::*;

impl<R: Rules> ClusterModel<R> {
    /// For `n` processes, of which `k` may be in.
    pub fn new(cast: Cast, n: usize, k: usize) -> Self {
        let mut layout = Layout::default();
        let empty = Init::Is(Hall::new(k).pack());
        let members = n - usize::from(cast.has_manager());
        let halls = all_halls::<R>(cast, members, k).iter().map(Hall::pack).collect();
        let hall =
            layout.add(Decl::listed("hall", Kind::custom(HallCodec), halls, empty).waited_on());
        ClusterModel { n, k, cast, layout, hall, rules: PhantomData }
    }

    fn is_last(&self, p: Pid) -> bool {
        p + 1 == self.n
    }

    /// What the last process does to the hall.
    fn management(&self) -> Op {
        match self.cast {
            Cast::Resize => {
                Op::AtomicUpdate(register::resize, (fewer(self.k) + 8 * self.k) as Word)
            }
            Cast::Close => Op::AtomicUpdate(register::close, 0),
            _ => Op::AtomicUpdate(register::turn_clock, 0),
        }
    }

    /// One line: its transaction, and where the answer leads.
    fn line<M: Memory>(&self, m: &mut M, p: Pid, line: Line<Pid>) -> Next<Line<Pid>> {
        let op = Op::AtomicUpdate(register::transact::<R>, pack_line(p, line));
        let found = m.access(self.hall, op);
        let before = Hall::unpack(found);
        if before.sleeps(p, line) {
            Spin(line)
        } else if before.unheard == Some(p) {
            Goto(line)
        } else {
            Hall::unpack(op.leaves(found)).next::<R>(p, line)
        }
    }
}

impl<R: Rules> Algorithm for ClusterModel<R> {
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
        if self.cast.has_manager() && self.is_last(p) { Manage } else { Guess }
    }

    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: State) -> Next<State> {
        match at {
            Manage => {
                m.access(self.hall, self.management());
                Leave
            }
            Guess => {
                let now = Hall::unpack(m.read(self.hall)).picture::<R>(p);
                let slot = now.free.unwrap_or(0);
                let waits = self.cast != Cast::Try || !self.is_last(p);
                Goto(At(if waits { E1 { slot } } else { T1 { slot } }))
            }
            At(line) => match self.line(m, p, line) {
                Goto(next) => Goto(At(next)),
                Spin(next) => Spin(At(next)),
                Enter(next) => Enter(At(next)),
                Leave => Leave,
            },
        }
    }

    fn waits(&self, _: Pid, at: State) -> bool {
        !matches!(at, Manage | Guess | At(E1 { .. }))
    }

    fn label(&self, _: Pid, at: State) -> Label {
        let line = match at {
            At(line) => line.name(),
            Guess => "guess",
            Manage => "manage",
        };
        Label { figure: "claims", line: line.into(), instance: String::new() }
    }

    fn name(&self, at: State) -> Option<usize> {
        match at {
            At(X1 { slot }) => Some(slot),
            _ => None,
        }
    }

    fn mishap(&self, p: Pid) -> Option<Mishap> {
        let (change, kills, name): (fn(Word, Word) -> Word, bool, &str) = match self.cast {
            Cast::Mortal => (register::dies::<R>, true, "killed"),
            Cast::Expiry => (register::expires::<R>, false, "lease ends"),
            Cast::Unheard => (register::breaks, false, "cut off"),
            _ => return None,
        };
        Some(Mishap { var: self.hall, op: Op::AtomicUpdate(change, p as Word), kills, name })
    }

    fn invariants(&self) -> &'static [&'static str] {
        &["I1", "I2", "I3", "I4", "I5"]
    }

    fn broken_invariant(&self, state: &View<'_, State>) -> Option<&'static str> {
        let hall = Hall::unpack(state.value(self.hall));
        let has_own_slot = |(p, loc): (Pid, &Loc<State>)| match *loc {
            Loc::Critical(At(X1 { slot })) => {
                [Slot::Held(p), Slot::Stale(p)].contains(&hall.slots[slot])
            }
            _ => true,
        };
        let leaves_nothing = |(p, loc): (Pid, &Loc<State>)| {
            *loc != Loc::Remainder || hall.standing(p) == ClaimState::Outside && !owns(&hall, p)
        };
        let sleeps = |p: &Pid| hall.minds[*p] == Mind::Asleep;
        let slots = &hall.slots[..hall.size];
        let is_free = slots.contains(&Slot::Free);
        let is_there = is_free || slots.contains(&Slot::Left);
        let processes = || state.processes.iter().enumerate();
        let has_one_claim = |p: Pid| {
            let mine = [Slot::Given(p), Slot::Held(p)];
            let inside = hall.slots.iter().filter(|slot| mine.contains(slot)).count();
            inside + usize::from(hall.queue.contains(&p)) <= 1
        };
        let rules = [
            ("I1", processes().all(has_own_slot)),
            ("I2", processes().all(leaves_nothing)),
            ("I3", !is_there || !hall.queue.first().is_some_and(sleeps)),
            ("I4", !is_free || !hall.queue.iter().any(sleeps)),
            ("I5", (0..self.n).all(has_one_claim)),
        ];
        rules.into_iter().find(|(_, holds)| !holds).map(|(name, _)| name)
    }
}

const _: () = assert!(MAX_PROCESSES < 8, "the arguments of transactions have room for them");

/// The protocol with this cast.
pub fn model(cast: Cast, n: usize, k: usize) -> ClusterModel {
    ClusterModel::new(cast, n, k)
}
