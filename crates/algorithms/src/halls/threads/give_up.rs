//! Lines C1 to C5: a waiter leaves the queue, unless a grant came first. Only the *server*, the caller that holds the
//! lock of the queue, may take waiters out of it.
//!
//! - C1: the waiter reads its grant. If there is none, it tries to become the server (L5). If the grant is `SERVE`, see
//!   C5. With any other grant, it is too late to give up (L9).
//! - C2: as the server, it reads its grant again. If it has one by now, it does not give up: it serves first, and then
//!   takes the grant.
//! - C3, C4: it leaves the queue, and `word` counts one waiter less.
//! - C5: the grant is `SERVE`: the previous server has made the waiter the server. The waiter clears the grant.

#![allow(
    clippy::extra_unused_type_parameters,
    reason = "`then!` calls every line with the same parameters"
)]

use super::{
    environment::Environment,
    lines::{After, Job, Line::*, Step, Turn, l5, l9, start_serving, then},
    policy::Policy,
    pool::Pool,
    straight::serve,
    words::{SERVE, WAITER},
};
use crate::framework::{machine::Next::Goto, memory::Op};

#[inline(always)]
pub(super) fn c1<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter) -> Step<E> {
    match e.grant(me, Op::Read) {
        0 => then!(e, me, l5 = L5 { job: Job::Cancel }),
        SERVE => then!(e, me, c5 = C5),
        take => then!(e, me, l9 = L9 { take }), // too late to give up
    }
}

#[inline(always)]
pub(super) fn c2<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter) -> Step<E> {
    match e.grant(me, Op::Read) {
        0 => then!(e, me, c3 = C3),
        _ => start_serving!(e, me, After::Wait),
    }
}

#[inline(always)]
pub(super) fn c3<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter) -> Step<E> {
    e.remove(me);
    then!(e, me, c4 = C4)
}

#[inline(always)]
pub(super) fn c4<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter) -> Step<E> {
    e.word(Op::FetchAdd(-WAITER));
    start_serving!(e, me, After::Leave)
}

#[inline(always)]
pub(super) fn c5<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter) -> Step<E> {
    e.grant(me, Op::Write(0));
    then!(e, me, c3 = C3)
}
