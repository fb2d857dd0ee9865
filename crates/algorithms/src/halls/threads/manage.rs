//! The lines of resizing and closing. [`MARK`] explains the marks of `word`, and [`Terms`] the terms and the owed
//! slots.

use super::{
    environment::{Environment, LineOn},
    lines::{After, Line::*, Turn},
    pool::Pool,
    words::{FREE, MARK, Terms},
};
use crate::framework::{
    machine::Next::{self, Goto},
    memory::{Op, Word},
};

/// Executes lines R1 to R6 (resizing) and Z1 to Z3 (closing). Resizing and closing mark `word` before they write the
/// terms, so that no newcomer takes a slot in the meantime.
#[cold]
pub(super) fn manage<P: Pool, E: Environment>(e: &mut E, at: LineOn<E>) -> Next<LineOn<E>> {
    let turn = Turn { left: e.grant_limit(), after: After::Leave };
    match at {
        R1 { k } => {
            e.word(Op::FetchAdd(MARK));
            Goto(R2 { k })
        }
        R2 { k } => Goto(R3 { k, terms: Terms::unpack(e.terms(Op::Read)) }),
        R3 { k, terms } => {
            let free = e.word(Op::Read) & FREE;
            let (add, owed) = P::resize(free, terms.owed, terms.k.into(), k.into());
            // `word` stays marked as long as slots are owed.
            let marks = 1 + Word::from(terms.owed != 0) - Word::from(owed != 0);
            Goto(R4 { new: Terms { k, owed, ..terms }, add, marks })
        }
        R4 { new, add, marks } => {
            e.word(Op::FetchAdd(add));
            Goto(R5 { new, marks })
        }
        R5 { new, marks } => {
            e.terms(Op::Write(new.pack()));
            Goto(R6 { marks })
        }
        R6 { marks } => {
            e.word(Op::FetchAdd(-marks * MARK));
            Goto(S1 { turn })
        }
        Z1 => match Terms::unpack(e.terms(Op::Read)) {
            terms if terms.closed => Goto(S1 { turn }),
            terms => Goto(Z2 { terms }),
        },
        Z2 { terms } => {
            e.word(Op::FetchAdd(MARK)); // the mark stays forever
            Goto(Z3 { terms })
        }
        Z3 { terms } => {
            e.terms(Op::Write(Terms { closed: true, ..terms }.pack()));
            Goto(S1 { turn })
        }
        _ => unreachable!("not a line of resizing or closing"),
    }
}
