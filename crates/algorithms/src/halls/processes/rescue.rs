//! Lines R1 to R4 free the slots of a dead process with one compare-and-swap (R3). Lines J1 to J3 *register* a process:
//! it gets an index, and with the index a card and a bell.

use super::{
    environment::{Environment, Life},
    lines::{
        Line::{self, *},
        LineOn, Role, arrive,
    },
    words::{Card, Phase, after, waits_with},
};
use crate::framework::{
    machine::Next::{self, Goto, Leave},
    memory::Op,
};

/// The way a process continues after a rescue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Then<W> {
    /// The process serves waiters.
    Serve(Role<W>),
    /// The process registers in place of the dead process.
    Join,
    /// The process does nothing more. A process that unregisters uses this: it executes lines of a rescue on
    /// its own card. It must not hold a slot.
    Nothing,
}

/// Executes a line of rescuing or registering.
pub(super) fn step<E: Environment>(e: &mut E, me: usize, at: LineOn<E>) -> Next<LineOn<E>> {
    match at {
        R1 { process, then } => {
            let card = e.card(process, Op::Read);
            Goto(R2 { process, then, card })
        }
        // R1 reads the card before R2 finds that its owner is dead. So if the card is unchanged at R3, it is
        // still the card of this dead process.
        R2 { process, then, card } => match e.life(process) {
            Life::Alive => go(then),
            Life::Dead(dead) => Goto(R3 { process, then, card, dead: Some(dead) }),
            Life::Nobody => Goto(R3 { process, then, card, dead: None }),
        },
        R3 { process, then, card, dead } => {
            let new = Card::unpack(card).vacated().pack();
            match dead {
                _ if e.card(process, Op::CompareAndSwap { old: card, new }) != card => {
                    Goto(R1 { process, then })
                }
                Some(dead) => Goto(R4 { process, then, dead }),
                None => go(then),
            }
        }
        R4 { process, then, dead } => {
            e.unregister(process, dead);
            go(then)
        }
        J1 if e.register(me) => Goto(J2),
        J1 => Leave, // another process has registered under this index first
        J2 => Goto(J3 { x: after(waits_with(e.next(Op::FetchAdd(1)))) }),
        J3 { x } => {
            e.card(me, Op::Write(Card::new(Phase::Idle, x).pack()));
            Goto(arrive(e, me, x))
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
