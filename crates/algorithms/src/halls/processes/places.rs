//! The order of tickets in the normal form of `reduced.rs`. The [parent module](super) explains the lines and the
//! variables.
//!
//! The tickets that wait, `next`, and the old copies of `next` that matter each have a *place*. (`reduced.rs` defines
//! *wait* in its introduction, *gone* in point 2, and *matter* in point 4.) In the normal form, each number is the rank
//! of its place, counted from 1. A private number moves to a place that is in use, or to the place just below `next`.
//! The tickets *ahead* of a search are the tickets that wait on the cards that the search has yet to read. A *later*
//! ticket is one that is still to be drawn, so it is at least `next`.
//!
//! | number | compared by | moves |
//! |---|---|---|
//! | own number (W2, W6) | ticket < number | up to the next ticket ahead that is not smaller, or to `next` |
//! | first waiter (S3), gone | ticket < number | up to the next larger ticket ahead, or to just below `next` |
//! | waiter before (W2), gone | number < ticket | down to the next smaller ticket ahead, or to 0 |
//! | `c`, never written to `quiet` | ticket >= c | up to the next ticket ahead that is not smaller, or to `next` |
//! | `c`, maybe written to `quiet` | ticket >= c, copy = c | likewise, but to just below `next` instead of `next` |
//!
//! - No move changes the result of a comparison with a ticket ahead. A number moves up at most to `next`. There, a
//!   comparison with a later ticket that equals `next` has the same result as before the move. So all comparisons have
//!   the same results.
//! - A gone waiter stays gone. Its own card was already read, so it is not ahead. So its number may become the ticket
//!   of another process, but never the ticket with which the same process waits again. The number must not move to
//!   `next`, because the process may draw this ticket and wait with it. The place just below `next` is never drawn.
//! - A `c` that a process may write to `quiet` and that equals a copy of `next` keeps its own place. Any other old `c`
//!   never equals a copy, so it must not move to `next`, which later copies equal. A copy that equals a ticket that
//!   waits is older than `next`. If such a copy matters, it has a place of its own. Otherwise, it becomes `OLD`.
//!
//! At most n + 2 places are in use: at most one for each process, because a process that has a copy of `next` does not
//! wait; `next`; and the place just below it.

use alloc::vec::Vec;

use super::{
    lines::{
        Line::{self, *},
        Role,
    },
    model::State,
    reduced::line_of,
    serve::Seen,
    words::{Card, Number, Tag, waits_with},
};
use crate::framework::{
    machine::Loc,
    memory::{Pid, Word},
};

/// A place in the order of tickets. Tickets are at even places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(Word, u8);

impl Place {
    pub(super) const fn of(ticket: Word) -> Self {
        Place(2 * ticket, 0)
    }

    /// Returns the place just below a ticket, and above the old copies of `next` before it.
    const fn below(ticket: Word) -> Self {
        Place(2 * ticket - 1, 2)
    }

    /// Returns the place of an old copy of `next`: below the ticket that has this number, and above the ticket before.
    const fn old(number: Word) -> Self {
        Place(2 * number - 1, 1)
    }
}

/// The places of a state.
pub(super) struct Places {
    /// For each process: the ticket with which it waits or is about to wait.
    waiting: Vec<Option<Word>>,
    next: Word,
    /// The old copies of `next` that are or may become equal to `quiet`.
    matched: Vec<Word>,
    /// The places in use, in order.
    used: Vec<Place>,
}

impl Places {
    pub(super) fn new(processes: &[Loc<State>], cards: &[Card], next: Word, quiet: Word) -> Self {
        let waiting = (cards.iter().zip(processes))
            .map(|(card, loc)| match line_of(loc) {
                Some(E8 { x }) => Some(x / 2),
                _ => card.waits().then_some(card.number / 2),
            })
            .collect();
        let mut places = Places { waiting, next, matched: Vec::new(), used: Vec::new() };
        places.match_copies(processes, quiet);
        places.find(processes, cards, quiet);
        places
    }

    fn match_copies(&mut self, processes: &[Loc<State>], quiet: Word) {
        for line in processes.iter().filter_map(line_of) {
            if let E2 { c, .. } | X5 { c } = line
                && c != self.next
                && copy_matters(processes, quiet, c)
                && !self.matched.contains(&c)
            {
                self.matched.push(c);
            }
        }
    }

    fn find(&mut self, processes: &[Loc<State>], cards: &[Card], quiet: Word) {
        let mut used: Vec<Place> = self.waiting.iter().flatten().map(|&t| Place::of(t)).collect();
        used.push(Place::of(self.next));
        used.extend(self.of_copy(quiet));
        for (p, loc) in processes.iter().enumerate() {
            let Some(line) = line_of(loc) else { continue };
            match line {
                E2 { c, .. } | X5 { c } | S5 { c, .. } => used.extend(self.of_copy(c)),
                S3 { role, c, seen, .. } | S4 { role, c, seen, .. } | S13 { role, c, seen, .. } => {
                    let left = first_left(line);
                    let seen = self.useful(p, role, left, seen);
                    used.extend(self.of_c(role, c, left, seen));
                    let gone = seen.first.filter(|first| !is_waiting(cards, first.tag));
                    used.extend(gone.map(|first| self.of_gone_first(left, first.tag.number)));
                }
                _ => {}
            }
        }
        used.sort_unstable();
        used.dedup();
        self.used = used;
    }

    /// Returns the tickets that wait on the cards from process `left` on.
    fn tickets(&self, left: usize) -> impl Iterator<Item = Word> + '_ {
        self.waiting.iter().skip(left).copied().flatten()
    }

    /// Returns the part of a summary that the search still uses.
    pub(super) fn useful(&self, p: Pid, role: Role<u8>, left: usize, seen: Seen) -> Seen {
        let is_useful = |number: Number| match self.waiting[p] {
            _ if role.finally().is_some() || left > p => true,
            // The two are equal only if `number` belongs to a gone waiter and has moved up to the ticket of `p`.
            Some(own) => number <= waits_with(own),
            None => false,
        };
        let first = seen.first.filter(|first| is_useful(first.tag.number));
        let later = first.is_none() && role.finally().is_some() && (seen.later || seen.arriving);
        Seen { first, arriving: false, later }
    }

    /// Returns the place of `c` in a search that uses this summary. Returns `None` if `c` has no effect.
    pub(super) fn of_c(&self, role: Role<u8>, c: Word, left: usize, seen: Seen) -> Option<Place> {
        if role.finally().is_none() || seen.first.is_some() {
            return None;
        }
        let above = self.tickets(left).filter(|&ticket| ticket >= c).min().map(Place::of);
        Some(match may_write_quiet(role, seen) {
            true => (self.of_copy(c).or(above)).unwrap_or(Place::below(self.next)),
            false => above.unwrap_or(Place::of(self.next)),
        })
    }

    /// Returns the place of a value of `next` or `quiet`, if some copy is or may become equal to it.
    pub(super) fn of_copy(&self, c: Word) -> Option<Place> {
        match c == self.next {
            true => Some(Place::of(c)),
            false => self.matched.contains(&c).then(|| Place::old(c)),
        }
    }

    pub(super) fn rank(&self, place: Place) -> Word {
        1 + self.used.binary_search(&place).expect("all places are listed") as Word
    }

    /// Maps the number of a process that waits.
    pub(super) fn ticket(&self, number: Number) -> Number {
        waits_with(self.rank(Place::of(number / 2)))
    }

    /// Maps the own number of a process that asks which tickets on the cards from process `left` on are smaller: up to
    /// the next of these tickets that is not smaller, or to `next`.
    pub(super) fn own(&self, left: usize, number: Number) -> Number {
        waits_with(self.rank(self.up(left, number).unwrap_or(Place::of(self.next))))
    }

    /// Maps the number of a gone waiter that line S3 compares with the tickets on the cards from process `left` on: up
    /// to the next larger of these tickets, or to just below `next`.
    pub(super) fn gone_first(&self, left: usize, number: Number) -> Number {
        waits_with(self.rank(self.of_gone_first(left, number)))
    }

    fn of_gone_first(&self, left: usize, number: Number) -> Place {
        self.up(left, number).unwrap_or(Place::below(self.next))
    }

    fn up(&self, left: usize, number: Number) -> Option<Place> {
        let not_smaller = |&ticket: &Word| waits_with(ticket) >= number;
        self.tickets(left).filter(not_smaller).min().map(Place::of)
    }

    /// Maps the number of a gone waiter that line W2 compares with the tickets on the cards from process `left` on:
    /// down to the next smaller of these tickets, or to 0.
    pub(super) fn gone_before(&self, left: usize, number: Number) -> Number {
        let below = self.tickets(left).filter(|&ticket| waits_with(ticket) < number).max();
        waits_with(below.map_or(0, |ticket| self.rank(Place::of(ticket))))
    }
}

/// Returns whether a copy of `next` that is older than `next` equals `quiet`, or a number that a process may write to
/// `quiet`.
pub(super) fn copy_matters(processes: &[Loc<State>], quiet: Word, copy: Word) -> bool {
    let may_be_written = |line| match line {
        S5 { c, .. } => c == copy,
        S3 { role, c, seen, .. } | S4 { role, c, seen, .. } | S13 { role, c, seen, .. } => {
            c == copy && may_write_quiet(role, seen)
        }
        _ => false,
    };
    copy == quiet || processes.iter().filter_map(line_of).any(may_be_written)
}

/// Returns whether the process of this tag waits with this number.
pub(super) fn is_waiting(cards: &[Card], tag: Tag) -> bool {
    cards[tag.process].waits_with(tag.number)
}

/// Returns the first process whose card a search at this line has yet to read.
pub(super) fn first_left(line: Line<(), u8>) -> usize {
    match line {
        S3 { i, .. } | W2 { i, .. } | W6 { i, .. } => i,
        S4 { i, .. } | S13 { i, .. } | W7 { i, .. } => i + 1,
        _ => 0,
    }
}

/// Returns whether a search with this role and this summary may write `c` to `quiet`.
fn may_write_quiet(role: Role<u8>, seen: Seen) -> bool {
    role.finally().is_some() && seen.first.is_none() && !seen.later && !seen.arriving
}
