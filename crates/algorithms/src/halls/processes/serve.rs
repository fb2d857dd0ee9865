//! Lines S1 to S15 give free slots to the first waiter. The [parent module](super) explains the algorithm.

use super::{
    choose::serve_chosen,
    environment::Environment,
    lines::{
        Line::{self, *},
        LineOn, Role,
    },
    waiting::notice,
    words::{Card, FREE, Given, Meaning, Number, Phase, Request, Size, Tag},
};
use crate::framework::{
    machine::Next::{self, Goto},
    memory::{Op, Word},
};

/// A summary of the cards that a serving process has seen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Seen {
    /// The first of the waiters whose tickets were drawn before the search began.
    pub first: Option<Request>,
    /// Whether some process is about to wait.
    pub arriving: bool,
    /// Whether some process waits with a ticket that was drawn after the search began.
    pub later: bool,
}

impl Seen {
    /// Records the card of `process`. Tickets below `c` were drawn before the search began.
    #[inline]
    fn note(&mut self, process: usize, card: Card, c: Word) {
        let Some(wants) = card.wants() else {
            self.arriving |= card.phase == Phase::Arriving;
            return;
        };
        if card.number / 2 >= c {
            // Not eligible: this process drew its ticket after the search began, and the search may have
            // missed processes that arrived earlier.
            self.later = true;
        } else if self.first.is_none_or(|first| card.number < first.tag.number) {
            self.first = Some(Request { tag: Tag { process, number: card.number }, wants });
        }
    }
}

/// Executes line S3, S6 or S7.
///
/// A serving process executes these lines once for each process or slot. Natively, S3 runs in a loop of its own, and
/// so do S6 and S7. The function is inlined, so that such a loop contains no code of other lines.
#[inline(always)]
pub(super) fn look<E: Environment>(e: &mut E, me: usize, at: LineOn<E>) -> Next<LineOn<E>> {
    match at {
        S3 { role, c, size, i, mut seen } => {
            let card = Card::unpack(e.card(i, Op::Read));
            match card.given() {
                Some(given) if i == me => Goto(notice(card.number, given)),
                // The process that settled the offer may have died before it rang the bell.
                Some(given) if card.phase == given.unrung() => {
                    Goto(S4 { role, c, size, i, seen, number: card.number, given })
                }
                _ => {
                    seen.note(i, card, c);
                    look_on(e, role, c, size, i + 1, seen)
                }
            }
        }
        S6 { role, size, who, j, got, own } => match Tag::unpack(e.slot(j, Op::Read)) {
            None => Goto(S9 { role, size, who, j, got, own }),
            // The hall has grown since the slot was sealed.
            Some(tag) if tag.is_seal_before(size) => Goto(S8 { role, size, who, j, got, own, tag }),
            Some(tag) if tag.process >= e.processes() => try_next(role, size, who, j, got, own),
            Some(tag) => Goto(S7 { role, size, who, j, got, own, tag }),
        },
        S7 { tag, .. } => {
            let card = Card::unpack(e.card(tag.process, Op::Read));
            judge(me, card, at)
        }
        _ => unreachable!("not a line of looking"),
    }
}

/// Executes a line of serving.
pub(super) fn step<E: Environment>(e: &mut E, me: usize, at: LineOn<E>) -> Next<LineOn<E>> {
    match at {
        S1 { role } => Goto(S2 { role, c: e.next(Op::Read) }),
        S2 { role, c } => {
            let size = Size::unpack(e.size(Op::Read));
            match role {
                Role::Waiter | Role::Watcher(_) if size.k == 0 => Goto(C1),
                _ => Goto(S3 { role, c, size, i: 0, seen: Seen::default() }),
            }
        }
        S4 { role, c, size, i, seen, number, given } => {
            e.ring(i);
            Goto(S13 { role, c, size, i, seen, number, given })
        }
        S13 { role, c, size, i, seen, number, given } => {
            mark_rung(e, i, number, given);
            look_on(e, role, c, size, i + 1, seen)
        }
        S5 { c, finally } => {
            e.quiet(Op::Write(c));
            finally.go()
        }
        S8 { role, size, who, j, got, own, tag } => {
            let old = tag.pack();
            let is_freed = e.slot(j, Op::CompareAndSwap { old, new: FREE }) == old;
            match role {
                // A leaving process does not read the slot again: other processes could tag the slot
                // over and over.
                Role::Leaver(..) if is_freed => Goto(S9 { role, size, who, j, got, own }),
                Role::Leaver(_, finally) => Goto(S1 { role: Role::Hurried(finally) }),
                role => Goto(S6 { role, size, who, j, got, own }),
            }
        }
        S9 { role, size, who, j, got, own } => {
            if e.slot(j, Op::CompareAndSwap { old: FREE, new: who.tag.pack() }) == FREE {
                set_aside(role, size, who, j, got + 1, own + 1)
            } else {
                match role {
                    Role::Leaver(_, finally) => Goto(S1 { role: Role::Hurried(finally) }),
                    role => Goto(S6 { role, size, who, j, got, own }),
                }
            }
        }
        S10 { role, who, j, own, asleep } => {
            let given = who.given(j);
            let (before, after) = match asleep {
                false => (Phase::Waiting(who.wants), given.rung()),
                true => (Phase::Asleep(who.wants), given.unrung()),
            };
            let Tag { process, number } = who.tag;
            let old = Card::new(before, number).pack();
            let new = Card::new(after, number).pack();
            let found = e.card(process, Op::CompareAndSwap { old, new });
            if !asleep && found == Card::new(Phase::Asleep(who.wants), number).pack() {
                return Goto(S10 { role, who, j, own, asleep: true });
            }
            let granted = found == old;
            let role = match role {
                Role::Leaver(left, finally) if granted && own > 0 => {
                    Role::Leaver(left.saturating_sub(own), finally)
                }
                Role::Leaver(_, finally) => Role::Hurried(finally),
                role => role,
            };
            if granted && asleep && process != me {
                Goto(S11 { role, who, j })
            } else {
                if granted && process != me {
                    e.nudge(process);
                }
                given_away(role)
            }
        }
        S11 { role, who, j } => {
            e.ring(who.tag.process);
            Goto(S14 { role, who, j })
        }
        S14 { role, who, j } => {
            mark_rung(e, who.tag.process, who.tag.number, who.given(j));
            given_away(role)
        }
        // A waiter that is awake needs no ring: it looks at everything again before it sleeps. A sleeping waiter
        // that has just been given a slot is rung, too: the process that gave it the slot may stop before it rings.
        S12 { who, finally } => match Card::unpack(e.card(who, Op::Read)).phase {
            Phase::Asleep(_) | Phase::Unrung(_) | Phase::UnrungMany => Goto(S15 { who, finally }),
            _ => finally.go(),
        },
        S15 { who, finally } => {
            e.ring(who);
            finally.go()
        }
        _ => unreachable!("not a line of serving"),
    }
}

/// Returns the line after S7, which has read the card of the process that the slot is tagged for.
#[inline]
pub(super) fn judge<I, W>(me: usize, card: Card, at: Line<I, W>) -> Next<Line<I, W>> {
    let S7 { role, size, who, j, got, own, tag } = at else { unreachable!("not line S7") };
    match tag.means(j, card) {
        Meaning::Held => match card.given() {
            // This process was given the slot after S3. It does not wait for the ring: the process that
            // gave it the slot may die before it rings.
            Some(given) if tag.process == me => Goto(notice(card.number, given)),
            _ => try_next(role, size, who, j, got, own),
        },
        Meaning::Offered => {
            let who = Request { tag, wants: 1 };
            Goto(S10 { role, who, j, own: 0, asleep: false })
        }
        Meaning::SetAside if tag == who.tag => set_aside(role, size, who, j, got + 1, own),
        Meaning::SetAside => {
            let chosen = Request { tag, wants: card.wants().unwrap_or(1) };
            serve_instead(role, size, who, chosen)
        }
        Meaning::Void => Goto(S8 { role, size, who, j, got, own, tag }),
    }
}

/// Marks on the card of `process` that its bell was rung after it was given slots. The mark comes after the ring: if
/// the process that rings dies in between, another process rings again.
fn mark_rung<E: Environment>(e: &mut E, process: usize, number: Number, given: Given) {
    let old = Card::new(given.unrung(), number).pack();
    let new = Card::new(given.rung(), number).pack();
    e.card(process, Op::CompareAndSwap { old, new });
}

/// Returns the next line if slot `j` is tagged for `who`, by this process or by another one. In total, `got` slots are
/// tagged for `who`. This process has tagged `own` of them.
fn set_aside<I, W>(
    role: Role<W>,
    size: Size,
    who: Request,
    j: usize,
    got: usize,
    own: usize,
) -> Next<Line<I, W>> {
    match got < who.wants {
        true => try_next(role, size, who, j, got, own),
        false => Goto(S10 { role, who, j, own, asleep: false }),
    }
}

/// Returns the next line after a slot was found that is set aside for `chosen`, and not for `who`.
///
/// Slots are set aside only for the waiter that was chosen by a compare-and-swap on `head` (H3). So `chosen` is that
/// waiter, even if `who` has a lower ticket. All free slots may already be set aside for `chosen`. Then `who` gets no
/// slot until some process writes on the card of `chosen` that it was given its slots (S10). So this process serves
/// `chosen` first.
fn serve_instead<I, W>(
    role: Role<W>,
    size: Size,
    who: Request,
    chosen: Request,
) -> Next<Line<I, W>> {
    match role {
        // A leaving process that serves a waiter for several slots does not change to another waiter: other processes
        // could choose one waiter after the other, and its exit section would be unbounded.
        Role::Leaver(_, finally) if who.wants > 1 => Goto(S1 { role: Role::Hurried(finally) }),
        role => serve_chosen(role, size, chosen),
    }
}

/// Returns the next line after this process has tried to settle an offer (S10).
fn given_away<I, W>(role: Role<W>) -> Next<Line<I, W>> {
    match role {
        Role::Leaver(0, finally) => finally.go(),
        role => Goto(S1 { role }),
    }
}

/// Returns the next line after S3 or S13.
#[inline(always)]
fn look_on<E: Environment>(
    e: &E,
    role: Role<E::WatchSet>,
    c: Word,
    size: Size,
    i: usize,
    seen: Seen,
) -> Next<LineOn<E>> {
    if i < e.processes() {
        return Goto(S3 { role, c, size, i, seen });
    }
    match (seen.first, role.finally()) {
        // Only wake the first waiter. If the hall is closed, that waiter gives up and wakes the next one. A `Hurried`
        // process leaves the remaining work to the first waiter.
        (Some(who), Some(finally)) if size.k == 0 || matches!(role, Role::Hurried(_)) => {
            Goto(S12 { who: who.tag.process, finally })
        }
        (Some(who), _) if who.wants > 1 || size.is_shrunk() => Goto(H1 { role, size, who }),
        (Some(who), _) => Goto(S6 { role, size, who, j: 0, got: 0, own: 0 }),
        // This waiter found no waiter, not even itself. This happens only if another program has changed the shared
        // words: a waiter that was given a slot notices it at S3.
        (None, None) => Goto(S1 { role }),
        // Processes that arrive later look for a slot themselves.
        (None, Some(finally)) if seen.later || seen.arriving => finally.go(),
        (None, Some(finally)) => Goto(S5 { c, finally }),
    }
}

/// Returns the next line after this process has looked at slot `j`. The waiter `who` needs more slots: only `got` slots
/// are tagged for it.
#[inline]
pub(super) fn try_next<I, W>(
    role: Role<W>,
    size: Size,
    who: Request,
    j: usize,
    got: usize,
    own: usize,
) -> Next<Line<I, W>> {
    match role {
        _ if j + 1 < size.k => Goto(S6 { role, size, who, j: j + 1, got, own }),
        role => wait_on(role),
    }
}

/// Returns the next line of a process that cannot give the first waiter what it wants.
pub(super) fn wait_on<I, W>(role: Role<W>) -> Next<Line<I, W>> {
    match role {
        Role::Leaver(_, finally) | Role::Hurried(finally) => finally.go(),
        Role::Waiter => Goto(W1),
        Role::Watcher(watch) => Goto(W8 { watch }),
    }
}
