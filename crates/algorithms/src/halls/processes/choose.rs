//! Lines H1 to H3 choose the waiter that gets slots now, if a waiter wants several slots or the hall has shrunk. Lines
//! N1 to N4 count the slots that are held after the hall has shrunk, and seal the free slots that it no longer has. The
//! [parent module](super) explains both.

use super::{
    environment::Environment,
    lines::{
        Line::{self, *},
        LineOn, Role,
    },
    serve::wait_on,
    waiting::notice,
    words::{Card, Meaning, Request, Size, Tag},
};
use crate::framework::{
    machine::Next::{self, Goto},
    memory::{Op, Word},
};

/// Executes a line of choosing or counting.
pub(super) fn step<E: Environment>(e: &mut E, me: usize, at: LineOn<E>) -> Next<LineOn<E>> {
    match at {
        H1 { role, size, who } => {
            let head = e.head(Op::Read);
            match chosen(head).process < e.processes() {
                true => Goto(H2 { role, size, who, head }),
                false => Goto(H3 { role, size, who, head }),
            }
        }
        // A waiter that was chosen gets its slots first, even if a waiter with a lower ticket has come in the
        // meantime. Otherwise each of the two could have a part of its slots forever.
        H2 { role, size, who, head } => {
            let tag = chosen(head);
            let card = Card::unpack(e.card(tag.process, Op::Read));
            match card.wants() {
                Some(wants) if card.number == tag.number => {
                    serve_chosen(role, size, Request { tag, wants })
                }
                _ => Goto(H3 { role, size, who, head }),
            }
        }
        H3 { role, size, who, head } => {
            let new = who.tag.pack();
            let is_chosen = e.head(Op::CompareAndSwap { old: head, new }) == head;
            match role {
                _ if is_chosen => serve_chosen(role, size, who),
                Role::Leaver(_, finally) => Goto(S1 { role: Role::Hurried(finally) }),
                role => Goto(S1 { role }),
            }
        }
        // No other waiter gets slots while `who` is chosen, so the number of held slots only falls. The exception is a
        // process that has read the size before the hall shrank.
        N1 { role, size, who, j, held, above } => {
            let word = e.slot(j, Op::Read);
            let is_gone = j >= size.k;
            match Tag::unpack(word) {
                None if is_gone => Goto(N3 { role, size, who, j, held, above, old: word }),
                None => count_on(role, size, who, j, held, above),
                Some(tag) if is_gone && tag.is_seal_before(size) => {
                    Goto(N3 { role, size, who, j, held, above, old: word })
                }
                Some(tag) if tag.is_seal() => count_on(role, size, who, j, held, above),
                Some(tag) if tag.process >= e.processes() => {
                    count_on(role, size, who, j, held + 1, above || is_gone)
                }
                Some(tag) => Goto(N2 { role, size, who, j, held, above, tag }),
            }
        }
        N2 { role, size, who, j, held, above, tag } => {
            let card = Card::unpack(e.card(tag.process, Op::Read));
            let is_gone = j >= size.k;
            match tag.means(j, card) {
                Meaning::Held => match card.given() {
                    Some(given) if tag.process == me => Goto(notice(card.number, given)),
                    _ => count_on(role, size, who, j, held + 1, above || is_gone),
                },
                Meaning::Offered if !is_gone => {
                    let who = Request { tag, wants: 1 };
                    Goto(S10 { role, who, j, own: 0, asleep: false })
                }
                // A waiter may be about to get a slot that the hall no longer has. So this slot must not be sealed.
                Meaning::Offered | Meaning::SetAside => {
                    count_on(role, size, who, j, held, above || is_gone)
                }
                Meaning::Void if is_gone => {
                    Goto(N3 { role, size, who, j, held, above, old: tag.pack() })
                }
                Meaning::Void => count_on(role, size, who, j, held, above),
            }
        }
        // From now on, a process that read the size before the hall shrank finds the slot taken.
        N3 { role, size, who, j, held, above, old } => {
            let new = Tag::seal(size.epoch).pack();
            let is_sealed = e.slot(j, Op::CompareAndSwap { old, new }) == old;
            match role {
                _ if is_sealed => count_on(role, size, who, j, held, above),
                Role::Leaver(_, finally) => Goto(S1 { role: Role::Hurried(finally) }),
                role => Goto(N1 { role, size, who, j, held, above }),
            }
        }
        N4 { role, size, who } => {
            let settled = size.settled();
            e.size(Op::CompareAndSwap { old: size.pack(), new: settled.pack() });
            Goto(S6 { role, size: settled, who, j: 0, got: 0, own: 0 })
        }
        _ => unreachable!("not a line of choosing"),
    }
}

/// Returns the next line once all processes that serve agree on `who`.
pub(super) fn serve_chosen<I, W>(role: Role<W>, size: Size, who: Request) -> Next<Line<I, W>> {
    match size.is_shrunk() {
        true => Goto(N1 { role, size, who, j: 0, held: 0, above: false }),
        false => Goto(S6 { role, size, who, j: 0, got: 0, own: 0 }),
    }
}

/// Returns the next line after slot `j` was counted. `above` is `true` if one of the counted slots that the hall no
/// longer has is not sealed.
pub(super) fn count_on<I, W>(
    role: Role<W>,
    size: Size,
    who: Request,
    j: usize,
    held: usize,
    above: bool,
) -> Next<Line<I, W>> {
    match j + 1 {
        j if j < size.top => Goto(N1 { role, size, who, j, held, above }),
        _ if held + who.wants > size.k => wait_on(role),
        _ if above => Goto(S6 { role, size, who, j: 0, got: 0, own: 0 }),
        _ => Goto(N4 { role, size, who }),
    }
}

/// Returns the tag of the waiter that was chosen last. If none was ever chosen, returns a tag with an odd number. No
/// waiter has such a tag, because the numbers of waiters are even.
fn chosen(head: Word) -> Tag {
    Tag::unpack(head).unwrap_or(Tag { process: 0, number: 1 })
}
