//! The lines, one shared access each: entry, exit, and giving up.

use super::{
    environment::{Environment, LineOn},
    fast::{self, Offer},
    manage::manage,
    pool::Pool,
    serve::serve,
    words::{CALLED, CLOSED, HELD, NEWS, SERVE, TRY, Terms, WAITER, waiters},
};
use crate::framework::{
    lines::lines,
    machine::Next::{self, Enter, Goto, Leave, Spin},
    memory::{Op, Word},
};

/// Decides whether a newcomer may overtake waiters.
pub trait Policy: Send + Sync + 'static {
    /// Whether a newcomer may overtake.
    const BARGES: bool;
}

/// First in, first enabled.
pub struct Fair;

impl Policy for Fair {
    const BARGES: bool = false;
}

/// A newcomer takes a free slot ahead of the queue. Waiters are called one at a time, and then compete
/// like newcomers.
pub struct Barging;

impl Policy for Barging {
    const BARGES: bool = true;
}

/// The reason why a caller needs the lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Job {
    /// To hand out what is free.
    Serve(After),
    /// To leave the queue.
    Cancel,
    /// To change the number of slots.
    Resize(u16),
    /// To close the hall.
    Close,
}

/// How long a server goes on, and what it does afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Turn {
    /// How many more times the server makes a grant or looks for news.
    pub left: u32,
    /// How the server goes on afterwards.
    pub after: After,
}

impl Turn {
    /// Returns the turn with one grant less.
    pub(super) fn shorter(self) -> Self {
        Turn { left: self.left.saturating_sub(1), ..self }
    }
}

/// How a server goes on after its turn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum After {
    /// Waits for a grant.
    Wait,
    /// Returns to its remainder section.
    Leave,
    /// Tries again to get in.
    Again,
}

impl After {
    /// Returns the first step of that.
    pub(super) fn next<W>(self) -> Next<Line<W>> {
        match self {
            After::Wait => Goto(L6),
            After::Leave => Leave,
            After::Again => Goto(L1),
        }
    }
}

lines! {
    /// The next line of a passage. `W` identifies a waiter.
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

/// Executes the line at which `me` stands.
#[inline]
pub fn step<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    at: LineOn<E>,
) -> Next<LineOn<E>> {
    match at {
        L1 => {
            let need = e.need(me);
            Goto(match fast::look::<P, M, E>(e, need) {
                Some(Offer { word, take }) => L2 { word, take },
                None => L3,
            })
        }
        L2 { word, take } => {
            if fast::take(e, Offer { word, take }) {
                Enter(X1 { take })
            } else {
                Goto(if M::BARGES { L1 } else { L3 })
            }
        }
        X1 { take } => {
            if fast::put_back::<M, E>(e, take) {
                Goto(L5 { job: Job::Serve(After::Leave) })
            } else {
                Leave
            }
        }
        _ => queue::<P, M, E>(e, me, at),
    }
}

/// Executes the lines of a caller that did not get in on the fast path.
#[inline(never)]
fn queue<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    at: LineOn<E>,
) -> Next<LineOn<E>> {
    match at {
        L3 => {
            e.word(Op::FetchAdd(WAITER));
            Goto(L4)
        }
        L4 => {
            e.push(me);
            Goto(L5 { job: Job::Serve(After::Wait) })
        }
        L5 { job } => {
            // Cancelling, resizing and closing retry on their own, so they do not set NEWS.
            let news = if matches!(job, Job::Serve(_)) { NEWS } else { 0 };
            let taken = e.lock(Op::Set(HELD | news)) & HELD != 0;
            match job {
                // The server looks again, because there is news.
                Job::Serve(after) if taken => after.next(),
                Job::Serve(after) => Goto(S1 { turn: Turn { left: e.grant_limit(), after } }),
                Job::Cancel if taken => Spin(C1),
                Job::Cancel => Goto(C2),
                _ if taken => Spin(at),
                Job::Resize(k) => Goto(R1 { k }),
                Job::Close => Goto(Z1),
            }
        }
        L6 => match e.grant(me, Op::Read) {
            0 => Goto(L7),
            take => Goto(L9 { take }),
        },
        L7 => Goto(if e.was_woken(me) { L6 } else { L8 }),
        L8 if e.expired() => Goto(C1),
        L8 => Spin(if e.may_wake_spuriously() { L6 } else { L7 }),
        L9 { take } => {
            e.grant(me, Op::Write(0));
            match take {
                CLOSED => Leave,
                TRY => Goto(L10),
                SERVE => Goto(S1 { turn: Turn { left: e.grant_limit(), after: After::Wait } }),
                _ => Enter(X1 { take }),
            }
        }
        L10 => {
            // A holder that left while this waiter was called did not call anybody.
            let others = waiters(e.word(Op::FetchAdd(-CALLED))) > 0;
            Goto(if others { L5 { job: Job::Serve(After::Again) } } else { L1 })
        }
        C1 | C2 | C3 | C4 | C5 => cancel(e, me, at),
        R1 { .. } | R2 { .. } | R3 { .. } | R4 { .. } | R5 { .. } | R6 { .. } => {
            manage::<P, E>(e, at)
        }
        Z1 | Z2 { .. } | Z3 { .. } => manage::<P, E>(e, at),
        _ => serve::<P, M, E>(e, at),
    }
}

/// Executes lines C1 to C5: leaves the queue, unless a grant came first.
fn cancel<E: Environment>(e: &mut E, me: E::Waiter, at: LineOn<E>) -> Next<LineOn<E>> {
    match at {
        C1 => match e.grant(me, Op::Read) {
            0 => Goto(L5 { job: Job::Cancel }),
            SERVE => Goto(C5),
            take => Goto(L9 { take }), // too late to give up
        },
        C2 => match e.grant(me, Op::Read) {
            0 => Goto(C3),
            _ => Goto(S1 { turn: Turn { left: e.grant_limit(), after: After::Wait } }),
        },
        C3 => {
            e.remove(me);
            Goto(C4)
        }
        C4 => {
            e.word(Op::FetchAdd(-WAITER));
            Goto(S1 { turn: Turn { left: e.grant_limit(), after: After::Leave } })
        }
        C5 => {
            e.grant(me, Op::Write(0));
            Goto(C3)
        }
        _ => unreachable!("not a line of giving up"),
    }
}
