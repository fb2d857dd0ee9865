//! Lines S1 to S15 give free slots to the first waiter.

use super::{
    environment::Environment,
    lines::{
        Line::{self, *},
        LineOn, Role,
    },
    words::{Card, FREE, Meaning, Phase, Tag},
};
use crate::framework::{
    machine::Next::{self, Goto, Leave},
    memory::{Op, Word},
};

/// A summary of the cards that a serving process has seen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Seen {
    /// The first of the waiters whose tickets were drawn before the search began.
    pub first: Option<Tag>,
    /// Whether some process is about to wait.
    pub arriving: bool,
    /// Whether some process waits with a ticket that was drawn after the search began.
    pub later: bool,
}

impl Seen {
    /// Records the card of `process`. Tickets below `c` were drawn before the search began.
    fn note(&mut self, process: usize, card: Card, c: Word) {
        match card.phase {
            Phase::Arriving => self.arriving = true,
            _ if !card.waits() => {}
            // Not eligible: this process drew its ticket after the search began, and the search may have
            // missed processes that arrived earlier.
            _ if card.number / 2 >= c => self.later = true,
            _ if self.first.is_none_or(|first| card.number < first.number) => {
                self.first = Some(Tag { process, number: card.number });
            }
            _ => {}
        }
    }
}

/// Executes a line of serving.
pub(super) fn step<E: Environment>(e: &mut E, me: usize, at: LineOn<E>) -> Next<LineOn<E>> {
    match at {
        S1 { role } => Goto(S2 { role, c: e.next(Op::Read) }),
        S2 { role, c } => {
            let k = e.size();
            match role {
                Role::Waiter | Role::Watcher(_) if k == 0 => Goto(C1),
                _ => Goto(S3 { role, c, k, i: 0, seen: Seen::default() }),
            }
        }
        S3 { role, c, k, i, mut seen } => {
            let card = Card::unpack(e.card(i, Op::Read));
            match card.phase {
                Phase::Granted(j) | Phase::Unrung(j) if i == me => {
                    Goto(G1 { number: card.number, j })
                }
                // The process that settled the offer may have died before it rang the bell.
                Phase::Unrung(j) => Goto(S4 { role, c, k, i, seen, number: card.number, j }),
                _ => {
                    seen.note(i, card, c);
                    look_on(e, S3 { role, c, k, i: i + 1, seen })
                }
            }
        }
        S4 { role, c, k, i, seen, number, j } => {
            e.ring(i);
            Goto(S13 { role, c, k, i, seen, number, j })
        }
        S13 { role, c, k, i, seen, number, j } => {
            mark_rung(e, Tag { process: i, number }, j);
            look_on(e, S3 { role, c, k, i: i + 1, seen })
        }
        S5 { c } => {
            e.quiet(Op::Write(c));
            Leave
        }
        S6 { role, k, who, j } => match Tag::unpack(e.slot(j, Op::Read)) {
            None => Goto(S9 { role, k, who, j }),
            Some(tag) if tag.process >= e.processes() => try_next(role, k, who, j),
            Some(tag) => Goto(S7 { role, k, who, j, tag }),
        },
        S7 { role, k, who, j, tag } => {
            match tag.means(j, Card::unpack(e.card(tag.process, Op::Read))) {
                // This process was given the slot after S3. It does not wait for the ring: the process that
                // gave it the slot may die before it rings.
                Meaning::Held if tag.process == me => Goto(G1 { number: tag.number, j }),
                Meaning::Held => try_next(role, k, who, j),
                Meaning::Offered => Goto(S10 { role, who: tag, j, own: false, asleep: false }),
                Meaning::Void => Goto(S8 { role, k, who, j, tag }),
            }
        }
        S8 { role, k, who, j, tag } => {
            let old = tag.pack();
            let is_freed = e.slot(j, Op::CompareAndSwap { old, new: FREE }) == old;
            match role {
                // A leaving process does not read the slot again: other processes could tag the slot
                // over and over.
                Role::Leaver if is_freed => Goto(S9 { role, k, who, j }),
                Role::Leaver => Goto(S1 { role: Role::Hurried }),
                role => Goto(S6 { role, k, who, j }),
            }
        }
        S9 { role, k, who, j } => {
            if e.slot(j, Op::CompareAndSwap { old: FREE, new: who.pack() }) == FREE {
                Goto(S10 { role, who, j, own: true, asleep: false })
            } else {
                match role {
                    Role::Leaver => Goto(S1 { role: Role::Hurried }),
                    role => Goto(S6 { role, k, who, j }),
                }
            }
        }
        S10 { role, who, j, own, asleep } => {
            let (before, given) = match asleep {
                false => (Phase::Waiting, Phase::Granted(j)),
                true => (Phase::Asleep, Phase::Unrung(j)),
            };
            let old = Card::new(before, who.number).pack();
            let new = Card::new(given, who.number).pack();
            let found = e.card(who.process, Op::CompareAndSwap { old, new });
            if !asleep && found == Card::new(Phase::Asleep, who.number).pack() {
                return Goto(S10 { role, who, j, own, asleep: true });
            }
            let granted = found == old;
            let role = match role {
                Role::Leaver if !(granted && own) => Role::Hurried,
                role => role,
            };
            if granted && asleep && who.process != me {
                Goto(S11 { role, who, j })
            } else {
                if granted && who.process != me {
                    e.nudge(who.process);
                }
                given_away(role)
            }
        }
        S11 { role, who, j } => {
            e.ring(who.process);
            Goto(S14 { role, who, j })
        }
        S14 { role, who, j } => {
            mark_rung(e, who, j);
            given_away(role)
        }
        // A waiter that is awake needs no ring: it looks at everything again before it sleeps. A sleeping
        // waiter that was given a slot meanwhile is rung too: the process that gave it the slot may stop before
        // it rings.
        S12 { who } => match Card::unpack(e.card(who, Op::Read)).phase {
            Phase::Asleep | Phase::Unrung(_) => Goto(S15 { who }),
            _ => Leave,
        },
        S15 { who } => {
            e.ring(who);
            Leave
        }
        _ => unreachable!("not a line of serving"),
    }
}

/// Marks that the bell of `who`, which was given slot `j`, was rung. This is done after the ring: if the process
/// that rings dies in between, another one rings again.
fn mark_rung<E: Environment>(e: &mut E, who: Tag, j: usize) {
    let old = Card::new(Phase::Unrung(j), who.number).pack();
    let new = Card::new(Phase::Granted(j), who.number).pack();
    e.card(who.process, Op::CompareAndSwap { old, new });
}

/// Returns the next line after an offer was settled. A `Leaver` has given its slot away by then, so it leaves.
fn given_away<I, W>(role: Role<W>) -> Next<Line<I, W>> {
    match role {
        Role::Leaver => Leave,
        role => Goto(S1 { role }),
    }
}

/// Returns the next line after S3 or S13.
fn look_on<E: Environment>(e: &E, at: LineOn<E>) -> Next<LineOn<E>> {
    let S3 { role, c, k, i, seen } = at else { unreachable!("not a line of looking") };
    if i < e.processes() {
        return Goto(at);
    }
    match (seen.first, role) {
        // The hall is closed: the first waiter gives up, and rings for its followers.
        (Some(who), _) if k == 0 => Goto(S12 { who: who.process }),
        (Some(who), Role::Hurried) => Goto(S12 { who: who.process }),
        (Some(who), _) => Goto(S6 { role, k, who, j: 0 }),
        // This process was given a slot, or another program has changed the shared words.
        (None, Role::Waiter | Role::Watcher(_)) => Goto(S1 { role }),
        // Processes that arrive later look for a slot themselves.
        (None, Role::Leaver | Role::Hurried) if seen.later || seen.arriving => Leave,
        (None, Role::Leaver | Role::Hurried) => Goto(S5 { c }),
    }
}

/// Returns the next line after slot `j` was found taken.
fn try_next<I, W>(role: Role<W>, k: usize, who: Tag, j: usize) -> Next<Line<I, W>> {
    match role {
        _ if j + 1 < k => Goto(S6 { role, k, who, j: j + 1 }),
        Role::Leaver | Role::Hurried => Leave,
        Role::Waiter => Goto(W1),
        Role::Watcher(watch) => Goto(W8 { watch }),
    }
}
