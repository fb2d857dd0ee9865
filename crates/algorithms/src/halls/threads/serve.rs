//! The lines of the server: it gives what is free to the head of the queue, as long as that is enough.

use super::{
    environment::{Environment, LineOn},
    lines::{Line::*, Policy},
    pool::Pool,
    words::{CALLED, CLOSED, FREE, HELD, MARK, SERVE, TRY, Terms, WAITER, waiters},
};
use crate::framework::{
    machine::Next::{self, Goto},
    memory::Op,
};

/// Executes lines S1 to S19.
pub(super) fn serve<P: Pool, M: Policy, E: Environment>(
    e: &mut E,
    at: LineOn<E>,
) -> Next<LineOn<E>> {
    match at {
        S1 { .. } | S2 { .. } | S3 { .. } | S4 { .. } | S5 { .. } | S6 { .. } => {
            settle::<P, E>(e, at)
        }
        S7 { .. } | S8 { .. } | S9 { .. } | S10 { .. } | S11 { .. } | S12 { .. } | S13 { .. } => {
            give::<P, M, E>(e, at)
        }
        _ => stop(e, at),
    }
}

/// Lines S1 to S6: takes what is owed out of what is free.
fn settle<P: Pool, E: Environment>(e: &mut E, at: LineOn<E>) -> Next<LineOn<E>> {
    match at {
        S1 { turn } => {
            e.lock(Op::Write(HELD)); // news from here on is seen at S14 or S17
            Goto(S2 { turn })
        }
        S2 { turn } => {
            let terms = Terms::unpack(e.terms(Op::Read));
            Goto(if terms.owed == 0 { S7 { turn, terms } } else { S3 { turn, terms } })
        }
        S3 { turn, terms } => match P::settle(e.word(Op::Read) & FREE, terms.owed) {
            0 => Goto(S7 { turn, terms }),
            paid => Goto(S4 { turn, terms, paid }),
        },
        S4 { turn, terms, paid } => {
            e.word(Op::FetchAdd(-paid));
            Goto(S5 { turn, terms, paid })
        }
        S5 { turn, mut terms, paid } => {
            terms.owed -= paid;
            e.terms(Op::Write(terms.pack()));
            Goto(if terms.owed == 0 { S6 { turn, terms } } else { S7 { turn, terms } })
        }
        S6 { turn, terms } => {
            e.word(Op::FetchAdd(-MARK));
            Goto(S7 { turn, terms })
        }
        _ => unreachable!("not a line of settling"),
    }
}

/// Lines S7 to S13: gives what is free to the head of the queue, as long as that is enough.
fn give<P: Pool, M: Policy, E: Environment>(e: &mut E, at: LineOn<E>) -> Next<LineOn<E>> {
    match at {
        S7 { turn, terms } => match e.head() {
            None => Goto(S17 { turn }),
            Some(who) if turn.left == 0 && e.may_serve(who) => Goto(S19 { turn, who }),
            Some(who) if terms.closed => Goto(S10 { turn, terms, who, take: CLOSED }),
            Some(who) => Goto(S8 { turn, terms, who }),
        },
        S8 { turn, terms, who } => {
            let word = e.word(Op::Read);
            // While slots are owed, the word is marked, and no newcomer takes anything.
            let call = M::BARGES && terms.owed == 0;
            match P::choose(word & FREE, terms.owed, e.need(who)) {
                None => Goto(S17 { turn }),
                Some(_) if call && word & CALLED != 0 => Goto(S17 { turn }),
                Some(_) if call => Goto(S9 { turn, terms, who, take: TRY }),
                Some(take) => Goto(S9 { turn, terms, who, take }),
            }
        }
        S9 { turn, terms, who, take } => {
            e.word(Op::FetchAdd(if take == TRY { CALLED } else { -take }));
            Goto(S10 { turn, terms, who, take })
        }
        S10 { turn, terms, who, take } => {
            e.pop();
            Goto(S11 { turn, terms, who, take })
        }
        S11 { turn, terms, who, take } => {
            e.grant(who, Op::Write(take));
            Goto(S12 { turn, terms, who })
        }
        S12 { turn, terms, who } => {
            let word = e.word(Op::FetchAdd(-WAITER));
            let more = waiters(word) > 1 && (terms.closed || word & FREE != 0);
            Goto(if more { S13 { turn, terms, who } } else { S14 { turn, who } })
        }
        S13 { turn, terms, who } => {
            e.wake(who);
            Goto(S7 { turn: turn.shorter(), terms })
        }
        _ => unreachable!("not a line of giving"),
    }
}

/// Lines S14 to S19: looks for news, and stops serving.
fn stop<E: Environment>(e: &mut E, at: LineOn<E>) -> Next<LineOn<E>> {
    match at {
        S14 { turn, who } => {
            // Waking takes time, so the lock is released first.
            if e.lock(Op::CompareAndSwap { old: HELD, new: 0 }) == HELD {
                Goto(S15 { after: turn.after, who })
            } else {
                Goto(S16 { turn: turn.shorter(), who })
            }
        }
        S15 { after, who } => {
            e.wake(who);
            after.next()
        }
        S16 { turn, who } => {
            e.wake(who);
            Goto(S1 { turn })
        }
        S17 { turn } => {
            if e.lock(Op::CompareAndSwap { old: HELD, new: 0 }) == HELD {
                turn.after.next()
            } else if turn.left == 0 {
                Goto(S18 { turn })
            } else {
                Goto(S1 { turn: turn.shorter() })
            }
        }
        S18 { turn } => match e.head() {
            Some(who) if e.may_serve(who) => Goto(S19 { turn, who }),
            _ => Goto(S1 { turn }),
        },
        S19 { turn, who } => {
            e.grant(who, Op::Write(SERVE));
            Goto(S15 { after: turn.after, who })
        }
        _ => unreachable!("not a line of serving"),
    }
}
