//! The lines of arriving, waiting and leaving. Each line makes one access.

use super::{
    environment::{Environment, Life},
    rescue::{self, Then},
    serve,
    words::{Card, FREE, Number, Phase, Tag, after, waits_with},
};
use crate::framework::{
    lines::lines,
    machine::Next::{self, Enter, Goto, Leave, Spin},
    memory::{Op, Word},
};

/// The role of a serving process. The role decides how the process continues.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role<W> {
    /// A waiter.
    Waiter,
    /// A waiter that is about to sleep. It already watches these processes, so it notices everything
    /// that happens between its last look and its sleep.
    Watcher(W),
    /// A leaving process that has freed a slot.
    Leaver,
    /// A leaving process whose slot went to another process. It leaves the remaining work to the first
    /// waiter, so that its exit section is bounded.
    Hurried,
}

lines! {
    /// The line that a process executes next. `I` is an identity, `W` a set of watched processes.
    pub enum Line<I, W> {
        // Arriving
        E1 { x: Number },
        E2 { x: Number, c: Word },
        E3 { x: Number },
        E4 { x: Number, k: usize, j: usize },
        E5 { x: Number, k: usize, j: usize },
        E6 { x: Number },
        E7 { x: Number },
        E8 { x: Number },
        // Serving
        S1 { role: Role<W> },
        S2 { role: Role<W>, c: Word },
        S3 { role: Role<W>, c: Word, k: usize, i: usize, seen: serve::Seen },
        S4 { role: Role<W>, c: Word, k: usize, i: usize, seen: serve::Seen, number: Number, j: usize },
        S5 { c: Word },
        S6 { role: Role<W>, k: usize, who: Tag, j: usize },
        S7 { role: Role<W>, k: usize, who: Tag, j: usize, tag: Tag },
        S8 { role: Role<W>, k: usize, who: Tag, j: usize, tag: Tag },
        S9 { role: Role<W>, k: usize, who: Tag, j: usize },
        S10 { role: Role<W>, who: Tag, j: usize, own: bool, asleep: bool },
        S11 { role: Role<W>, who: Tag, j: usize },
        S12 { who: usize },
        S13 { role: Role<W>, c: Word, k: usize, i: usize, seen: serve::Seen, number: Number, j: usize },
        S14 { role: Role<W>, who: Tag, j: usize },
        S15 { who: usize },
        // Entering
        G1 { number: Number, j: usize },
        G2 { number: Number, j: Option<usize> },
        G3 { number: Number, j: Option<usize> },
        G4 { number: Number, j: Option<usize>, i: usize },
        G5 { number: Number, j: Option<usize>, i: usize },
        // Going to sleep
        W1,
        W2 { number: Number, i: usize, before: Option<Tag> },
        W3 { before: Tag },
        W4 { before: Tag },
        W5 { before: usize },
        W6 { number: Number, i: usize, watch: W },
        W7 { number: Number, i: usize, watch: W },
        W8 { watch: W },
        W9 { watch: W, i: usize },
        W10 { watch: W },
        W11 { number: Number },
        W12 { before: Tag },
        // Giving up
        C1,
        C2 { number: Number, asleep: bool },
        // Leaving
        X1 { j: usize },
        X2 { number: Number, j: usize },
        X3 { number: Number, j: usize },
        X4,
        X5 { c: Word },
        // Rescuing
        R1 { process: usize, then: Then<W> },
        R2 { process: usize, then: Then<W>, card: Word },
        R3 { process: usize, then: Then<W>, card: Word, dead: Option<I> },
        R4 { process: usize, then: Then<W>, dead: I },
        // Registering
        J1,
        J2,
        J3 { x: Number },
    }
}
use Line::*;

/// A line of a passage in this environment.
pub type LineOn<E> = Line<<E as Environment>::Identity, <E as Environment>::WatchSet>;

/// Executes the line `at` of process `me`.
///
/// The function is inlined: where the compiler knows the line, only the arm of that line remains.
#[inline(always)]
pub fn step<E: Environment>(e: &mut E, me: usize, at: LineOn<E>) -> Next<LineOn<E>> {
    match at {
        E1 { x } => Goto(E2 { x, c: e.next(Op::Read) }),
        E2 { x, c } => Goto(if e.quiet(Op::Read) == c { E3 { x } } else { E6 { x } }),
        E3 { x } => match e.size() {
            0 => Goto(E6 { x }),
            k => Goto(E4 { x, k, j: 0 }),
        },
        E4 { x, k, j } => match e.slot(j, Op::Read) {
            FREE => Goto(E5 { x, k, j }),
            _ if j + 1 < k => Goto(E4 { x, k, j: j + 1 }),
            _ => Goto(E6 { x }),
        },
        E5 { x, k, j } => {
            let new = Tag { process: me, number: x }.pack();
            if e.slot(j, Op::CompareAndSwap { old: FREE, new }) == FREE {
                Enter(X1 { j })
            } else if j + 1 < k {
                Goto(E4 { x, k, j: j + 1 })
            } else {
                Goto(E6 { x })
            }
        }
        X1 { j } => {
            e.slot(j, Op::Write(FREE));
            Goto(X4)
        }
        X4 => Goto(X5 { c: e.next(Op::Read) }),
        X5 { c } if e.quiet(Op::Read) == c => Leave,
        X5 { .. } => Goto(S1 { role: Role::Leaver }),
        _ => queue(e, me, at),
    }
}

/// Executes a line of a process that waits or has waited.
#[inline(never)]
fn queue<E: Environment>(e: &mut E, me: usize, at: LineOn<E>) -> Next<LineOn<E>> {
    match at {
        E6 { x } => {
            e.card(me, Op::Write(Card::new(Phase::Arriving, x).pack()));
            Goto(E7 { x })
        }
        E7 { .. } => Goto(E8 { x: waits_with(e.next(Op::FetchAdd(1))) }),
        E8 { x } => {
            e.card(me, Op::Write(Card::new(Phase::Waiting, x).pack()));
            Goto(S1 { role: Role::Waiter })
        }

        G1 { number, j } => {
            e.card(me, Op::Write(Card::new(Phase::In(j), number).pack()));
            Goto(G2 { number, j: Some(j) })
        }
        G2 { number, j } => match e.followed(me, Op::Read) {
            0 => no_longer_waits(e, number, j, e.processes()),
            _ => Goto(G3 { number, j }),
        },
        // The flag is cleared before the search (G4). If a process sets the flag again after that (W12), it finds at W4
        // that this process no longer waits, and needs no ring.
        G3 { number, j } => {
            e.followed(me, Op::Write(0));
            Goto(G4 { number, j, i: 0 })
        }
        G4 { number, j, i } => {
            let follows = i != me && e.link(i, Op::Read) == me as Word;
            if follows { Goto(G5 { number, j, i }) } else { no_longer_waits(e, number, j, i + 1) }
        }
        G5 { number, j, i } => {
            e.ring(i);
            no_longer_waits(e, number, j, i + 1)
        }

        W1 => {
            let card = Card::unpack(e.card(me, Op::Read));
            match card.given() {
                Some(j) => Goto(G1 { number: card.number, j }),
                None if card.phase == Phase::Waiting => Goto(W11 { number: card.number }),
                None => Goto(W2 { number: card.number, i: 0, before: None }),
            }
        }
        // The waiter marks itself asleep before its last look at the cards, the processes and the slots. From here on,
        // a process that changes any of these sees the mark, and rings.
        W11 { number } => {
            let old = Card::new(Phase::Waiting, number).pack();
            let new = Card::new(Phase::Asleep, number).pack();
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
            match before {
                _ if i + 1 < e.processes() => Goto(W2 { number, i: i + 1, before }),
                Some(before) => Goto(W3 { before }),
                None => Goto(W6 { number, i: 0, watch: e.watch_nobody() }),
            }
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
        W6 { number, i, watch } => {
            let card = Card::unpack(e.card(i, Op::Read));
            let behind = card.waits() && card.number >= number;
            if behind || card.phase == Phase::Vacant {
                next_to_watch(e, number, i + 1, watch)
            } else {
                Goto(W7 { number, i, watch })
            }
        }
        W7 { number, i, watch } => match e.life(i) {
            Life::Alive => {
                let watch = e.watch(watch, i);
                next_to_watch(e, number, i + 1, watch)
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
            let asleep = card.phase == Phase::Asleep;
            match card.given() {
                Some(j) => Goto(G1 { number: card.number, j }),
                None => Goto(C2 { number: card.number, asleep }),
            }
        }
        C2 { number, asleep } => {
            let phase = if asleep { Phase::Asleep } else { Phase::Waiting };
            let old = Card::new(phase, number).pack();
            let new = Card::new(Phase::Idle, after(number)).pack();
            if e.card(me, Op::CompareAndSwap { old, new }) == old {
                Goto(G2 { number, j: None })
            } else {
                Goto(C1) // too late to give up: the process was given a slot
            }
        }

        X2 { number, j } => {
            e.card(me, Op::Write(Card::new(Phase::Idle, after(number)).pack()));
            Goto(X3 { number, j })
        }
        X3 { number, j } => {
            let old = Tag { process: me, number }.pack();
            e.slot(j, Op::CompareAndSwap { old, new: FREE });
            Goto(X4)
        }
        R1 { .. } | R2 { .. } | R3 { .. } | R4 { .. } | J1 | J2 | J3 { .. } => {
            rescue::step(e, me, at)
        }
        _ => serve::step(e, me, at),
    }
}

/// Returns the next line of a process that no longer waits and has already rung for its followers below
/// `i`.
fn no_longer_waits<E: Environment>(
    e: &E,
    number: Number,
    j: Option<usize>,
    i: usize,
) -> Next<LineOn<E>> {
    match j {
        _ if i < e.processes() => Goto(G4 { number, j, i }),
        Some(j) => Enter(X2 { number, j }),
        None => Goto(X4),
    }
}

/// Goes on to process `i`. If there is no such process, looks for a slot once more.
fn next_to_watch<E: Environment>(
    e: &E,
    number: Number,
    i: usize,
    watch: E::WatchSet,
) -> Next<LineOn<E>> {
    match i < e.processes() {
        true => Goto(W6 { number, i, watch }),
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
