//! The lines, one shared access each.

use super::{
    Terms,
    desk::{Desk, LineOn},
    manage::manage,
    pool::Pool,
};
use crate::framework::{
    lines::lines,
    machine::Next::{self, Enter, Goto, Leave, Spin},
    memory::{Op, Word},
};

/// The lower half of the word: what is free.
pub const FREE: Word = WAITER - 1;
/// One waiter more in the word.
pub const WAITER: Word = 1 << 32;
/// Somebody was told to try again, and has not yet. Only where one may barge in.
pub const CALLED: Word = 1 << 59;
/// The word is not to be taken from without the lock: the hall is closed, or owes slots.
pub const MARK: Word = 1 << 60;

/// What a waiter finds in place of a grant after the hall was closed.
pub const CLOSED: Word = -1;
/// What it finds where it is told to try again.
pub const TRY: Word = -2;
/// What it finds where it is to serve in another's place.
pub const SERVE: Word = -3;

/// Somebody serves.
pub const HELD: Word = 1;
/// Something has happened since it looked.
pub const NEWS: Word = 2;

/// Whether who comes may overtake those who wait.
pub trait Manner: Send + Sync + 'static {
    /// Whether it may.
    const BARGES: bool;
}

/// First in, first enabled.
pub struct Fair;

impl Manner for Fair {
    const BARGES: bool = false;
}

/// Who finds a slot free takes it. Waiters are called one at a time, and try like everybody.
pub struct Barging;

impl Manner for Barging {
    const BARGES: bool = true;
}

/// How many are counted as waiting in this word.
pub const fn waiters(word: Word) -> Word {
    (word & (CALLED - 1)) / WAITER
}

/// What somebody wants to do at the desk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Job {
    /// To hand out what is free.
    Serve(After),
    /// To leave the queue.
    Cancel,
    /// To change the number of slots.
    Resize(u16),
    /// To let nobody in any more.
    Close,
}

/// How long one who serves goes on, and what it does then.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Turn {
    /// How many more grants, and how many more looks for news.
    pub left: u32,
    /// What follows.
    pub after: After,
}

/// What follows serving.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum After {
    /// Waiting for a grant.
    Wait,
    /// Nothing.
    Leave,
    /// Another try.
    Again,
}

lines! {
    /// Where a passage stands. `W` is a waiter.
    pub enum Line<W> {
        // Entry
        L1,
        L2 { word: Word, take: Word },
        L3,
        L4,
        L5 { job: Job },
        L6,
        L7,
        L8,
        L9 { take: Word },
        L10,
        // Exit
        X1 { take: Word },
        // Serving
        S1 { turn: Turn },
        S2 { turn: Turn },
        S3 { turn: Turn, terms: Terms },
        S4 { turn: Turn, terms: Terms, paid: Word },
        S5 { turn: Turn, terms: Terms, paid: Word },
        S6 { turn: Turn, terms: Terms },
        S7 { turn: Turn, terms: Terms },
        S8 { turn: Turn, terms: Terms, who: W },
        S9 { turn: Turn, terms: Terms, who: W, take: Word },
        S10 { turn: Turn, terms: Terms, who: W, take: Word },
        S11 { turn: Turn, terms: Terms, who: W, take: Word },
        S12 { turn: Turn, terms: Terms, who: W },
        S13 { turn: Turn, terms: Terms, who: W },
        S14 { turn: Turn, who: W },
        S15 { after: After, who: W },
        S16 { turn: Turn, who: W },
        S17 { turn: Turn },
        S18 { turn: Turn },
        S19 { turn: Turn, who: W },
        // Giving up
        C1,
        C2,
        C3,
        C4,
        C5,
        // Resizing and closing
        R1 { k: u16 },
        R2 { k: u16 },
        R3 { k: u16, terms: Terms },
        R4 { new: Terms, add: Word, marks: Word },
        R5 { new: Terms, marks: Word },
        R6 { marks: Word },
        Z1,
        Z2 { terms: Terms },
        Z3 { terms: Terms },
    }
}
use Line::*;

/// What one who needs `need` takes from this word on line 2, if it may take anything.
#[inline(always)]
fn takes<P: Pool, M: Manner>(word: Word, need: u32) -> Option<Word> {
    match M::BARGES {
        false if word >= WAITER => None,
        true if word >= MARK => None,
        _ => P::choose(word & FREE, 0, need),
    }
}

/// Executes the line at which `me` stands.
///
/// Inlined where it is called, since a caller that knows the line needs no more than its arm.
#[inline(always)]
pub fn step<P: Pool, M: Manner, D: Desk>(d: &mut D, me: D::Who, at: LineOn<D>) -> Next<LineOn<D>> {
    match at {
        L1 => {
            let word = d.word(Op::Read);
            let take = takes::<P, M>(word, d.needs(me));
            Goto(take.map_or(L3, |take| L2 { word, take }))
        }
        L2 { word, take } => {
            let new = word - take;
            if d.word(Op::CompareAndSwap { old: word, new }) == word {
                Enter(X1 { take })
            } else {
                Goto(if M::BARGES { L1 } else { L3 })
            }
        }
        X1 { take } => {
            let word = d.word(Op::FetchAdd(take));
            let called = M::BARGES && word & CALLED != 0;
            if word < WAITER || called && word < MARK {
                Leave
            } else {
                Goto(L5 { job: Job::Serve(After::Leave) })
            }
        }
        _ => queue::<P, M, D>(d, me, at),
    }
}

/// The lines of those who wait.
#[inline(never)]
fn queue<P: Pool, M: Manner, D: Desk>(d: &mut D, me: D::Who, at: LineOn<D>) -> Next<LineOn<D>> {
    match at {
        L3 => {
            d.word(Op::FetchAdd(WAITER));
            Goto(L4)
        }
        L4 => {
            d.push(me);
            Goto(L5 { job: Job::Serve(After::Wait) })
        }
        L5 { job } => {
            // Whoever is not served in its absence comes again, and is no news.
            let news = if matches!(job, Job::Serve(_)) { NEWS } else { 0 };
            let taken = d.lock(Op::Set(HELD | news)) & HELD != 0;
            match job {
                // Whoever serves looks again, for there is news.
                Job::Serve(after) if taken => go(after),
                Job::Serve(after) => Goto(S1 { turn: Turn { left: d.patience(), after } }),
                Job::Cancel if taken => Spin(C1),
                Job::Cancel => Goto(C2),
                _ if taken => Spin(at),
                Job::Resize(k) => Goto(R1 { k }),
                Job::Close => Goto(Z1),
            }
        }
        L6 => match d.grant(me, Op::Read) {
            0 => Goto(L7),
            take => Goto(L9 { take }),
        },
        L7 => Goto(if d.rung(me) { L6 } else { L8 }),
        L8 if d.expired() => Goto(C1),
        L8 => Spin(if d.sleeps_lightly() { L6 } else { L7 }),
        L9 { take } => {
            d.grant(me, Op::Write(0));
            match take {
                CLOSED => Leave,
                TRY => Goto(L10),
                SERVE => Goto(S1 { turn: Turn { left: d.patience(), after: After::Wait } }),
                _ => Enter(X1 { take }),
            }
        }
        L10 => {
            // Who left while it was called did not call anybody.
            let others = waiters(d.word(Op::FetchAdd(-CALLED))) > 0;
            Goto(if others { L5 { job: Job::Serve(After::Again) } } else { L1 })
        }
        C1 => match d.grant(me, Op::Read) {
            0 => Goto(L5 { job: Job::Cancel }),
            SERVE => Goto(C5),
            take => Goto(L9 { take }), // too late to give up
        },
        C2 => match d.grant(me, Op::Read) {
            0 => Goto(C3),
            _ => Goto(S1 { turn: Turn { left: d.patience(), after: After::Wait } }),
        },
        C3 => {
            d.remove(me);
            Goto(C4)
        }
        C4 => {
            d.word(Op::FetchAdd(-WAITER));
            Goto(S1 { turn: Turn { left: d.patience(), after: After::Leave } })
        }
        C5 => {
            d.grant(me, Op::Write(0));
            Goto(C3)
        }
        R1 { .. } | R2 { .. } | R3 { .. } | R4 { .. } | R5 { .. } | R6 { .. } => {
            manage::<P, D>(d, at)
        }
        Z1 | Z2 { .. } | Z3 { .. } => manage::<P, D>(d, at),
        _ => serve::<P, M, D>(d, at),
    }
}

/// Lines S1 to S19: gives what is free to the head of the queue, as long as it is enough.
fn serve<P: Pool, M: Manner, D: Desk>(d: &mut D, at: LineOn<D>) -> Next<LineOn<D>> {
    match at {
        S1 { turn } => {
            d.lock(Op::Write(HELD)); // what is news from here on is seen at S14 or S17
            Goto(S2 { turn })
        }
        S2 { turn } => {
            let terms = Terms::unpack(d.terms(Op::Read));
            Goto(if terms.owed == 0 { S7 { turn, terms } } else { S3 { turn, terms } })
        }
        S3 { turn, terms } => match P::settle(d.word(Op::Read) & FREE, terms.owed) {
            0 => Goto(S7 { turn, terms }),
            paid => Goto(S4 { turn, terms, paid }),
        },
        S4 { turn, terms, paid } => {
            d.word(Op::FetchAdd(-paid));
            Goto(S5 { turn, terms, paid })
        }
        S5 { turn, mut terms, paid } => {
            terms.owed -= paid;
            d.terms(Op::Write(terms.pack()));
            Goto(if terms.owed == 0 { S6 { turn, terms } } else { S7 { turn, terms } })
        }
        S6 { turn, terms } => {
            d.word(Op::FetchAdd(-MARK));
            Goto(S7 { turn, terms })
        }
        S7 { turn, terms } => match d.head() {
            None => Goto(S17 { turn }),
            Some(who) if turn.left == 0 && d.may_serve(who) => Goto(S19 { turn, who }),
            Some(who) if terms.closed => Goto(S10 { turn, terms, who, take: CLOSED }),
            Some(who) => Goto(S8 { turn, terms, who }),
        },
        S8 { turn, terms, who } => {
            let word = d.word(Op::Read);
            // While slots are owed, the word is marked, and nobody barges in.
            let call = M::BARGES && terms.owed == 0;
            match P::choose(word & FREE, terms.owed, d.needs(who)) {
                None => Goto(S17 { turn }),
                Some(_) if call && word & CALLED != 0 => Goto(S17 { turn }),
                Some(_) if call => Goto(S9 { turn, terms, who, take: TRY }),
                Some(take) => Goto(S9 { turn, terms, who, take }),
            }
        }
        S9 { turn, terms, who, take } => {
            d.word(Op::FetchAdd(if take == TRY { CALLED } else { -take }));
            Goto(S10 { turn, terms, who, take })
        }
        S10 { turn, terms, who, take } => {
            d.pop();
            Goto(S11 { turn, terms, who, take })
        }
        S11 { turn, terms, who, take } => {
            d.grant(who, Op::Write(take));
            Goto(S12 { turn, terms, who })
        }
        S12 { turn, terms, who } => {
            let word = d.word(Op::FetchAdd(-WAITER));
            let more = waiters(word) > 1 && (terms.closed || word & FREE != 0);
            Goto(if more { S13 { turn, terms, who } } else { S14 { turn, who } })
        }
        S13 { turn, terms, who } => {
            d.ring(who);
            Goto(S7 { turn: turn.shorter(), terms })
        }
        S14 { turn, who } => {
            // Ringing takes its time: better when nobody is kept from serving.
            if d.lock(Op::CompareAndSwap { old: HELD, new: 0 }) == HELD {
                Goto(S15 { after: turn.after, who })
            } else {
                Goto(S16 { turn: turn.shorter(), who })
            }
        }
        S15 { after, who } => {
            d.ring(who);
            go(after)
        }
        S16 { turn, who } => {
            d.ring(who);
            Goto(S1 { turn })
        }
        S17 { turn } => {
            if d.lock(Op::CompareAndSwap { old: HELD, new: 0 }) == HELD {
                go(turn.after)
            } else if turn.left == 0 {
                Goto(S18 { turn })
            } else {
                Goto(S1 { turn: turn.shorter() })
            }
        }
        S18 { turn } => match d.head() {
            Some(who) if d.may_serve(who) => Goto(S19 { turn, who }),
            _ => Goto(S1 { turn }),
        },
        S19 { turn, who } => {
            d.grant(who, Op::Write(SERVE));
            Goto(S15 { after: turn.after, who })
        }
        _ => unreachable!("not a line of serving"),
    }
}

impl Turn {
    fn shorter(self) -> Self {
        Turn { left: self.left.saturating_sub(1), ..self }
    }
}

fn go<W>(after: After) -> Next<Line<W>> {
    match after {
        After::Wait => Goto(L6),
        After::Leave => Leave,
        After::Again => Goto(L1),
    }
}
