//! The lines of entry and exit, and [`step`], which executes any line. Each line makes one shared access. The [parent
//! module](super) explains the algorithm, and what the *server* is: the caller that serves the queue.
//!
//! Each line is a function that goes on at the next line, often with the macro [`then!`]. If the environment is
//! [`STRAIGHT`](Environment::STRAIGHT), `then!` calls the function of the next line directly. Otherwise the function
//! returns the next line, and [`step`] executes it later. So the lab sees every line as a step, and natively the lines
//! run like one straight piece of code: see [`straight`](super::straight).

#![allow(
    clippy::extra_unused_type_parameters,
    reason = "`then!` calls every line with the same parameters"
)]

use super::{
    environment::{Environment, LineOn},
    fast::{self, Offer},
    give_up::*,
    manage::manage,
    overtake::{self, Overtake, Overtaken},
    policy::Policy,
    pool::Pool,
    serve::*,
    straight::serve,
    words::{CALLED, CLOSED, FREE, HELD, MARK, NEWS, SERVE, TRY, Terms, WAITER, waiters},
};
use crate::framework::{
    lines::lines,
    machine::Next::{self, Enter, Goto, Leave, Spin},
    memory::{Op, Word},
};

/// The reason for which a caller needs the lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Job {
    /// To give free slots to waiters.
    Serve(After),
    /// To leave the queue.
    Cancel,
    /// To change the number of slots.
    Resize(u16),
    /// To close the hall.
    Close,
}

/// How long a server continues, and what it does afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Turn {
    /// How many more times the server may make a grant or look again because of news.
    pub left: u32,
    /// The next task of the server.
    pub after: After,
}

impl Turn {
    /// Returns the rest of this turn after one grant, or after one more look.
    pub(super) fn shorter(self) -> Self {
        Turn { left: self.left.saturating_sub(1), ..self }
    }
}

/// The next task of a server after its turn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum After {
    /// The server waits for a grant.
    Wait,
    /// The server returns to its remainder section.
    Leave,
    /// The server tries again to take a slot.
    Again,
}

impl After {
    /// Returns the first step after the turn.
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
        L11,
        // Overtaking
        B1 { left: u32, paid: bool },
        B2 { left: u32 },
        B3 { left: u32 },
        B4 { left: u32, paid: bool, word: Word, take: Word },
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
        S8 { turn: Turn, terms: Terms, waiter: W },
        S9 { turn: Turn, terms: Terms, waiter: W, take: Word },
        S10 { turn: Turn, terms: Terms, waiter: W, take: Word },
        S11 { turn: Turn, terms: Terms, waiter: W, take: Word },
        S12 { turn: Turn, terms: Terms, waiter: W },
        S13 { turn: Turn, terms: Terms, waiter: W },
        S14 { turn: Turn, waiter: W },
        S15 { after: After, waiter: W },
        S16 { turn: Turn, waiter: W },
        S17 { turn: Turn },
        S18 { turn: Turn },
        S19 { turn: Turn, waiter: W },
        // Serving, in a hall with a limit on overtaking
        B5 { turn: Turn, terms: Terms, waiter: W, word: Word, take: Word },
        B6 { turn: Turn, terms: Terms, waiter: W, word: Word, take: Word },
        B7 { turn: Turn, terms: Terms, waiter: W },
        B8 { turn: Turn, terms: Terms, waiter: W, credit: Word },
        B9 { turn: Turn, terms: Terms, waiter: W, more: bool, credit: Word },
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

impl<W> Line<W> {
    /// Returns whether the line is in the doorway. A caller that has left the doorway has its position in the queue.
    #[cfg(feature = "full")]
    pub(super) fn is_doorway(&self) -> bool {
        matches!(self, L1 | L2 { .. } | L3 | L4 | B1 { .. } | B2 { .. } | B3 { .. } | B4 { .. })
    }
}

/// The next step of the caller.
pub(super) type Step<E> = Next<LineOn<E>>;

/// Goes on at a line: `then!(e, me, s2 = S2 { turn })` calls `s2(e, me, turn)`, or returns `Goto(S2 { turn })`.
macro_rules! then {
    ($e:ident, $me:ident, $function:ident = $line:ident $({ $($field:ident $(: $value:expr)?),* })?) => {{
        $($($(let $field = $value;)?)*)?
        if E::STRAIGHT {
            $function::<P, M, E>($e, $me $($(, $field)*)?)
        } else {
            Goto($line $({ $($field),* })?)
        }
    }};
}
pub(super) use then;

/// Starts to serve: calls [`serve`], or returns line S1 for [`step`].
macro_rules! start_serving {
    ($e:ident, $me:ident, $after:expr) => {{
        let turn = Turn { left: $e.grant_limit(), after: $after };
        if E::STRAIGHT {
            serve::<P, M, E>($e, $me, turn);
            turn.after.next()
        } else {
            Goto(S1 { turn })
        }
    }};
}
pub(super) use start_serving;

/// Executes the line `at` of caller `me`.
#[inline]
pub fn step<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    at: LineOn<E>,
) -> Step<E> {
    match at {
        L1 => l1::<P, M, E>(e, me),
        L2 { word, take } => l2::<P, M, E>(e, me, word, take),
        L3 => l3::<P, M, E>(e, me),
        L4 => l4::<P, M, E>(e, me),
        L5 { job } => l5::<P, M, E>(e, me, job),
        L6 => l6::<P, M, E>(e, me),
        L7 => l7::<P, M, E>(e, me),
        L8 => l8::<P, M, E>(e, me),
        L9 { take } => l9::<P, M, E>(e, me, take),
        L10 => l10::<P, M, E>(e, me),
        L11 => l11::<P, M, E>(e, me),
        B1 { left, paid } => overtaking::<P, E>(e, me, Overtake::Look { left, paid }),
        B2 { left } => overtaking::<P, E>(e, me, Overtake::See { left }),
        B3 { left } => overtaking::<P, E>(e, me, Overtake::Pay { left }),
        B4 { left, paid, word, take } => {
            overtaking::<P, E>(e, me, Overtake::Take { left, paid, word, take })
        }
        X1 { take } => x1::<P, M, E>(e, me, take),
        S1 { turn } => s1::<P, M, E>(e, me, turn),
        S2 { turn } => s2::<P, M, E>(e, me, turn),
        S3 { turn, terms } => s3::<P, M, E>(e, me, turn, terms),
        S4 { turn, terms, paid } => s4::<P, M, E>(e, me, turn, terms, paid),
        S5 { turn, terms, paid } => s5::<P, M, E>(e, me, turn, terms, paid),
        S6 { turn, terms } => s6::<P, M, E>(e, me, turn, terms),
        S7 { turn, terms } => s7::<P, M, E>(e, me, turn, terms),
        S8 { turn, terms, waiter } => s8::<P, M, E>(e, me, turn, terms, waiter),
        S9 { turn, terms, waiter, take } => s9::<P, M, E>(e, me, turn, terms, waiter, take),
        S10 { turn, terms, waiter, take } => s10::<P, M, E>(e, me, turn, terms, waiter, take),
        S11 { turn, terms, waiter, take } => s11::<P, M, E>(e, me, turn, terms, waiter, take),
        S12 { turn, terms, waiter } => s12::<P, M, E>(e, me, turn, terms, waiter),
        S13 { turn, terms, waiter } => s13::<P, M, E>(e, me, turn, terms, waiter),
        S14 { turn, waiter } => s14::<P, M, E>(e, me, turn, waiter),
        S15 { after, waiter } => s15::<P, M, E>(e, me, after, waiter),
        S16 { turn, waiter } => s16::<P, M, E>(e, me, turn, waiter),
        S17 { turn } => s17::<P, M, E>(e, me, turn),
        S18 { turn } => s18::<P, M, E>(e, me, turn),
        S19 { turn, waiter } => s19::<P, M, E>(e, me, turn, waiter),
        B5 { turn, terms, waiter, word, take } => {
            b5::<P, M, E>(e, me, turn, terms, waiter, word, take)
        }
        B6 { turn, terms, waiter, word, take } => {
            b6::<P, M, E>(e, me, turn, terms, waiter, word, take)
        }
        B7 { turn, terms, waiter } => b7::<P, M, E>(e, me, turn, terms, waiter),
        B8 { turn, terms, waiter, credit } => b8::<P, M, E>(e, me, turn, terms, waiter, credit),
        B9 { turn, terms, waiter, more, credit } => {
            b9::<P, M, E>(e, me, turn, terms, waiter, more, credit)
        }
        C1 => c1::<P, M, E>(e, me),
        C2 => c2::<P, M, E>(e, me),
        C3 => c3::<P, M, E>(e, me),
        C4 => c4::<P, M, E>(e, me),
        C5 => c5::<P, M, E>(e, me),
        _ => manage::<P, E>(e, at),
    }
}

#[inline(always)]
pub(super) fn l1<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter) -> Step<E> {
    let need = e.need(me);
    match fast::look::<P, M, E>(e, need) {
        Some(Offer { word, take }) => then!(e, me, l2 = L2 { word, take }),
        None => fast_path_failed::<P, M, E>(e, me),
    }
}

/// Continues after the fast path has failed: the newcomer overtakes waiters, or joins the queue.
#[inline(always)]
fn fast_path_failed<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter) -> Step<E> {
    let tries = e.overtake_tries();
    if !M::BYPASSES {
        Goto(L3)
    } else if E::STRAIGHT {
        let need = e.need(me);
        let taken = overtake::overtake::<P, E>(e, need, tries, || true);
        taken.map_or(Goto(L3), |take| Enter(X1 { take }))
    } else {
        Goto(B1 { left: tries, paid: false })
    }
}

/// Lines B1 to B4: overtake the waiters, or join the queue.
fn overtaking<P: Pool, E: Environment>(e: &mut E, me: E::Waiter, at: Overtake) -> Step<E> {
    let need = e.need(me);
    match overtake::step::<P, E>(e, need, at).patiently() {
        Overtaken::Goto(Overtake::Look { left, paid }) => Goto(B1 { left, paid }),
        Overtaken::Goto(Overtake::See { left }) => Goto(B2 { left }),
        Overtaken::Goto(Overtake::Pay { left }) => Goto(B3 { left }),
        Overtaken::Goto(Overtake::Take { left, paid, word, take }) => {
            Goto(B4 { left, paid, word, take })
        }
        Overtaken::Entered(take) => Enter(X1 { take }),
        Overtaken::Queue | Overtaken::Refused { .. } => Goto(L3),
    }
}

#[inline(always)]
fn l2<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    word: Word,
    take: Word,
) -> Step<E> {
    if fast::take(e, Offer { word, take }) {
        Enter(X1 { take })
    } else if M::BARGES {
        Goto(L1)
    } else {
        fast_path_failed::<P, M, E>(e, me)
    }
}

#[inline(always)]
fn x1<P: Pool, M: Policy, E: Environment>(e: &mut E, _: E::Waiter, take: Word) -> Step<E> {
    if fast::put_back::<M, E>(e, take) { Goto(L5 { job: Job::Serve(After::Leave) }) } else { Leave }
}

#[inline(always)]
pub(super) fn l3<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter) -> Step<E> {
    e.word(Op::FetchAdd(WAITER));
    then!(e, me, l4 = L4)
}

#[inline(always)]
fn l4<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter) -> Step<E> {
    e.push(me);
    then!(e, me, l11 = L11)
}

#[inline(always)]
fn l11<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter) -> Step<E> {
    // If no slot is free, the next holder that leaves finds this waiter counted, and serves. If `word` is marked, the
    // hall is closed, owes slots or is being resized. Then only a server can decide what this waiter gets.
    let word = e.word(Op::Read);
    if word & FREE == 0 && word < MARK {
        Goto(L6)
    } else {
        then!(e, me, l5 = L5 { job: Job::Serve(After::Wait) })
    }
}

#[inline(always)]
pub(super) fn l5<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    job: Job,
) -> Step<E> {
    // A caller that cancels, resizes or closes tries again by itself, so it does not set NEWS.
    let news = if matches!(job, Job::Serve(_)) { NEWS } else { 0 };
    let taken = e.lock(Op::Set(HELD | news)) & HELD != 0;
    match job {
        // There is a server, and NEWS makes it look again.
        Job::Serve(after) if taken => after.next(),
        Job::Serve(after) => start_serving!(e, me, after),
        Job::Cancel if taken => Spin(C1),
        Job::Cancel => then!(e, me, c2 = C2),
        _ if taken => Spin(L5 { job }),
        Job::Resize(k) => Goto(R1 { k }),
        Job::Close => Goto(Z1),
    }
}

#[inline(always)]
pub(super) fn l6<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter) -> Step<E> {
    match e.grant(me, Op::Read) {
        0 => Goto(L7),
        take => then!(e, me, l9 = L9 { take }),
    }
}

#[inline(always)]
pub(super) fn l7<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter) -> Step<E> {
    if e.was_woken(me) { Goto(L6) } else { then!(e, me, l8 = L8) }
}

#[inline(always)]
fn l8<P: Pool, M: Policy, E: Environment>(e: &mut E, _: E::Waiter) -> Step<E> {
    if e.expired() { Goto(C1) } else { Spin(if e.may_wake_spuriously() { L6 } else { L7 }) }
}

#[inline(always)]
pub(super) fn l9<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    take: Word,
) -> Step<E> {
    e.grant(me, Op::Write(0));
    match take {
        CLOSED => Leave,
        TRY => then!(e, me, l10 = L10),
        SERVE => start_serving!(e, me, After::Wait),
        _ => Enter(X1 { take }),
    }
}

#[inline(always)]
fn l10<P: Pool, M: Policy, E: Environment>(e: &mut E, _: E::Waiter) -> Step<E> {
    // While CALLED was set, no other waiter was called, even if holders left.
    let others = waiters(e.word(Op::FetchAdd(-CALLED))) > 0;
    Goto(if others { L5 { job: Job::Serve(After::Again) } } else { L1 })
}
