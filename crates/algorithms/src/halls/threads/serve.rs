//! The lines of the *server*, the caller that holds the lock of the queue. The server gives free slots to the head of
//! the queue, as long as enough slots are free for the head.

#![allow(
    clippy::extra_unused_type_parameters,
    reason = "`then!` calls every line with the same parameters"
)]

use super::{
    environment::Environment,
    lines::{After, Line::*, Step, Turn, then},
    overtake::repay,
    policy::Policy,
    pool::Pool,
    words::{CALLED, CLOSED, FREE, HELD, MARK, SERVE, TRY, Terms, WAITER, waiters},
};
use crate::framework::{
    machine::Next::Goto,
    memory::{Op, Word},
};

// Lines S1 to S6: the server takes owed slots out of the free slots.

#[inline(always)]
pub(super) fn s1<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
) -> Step<E> {
    e.lock(Op::Write(HELD)); // clears NEWS; the server notices news that comes later at S14 or S17
    then!(e, me, s2 = S2 { turn })
}

#[inline(always)]
pub(super) fn s2<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
) -> Step<E> {
    let terms = Terms::unpack(e.terms(Op::Read));
    if terms.owed == 0 {
        then!(e, me, s7 = S7 { turn, terms })
    } else {
        then!(e, me, s3 = S3 { turn, terms })
    }
}

#[inline(always)]
pub(super) fn s3<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    terms: Terms,
) -> Step<E> {
    match P::settle(e.word(Op::Read) & FREE, terms.owed) {
        0 => Goto(S7 { turn, terms }),
        paid => then!(e, me, s4 = S4 { turn, terms, paid }),
    }
}

#[inline(always)]
pub(super) fn s4<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    terms: Terms,
    paid: Word,
) -> Step<E> {
    e.word(Op::FetchAdd(-paid));
    then!(e, me, s5 = S5 { turn, terms, paid })
}

#[inline(always)]
pub(super) fn s5<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    mut terms: Terms,
    paid: Word,
) -> Step<E> {
    terms.owed -= paid;
    e.terms(Op::Write(terms.pack()));
    if terms.owed == 0 { then!(e, me, s6 = S6 { turn, terms }) } else { Goto(S7 { turn, terms }) }
}

#[inline(always)]
pub(super) fn s6<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    _: E::Waiter,
    turn: Turn,
    terms: Terms,
) -> Step<E> {
    e.word(Op::FetchAdd(-MARK));
    Goto(S7 { turn, terms })
}

// Lines S7 to S13: the server gives free slots to the head of the queue, as long as enough are free for
// the head.

#[inline(always)]
pub(super) fn s7<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    terms: Terms,
) -> Step<E> {
    match e.head() {
        None => then!(e, me, s17 = S17 { turn }),
        Some(waiter) if turn.left == 0 && e.may_serve(waiter) => {
            then!(e, me, s19 = S19 { turn, waiter })
        }
        Some(waiter) if terms.closed => {
            then!(e, me, s10 = S10 { turn, terms, waiter, take: CLOSED })
        }
        Some(waiter) => then!(e, me, s8 = S8 { turn, terms, waiter }),
    }
}

#[inline(always)]
pub(super) fn s8<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    terms: Terms,
    waiter: E::Waiter,
) -> Step<E> {
    let word = e.word(Op::Read);
    // A barging hall calls the waiter (S9) instead of granting it a slot, because newcomers compete for the slot. While
    // slots are owed, `word` is marked, so no newcomer takes a slot, and the server grants.
    let call = M::BARGES && terms.owed == 0;
    match P::choose(word & FREE, terms.owed, e.need(waiter)) {
        Some(take) if M::BYPASSES => then!(e, me, b5 = B5 { turn, terms, waiter, word, take }),
        Some(_) if call && word & CALLED != 0 => then!(e, me, s17 = S17 { turn }),
        Some(_) if call => then!(e, me, s9 = S9 { turn, terms, waiter, take: TRY }),
        Some(take) => then!(e, me, s9 = S9 { turn, terms, waiter, take }),
        None => then!(e, me, s17 = S17 { turn }),
    }
}

#[inline(always)]
pub(super) fn s9<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    terms: Terms,
    waiter: E::Waiter,
    take: Word,
) -> Step<E> {
    e.word(Op::FetchAdd(if take == TRY { CALLED } else { -take }));
    then!(e, me, s10 = S10 { turn, terms, waiter, take })
}

// In a hall with a limit on overtaking, lines B5 and B6 replace S9: in such a hall, a slot that S8 finds free may be
// taken before it is granted.

#[inline(always)]
pub(super) fn b5<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    terms: Terms,
    waiter: E::Waiter,
    word: Word,
    take: Word,
) -> Step<E> {
    let may_overtake = e.credit(Op::Read) > 0;
    if may_overtake && terms.owed == 0 && waiter != me && e.may_serve(waiter) {
        // The slot stays free until the waiter is awake and serves itself.
        then!(e, me, s19 = S19 { turn, waiter })
    } else {
        then!(e, me, b6 = B6 { turn, terms, waiter, word, take })
    }
}

#[inline(always)]
pub(super) fn b6<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    terms: Terms,
    waiter: E::Waiter,
    word: Word,
    take: Word,
) -> Step<E> {
    if e.word(Op::CompareAndSwap { old: word, new: word - take }) == word {
        then!(e, me, s10 = S10 { turn, terms, waiter, take })
    } else {
        Goto(S8 { turn, terms, waiter })
    }
}

#[inline(always)]
pub(super) fn s10<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    terms: Terms,
    waiter: E::Waiter,
    take: Word,
) -> Step<E> {
    e.pop();
    then!(e, me, s11 = S11 { turn, terms, waiter, take })
}

#[inline(always)]
pub(super) fn s11<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    terms: Terms,
    waiter: E::Waiter,
    take: Word,
) -> Step<E> {
    e.grant(waiter, Op::Write(take));
    if M::BYPASSES {
        then!(e, me, b7 = B7 { turn, terms, waiter })
    } else {
        then!(e, me, s12 = S12 { turn, terms, waiter })
    }
}

#[inline(always)]
pub(super) fn s12<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    terms: Terms,
    waiter: E::Waiter,
) -> Step<E> {
    let word = e.word(Op::FetchAdd(-WAITER));
    let more = waiters(word) > 1 && (terms.closed || word & FREE != 0);
    granted::<P, M, E>(e, me, turn, terms, waiter, more)
}

/// Continues after a grant. The server goes on with the next waiter if `more` is set: another caller waits, and a slot
/// is free or the hall is closed.
#[inline(always)]
fn granted<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    terms: Terms,
    waiter: E::Waiter,
    more: bool,
) -> Step<E> {
    if more {
        then!(e, me, s13 = S13 { turn, terms, waiter })
    } else {
        then!(e, me, s14 = S14 { turn, waiter })
    }
}

// In a hall with a limit on overtaking, lines B7 to B9 replace S12. If B7 finds no credit, B9 lowers the debt of the
// newcomers by one, for the waiter that was let in, or gives new credit if the debt is paid (see `repay`). These lines
// come after the grant is written (S11): before that, new credit would let a newcomer overtake the same waiter once
// more. B8 counts the waiters after B7 has read the credit, so the count includes every waiter that was overtaken.

#[inline(always)]
pub(super) fn b7<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    terms: Terms,
    waiter: E::Waiter,
) -> Step<E> {
    let credit = e.credit(Op::Read);
    then!(e, me, b8 = B8 { turn, terms, waiter, credit })
}

#[inline(always)]
pub(super) fn b8<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    terms: Terms,
    waiter: E::Waiter,
    credit: Word,
) -> Step<E> {
    let word = e.word(Op::FetchAdd(-WAITER));
    let more = waiters(word) > 1 && (terms.closed || word & FREE != 0);
    if credit > 0 {
        granted::<P, M, E>(e, me, turn, terms, waiter, more)
    } else {
        let credit = repay(credit, waiters(word), e.bypass_limit().into());
        then!(e, me, b9 = B9 { turn, terms, waiter, more, credit })
    }
}

#[inline(always)]
pub(super) fn b9<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    terms: Terms,
    waiter: E::Waiter,
    more: bool,
    credit: Word,
) -> Step<E> {
    e.credit(Op::Write(credit));
    granted::<P, M, E>(e, me, turn, terms, waiter, more)
}

#[inline(always)]
pub(super) fn s13<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    _: E::Waiter,
    turn: Turn,
    terms: Terms,
    waiter: E::Waiter,
) -> Step<E> {
    e.wake(waiter);
    Goto(S7 { turn: turn.shorter(), terms })
}

// Lines S14 to S19: the server looks for news, and stops serving.

#[inline(always)]
pub(super) fn s14<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    waiter: E::Waiter,
) -> Step<E> {
    // The server releases the lock before it wakes waiters, because waking takes time.
    if e.lock(Op::CompareAndSwap { old: HELD, new: 0 }) == HELD {
        then!(e, me, s15 = S15 { after: turn.after, waiter })
    } else {
        then!(e, me, s16 = S16 { turn: turn.shorter(), waiter })
    }
}

#[inline(always)]
pub(super) fn s15<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    _: E::Waiter,
    after: After,
    waiter: E::Waiter,
) -> Step<E> {
    e.wake(waiter);
    after.next()
}

#[inline(always)]
pub(super) fn s16<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    _: E::Waiter,
    turn: Turn,
    waiter: E::Waiter,
) -> Step<E> {
    e.wake(waiter);
    Goto(S1 { turn })
}

#[inline(always)]
pub(super) fn s17<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
) -> Step<E> {
    if e.lock(Op::CompareAndSwap { old: HELD, new: 0 }) == HELD {
        turn.after.next()
    } else if turn.left == 0 {
        then!(e, me, s18 = S18 { turn })
    } else {
        Goto(S1 { turn: turn.shorter() })
    }
}

#[inline(always)]
pub(super) fn s18<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
) -> Step<E> {
    match e.head() {
        Some(waiter) if e.may_serve(waiter) => then!(e, me, s19 = S19 { turn, waiter }),
        _ => Goto(S1 { turn }),
    }
}

#[inline(always)]
pub(super) fn s19<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    turn: Turn,
    waiter: E::Waiter,
) -> Step<E> {
    e.grant(waiter, Op::Write(SERVE));
    then!(e, me, s15 = S15 { after: turn.after, waiter })
}
