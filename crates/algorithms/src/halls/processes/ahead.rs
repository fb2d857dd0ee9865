//! Steps that the reduced model makes at once, and hints that it forgets. `mod.rs` explains the lines and the
//! variables, and `reduced.rs` the reduced model.
//!
//! Rings, `link` and `followed` are hints: they only wake sleeping waiters. In the reduced model, a sleeping waiter may
//! also wake up without a ring, at any time (the mishap `woken`). So the model has every run that it would have without
//! the reductions of this module, and more. If a property of all runs holds in the reduced model, it also holds without
//! them. `tests/settled.rs` checks that the reduced model can follow every step of the model without these reductions.
//! For one slot, it checks every state of two processes, and every state in which at most two of three processes
//! compete. For one slot and for two, it checks random runs of three processes.
//!
//! All this is for models in which no process is killed, every process wants one slot, the hall never changes its
//! size, and no waiter gives up.
//!
//! **Forgotten hints.** A process *listens* if it sleeps (W8), or looks at everything for the last time before it
//! sleeps (a [watcher](Role::Watcher) at S1 to S14).
//!
//! - If a process does not listen, the model clears its bell. With a ring from before its last look, the process would
//!   only wake up once more, and it may do so in any case.
//! - If a process neither listens nor is about to (W12, W4), the model clears its `link`. A process that finds an
//!   older value at G4 would only ring a process that does not need this ring.
//! - If no `link` names a process, the model clears its `followed`. This process would find nobody to ring at G4.
//!
//! **Settled steps.** A step is *settled* if three conditions hold:
//!
//! - No step of another process can change its result.
//! - It does not change the section of its process.
//! - It changes no variable in a way that makes a difference to another process.
//!
//! The reduced model makes a settled step as soon as it is settled. A process makes only finitely many settled steps in
//! a row. So a process that moves forever, or stops, does the same in the reduced model.
//!
//! | line | settled if | reason |
//! |---|---|---|
//! | Recall | always | only the process itself changes its idle card |
//! | E2, X5 | `c`, the copy of `next` that the process has read, never equals `quiet` again | only newer numbers will be written to `quiet` |
//! | S1 of a waiter | always | `c` has no effect (point 6 of `reduced.rs`) |
//! | S3 of a leaving process | at its own card | its own card is idle, and has no effect on the search |
//! | S4, S11, S15 | the other process does not listen | the ring is forgotten |
//! | S7 | the tag is void | I1 |
//! | S10 | the waiter no longer waits, or sleeps and the step expects it awake | the compare-and-swap fails: a ticket waits only once, and a waiter sleeps until it is given a slot |
//! | S13, S14 | the other process does not listen, or its card is marked or has changed | the mark only prevents rings |
//! | W1 | the card says that the waiter is awake | W11 looks at the card again |
//! | W1, W11 | the process was given a slot | then only the process itself changes its slot |
//! | W2 | the ticket of the other process is not between that of `before` (the nearest process found so far) and the own ticket, even if it is about to be written (E8) | later tickets are larger |
//! | W3, W12 | always | the process does not listen yet, so nobody needs to ring |
//! | W4 | the process before no longer waits with its ticket | a ticket waits only once |
//! | W8 | the bell was rung | only the process itself clears its bell |
//! | G1 | always | the process does not listen, so rings make no difference |
//! | G2 | `followed` is set | only the process itself clears it |
//! | G3, G4 | always | the process no longer waits, so no other process starts to follow it |
//! | G5 | the follower does not listen | the ring is forgotten |
//!
//! If no process follows a process p that is at G4, then p enters without another effect, as it would from G2. So the
//! model moves p to G2, and both states count as one.
//!
//! **One slot.** If the hall has one slot, a waiter that was given this slot changes nothing until it notices: at S3,
//! it finds nobody who needs a ring, and at S6 and S7, it finds its own tag. So S3, S6, S7, W2 and W4 are settled
//! then. All of them lead to G1. So W1 is always settled: a waiter that is given the slot at W2 notices without
//! another effect, too.
//!
//! **Trying a slot.** E5 finds out itself whether the slot is free, so the model leaves out E4. For a waiter, all
//! states in which it is about to try slot j have the same future: at S6, at S9, and at S7 or S8 with a void tag. From
//! each of them, a failed compare-and-swap leads back to S6. So the model makes the steps that lead to the line that
//! fits the content of the slot: S9 if the slot is free, S8 if its tag is void, otherwise S6.

use super::{
    casts::Cast,
    hall_kind::HallKind,
    lines::{
        Line::{self, *},
        Role,
    },
    model::{ProcessesModel, State},
    places::copy_matters,
    reduced::line_of,
    words::{Card, Meaning, Number, Phase, Request, Tag, waits_with},
};
use crate::framework::{
    machine::{Algorithm, Loc, Mishap, Next},
    memory::{Memory, Op, Pid, Var, Word},
};

/// The memory of a state.
struct Words<'a>(&'a mut [Word]);

impl Memory for Words<'_> {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let old = self.0[var.index()];
        self.0[var.index()] = op.leaves(old);
        old
    }
}

impl ProcessesModel {
    /// Returns `true` if the reductions of this module apply.
    pub(super) fn is_eternal(&self) -> bool {
        let has_events = self.casts.has(Cast::Mortal) || self.casts.has(Cast::Timeout);
        self.is_reduced && !has_events && self.hall == HallKind::Plain
    }
}

/// Returns a wake-up of process `p` without a ring.
pub(super) fn wake_up(model: &ProcessesModel, p: Pid) -> Mishap {
    let (var, op) = (model.bell.at(p), Op::CompareAndSwap { old: 0, new: 1 });
    Mishap { var, op, kills: false, recurs: true, name: "woken" }
}

/// Makes all settled steps.
pub(super) fn advance(model: &ProcessesModel, processes: &mut [Loc<State>], memory: &mut [Word]) {
    if !model.is_eternal() {
        return;
    }
    // A settled step of one process may settle a step of another.
    forget(model, processes, memory);
    while (0..model.n).any(|p| settle(model, processes, memory, p)) {
        forget(model, processes, memory);
    }
}

/// Forgets rings that a waiter does not need, and followers that do not sleep.
fn forget(model: &ProcessesModel, processes: &[Loc<State>], memory: &mut [Word]) {
    let nobody = model.n as Word;
    for p in 0..model.n {
        if !listens(&processes[p]) {
            memory[model.bell.at(p).index()] = 0;
            let is_linked = matches!(line_of(&processes[p]), Some(W12 { .. } | W4 { .. }));
            if !is_linked {
                memory[model.link.at(p).index()] = nobody;
            }
        }
    }
    for p in 0..model.n {
        let follows = |q: Pid| memory[model.link.at(q).index()] == p as Word;
        if !(0..model.n).any(follows) {
            memory[model.followed.at(p).index()] = 0;
        }
    }
}

/// Returns whether the process sleeps, or looks at everything for the last time before it sleeps.
fn listens(loc: &Loc<State>) -> bool {
    match line_of(loc) {
        Some(W8 { .. }) => true,
        Some(S1 { role } | S3 { role, .. } | S4 { role, .. } | S13 { role, .. }) => {
            is_watcher(role)
        }
        Some(S6 { role, .. } | S7 { role, .. } | S8 { role, .. } | S9 { role, .. }) => {
            is_watcher(role)
        }
        Some(S10 { role, .. } | S11 { role, .. } | S14 { role, .. }) => is_watcher(role),
        _ => false,
    }
}

fn is_watcher(role: Role<u8>) -> bool {
    matches!(role, Role::Watcher(_))
}

/// Makes the next step of `p` if it is settled. Returns whether it was.
fn settle(
    model: &ProcessesModel,
    processes: &mut [Loc<State>],
    memory: &mut [Word],
    p: Pid,
) -> bool {
    let (at, leaves) = match processes[p] {
        Loc::Entry(at) => (at, false),
        Loc::Exit(at) => (at, true),
        Loc::Remainder | Loc::Critical(_) => return false,
    };
    let now = Now { model, processes, memory };
    let next = match at {
        State::At(E4 { x, k, j }) => State::At(E5 { x, k, j }),
        State::At(G4 { number, outcome, i }) if now.is_followed_by_none(p, i) => {
            State::At(G2 { number, outcome })
        }
        State::At(G5 { number, outcome, i }) if !listens(&processes[i]) => {
            match now.is_followed_by_none(p, i + 1) {
                true => State::At(G2 { number, outcome }),
                false => State::At(G4 { number, outcome, i: i + 1 }),
            }
        }
        _ if now.is_settled(p, at) => {
            // Entering and leaving change the section.
            let mut after = memory.to_vec();
            let Next::Goto(next) = model.step(&mut Words(&mut after), p, at) else { return false };
            memory.copy_from_slice(&after);
            next
        }
        _ => return false,
    };
    processes[p] = if leaves { Loc::Exit(next) } else { Loc::Entry(next) };
    true
}

/// A state.
struct Now<'a> {
    model: &'a ProcessesModel,
    processes: &'a [Loc<State>],
    memory: &'a [Word],
}

impl Now<'_> {
    fn card(&self, p: Pid) -> Card {
        Card::unpack(self.memory[self.model.card.at(p).index()])
    }

    fn slot(&self, j: usize) -> Option<Tag> {
        Tag::unpack(self.memory[self.model.slot.at(j).index()])
    }

    fn is_void(&self, j: usize, tag: Tag) -> bool {
        tag.means(j, self.card(tag.process)) == Meaning::Void
    }

    /// Returns whether the card of this process says that it was given a slot, and not yet that its bell was rung.
    fn is_unrung(&self, p: Pid, number: Number) -> bool {
        let card = self.card(p);
        card.number == number && matches!(card.phase, Phase::Unrung(_))
    }

    /// Returns whether the hall has one slot, and `p` was given it.
    fn has_all(&self, p: Pid) -> bool {
        self.model.slots() == 1 && self.card(p).given().is_some()
    }

    /// Returns the number with which `p` waits or is about to wait.
    fn ticket(&self, p: Pid) -> Option<Number> {
        match line_of(&self.processes[p]) {
            Some(E8 { x }) => Some(x),
            _ => self.card(p).waits().then_some(self.card(p).number),
        }
    }

    /// Returns whether no process from `i` on follows `p`.
    fn is_followed_by_none(&self, p: Pid, i: Pid) -> bool {
        let follows = |q: Pid| self.memory[self.model.link.at(q).index()] == p as Word;
        !(i..self.model.n).any(follows)
    }

    fn is_settled(&self, p: Pid, at: State) -> bool {
        let State::At(line) = at else { return at == State::Recall };
        let listens = |p: Pid| listens(&self.processes[p]);
        match line {
            E2 { c, .. } | X5 { c } => {
                let next = self.memory[self.model.next.index()];
                let quiet = self.memory[self.model.quiet.index()];
                c != next && !copy_matters(self.processes, quiet, c)
            }
            S1 { role } => role.finally().is_none(),
            S3 { role, i, .. } if role.finally().is_some() => i == p,
            S3 { .. } => self.has_all(p),
            S4 { i, .. } => !listens(i),
            S6 { role, j, .. } | S7 { role, j, .. } | S8 { role, j, .. } | S9 { role, j, .. } => {
                self.is_settled_at_slot(p, role, j, line)
            }
            S10 { who: Request { tag, .. }, asleep, .. } => {
                let card = self.card(tag.process);
                !card.waits_with(tag.number) || !asleep && card.phase == Phase::Asleep(1)
            }
            S11 { who: Request { tag, .. }, .. } => !listens(tag.process),
            S13 { i, number, .. } => !listens(i) || !self.is_unrung(i, number),
            S14 { who: Request { tag, .. }, .. } => {
                !listens(tag.process) || !self.is_unrung(tag.process, tag.number)
            }
            S15 { who, .. } => !listens(who),
            W1 => self.model.slots() == 1 || !matches!(self.card(p).phase, Phase::Asleep(_)),
            W11 { .. } => self.card(p).given().is_some(),
            W2 { number, i, before } => {
                let lowest = before.map_or(waits_with(0) - 1, |before| before.number);
                self.has_all(p)
                    || self.ticket(i).is_none_or(|ticket| ticket <= lowest || ticket >= number)
            }
            W3 { .. } | W12 { .. } | G1 { .. } | G3 { .. } | G4 { .. } => true,
            W4 { before } => {
                self.has_all(p) || !self.card(before.process).waits_with(before.number)
            }
            W8 { .. } => self.memory[self.model.bell.at(p).index()] != 0,
            G2 { .. } => self.memory[self.model.followed.at(p).index()] != 0,
            _ => false,
        }
    }

    fn is_settled_at_slot(&self, p: Pid, role: Role<u8>, j: usize, line: Line<(), u8>) -> bool {
        let is_waiter = role.finally().is_none();
        match (line, self.slot(j)) {
            (S7 { tag, .. }, _) if self.is_void(j, tag) => true,
            _ if !is_waiter => false,
            (S6 { .. }, None) => true,
            (S6 { .. }, Some(tag)) => self.is_void(j, tag) || tag.process == p && self.has_all(p),
            (S7 { tag, .. }, _) => tag.process == p && self.has_all(p),
            (S8 { tag, .. }, now) => now != Some(tag),
            (S9 { .. }, now) => now.is_some(),
            _ => false,
        }
    }
}
