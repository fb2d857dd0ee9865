//! Declares all lines, and executes the lines by which a process arrives and leaves. Each line makes one access. The
//! [parent module](super) explains the algorithm.

use super::{
    choose,
    environment::Environment,
    rescue::{self, Then},
    serve, waiting,
    words::{Card, FREE, Given, Number, Phase, Request, Size, Tag, after, waits_with},
};
use crate::framework::{
    lines::lines,
    machine::Next::{self, Enter, Goto, Leave},
    memory::{Op, Word},
};

/// The role of a serving process. The role decides how the process continues.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role<W> {
    /// A waiter that does not watch other processes yet.
    Waiter,
    /// A waiter that is about to sleep. It already watches these processes, so it notices everything
    /// that happens between its last look and its sleep.
    Watcher(W),
    /// A process that leaves, that has resized the hall, or that is about to enter with several slots. It serves until
    /// it has given away this many more slots, or can give away no more. Then it leaves or enters. A leaving process
    /// has freed its slots. An entering process may have freed slots, too: other processes may have tagged more slots
    /// for it than it wants, and the surplus tags are void now.
    Leaver(usize, Finally),
    /// A former `Leaver` that has noticed that other processes serve at the same time: one of its compare-and-swaps
    /// failed, it settled the offer of another process, or another waiter was chosen. It leaves the remaining work to
    /// the first waiter, so that its exit section is bounded.
    Hurried(Finally),
}

impl<W> Role<W> {
    /// Returns how the process continues after it has served, if it does not wait.
    pub(super) fn finally(self) -> Option<Finally> {
        match self {
            Role::Waiter | Role::Watcher(_) => None,
            Role::Leaver(_, finally) | Role::Hurried(finally) => Some(finally),
        }
    }
}

/// The way a process continues once it no longer waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// The process enters with this slot.
    One(usize),
    /// The process enters with several slots, of which this is the first.
    Many(usize),
    /// The process has given up.
    Nothing,
}

/// The way a process continues after it has served.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Finally {
    /// The process returns to its remainder.
    Leave,
    /// The process enters with several slots, of which this is the first.
    Enter(usize),
}

impl Finally {
    /// Returns the next step of the process.
    pub(super) fn go<I, W>(self) -> Next<Line<I, W>> {
        match self {
            Finally::Leave => Leave,
            Finally::Enter(j) => Enter(X7 { j }),
        }
    }
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
        S3 { role: Role<W>, c: Word, size: Size, i: usize, seen: serve::Seen },
        S4 { role: Role<W>, c: Word, size: Size, i: usize, seen: serve::Seen, number: Number, given: Given },
        S5 { c: Word, finally: Finally },
        S6 { role: Role<W>, size: Size, who: Request, j: usize, got: usize, own: usize },
        S7 { role: Role<W>, size: Size, who: Request, j: usize, got: usize, own: usize, tag: Tag },
        S8 { role: Role<W>, size: Size, who: Request, j: usize, got: usize, own: usize, tag: Tag },
        S9 { role: Role<W>, size: Size, who: Request, j: usize, got: usize, own: usize },
        S10 { role: Role<W>, who: Request, j: usize, own: usize, asleep: bool },
        S11 { role: Role<W>, who: Request, j: usize },
        S12 { who: usize, finally: Finally },
        S13 { role: Role<W>, c: Word, size: Size, i: usize, seen: serve::Seen, number: Number, given: Given },
        S14 { role: Role<W>, who: Request, j: usize },
        S15 { who: usize, finally: Finally },
        // Choosing the waiter for several slots
        H1 { role: Role<W>, size: Size, who: Request },
        H2 { role: Role<W>, size: Size, who: Request, head: Word },
        H3 { role: Role<W>, size: Size, who: Request, head: Word },
        // Counting held slots after the hall has shrunk, and sealing free slots that it no longer has
        N1 { role: Role<W>, size: Size, who: Request, j: usize, held: usize, above: bool },
        N2 { role: Role<W>, size: Size, who: Request, j: usize, held: usize, above: bool, tag: Tag },
        N3 { role: Role<W>, size: Size, who: Request, j: usize, held: usize, above: bool, old: Word },
        N4 { role: Role<W>, size: Size, who: Request },
        // Entering
        G1 { number: Number, j: usize },
        G2 { number: Number, outcome: Outcome },
        G3 { number: Number, outcome: Outcome },
        G4 { number: Number, outcome: Outcome, i: usize },
        G5 { number: Number, outcome: Outcome, i: usize },
        G6 { number: Number, first: usize, j: usize, got: usize },
        G7 { number: Number, first: usize },
        // Going to sleep
        W1,
        W2 { number: Number, i: usize, before: Option<Tag> },
        W3 { before: Tag },
        W4 { before: Tag },
        W5 { before: usize },
        W6 { number: Number, i: usize, watch: W, shrunk: bool },
        W7 { number: Number, i: usize, watch: W, shrunk: bool },
        W8 { watch: W },
        W9 { watch: W, i: usize },
        W10 { watch: W },
        W11 { number: Number },
        W12 { before: Tag },
        W13 { number: Number },
        // Giving up
        C1,
        C2 { number: Number, asleep: bool },
        // Leaving
        X1 { j: usize },
        X2 { number: Number, j: usize },
        X3 { number: Number, j: usize },
        X4,
        X5 { c: Word },
        X6 { number: Number, j: usize, left: usize },
        X7 { j: usize },
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
        E3 { x } => match Size::unpack(e.size(Op::Read)) {
            // The hall is closed, or it has shrunk. In the second case, slots that it no longer has may be held, and
            // only serving processes count them.
            size if size.k == 0 || size.is_shrunk() => Goto(E6 { x }),
            Size { k, .. } => Goto(E4 { x, k, j: 0 }),
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
        X5 { .. } => Goto(S1 { role: Role::Leaver(e.wants(me), Finally::Leave) }),
        S3 { .. } | S6 { .. } | S7 { .. } => serve::look(e, me, at),
        _ => queue(e, me, at),
    }
}

/// Executes a line that a passage for one slot does not need if nobody waits.
#[inline(never)]
fn queue<E: Environment>(e: &mut E, me: usize, at: LineOn<E>) -> Next<LineOn<E>> {
    match at {
        E6 { x } => {
            e.card(me, Op::Write(Card::new(Phase::Arriving, x).pack()));
            Goto(E7 { x })
        }
        E7 { .. } => Goto(E8 { x: waits_with(e.next(Op::FetchAdd(1))) }),
        E8 { x } => {
            e.card(me, Op::Write(Card::new(Phase::Waiting(e.wants(me)), x).pack()));
            Goto(S1 { role: Role::Waiter })
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
        X7 { j } => {
            let number = Card::unpack(e.card(me, Op::Read)).number;
            Goto(X6 { number, j, left: e.wants(me) })
        }
        X6 { number, j, left } => {
            let old = Tag { process: me, number }.pack();
            let is_mine = e.slot(j, Op::CompareAndSwap { old, new: FREE }) == old;
            let left = left - usize::from(is_mine);
            match left {
                1.. if j + 1 < e.slots() => Goto(X6 { number, j: j + 1, left }),
                _ => Goto(X4),
            }
        }
        R1 { .. } | R2 { .. } | R3 { .. } | R4 { .. } | J1 | J2 | J3 { .. } => {
            rescue::step(e, me, at)
        }
        G1 { .. } | G2 { .. } | G3 { .. } | G4 { .. } | G5 { .. } | G6 { .. } | G7 { .. } => {
            waiting::step(e, me, at)
        }
        W1 | W2 { .. } | W3 { .. } | W4 { .. } | W5 { .. } | W6 { .. } | W7 { .. } | W8 { .. } => {
            waiting::step(e, me, at)
        }
        W9 { .. } | W10 { .. } | W11 { .. } | W12 { .. } | W13 { .. } | C1 | C2 { .. } => {
            waiting::step(e, me, at)
        }
        H1 { .. } | H2 { .. } | H3 { .. } | N1 { .. } | N2 { .. } | N3 { .. } | N4 { .. } => {
            choose::step(e, me, at)
        }
        _ => serve::step(e, me, at),
    }
}

/// Returns the first line of a passage. A process that wants several slots always draws a ticket. Otherwise, two such
/// processes could each take a part of their slots.
pub(super) fn arrive<E: Environment>(e: &E, me: usize, x: Number) -> LineOn<E> {
    if e.wants(me) == 1 { E1 { x } } else { E6 { x } }
}
