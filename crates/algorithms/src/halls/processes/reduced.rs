//! A coarser normal form than that of `normal.rs`, for halls whose processes want one slot each, and whose size is a
//! constant. It drops everything that no line can use any more, so the lab explores fewer states.
//!
//! Write *t waits* if a process waits with ticket t, or has drawn t and is about to write it on its card (E8). Only these
//! tickets and those that are drawn later can still be found on the card of a waiter.
//!
//! 1. **Order.** Lines S3, W2 and W6 compare private numbers with the tickets on cards, one card after the other. A
//!    private number matters only as long as cards are left, and only compared with the tickets that wait on these cards.
//!    (Later tickets are larger than every private number.) So the normal form moves a private number down to just above
//!    the next smaller of these tickets. It moves `c` of line S3 up to the next of these tickets that is not smaller, or to
//!    `next`: `c` is only compared by `>=`.
//! 2. **Gone waiters.** A waiter that a line has found (`first`, `who`, `before`) and that no longer waits with this ticket
//!    never waits with it again. All lines that use the waiter treat it like a waiter with any other old ticket: W4 finds
//!    that it does not wait, the compare-and-swap at S10 fails, and a tag that S9 writes is void. (If the waiter was given
//!    a slot, this slot has its tag until its card changes again, so S9 writes such a tag only into other slots, where it is
//!    void.) So the ticket of a process that does not wait is not compared for order, and all such tickets become one
//!    number. Lines S4, S11, S13 and S14 use the number of a waiter that was given a slot. There, it keeps this one number.
//! 3. **Void tags.** A void tag stays void (I1), so all void tags of a process become one tag, as in `normal.rs`, even
//!    those whose number is on the card.
//! 4. **Copies of `next`.** A copy is compared with `quiet` for equality (E2, X5). A copy that is older than `next` matters
//!    only if it equals `quiet` or a number that a process may write to `quiet` (S3 to S5). Both numbers then keep their
//!    place in the order. All other old copies become one number, and all other old values of `quiet` another one. They
//!    are never equal to a later copy, because `next` only grows.
//! 5. **Flags of a search.** A search uses `arriving` and `later` only together, only if it finds no waiter, and only if
//!    the process does not wait itself. Line S10 uses `own` only if the process leaves.
//!
//! `without_local_lines` of the environment does the rest: if no process can be killed, `life` is a constant. Then the set
//! of watched processes has no effect, so lines W5 to W7 and W9 have none either, and the model does not stop at them.

use alloc::vec::Vec;

use super::{
    casts::Cast,
    lines::{
        Line::{self, *},
        Role,
    },
    model::{ProcessesModel, State},
    normal::{idle, max_ticket, no_card, stale},
    serve::Seen,
    words::{Card, FREE, Meaning, Number, Phase, Request, Tag, waits_with},
};
use crate::framework::{
    machine::Loc,
    memory::{Pid, Word},
};

/// The normal form of a copy of `next` that is never equal to `quiet` again.
const OLD: Word = -2;
/// The normal form of `quiet` if no copy of `next` is ever equal to it.
const OLD_QUIET: Word = -1;

/// Returns the number of a process that was given a slot and has not left it.
const fn held(n: usize) -> Number {
    waits_with(max_ticket(n) + 1)
}

/// A place in the order of tickets. Tickets are at even places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place(Word, u8);

impl Place {
    /// Below all tickets.
    const LOWEST: Place = Place(Word::MIN, 0);

    const fn of(ticket: Word) -> Self {
        Place(2 * ticket, 0)
    }

    /// Just above a ticket, and below the old numbers that follow it.
    const fn above(ticket: Word) -> Self {
        Place(2 * ticket + 1, 0)
    }

    /// An old number: below the ticket that has it, and above the ticket before.
    const fn old(number: Word) -> Self {
        Place(2 * number - 1, 1)
    }
}

/// Returns whether a step from or to this place may leave the normal form, if no process can be killed: it may add or
/// remove a ticket that waits, a copy of `next`, a value of `quiet`, or a card that a search has yet to read, or make a
/// tag void.
pub(super) fn counts(loc: &Loc<State>) -> bool {
    let (Loc::Entry(State::At(line)) | Loc::Exit(State::At(line))) = loc else { return false };
    matches!(
        line,
        E2 { .. } | E7 { .. } | S3 { .. } | S13 { .. } | S5 { .. } | S10 { .. } | W2 { .. }
    ) || matches!(line, C2 { .. } | X2 { .. } | X5 { .. })
}

/// Brings a state into its normal form.
pub(super) fn normalize(model: &ProcessesModel, processes: &mut [Loc<State>], memory: &mut [Word]) {
    let cards: Vec<Card> =
        (0..model.n).map(|p| Card::unpack(memory[model.card.at(p).index()])).collect();
    let waiting = (cards.iter().zip(processes.iter()))
        .map(|(card, loc)| match line_of(loc) {
            Some(E8 { x }) => Some(x / 2),
            _ => card.waits().then_some(card.number / 2),
        })
        .collect();
    let next = memory[model.next.index()];
    let quiet = memory[model.quiet.index()];
    let mut small = Small { model, cards, waiting, next, matched: Vec::new(), places: Vec::new() };
    small.match_copies(processes, quiet);
    small.find_places(processes, quiet);

    for (p, loc) in processes.iter_mut().enumerate() {
        if let Loc::Entry(State::At(line))
        | Loc::Critical(State::At(line))
        | Loc::Exit(State::At(line)) = loc
        {
            *line = small.line(p, *line);
        }
    }
    for j in 0..model.slots() {
        let word = &mut memory[model.slot.at(j).index()];
        *word = Tag::unpack(*word).map_or(FREE, |tag| small.tag_of_slot(j, tag).pack());
    }
    for p in 0..model.n {
        memory[model.card.at(p).index()] = small.card(small.cards[p]).pack();
    }
    memory[model.next.index()] = small.rank(Place::of(next));
    memory[model.quiet.index()] = small.quiet(quiet);
}

fn line_of(loc: &Loc<State>) -> Option<Line<(), u8>> {
    match *loc {
        Loc::Entry(State::At(line))
        | Loc::Critical(State::At(line))
        | Loc::Exit(State::At(line)) => Some(line),
        _ => None,
    }
}

/// Returns the first process whose card a search at this line has yet to read.
fn first_left(line: Line<(), u8>) -> usize {
    match line {
        S3 { i, .. } | W2 { i, .. } | W6 { i, .. } => i,
        S4 { i, .. } | S13 { i, .. } | W7 { i, .. } => i + 1,
        _ => 0,
    }
}

/// Returns whether a search that has seen this may write `c` to `quiet`.
fn may_write_quiet(role: Role<u8>, seen: Seen) -> bool {
    role.finally().is_some() && seen.first.is_none() && !seen.later && !seen.arriving
}

/// Maps each number to its normal form.
struct Small<'a> {
    model: &'a ProcessesModel,
    cards: Vec<Card>,
    /// For each process: the ticket with which it waits or is about to wait.
    waiting: Vec<Option<Word>>,
    next: Word,
    /// The old copies of `next` that are or may become equal to `quiet`.
    matched: Vec<Word>,
    /// The places of all numbers that keep their order.
    places: Vec<Place>,
}

impl Small<'_> {
    fn match_copies(&mut self, processes: &[Loc<State>], quiet: Word) {
        let lines = || processes.iter().filter_map(line_of);
        let is_source = |number: Word| {
            number == quiet
                || lines().any(|line| match line {
                    S5 { c, .. } => c == number,
                    S3 { role, c, seen, .. }
                    | S4 { role, c, seen, .. }
                    | S13 { role, c, seen, .. } => c == number && may_write_quiet(role, seen),
                    _ => false,
                })
        };
        for line in lines() {
            if let E2 { c, .. } | X5 { c } = line
                && c != self.next
                && is_source(c)
                && !self.matched.contains(&c)
            {
                self.matched.push(c);
            }
        }
    }

    fn find_places(&mut self, processes: &[Loc<State>], quiet: Word) {
        let mut places: Vec<Place> = self.waiting.iter().flatten().map(|&t| Place::of(t)).collect();
        places.push(Place::of(self.next));
        for line in processes.iter().filter_map(line_of) {
            let left = first_left(line);
            match line {
                E2 { c, .. } | X5 { c } | S5 { c, .. } => places.extend(self.place_of_copy(c)),
                S3 { role, c, seen, .. } | S4 { role, c, seen, .. } | S13 { role, c, seen, .. } => {
                    places.push(self.place_of_c(role, c, left, seen));
                    places.extend(seen.first.map(|first| self.place_of_waiter(left, first.tag)));
                }
                W2 { number, before, .. } => {
                    places.push(self.place_of_own(left, number));
                    places.extend(before.map(|before| self.place_of_waiter(left, before)));
                }
                W6 { number, .. } | W7 { number, .. } => {
                    places.push(self.place_of(left, number / 2));
                }
                _ => {}
            }
        }
        places.extend(self.place_of_copy(quiet));
        places.sort_unstable();
        places.dedup();
        self.places = places;
    }

    /// Returns the tickets that wait on the cards from process `left` on.
    fn tickets(&self, left: usize) -> impl Iterator<Item = Word> + '_ {
        self.waiting.iter().skip(left).copied().flatten()
    }

    /// Returns the place of a number that is compared with the tickets on the cards from process `left` on: just above
    /// the next smaller one.
    fn place_of(&self, left: usize, number: Word) -> Place {
        let below = self.tickets(left).filter(|&ticket| ticket < number).max();
        below.map_or(Place::LOWEST, Place::above)
    }

    /// Returns the place of the own number of a process at line W2. If processes can be killed, line W6 compares it with
    /// all cards once more.
    fn place_of_own(&self, left: usize, number: Number) -> Place {
        let left = if self.model.casts.has(Cast::Mortal) { 0 } else { left };
        self.place_of(left, number / 2)
    }

    fn is_waiting(&self, tag: Tag) -> bool {
        self.cards[tag.process].waits_with(tag.number)
    }

    /// Returns the place of a waiter that a search has found.
    fn place_of_waiter(&self, left: usize, tag: Tag) -> Place {
        let ticket = tag.number / 2;
        if self.is_waiting(tag) { Place::of(ticket) } else { self.place_of(left, ticket) }
    }

    fn place_of_c(&self, role: Role<u8>, c: Word, left: usize, seen: Seen) -> Place {
        match may_write_quiet(role, seen) {
            true => self.place_of_copy(c).unwrap_or_else(|| self.place_of(left, c)),
            false => {
                let above = self.tickets(left).filter(|&ticket| ticket >= c).min();
                Place::of(above.unwrap_or(self.next))
            }
        }
    }

    /// Returns the place of a value of `next` or `quiet`, if some copy is or may become equal to it.
    fn place_of_copy(&self, c: Word) -> Option<Place> {
        match c == self.next {
            true => Some(Place::of(c)),
            false => self.matched.contains(&c).then(|| Place::old(c)),
        }
    }

    fn rank(&self, place: Place) -> Word {
        self.places.binary_search(&place).expect("all places are listed") as Word
    }

    fn ordered(&self, place: Place) -> Number {
        waits_with(self.rank(place))
    }

    fn copy(&self, c: Word) -> Word {
        self.place_of_copy(c).map_or(OLD, |place| self.rank(place))
    }

    fn quiet(&self, c: Word) -> Word {
        self.place_of_copy(c).map_or(OLD_QUIET, |place| self.rank(place))
    }

    fn card(&self, card: Card) -> Card {
        let number = match card.phase {
            _ if card.waits() => self.ordered(Place::of(card.number / 2)),
            _ if card.given().is_some() => held(self.model.room),
            Phase::In(_) => held(self.model.room),
            _ => idle(),
        };
        Card { number, ..card }
    }

    /// Maps a number that is only compared with the number on its process's card.
    fn tag(&self, tag: Tag) -> Tag {
        let card = self.cards[tag.process];
        let is_current = tag.number == card.number && card.phase != Phase::Vacant;
        let number = if is_current { self.card(card).number } else { stale(self.model.room) };
        Tag { number, ..tag }
    }

    /// Maps the tag of slot `j`, or a copy of it.
    fn tag_of_slot(&self, j: usize, tag: Tag) -> Tag {
        match tag.means(j, self.cards[tag.process]) {
            Meaning::Void => Tag { number: stale(self.model.room), ..tag },
            _ => self.tag(tag),
        }
    }

    /// Maps a waiter that a process has found.
    fn waiter(&self, tag: Tag) -> Tag {
        match self.is_waiting(tag) {
            true => self.tag(tag),
            false => Tag { number: stale(self.model.room), ..tag },
        }
    }

    fn who(&self, who: Request) -> Request {
        Request { tag: self.waiter(who.tag), ..who }
    }

    /// Maps the process's own number.
    fn own(&self, p: Pid, number: Number) -> Number {
        self.tag(Tag { process: p, number }).number
    }

    /// Maps a card that another process has read.
    fn seen_card(&self, process: Pid, word: Word) -> Word {
        let card = Card::unpack(word);
        if card == self.cards[process] { self.card(card).pack() } else { no_card(self.model.room) }
    }

    fn seen(&self, role: Role<u8>, left: usize, seen: Seen) -> Seen {
        let first = seen.first.map(|first| {
            let number = self.ordered(self.place_of_waiter(left, first.tag));
            Request { tag: Tag { number, ..first.tag }, ..first }
        });
        let is_used = first.is_none() && role.finally().is_some();
        Seen { first, arriving: false, later: is_used && (seen.later || seen.arriving) }
    }

    fn c(&self, role: Role<u8>, c: Word, left: usize, seen: Seen) -> Word {
        self.rank(self.place_of_c(role, c, left, seen))
    }

    fn line(&self, p: Pid, line: Line<(), u8>) -> Line<(), u8> {
        let own = |number| self.own(p, number);
        let left = first_left(line);
        match line {
            E1 { x } => E1 { x: own(x) },
            E2 { x, c } => E2 { x: own(x), c: self.copy(c) },
            E3 { x } => E3 { x: own(x) },
            E4 { x, k, j } => E4 { x: own(x), k, j },
            E5 { x, k, j } => E5 { x: own(x), k, j },
            E6 { x } => E6 { x: own(x) },
            E7 { x } => E7 { x: own(x) },
            E8 { x } => E8 { x: self.ordered(Place::of(x / 2)) },
            S3 { role, c, size, i, seen } => {
                let (c, seen) = (self.c(role, c, left, seen), self.seen(role, left, seen));
                S3 { role, c, size, i, seen }
            }
            S4 { role, c, size, i, seen, number, given } => {
                let (c, seen) = (self.c(role, c, left, seen), self.seen(role, left, seen));
                S4 { role, c, size, i, seen, number: self.own(i, number), given }
            }
            S13 { role, c, size, i, seen, number, given } => {
                let (c, seen) = (self.c(role, c, left, seen), self.seen(role, left, seen));
                S13 { role, c, size, i, seen, number: self.own(i, number), given }
            }
            S5 { c, finally } => S5 { c: self.quiet(c), finally },
            S6 { role, size, who, j, got, own } => {
                S6 { role, size, who: self.who(who), j, got, own }
            }
            S7 { role, size, who, j, got, own, tag } => {
                let (who, tag) = (self.who(who), self.tag_of_slot(j, tag));
                S7 { role, size, who, j, got, own, tag }
            }
            S8 { role, size, who, j, got, own, tag } => {
                let (who, tag) = (self.who(who), self.tag_of_slot(j, tag));
                S8 { role, size, who, j, got, own, tag }
            }
            S9 { role, size, who, j, got, own } => {
                S9 { role, size, who: self.who(who), j, got, own }
            }
            S10 { role, who, j, own, asleep } => {
                let own = if matches!(role, Role::Leaver(..)) { own } else { 0 };
                S10 { role, who: self.who(who), j, own, asleep }
            }
            S11 { role, who, j } => S11 { role, who: Request { tag: self.tag(who.tag), ..who }, j },
            S14 { role, who, j } => S14 { role, who: Request { tag: self.tag(who.tag), ..who }, j },
            G1 { number, j } => G1 { number: own(number), j },
            G2 { number, outcome } => G2 { number: own(number), outcome },
            G3 { number, outcome } => G3 { number: own(number), outcome },
            G4 { number, outcome, i } => G4 { number: own(number), outcome, i },
            G5 { number, outcome, i } => G5 { number: own(number), outcome, i },
            W2 { number, i, before } => {
                let before = before.map(|tag| Tag {
                    number: self.ordered(self.place_of_waiter(left, tag)),
                    ..tag
                });
                W2 { number: self.ordered(self.place_of_own(left, number)), i, before }
            }
            W3 { before } => W3 { before: self.waiter(before) },
            W4 { before } => W4 { before: self.waiter(before) },
            W11 { number } => W11 { number: own(number) },
            W12 { before } => W12 { before: self.waiter(before) },
            W6 { number, i, watch, shrunk } => {
                let number = self.ordered(self.place_of(left, number / 2));
                W6 { number, i, watch, shrunk }
            }
            W7 { number, i, watch, shrunk } => {
                let number = self.ordered(self.place_of(left, number / 2));
                W7 { number, i, watch, shrunk }
            }
            C2 { number, asleep } => C2 { number: own(number), asleep },
            X2 { number, j } => X2 { number: own(number), j },
            X3 { number, j } => X3 { number: own(number), j },
            X5 { c } => X5 { c: self.copy(c) },
            R2 { process, then, card } => R2 { process, then, card: self.seen_card(process, card) },
            R3 { process, then, card, dead } => {
                R3 { process, then, card: self.seen_card(process, card), dead }
            }
            J3 { .. } => J3 { x: idle() },
            no_number => no_number,
        }
    }
}
