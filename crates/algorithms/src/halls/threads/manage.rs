//! The lines of those who change the terms.

use super::{
    Terms,
    desk::{Desk, LineOn},
    lines::{After, FREE, Line::*, MARK, Turn},
    pool::Pool,
};
use crate::framework::{
    machine::Next::{self, Goto},
    memory::{Op, Word},
};

/// Lines R1 to R6, another number of slots, and Z1 to Z3, nobody in any more. Both mark the word
/// first, so that nobody takes anything meanwhile.
#[cold]
pub(super) fn manage<P: Pool, D: Desk>(d: &mut D, at: LineOn<D>) -> Next<LineOn<D>> {
    let turn = Turn { left: d.patience(), after: After::Leave };
    match at {
        R1 { k } => {
            d.word(Op::FetchAdd(MARK));
            Goto(R2 { k })
        }
        R2 { k } => Goto(R3 { k, terms: Terms::unpack(d.terms(Op::Read)) }),
        R3 { k, terms } => {
            let free = d.word(Op::Read) & FREE;
            let (add, owed) = P::resize(free, terms.owed, terms.k.into(), k.into());
            // The word stays marked as long as anything is owed.
            let marks = 1 + Word::from(terms.owed != 0) - Word::from(owed != 0);
            Goto(R4 { new: Terms { k, owed, ..terms }, add, marks })
        }
        R4 { new, add, marks } => {
            d.word(Op::FetchAdd(add));
            Goto(R5 { new, marks })
        }
        R5 { new, marks } => {
            d.terms(Op::Write(new.pack()));
            Goto(R6 { marks })
        }
        R6 { marks } => {
            d.word(Op::FetchAdd(-marks * MARK));
            Goto(S1 { turn })
        }
        Z1 => match Terms::unpack(d.terms(Op::Read)) {
            terms if terms.closed => Goto(S1 { turn }),
            terms => Goto(Z2 { terms }),
        },
        Z2 { terms } => {
            d.word(Op::FetchAdd(MARK)); // for ever
            Goto(Z3 { terms })
        }
        Z3 { terms } => {
            d.terms(Op::Write(Terms { closed: true, ..terms }.pack()));
            Goto(S1 { turn })
        }
        _ => unreachable!("not a line of resizing or closing"),
    }
}
