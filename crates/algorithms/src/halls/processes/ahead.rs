//! Steps that the reduced model makes at once, because it makes no difference when a process makes them.
//!
//! A step is *settled* if it changes no variable in a way that another process can tell, does not change the section of
//! its process, and no step of another process can change its result any more. Nothing then distinguishes the
//! state before a settled step from the state after it, except that the process still has to make this step. So the
//! reduced model makes every settled step as soon as it is settled, and has no state in which a process is about to make
//! one. A process makes only finitely many settled steps in a row. So the model has the same runs, apart from settled
//! steps, and a process stops in a state of one model if it stops in a state of the other.
//!
//! All this holds only if no process can be killed, every process wants one slot, the hall never changes its size, and
//! no waiter gives up. `tests/reduced.rs` compares the model with the full one by a bisimulation.
//!
//! | line | settled if | reason |
//! |---|---|---|
//! | Recall | always | only the process itself changes its idle card |
//! | E2, X5 | `c` never equals `quiet` again | only newer numbers will be written to `quiet` |
//! | S1 of a waiter | always | `c` has no effect (point 6 of `reduced.rs`) |
//! | S3 of a leaving process | at its own card | its own card is idle, and says nothing |
//! | S7 | the tag is void | I1 |
//! | S10 | the waiter sleeps or no longer waits, so the compare-and-swap fails | a waiter that sleeps does not wake before it is given a slot |
//! | S13, S14 | the card is marked already, or has changed, so the compare-and-swap fails | a ticket waits only once |
//! | W1, W11 | the process was given a slot | only the process itself changes its card then |
//! | W1 | the card does not say that the process sleeps | W11 looks at the card again |
//! | W2 | the process of the card has no ticket between `before` and the own ticket, and is not about to write one (E8) | new tickets are larger |
//! | W3 | `link` has this value | only the process itself writes its `link` |
//! | W4 | the process before no longer waits with its ticket | a ticket waits only once |
//! | G1 | the phase of the card is `Granted` | other processes treat `Granted` like `In` |
//! | G2 | `followed` is 1 | only the process itself clears it |
//! | G3 | no process is about to write `followed` of this process (W2, W3, W12) | W2 finds only processes that wait |
//! | G4 | the other process does not follow this one, and is not about to (W2, W3) | likewise |
//!
//! If the hall has one slot, a waiter that was given this slot has no effect until it notices: it finds itself at S3, or
//! the slot at S6 and S7. Every other slot that it gives fails at S9, because its own tag is in the slot. So S3, S6, S7
//! and W4 are settled then, and lead to G1.
//!
//! **Trying a slot.** E4 only saves E5 in vain, so the model leaves it out. For a waiter, all states in which it is about
//! to try slot j have the same future, whatever it saw of the slot: it is at S6, or at S9, or at S7 or S8 with a void tag.
//! From each of them, a failed compare-and-swap leads back to S6. So the model makes the steps that lead to the one that
//! fits the content of the slot: S9 if it is free, S8 if it has a void tag, otherwise S6.

use super::{
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
    machine::{Algorithm, Loc, Next},
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
        Some(S1 { role } | S3 { role, .. } | S4 { role, .. } | S13 { role, .. }) => is_watcher(role),
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
            W1 => {
                self.model.slots() == 1 || !matches!(self.card(p).phase, Phase::Asleep(_))
            }
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
            (S6 { .. }, Some(tag)) => {
                self.is_void(j, tag) || tag.process == p && self.has_all(p)
            }
            (S7 { tag, .. }, _) => tag.process == p && self.has_all(p),
            (S8 { tag, .. }, now) => now != Some(tag),
            (S9 { .. }, now) => now.is_some(),
            _ => false,
        }
    }
}
