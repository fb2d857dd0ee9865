//! Variants that are wrong on purpose. The checker must reject each, and say why.

use super::{
    Terms,
    desk::Desk,
    lines::{After, Barging, Fair, Line, WAITER},
    model::{Model, Seat, State},
    pool::{Pool, Slots},
};
use crate::framework::{
    changed::Change,
    machine::Next::{self, Goto},
    memory::{Memory, Op, Pid},
};
use State::At;

/// Declares changes: a name, what is wrong, and the changed lines.
macro_rules! changes {
    ($manner:ty; $(
        $(#[$doc:meta])*
        $name:ident: |$d:ident, $p:ident| { $($line:pat => $body:expr,)+ }
    )*) => {$(
        $(#[$doc])*
        pub struct $name;
        impl Change<Model<Slots, $manner>> for $name {
            fn step<S: Memory>(
                model: &Model<Slots, $manner>, memory: &mut S, $p: Pid, at: State,
            ) -> Option<Next<State>> {
                let $d = &mut Seat { model, memory };
                match at {
                    $(At($line) => Some($body),)+
                    _ => None,
                }
            }
        }
    )*};
}

changes! { Fair;
    /// Line 3 does not count the waiter: who leaves does not know of it.
    NoCount: |_d, _p| {
        Line::L3 => Goto(At(Line::L4)),
    }

    /// Nobody is rung for: who sleeps, sleeps on.
    NoRing: |_d, _p| {
        Line::S13 { turn, terms, .. } => Goto(At(Line::S7 { turn, terms })),
        Line::S15 { after, .. } => go(after),
        Line::S16 { turn, .. } => Goto(At(Line::S1 { turn })),
    }

    /// The bell is reset on lying down: what was rung since line 6 is lost.
    Deaf: |d, p| {
        Line::L7 => {
            d.rung(p);
            Goto(At(Line::L8))
        },
        Line::L8 => if d.rung(p) { Goto(At(Line::L6)) } else { Next::Spin(At(Line::L8)) },
    }

    /// A waiter is no longer counted from when its slot is taken: others come in before it can.
    EarlyCount: |d, _p| {
        Line::S9 { turn, terms, who, take } => {
            d.word(Op::FetchAdd(-take - WAITER));
            Goto(At(Line::S10 { turn, terms, who, take }))
        },
        Line::S12 { turn, who, .. } => Goto(At(Line::S14 { turn, who })),
    }

    /// What is granted stays free.
    NoTake: |_d, _p| {
        Line::S9 { turn, terms, who, take } => Goto(At(Line::S10 { turn, terms, who, take })),
    }

    /// Line 1 does not look whether anybody waits.
    Barge: |d, _p| {
        Line::L1 => {
            let word = d.word(Op::Read);
            let take = Slots::choose(word & super::FREE, 0, 1);
            Goto(At(take.map_or(Line::L3, |take| Line::L2 { word, take })))
        },
    }

    /// Who serves does not look for news: what happened since is left to the next one.
    NoNews: |d, _p| {
        Line::S14 { turn, who } => {
            d.lock(Op::Write(0));
            Goto(At(Line::S15 { after: turn.after, who }))
        },
        Line::S17 { turn } => {
            d.lock(Op::Write(0));
            go(turn.after)
        },
    }

    /// Who gives up does not look for a grant once it serves.
    Blind: |_d, _p| {
        Line::C2 => Goto(At(Line::C3)),
    }

    /// What is held beyond the new size is not remembered.
    Forgiving: |d, _p| {
        Line::R5 { new, marks } => {
            d.terms(Op::Write(Terms { owed: 0, ..new }.pack()));
            Goto(At(Line::R6 { marks }))
        },
    }
}

changes! { Barging;
    /// Who leaves does not serve: nobody is called.
    NoCall: |d, _p| {
        Line::X1 { take } => {
            d.word(Op::FetchAdd(take));
            Next::Leave
        },
    }
}

fn go(after: After) -> Next<State> {
    match after {
        After::Wait => Goto(At(Line::L6)),
        After::Leave => Next::Leave,
        After::Again => Goto(At(Line::L1)),
    }
}
