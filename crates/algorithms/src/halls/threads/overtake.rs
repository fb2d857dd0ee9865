//! Overtaking: the four lines of a newcomer that finds others waiting, in a hall with a limit on overtaking. The
//! *server* is the caller that gives slots to the waiters (see the [parent module](super)).
//!
//! `credit` says how many more newcomers may overtake the waiters:
//!
//! | credit | meaning |
//! |---|---|
//! | more than 0 | this many more newcomers may overtake |
//! | 0, or a little less | newcomers must not overtake; the server has not noticed this yet |
//! | [`DEBT`] - d | d more waiters get in first; then the server sets the credit to the limit |
//!
//! Every newcomer that reaches B3 lowers the credit by one. Only the server raises the credit, when none is left. A
//! newcomer that finds no credit at B3 is refused, but it has already lowered the credit. If the credit was 0 or a
//! little less, this changes nothing for the others. If the credit stands for a debt, the debt is now larger by
//! one, so one more waiter gets in first.
//!
//! At most b newcomers overtake a waiter, where b is the limit. The reason: between two moments at which the server
//! gives credit, at most b newcomers take a credit. If one of them overtakes a waiter, `word` counts this waiter when
//! the server notices that no credit is left. So the waiter is one of the d waiters that get in before the server gives
//! credit again.
//!
//! A newcomer that has taken a credit may be slow, and take its slots after the server has given new credit. Then it
//! overtakes waiters that joined the queue after it took its credit. The limit does not count this newcomer, because it
//! came before these waiters.

use super::{
    environment::OvertakeEnvironment,
    fast::{self, Offer},
    pool::Pool,
    words::{FREE, MARK, WAITER},
};
use crate::framework::memory::{Op, Word};

/// A credit below this value stands for a debt of the newcomers. The debt is `DEBT - credit`.
pub const DEBT: Word = -WAITER;

/// The largest limit on overtaking.
pub const MAX_BYPASS: u32 = u32::MAX - 1;

/// The next line of a newcomer that may overtake.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Overtake {
    /// B1: read `word`. `left` is how many more times to try, and `paid` whether the newcomer has taken a credit.
    Look { left: u32, paid: bool },
    /// B2: read whether there is any credit.
    See { left: u32 },
    /// B3: take one credit.
    Pay { left: u32 },
    /// B4: take the slots.
    Take { left: u32, paid: bool, word: Word, take: Word },
}

/// The result of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overtaken {
    /// The newcomer goes on at this line.
    Goto(Overtake),
    /// The newcomer has these slots.
    Entered(Word),
    /// The newcomer must join the queue.
    Queue,
    /// There is no credit. The newcomer tries again up to `left` times, and then joins the queue.
    Refused { left: u32 },
}

impl Overtaken {
    /// Returns the next line of a newcomer that may try again after it was refused.
    pub(super) fn patiently(self) -> Self {
        match self {
            Overtaken::Refused { left: 0 } => Overtaken::Queue,
            Overtaken::Refused { left } => {
                Overtaken::Goto(Overtake::Look { left: left - 1, paid: false })
            }
            other => other,
        }
    }
}

/// Executes one line.
#[inline]
pub fn step<P: Pool, E: OvertakeEnvironment>(e: &mut E, need: u32, at: Overtake) -> Overtaken {
    match at {
        Overtake::Look { left, paid } => {
            let word = e.word(Op::Read);
            match P::choose(word & FREE, 0, need) {
                Some(take) if word < WAITER || (paid && word < MARK) => {
                    Overtaken::Goto(Overtake::Take { left, paid, word, take })
                }
                Some(_) if word < MARK => Overtaken::Goto(Overtake::See { left }),
                _ => Overtaken::Queue,
            }
        }
        // Without this line, each newcomer would write the credit even if it is refused.
        Overtake::See { left } => match e.credit(Op::Read) {
            1.. => Overtaken::Goto(Overtake::Pay { left }),
            _ => Overtaken::Refused { left },
        },
        Overtake::Pay { left } => match e.credit(Op::FetchAdd(-1)) {
            1.. => Overtaken::Goto(Overtake::Look { left, paid: true }),
            _ => Overtaken::Refused { left },
        },
        Overtake::Take { left, paid, word, take } => {
            if fast::take(e, Offer { word, take }) {
                Overtaken::Entered(take)
            } else if left == 0 {
                Overtaken::Queue // others were faster each time
            } else {
                Overtaken::Goto(Overtake::Look { left: left - 1, paid })
            }
        }
    }
}

/// Tries to get in ahead of the waiters: once, and then up to `tries` more times. Before a caller that was refused
/// tries again, it calls `pause`, which returns whether to try again. Returns the slots that the caller has taken, or
/// `None` if it must join the queue.
#[inline]
pub fn overtake<P: Pool, E: OvertakeEnvironment>(
    e: &mut E,
    need: u32,
    tries: u32,
    mut pause: impl FnMut() -> bool,
) -> Option<Word> {
    let mut at = Overtake::Look { left: tries, paid: false };
    loop {
        let mut next = step::<P, E>(e, need, at);
        if let Overtaken::Refused { left: 1.. } = next
            && pause()
        {
            next = next.patiently();
        }
        match next {
            Overtaken::Goto(next) => at = next,
            Overtaken::Entered(take) => return Some(take),
            Overtaken::Queue | Overtaken::Refused { .. } => return None,
        }
    }
}

/// Returns the new credit after the server has let a waiter in while no credit was left. `credit` is the
/// old credit. `waiting` is the number of waiters, including the one that was let in. At most `limit`
/// newcomers may overtake a waiter.
pub(super) fn repay(credit: Word, waiting: Word, limit: Word) -> Word {
    let debt = if credit < DEBT { DEBT - credit } else { waiting };
    // Waiters may have given up, so the debt is at most the number of waiters.
    match debt.min(waiting) {
        ..=1 => limit,
        debt => DEBT - (debt - 1),
    }
}
