//! Lines R1 to R4: frees what a dead member held, in one compare-and-swap. Lines J1 to J3: becoming a
//! member.

use super::{
    board::{Board, Life},
    lines::{
        Line::{self, *},
        LineOn, Role,
    },
    words::{Card, Stand, after, waits_with},
};
use crate::framework::{
    machine::Next::{self, Goto, Leave},
    memory::Op,
};

/// What follows a rescue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Then<W> {
    /// Serving.
    Serve(Role<W>),
    /// Becoming a member in the dead one's place.
    Join,
    /// Nothing: who leaves for good does this for itself, and holds nothing.
    Nothing,
}

/// Executes a line of rescuing or joining.
pub(super) fn step<B: Board>(b: &mut B, me: usize, at: LineOn<B>) -> Next<LineOn<B>> {
    match at {
        R1 { member, then } => {
            let card = b.card(member, Op::Read);
            Goto(R2 { member, then, card })
        }
        // The card was read first: if it is the same at line 3, it was this dead one's.
        R2 { member, then, card } => match b.life(member) {
            Life::Alive => go(then),
            Life::Dead(dead) => Goto(R3 { member, then, card, dead: Some(dead) }),
            Life::Nobody => Goto(R3 { member, then, card, dead: None }),
        },
        R3 { member, then, card, dead } => {
            let new = Card::unpack(card).vacated().pack();
            match dead {
                _ if b.card(member, Op::CompareAndSwap { old: card, new }) != card => {
                    Goto(R1 { member, then })
                }
                Some(dead) => Goto(R4 { member, then, dead }),
                None => go(then),
            }
        }
        R4 { member, then, dead } => {
            b.bury(member, dead);
            go(then)
        }
        J1 if b.claim(me) => Goto(J2),
        J1 => Leave, // somebody else was faster
        J2 => Goto(J3 { x: after(waits_with(b.next(Op::FetchAdd(1)))) }),
        J3 { x } => {
            b.card(me, Op::Write(Card::new(Stand::Idle, x).pack()));
            Goto(E1 { x })
        }
        _ => unreachable!("not a line of rescuing"),
    }
}

fn go<I, W>(then: Then<W>) -> Next<Line<I, W>> {
    match then {
        Then::Serve(role) => Goto(S1 { role }),
        Then::Join => Goto(J1),
        Then::Nothing => Leave,
    }
}
