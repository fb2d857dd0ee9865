//! The lines, one shared access each.

use super::{
    Terms,
    desk::{Desk, LineOn},
    pool::Pool,
};
use crate::{
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

/// What somebody wants the lock for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Job {
    /// To join the queue.
    Join,
    /// To leave it.
    Cancel,
    /// To hand out what is free.
    Serve(Duty),
    /// To change the number of slots.
    Resize(u16),
    /// To let nobody in any more.
    Close,
}

/// What somebody with the lock still has to do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Duty {
    /// How many grants at most: as many as its coming or going can have made possible.
    pub grants: u32,
    /// What follows.
    pub after: After,
}

/// What follows when the lock is given back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum After {
    /// Waiting for a grant.
    Wait,
    /// Nothing.
    Leave,
    /// Another try.
    Again,
}

/// Where a passage stands. `W` is a waiter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line<W> {
    // Entry
    L1,
    L2 { word: Word, take: Word },
    L3,
    L4 { job: Job },
    L5 { job: Job, number: Word },
    L6,
    L7,
    L8,
    L9,
    L10,
    L11 { take: Word },
    L12,
    // Exit
    X1 { take: Word },
    // Handing out, with the lock
    S1 { duty: Duty },
    S2 { duty: Duty, terms: Terms },
    S3 { duty: Duty, terms: Terms, paid: Word },
    S4 { duty: Duty, terms: Terms, paid: Word },
    S5 { duty: Duty, terms: Terms },
    S6 { duty: Duty, terms: Terms },
    S7 { duty: Duty, terms: Terms, who: W },
    S8 { duty: Duty, who: W, take: Word },
    S9 { duty: Duty, who: W, take: Word },
    S10 { duty: Duty, who: W, take: Word },
    S11 { duty: Duty, who: W },
    S12 { duty: Duty, who: W },
    S13 { duty: Duty, who: W },
    S14 { duty: Duty },
    // Giving up, with the lock
    C1,
    C2,
    C3,
    // Turned away, with the lock
    D1,
    // Resizing and closing, with the lock
    R1 { k: u16 },
    R2 { k: u16 },
    R3 { k: u16, terms: Terms },
    R4 { new: Terms, add: Word, marks: Word },
    R5 { new: Terms, marks: Word },
    R6 { k: u16, marks: Word },
    Z1,
    Z2 { terms: Terms },
    Z3 { terms: Terms },
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
        L3 => {
            d.word(Op::FetchAdd(WAITER));
            Goto(L4 { job: Job::Join })
        }
        L4 { job } => Goto(L5 { job, number: d.next(Op::FetchAdd(1)) }),
        L5 { job, number } => {
            if d.serving(Op::Read) != number {
                return Spin(at);
            }
            Goto(match job {
                Job::Join => L6,
                Job::Cancel => C1,
                Job::Serve(duty) => S1 { duty },
                Job::Resize(k) => R1 { k },
                Job::Close => Z1,
            })
        }
        L6 => Goto(if Terms::unpack(d.terms(Op::Read)).closed { D1 } else { L7 }),
        L7 => {
            d.push(me);
            Goto(S1 { duty: Duty { grants: 1, after: After::Wait } })
        }
        L8 => match d.grant(me, Op::Read) {
            0 => Goto(L9),
            take => Goto(L11 { take }),
        },
        L9 => Goto(if d.rung(me) { L8 } else { L10 }),
        L10 if d.expired() => Goto(L4 { job: Job::Cancel }),
        L10 => Spin(if d.sleeps_lightly() { L8 } else { L9 }),
        L11 { take } => {
            d.grant(me, Op::Write(0));
            match take {
                CLOSED => Leave,
                TRY => Goto(L12),
                _ => Enter(X1 { take }),
            }
        }
        L12 => {
            // Who left while it was called did not call anybody.
            let next = Duty { grants: 1, after: After::Again };
            let others = waiters(d.word(Op::FetchAdd(-CALLED))) > 0;
            Goto(if others { L4 { job: Job::Serve(next) } } else { L1 })
        }

        X1 { take } => {
            let grants = P::count(take);
            let serve = Goto(L4 { job: Job::Serve(Duty { grants, after: After::Leave }) });
            let word = d.word(Op::FetchAdd(take));
            let called = M::BARGES && word & CALLED != 0;
            if word < WAITER || called && word < MARK { Leave } else { serve }
        }

        C1 => match d.grant(me, Op::Read) {
            0 => Goto(C2),
            // Too late to give up: line 8 finds the grant.
            _ => Goto(S14 { duty: Duty { grants: 0, after: After::Wait } }),
        },
        C2 => {
            d.remove(me);
            Goto(C3)
        }
        C3 => {
            d.word(Op::FetchAdd(-WAITER));
            // With it at the head, one slot less than it asked for may have been free.
            Goto(S1 { duty: Duty { grants: d.needs(me) - 1, after: After::Leave } })
        }
        D1 => {
            d.word(Op::FetchAdd(-WAITER));
            Goto(S14 { duty: Duty { grants: 0, after: After::Leave } })
        }
        R1 { .. } | R2 { .. } | R3 { .. } | R4 { .. } | R5 { .. } | R6 { .. } => {
            manage::<P, D>(d, at)
        }
        Z1 | Z2 { .. } | Z3 { .. } => manage::<P, D>(d, at),
        _ => hand_out::<P, M, D>(d, at),
    }
}

/// Lines S1 to S14: gives what is free to the head of the queue, and gives the lock back.
#[inline(never)]
fn hand_out<P: Pool, M: Manner, D: Desk>(d: &mut D, at: LineOn<D>) -> Next<LineOn<D>> {
    match at {
        S1 { duty } if duty.grants == 0 => unlock(d, duty),
        S1 { duty } => {
            let terms = Terms::unpack(d.terms(Op::Read));
            Goto(if terms.owed == 0 { S6 { duty, terms } } else { S2 { duty, terms } })
        }
        S2 { duty, terms } => match P::settle(d.word(Op::Read) & FREE, terms.owed) {
            0 => Goto(S6 { duty, terms }),
            paid => Goto(S3 { duty, terms, paid }),
        },
        S3 { duty, terms, paid } => {
            d.word(Op::FetchAdd(-paid));
            Goto(S4 { duty, terms, paid })
        }
        S4 { duty, mut terms, paid } => {
            terms.owed -= paid;
            d.terms(Op::Write(terms.pack()));
            Goto(if terms.owed == 0 { S5 { duty, terms } } else { S6 { duty, terms } })
        }
        S5 { duty, terms } => {
            d.word(Op::FetchAdd(-MARK));
            Goto(S6 { duty, terms })
        }
        S6 { duty, terms } => match d.head() {
            None => Goto(S14 { duty }),
            Some(who) if terms.closed => Goto(S9 { duty, who, take: CLOSED }),
            Some(who) => Goto(S7 { duty, terms, who }),
        },
        S7 { duty, terms, who } => {
            let word = d.word(Op::Read);
            // While slots are owed, the word is marked, and nobody barges in.
            let call = M::BARGES && terms.owed == 0;
            match P::choose(word & FREE, terms.owed, d.needs(who)) {
                None => Goto(S14 { duty }),
                Some(_) if call && word & CALLED != 0 => Goto(S14 { duty }),
                Some(_) if call => Goto(S8 { duty, who, take: TRY }),
                Some(take) => Goto(S8 { duty, who, take }),
            }
        }
        S8 { duty, who, take } => {
            d.word(Op::FetchAdd(if take == TRY { CALLED } else { -take }));
            Goto(S9 { duty, who, take })
        }
        S9 { duty, who, take } => {
            d.pop();
            Goto(S10 { duty, who, take })
        }
        S10 { duty, who, take } => {
            d.grant(who, Op::Write(take));
            // Closing goes on until nobody is left.
            let grants = duty.grants - u32::from(take != CLOSED);
            Goto(S11 { duty: Duty { grants, ..duty }, who })
        }
        S11 { duty, who } => {
            d.word(Op::FetchAdd(-WAITER));
            Goto(S12 { duty, who })
        }
        S12 { duty, who } => {
            d.serving(Op::FetchAdd(1));
            Goto(S13 { duty, who })
        }
        S13 { duty, who } => {
            d.ring(who);
            match duty.grants {
                0 => after(duty.after),
                _ => Goto(L4 { job: Job::Serve(duty) }),
            }
        }
        S14 { duty } => unlock(d, duty),
        _ => unreachable!("not a line of handing out"),
    }
}

fn unlock<D: Desk>(d: &mut D, duty: Duty) -> Next<LineOn<D>> {
    d.serving(Op::FetchAdd(1));
    after(duty.after)
}

fn after<W>(after: After) -> Next<Line<W>> {
    match after {
        After::Wait => Goto(L8),
        After::Leave => Leave,
        After::Again => Goto(L1),
    }
}

/// Lines R1 to R6, another number of slots, and Z1 to Z3, nobody in any more. Both mark the word
/// first, so that nobody takes anything meanwhile.
#[cold]
fn manage<P: Pool, D: Desk>(d: &mut D, at: LineOn<D>) -> Next<LineOn<D>> {
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
            Goto(R6 { k: new.k, marks })
        }
        R6 { k, marks } => {
            d.word(Op::FetchAdd(-marks * MARK));
            Goto(S1 { duty: Duty { grants: k.into(), after: After::Leave } })
        }
        Z1 => match Terms::unpack(d.terms(Op::Read)) {
            terms if terms.closed => Goto(S14 { duty: Duty { grants: 0, after: After::Leave } }),
            terms => Goto(Z2 { terms }),
        },
        Z2 { terms } => {
            d.word(Op::FetchAdd(MARK)); // for ever
            Goto(Z3 { terms })
        }
        Z3 { terms } => {
            d.terms(Op::Write(Terms { closed: true, ..terms }.pack()));
            Goto(S1 { duty: Duty { grants: 1, after: After::Leave } })
        }
        _ => unreachable!("not a line of resizing or closing"),
    }
}
