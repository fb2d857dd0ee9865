//! Deliberately wrong variants. The checker must reject each of them and name the violation. The [parent module](super)
//! explains the lines, and what the *server* is: the caller that serves the queue.

use super::{
    environment::{Environment, FastEnvironment, OvertakeEnvironment},
    lines::{After, Line},
    model::{State, ThreadsModel},
    model_environment::ModelEnvironment,
    policy::{Barging, Bypass, Fair},
    pool::{Bits, Pool},
    words::{FREE, Terms, WAITER},
};
use crate::{
    changed_lines,
    framework::{
        machine::Next::{self, Goto},
        memory::Op,
    },
};
use State::At;

changed_lines! {
    ThreadsModel<Bits, Fair>, State => Next<State>, through |model, memory| ModelEnvironment { model, memory: &mut memory };
    /// Line L3 does not count the waiter, so a holder that leaves does not notice it.
    NoCount: |_s, _d, _p| {
        At(Line::L3) => Goto(At(Line::L4)),
    }

    /// A newcomer does not read `word` again after it has joined the queue. So it does not notice a slot that
    /// became free after line L1, while the queue was still empty.
    NoSecondLook: |_s, _d, _p| {
        At(Line::L11) => Goto(At(Line::L6)),
    }

    /// The server wakes no waiter, so a sleeper never wakes up.
    NoRing: |_s, _d, _p| {
        At(Line::S13 { turn, terms, .. }) => Goto(At(Line::S7 { turn, terms })),
        At(Line::S15 { after, .. }) => go(after),
        At(Line::S16 { turn, .. }) => Goto(At(Line::S1 { turn })),
    }

    /// A waiter resets its bell when it goes to sleep. A wake-up since line L6 is lost.
    Deaf: |_s, d, p| {
        At(Line::L7) => {
            d.was_woken(p);
            Goto(At(Line::L8))
        },
        At(Line::L8) => if d.was_woken(p) { Goto(At(Line::L6)) } else { Next::Spin(At(Line::L8)) },
    }

    /// A waiter is no longer counted once its slot is taken out of `word`, so newcomers enter before that
    /// waiter.
    EarlyCount: |_s, d, _p| {
        At(Line::S9 { turn, terms, waiter, take }) => {
            d.word(Op::FetchAdd(-take - WAITER));
            Goto(At(Line::S10 { turn, terms, waiter, take }))
        },
        At(Line::S12 { turn, waiter, .. }) => Goto(At(Line::S14 { turn, waiter })),
    }

    /// A slot that was granted to a waiter still counts as free.
    NoTake: |_s, _d, _p| {
        At(Line::S9 { turn, terms, waiter, take }) => Goto(At(Line::S10 { turn, terms, waiter, take })),
    }

    /// Line L1 does not check whether there are waiters.
    Barge: |_s, d, _p| {
        At(Line::L1) => {
            let word = d.word(Op::Read);
            let take = Bits::choose(word & FREE, 0, 1);
            Goto(At(take.map_or(Line::L3, |take| Line::L2 { word, take })))
        },
    }

    /// The server does not look for news, and leaves it to the next server.
    NoNews: |_s, d, _p| {
        At(Line::S14 { turn, waiter }) => {
            d.lock(Op::Write(0));
            Goto(At(Line::S15 { after: turn.after, waiter }))
        },
        At(Line::S17 { turn }) => {
            d.lock(Op::Write(0));
            go(turn.after)
        },
    }

    /// A waiter that gives up does not look for a grant after it has become the server.
    Blind: |_s, _d, _p| {
        At(Line::C2) => Goto(At(Line::C3)),
    }

    /// The hall forgets slots that are held beyond the new size.
    Forgiving: |_s, d, _p| {
        At(Line::R5 { new, marks }) => {
            d.terms(Op::Write(Terms { owed: 0, ..new }.pack()));
            Goto(At(Line::R6 { marks }))
        },
    }
}

changed_lines! {
    ThreadsModel<Bits, Barging>, State => Next<State>, through |model, memory| ModelEnvironment { model, memory: &mut memory };
    /// A holder that leaves does not serve, so no waiter is called.
    NoCall: |_s, d, _p| {
        At(Line::X1 { take }) => {
            d.word(Op::FetchAdd(take));
            Next::Leave
        },
    }
}

changed_lines! {
    ThreadsModel<Bits, Bypass>, State => Next<State>, through |model, memory| ModelEnvironment { model, memory: &mut memory };
    /// Line B3 does not use up a credit, so any number of newcomers may overtake.
    Free: |_s, d, _p| {
        At(Line::B3 { left }) => match d.credit(Op::Read) {
            1.. => Goto(At(Line::B1 { left, paid: true })),
            _ => Goto(At(Line::L3)),
        },
    }

    /// The server grants the slot even if a newcomer has taken it.
    NoLook: |_s, d, _p| {
        At(Line::B6 { turn, terms, waiter, word, take }) => {
            d.word(Op::CompareAndSwap { old: word, new: word - take });
            Goto(At(Line::S10 { turn, terms, waiter, take }))
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
