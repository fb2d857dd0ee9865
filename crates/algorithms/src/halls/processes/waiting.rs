//! Lines G1 to G7 of a waiter that was given slots, lines W1 to W13 of a waiter that goes to sleep, and lines C1 and C2
//! of a waiter that gives up. The [parent module](super) explains the algorithm.

use super::{
    environment::{Environment, Life},
    lines::{
        Finally,
        Line::{self, *},
        LineOn, Outcome, Role,
    },
    rescue::Then,
    words::{Card, Given, Number, Phase, Size, Tag, after},
};
use crate::framework::{
    machine::Next::{self, Enter, Goto, Spin},
    memory::{Op, Word},
};

/// Executes a line of waiting.
pub(super) fn step<E: Environment>(e: &mut E, me: usize, at: LineOn<E>) -> Next<LineOn<E>> {
    match at {
        G1 { number, j } => {
            e.card(me, Op::Write(Card::new(Phase::In(j), number).pack()));
            Goto(G2 { number, outcome: Outcome::One(j) })
        }
        // Other processes tag slots until they learn that the waiter has enough. The tags that the waiter replaces
        // here decide which slots it has. No other process changes the new tags.
        G6 { number, first, j, got } => {
            let old = Tag { process: me, number }.pack();
            let new = Tag { process: me, number: after(number) }.pack();
            let is_mine = e.slot(j, Op::CompareAndSwap { old, new }) == old;
            let first = if is_mine && got == 0 { j } else { first };
            let got = got + usize::from(is_mine);
            let next = if j + 1 < e.slots() { j + 1 } else { 0 };
            if got == e.wants(me) {
                Goto(G7 { number, first })
            } else {
                Goto(G6 { number, first, j: next, got })
            }
        }
        // From here on, the process holds its slots like a process that drew no ticket.
        G7 { number, first } => {
            let number = after(number);
            e.card(me, Op::Write(Card::new(Phase::Idle, number).pack()));
            Goto(G2 { number, outcome: Outcome::Many(first) })
        }
        G2 { number, outcome } => match e.followed(me, Op::Read) {
            0 => no_longer_waits(e, number, outcome, e.processes()),
            _ => Goto(G3 { number, outcome }),
        },
        // The flag is cleared before the search (G4). If a process sets the flag again after that (W12), it finds at W4
        // that this process no longer waits, and needs no ring.
        G3 { number, outcome } => {
            e.followed(me, Op::Write(0));
            Goto(G4 { number, outcome, i: 0 })
        }
        G4 { number, outcome, i } => {
            let follows = i != me && e.link(i, Op::Read) == me as Word;
            if follows {
                Goto(G5 { number, outcome, i })
            } else {
                no_longer_waits(e, number, outcome, i + 1)
            }
        }
        G5 { number, outcome, i } => {
            e.ring(i);
            no_longer_waits(e, number, outcome, i + 1)
        }

        W1 => {
            let card = Card::unpack(e.card(me, Op::Read));
            match card.given() {
                Some(given) => Goto(notice(card.number, given)),
                None if matches!(card.phase, Phase::Waiting(_)) => {
                    Goto(W11 { number: card.number })
                }
                None => Goto(W2 { number: card.number, i: 0, before: None }),
            }
        }
        // The waiter marks itself asleep before its last look at the cards, the processes and the slots. From here on,
        // a process that gives it a slot sees the mark, and rings.
        W11 { number } => {
            let old = Card::new(Phase::Waiting(e.wants(me)), number).pack();
            let new = Card::new(Phase::Asleep(e.wants(me)), number).pack();
            if e.card(me, Op::CompareAndSwap { old, new }) == old {
                Goto(W2 { number, i: 0, before: None })
            } else {
                Goto(W1) // it was given a slot
            }
        }
        W2 { number, i, mut before } => {
            let card = Card::unpack(e.card(i, Op::Read));
            let nearer = before.is_none_or(|tag| tag.number < card.number);
            if card.waits() && card.number < number && nearer {
                before = Some(Tag { process: i, number: card.number });
            }
            next_before(e, number, i + 1, before)
        }
        W3 { before } => {
            e.link(me, Op::Write(before.process as Word));
            Goto(W12 { before })
        }
        W12 { before } => {
            e.followed(before.process, Op::Write(1));
            Goto(W4 { before })
        }
        W4 { before } => {
            let card = Card::unpack(e.card(before.process, Op::Read));
            if card.waits_with(before.number) {
                Goto(W5 { before: before.process })
            } else {
                Goto(S1 { role: Role::Waiter })
            }
        }
        W5 { before } => match e.life(before) {
            Life::Alive => {
                let watch = e.watch_nobody();
                let watch = e.watch(watch, before);
                Goto(S1 { role: Role::Watcher(watch) })
            }
            _ => Goto(R1 { process: before, then: Then::Serve(Role::Waiter) }),
        },
        W13 { number } => {
            let shrunk = Size::unpack(e.size(Op::Read)).is_shrunk();
            Goto(W6 { number, i: 0, watch: e.watch_nobody(), shrunk })
        }
        W6 { number, i, watch, shrunk } => {
            let card = Card::unpack(e.card(i, Op::Read));
            // A waiter behind this one may be chosen already, if it wants several slots or the hall has shrunk.
            // Then the waiter behind gets its slots first. If the waiter behind dies, only this process notices.
            let may_be_chosen = i != me && (shrunk || card.wants() != Some(1));
            let behind = card.waits() && !may_be_chosen && card.number >= number;
            if behind || card.phase == Phase::Vacant {
                next_to_watch(e, number, i + 1, watch, shrunk)
            } else {
                Goto(W7 { number, i, watch, shrunk })
            }
        }
        W7 { number, i, watch, shrunk } => match e.life(i) {
            Life::Alive => {
                let watch = e.watch(watch, i);
                next_to_watch(e, number, i + 1, watch, shrunk)
            }
            _ => Goto(R1 { process: i, then: Then::Serve(Role::Waiter) }),
        },
        W8 { .. } if e.rung(me) => Goto(S1 { role: Role::Waiter }),
        W8 { watch } => look_after(e, watch, 0),
        W9 { watch, i } => match e.life(i) {
            Life::Alive => look_after(e, watch, i + 1),
            _ => Goto(R1 { process: i, then: Then::Serve(Role::Waiter) }),
        },
        W10 { .. } if e.expired(me) => Goto(C1),
        W10 { watch } => Spin(W8 { watch }),

        C1 => {
            let card = Card::unpack(e.card(me, Op::Read));
            let asleep = matches!(card.phase, Phase::Asleep(_));
            match card.given() {
                Some(given) => Goto(notice(card.number, given)),
                None => Goto(C2 { number: card.number, asleep }),
            }
        }
        C2 { number, asleep } => {
            let wants = e.wants(me);
            let phase = if asleep { Phase::Asleep(wants) } else { Phase::Waiting(wants) };
            let old = Card::new(phase, number).pack();
            let new = Card::new(Phase::Idle, after(number)).pack();
            if e.card(me, Op::CompareAndSwap { old, new }) == old {
                Goto(G2 { number, outcome: Outcome::Nothing })
            } else {
                Goto(C1) // too late to give up: the process was given a slot
            }
        }
        _ => unreachable!("not a line of waiting"),
    }
}

/// Returns the first line of a process that was given slots.
pub(super) fn notice<I, W>(number: Number, given: Given) -> Line<I, W> {
    match given {
        Given::One(j) => G1 { number, j },
        Given::Many => G6 { number, first: 0, j: 0, got: 0 },
    }
}

/// Returns the next line of a process that no longer waits and has already rung for those of the processes below `i`
/// that follow it.
fn no_longer_waits<E: Environment>(
    e: &E,
    number: Number,
    outcome: Outcome,
    i: usize,
) -> Next<LineOn<E>> {
    match outcome {
        _ if i < e.processes() => Goto(G4 { number, outcome, i }),
        Outcome::One(j) => Enter(X2 { number, j }),
        Outcome::Many(j) => Goto(S1 { role: Role::Leaver(e.slots(), Finally::Enter(j)) }),
        Outcome::Nothing => Goto(X4),
    }
}

/// Returns the next line after W2 has seen all cards below `i`.
pub(super) fn next_before<E: Environment>(
    e: &E,
    number: Number,
    i: usize,
    before: Option<Tag>,
) -> Next<LineOn<E>> {
    match before {
        _ if i < e.processes() => Goto(W2 { number, i, before }),
        Some(before) => Goto(W3 { before }),
        None => Goto(W13 { number }),
    }
}

/// Goes on to process `i`. If there is no such process, looks for a slot once more.
fn next_to_watch<E: Environment>(
    e: &E,
    number: Number,
    i: usize,
    watch: E::WatchSet,
    shrunk: bool,
) -> Next<LineOn<E>> {
    match i < e.processes() {
        true => Goto(W6 { number, i, watch, shrunk }),
        false => Goto(S1 { role: Role::Watcher(watch) }),
    }
}

/// Checks whether the watched processes live, from process `i` on.
fn look_after<E: Environment>(e: &mut E, watch: E::WatchSet, i: usize) -> Next<LineOn<E>> {
    match e.next_watched(watch, i) {
        Some(i) => Goto(W9 { watch, i }),
        None => Goto(W10 { watch }),
    }
}
