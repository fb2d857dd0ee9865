//! Runs the lines natively: one call executes many lines, like one straight piece of code. The *server* is the caller
//! that serves the queue (see the [parent module](super)).
//!
//! [`advance`] executes lines from one *stage* to the next. A stage is a line at which the native hall begins, at which
//! the caller may have to wait, or to which a loop leads back. The lab executes the same functions with
//! [`step`](super::step). A test runs [`advance`] and `step` in lockstep.

use super::{
    environment::{Environment, LineOn},
    give_up::c1,
    lines::{
        After, Job,
        Line::{self, *},
        Step, Turn, l1, l3, l5, l6, l7,
    },
    manage::manage,
    policy::Policy,
    pool::Pool,
    serve::{s1, s7, s8},
};
use crate::framework::{
    machine::Next::{Enter, Goto, Leave, Spin},
    memory::Word,
};

/// A line at which [`advance`] begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// L1: try to take a slot.
    Look,
    /// L3: join the queue.
    Join,
    /// L5: become the server.
    Lock(Job),
    /// L6: look for a grant.
    Check,
    /// L7: wait.
    Wait,
    /// C1: give up.
    GiveUp,
    /// S1: serve as the server, then leave.
    Serve,
    /// R1: give the hall this many slots as the server, then leave.
    Resize(u16),
}

/// The result of [`advance`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advance {
    /// The caller continues at this stage.
    Goto(Stage),
    /// The caller pauses, and then continues at this stage.
    Spin(Stage),
    /// The caller holds these slots. Its exit section begins at X1.
    Entered(Word),
    /// The caller has left, or has given up, and holds no slot.
    Left,
}

/// Executes the lines from `at` to the next stage.
#[inline(always)]
pub fn advance<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter, at: Stage) -> Advance {
    const { assert!(E::STRAIGHT) };
    let next = match at {
        Stage::Look => l1::<P, M, E>(e, me),
        Stage::Join => l3::<P, M, E>(e, me),
        Stage::Lock(job) => l5::<P, M, E>(e, me, job),
        Stage::Check => l6::<P, M, E>(e, me),
        Stage::Wait => l7::<P, M, E>(e, me),
        Stage::GiveUp => c1::<P, M, E>(e, me),
        Stage::Serve => {
            serve::<P, M, E>(e, me, Turn { left: e.grant_limit(), after: After::Leave });
            Leave
        }
        Stage::Resize(k) => Goto(R1 { k }),
    };
    match next {
        Goto(line @ (R1 { .. } | Z1)) => {
            manage_straight::<P, M, E>(e, me, line);
            Advance::Left
        }
        Goto(line) => Advance::Goto(stage(line)),
        Spin(line) => Advance::Spin(stage(line)),
        Enter(X1 { take }) => Advance::Entered(take),
        Enter(_) => unreachable!("the exit section begins at X1"),
        Leave => Advance::Left,
    }
}

/// Returns the stage that begins at a line.
#[inline(always)]
fn stage<W>(line: Line<W>) -> Stage {
    match line {
        L1 => Stage::Look,
        L3 => Stage::Join,
        L5 { job } => Stage::Lock(job),
        L6 => Stage::Check,
        L7 => Stage::Wait,
        C1 => Stage::GiveUp,
        _ => unreachable!("only the previous line leads to this line"),
    }
}

/// Serves, from S1 until the caller is no longer the server. The caller continues with `turn.after`.
#[inline(never)]
pub(super) fn serve<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter, turn: Turn) {
    // Most servers make at most one grant, and need no loop. Without a loop, the compiler uses registers for the values
    // that a line passes to the next line.
    let next = s1::<P, M, E>(e, me, turn);
    if let Goto(S1 { .. } | S7 { .. } | S8 { .. }) = next {
        serve_on::<P, M, E>(e, me, next);
    }
}

/// Goes on serving.
#[inline(never)]
fn serve_on<P: Pool, M: Policy, E: Environment>(e: &mut E, me: E::Waiter, mut next: Step<E>) {
    loop {
        next = match next {
            Goto(S1 { turn }) => s1::<P, M, E>(e, me, turn),
            Goto(S7 { turn, terms }) => s7::<P, M, E>(e, me, turn, terms),
            Goto(S8 { turn, terms, waiter }) => s8::<P, M, E>(e, me, turn, terms, waiter),
            _ => return, // `next` is `turn.after.next()`: the turn has ended
        }
    }
}

/// Resizes or closes, from R1 or Z1 on, and then serves.
#[cold]
#[inline(never)]
fn manage_straight<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    me: E::Waiter,
    mut line: LineOn<E>,
) {
    loop {
        match manage::<P, E>(e, line) {
            Goto(S1 { turn }) => return serve::<P, M, E>(e, me, turn),
            Goto(next) => line = next,
            _ => unreachable!("resizing and closing end with serving"),
        }
    }
}
