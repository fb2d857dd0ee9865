//! A coarser normal form than that of `normal.rs`, for halls whose processes want one slot each, and whose size is a
//! constant. It drops everything that no line can use any more, so the lab explores fewer states. The [parent
//! module](super) explains the lines and the variables.
//!
//! Write *t waits* if a process waits with ticket t, or has drawn t and is about to write it on its card (E8). Only
//! these tickets and those that are drawn later can still be found on the card of a waiter.
//!
//! 1. **Order.** Lines S3, W2 and W6 compare private numbers with the tickets on cards, one card after the other. A
//!    private number matters only as long as cards are left, and only its order among the tickets that wait on these
//!    cards matters. (Later tickets are larger than every private number.) So the normal form replaces the private
//!    number by one of these tickets, or by a number below or above all of them. `places.rs` says which number replaces
//!    which, and why the comparisons have the same results.
//! 2. **Gone waiters.** A line may have found a waiter (`first`, `who`, `before`) that no longer waits with the ticket
//!    that the line found. This waiter is *gone*: it never waits with that ticket again. All lines that use the waiter
//!    treat it like a waiter with any other old ticket: W4 finds that it does not wait, the compare-and-swap at S10
//!    fails, and a tag that S9 writes is void. (If the waiter was given a slot, this slot has its tag until its card
//!    changes again, so S9 writes such a tag only into other slots, where it is void.) Lines compare the number on a
//!    card for order only while the process of the card waits. So if the process was given a slot, the number on its
//!    card becomes `held`. Lines S4, S11, S13 and S14 use the number of such a process: it also becomes `held`, if it
//!    is still the number on the card. Every other number of a gone waiter becomes `stale`, except where a line still
//!    compares it for order (point 1).
//! 3. **Void tags.** A void tag stays void (I1), so all void tags of a process become one tag, as in `normal.rs`. Here,
//!    this includes void tags whose number is on the card.
//! 4. **Copies of `next`.** A copy is compared with `quiet` for equality (E2, X5). A copy that is older than `next`
//!    matters only if it equals `quiet` or a number that a process may write to `quiet` (S3 to S5). Then the copy and
//!    the number that equals it keep their place in the order. All other old copies become one number, and all other
//!    old values of `quiet` become another number. Neither of these two is ever equal to a later copy, because `next`
//!    only grows.
//! 5. **Flags of a search.** A search uses `arriving` and `later` only together, only if it finds no waiter, and only
//!    if the process does not wait itself. Line S10 uses `own` only if the process leaves.
//! 6. **Search of a waiter.** A search keeps the waiter with the lowest ticket that it has found so far (`first`). A
//!    waiter that searches finds at least itself, because its own ticket was drawn before the search. Every waiter that
//!    it finds instead has a lower ticket. So `c` has no effect: a ticket that is not below `c` is above the waiter's
//!    own. And as long as the search has not read the waiter's own card, a `first` with a higher ticket than the
//!    waiter's own has no effect, either: at its own card, the search replaces this `first`. If the waiter is given a
//!    slot in the meantime, it ends the search at its own card, and then `first` has no effect at all.
//! 7. **Search of a leaving process.** Once it has found a waiter, `c` and the flags have no effect: a ticket that is
//!    not below `c` is above that of the waiter.
//!
//! Before a state gets its normal form, `ahead.rs` executes some steps and forgets hints. Points 1 to 7 also hold
//! without `ahead.rs`. `without_local_lines` of the environment reduces the model further: if no process can be killed,
//! `life` is a constant. Then the set of watched processes has no effect, so lines W5 to W7 and W9 have none either,
//! and the model does not stop at them. The model also does not stop at line W2 when a process reads its own card, or
//! at line G4 when it reads its own link.

use alloc::vec::Vec;

use super::{
    casts::Cast,
    lines::{
        Line::{self, *},
        Role,
    },
    model::{ProcessesModel, State},
    normal::{idle, max_ticket, no_card, stale},
    places::{Place, Places, first_left, is_waiting},
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

/// Returns the normal form of `c` if it has no effect. It is above all tickets of a normal state.
const fn above_all(n: usize) -> Word {
    max_ticket(n) + 1
}

/// Brings a state into its normal form.
pub(super) fn normalize(model: &ProcessesModel, processes: &mut [Loc<State>], memory: &mut [Word]) {
    let cards: Vec<Card> =
        (0..model.n).map(|p| Card::unpack(memory[model.card.at(p).index()])).collect();
    let next = memory[model.next.index()];
    let quiet = memory[model.quiet.index()];
    let places = Places::new(processes, &cards, next, quiet);
    let small = Small { model, cards, places };

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
    memory[model.next.index()] = small.places.rank(Place::of(next));
    memory[model.quiet.index()] = small.quiet(quiet);
}

pub(super) fn line_of(loc: &Loc<State>) -> Option<Line<(), u8>> {
    match *loc {
        Loc::Entry(State::At(line))
        | Loc::Critical(State::At(line))
        | Loc::Exit(State::At(line)) => Some(line),
        _ => None,
    }
}

/// Maps each number to its normal form.
struct Small<'a> {
    model: &'a ProcessesModel,
    cards: Vec<Card>,
    places: Places,
}

impl Small<'_> {
    fn copy(&self, c: Word) -> Word {
        self.places.of_copy(c).map_or(OLD, |place| self.places.rank(place))
    }

    fn quiet(&self, c: Word) -> Word {
        self.places.of_copy(c).map_or(OLD_QUIET, |place| self.places.rank(place))
    }

    fn card(&self, card: Card) -> Card {
        let number = match card.phase {
            _ if card.waits() => self.places.ticket(card.number),
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

    /// Maps `c` and the summary of a search by process `p` that has yet to read the cards from `left` on.
    fn search(&self, p: Pid, role: Role<u8>, c: Word, left: usize, seen: Seen) -> (Word, Seen) {
        let seen = self.places.useful(p, role, left, seen);
        let c = self.places.of_c(role, c, left, seen);
        let c = c.map_or(above_all(self.model.room), |place| self.places.rank(place));
        let first = seen.first.map(|first| {
            let number = match self.is_waiting(first.tag) {
                true => self.places.ticket(first.tag.number),
                false => self.places.gone_first(left, first.tag.number),
            };
            Request { tag: Tag { number, ..first.tag }, ..first }
        });
        (c, Seen { first, ..seen })
    }

    /// Maps a waiter that line W2 has found.
    fn before(&self, left: usize, tag: Tag) -> Tag {
        let number = match self.is_waiting(tag) {
            true => self.places.ticket(tag.number),
            false => self.places.gone_before(left, tag.number),
        };
        Tag { number, ..tag }
    }

    fn is_waiting(&self, tag: Tag) -> bool {
        is_waiting(&self.cards, tag)
    }

    /// Maps the own number of a process at line W2. If processes can be killed, line W6 compares it with all cards once
    /// more.
    fn own_at_w2(&self, left: usize, number: Number) -> Number {
        let left = if self.model.casts.has(Cast::Mortal) { 0 } else { left };
        self.places.own(left, number)
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
            E8 { x } => E8 { x: self.places.ticket(x) },
            S3 { role, c, size, i, seen } => {
                let (c, seen) = self.search(p, role, c, left, seen);
                S3 { role, c, size, i, seen }
            }
            S4 { role, c, size, i, seen, number, given } => {
                let (c, seen) = self.search(p, role, c, left, seen);
                S4 { role, c, size, i, seen, number: self.own(i, number), given }
            }
            S13 { role, c, size, i, seen, number, given } => {
                let (c, seen) = self.search(p, role, c, left, seen);
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
                let before = before.map(|tag| self.before(left, tag));
                W2 { number: self.own_at_w2(left, number), i, before }
            }
            W3 { before } => W3 { before: self.waiter(before) },
            W4 { before } => W4 { before: self.waiter(before) },
            W11 { number } => W11 { number: own(number) },
            W12 { before } => W12 { before: self.waiter(before) },
            W6 { number, i, watch, shrunk } => {
                let number = self.places.own(left, number);
                W6 { number, i, watch, shrunk }
            }
            W7 { number, i, watch, shrunk } => {
                let number = self.places.own(left, number);
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
