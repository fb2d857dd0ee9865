//! The protocol as the lab sees it: a few processes, and a store that is one word.
//!
//! Each model has at most one kind of fault or management ([`Cast`]). The [parent module](super) lists
//! what the native driver does beyond the model.

use alloc::string::String;

use super::{
    halls::{all_halls, fewer, owns},
    lines::{
        ClaimState,
        Line::{self, *},
    },
    register::{self, Answer, Hall, Knowledge, MAX_PROCESSES, Slot, Transact},
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

/// The events that a model has besides passages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cast {
    /// No other events.
    Plain,
    /// Any process may die, at any line.
    Mortal,
    /// Any lease may end at any time, although its owner lives and may hold a slot.
    Expiry,
    /// Any connection may break: the request has taken effect, but the sender gets no answer.
    Unheard,
    /// Waiters may give up. The last process is a clock that may run out at any time.
    Timeout,
    /// The last process does not wait.
    Try,
    /// The last process removes a slot from the hall, and adds it again.
    Resize,
    /// The last process closes the hall.
    Close,
}

impl Cast {
    /// Returns whether the last process never wants a slot.
    fn has_manager(self) -> bool {
        matches!(self, Cast::Timeout | Cast::Resize | Cast::Close)
    }

    /// Returns how many of `n` processes want slots.
    pub(super) fn members(self, n: usize) -> usize {
        n - usize::from(self.has_manager())
    }

    /// Returns whether claims may be lost.
    pub(super) fn loses_claims(self) -> bool {
        matches!(self, Cast::Mortal | Cast::Expiry)
    }
}

/// A hall and the processes that use it.
pub struct ClusterModel {
    n: usize,
    k: usize,
    cast: Cast,
    layout: Layout,
    hall: Var,
    mishap: Option<(Transact, bool, &'static str)>,
}

/// The position of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// The process is at a line of a passage.
    At(Line<Pid>),
    /// The process is about to look for a free slot. The result may be stale when the process makes its
    /// claim.
    Guess,
    /// The process is about to turn the clock, or to change the door.
    Manage,
}
use State::*;

impl ClusterModel {
    /// Models `n` processes that compete for `k` slots.
    pub fn new(cast: Cast, n: usize, k: usize) -> Self {
        ClusterModel::with_halls(cast, n, k, &all_halls(cast, cast.members(n), k))
    }

    /// Models processes on a store that can hold these halls.
    pub(super) fn with_halls(cast: Cast, n: usize, k: usize, halls: &[Hall]) -> Self {
        let mut layout = Layout::default();
        let empty = Init::Is(Hall::new(k).pack());
        let halls = halls.iter().map(Hall::pack).collect();
        let hall =
            layout.add(Decl::listed("hall", Kind::custom(HallCodec), halls, empty).waited_on());
        let mishap: Option<(Transact, bool, &str)> = match cast {
            Cast::Mortal => Some((register::dies, true, "killed")),
            Cast::Expiry => Some((register::expires, false, "lease ends")),
            Cast::Unheard => Some((register::breaks, false, "cut off")),
            _ => None,
        };
        ClusterModel { n, k, cast, layout, hall, mishap }
    }

    /// Replaces the effect that the fault has on the store.
    pub(super) fn with_mishap(mut self, change: Transact) -> Self {
        self.mishap = self.mishap.map(|(_, kills, name)| (change, kills, name));
        self
    }

    fn is_last(&self, p: Pid) -> bool {
        p + 1 == self.n
    }

    /// Returns the change that the last process makes to the hall.
    fn management(&self) -> Op {
        match self.cast {
            Cast::Resize => {
                Op::AtomicUpdate(register::resize, (fewer(self.k) + 8 * self.k) as Word)
            }
            Cast::Close => Op::AtomicUpdate(register::close, 0),
            _ => Op::AtomicUpdate(register::turn_clock, 0),
        }
    }

    /// Executes one line: its transaction, and the step to which the answer leads.
    pub(super) fn line<M: Memory>(
        &self,
        m: &mut M,
        p: Pid,
        line: Line<Pid>,
        (transact, answer): (Transact, Answer),
    ) -> Next<State> {
        let op = Op::AtomicUpdate(transact, pack_line(p, line));
        let found = m.access(self.hall, op);
        let before = Hall::unpack(found);
        if before.sleeps(p, line) {
            return Spin(At(line));
        }
        if before.unheard == Some(p) {
            return Goto(At(line));
        }
        match answer(&Hall::unpack(op.leaves(found)), p, line) {
            Goto(next) => Goto(At(next)),
            Spin(next) => Spin(At(next)),
            Enter(next) => Enter(At(next)),
            Leave => Leave,
        }
    }
}

impl Algorithm for ClusterModel {
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
                let now = Hall::unpack(m.read(self.hall)).picture(p);
                let slot = now.free.unwrap_or(0);
                let waits = self.cast != Cast::Try || !self.is_last(p);
                Goto(At(if waits { E1 { slot } } else { T1 { slot } }))
            }
            At(line) => self.line(m, p, line, (register::transact, Hall::answer)),
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
        let (change, kills, name) = self.mishap?;
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
            *loc != Loc::Remainder || hall.claim_state(p) == ClaimState::Absent && !owns(&hall, p)
        };
        let sleeps = |p: &Pid| hall.known[*p] == Knowledge::Asleep;
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

const _: () =
    assert!(MAX_PROCESSES < 8, "a process identifier must fit into the argument of a transaction");
