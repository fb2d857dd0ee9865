//! The normal form of a state. Its numbers are small, so the checker sees finitely many states. The [parent
//! module](super) explains the lines and the variables.
//!
//! Tickets grow without bound. The lines use them as follows:
//!
//! - They increment `next`.
//! - They compare the tickets of waiters with each other and with a copy of `next`.
//! - They compare a copy of `next` with `quiet` for equality.
//! - They compare the number in a tag or in a private variable with the number on its process's card,
//!   for equality.
//! - They compare copies of `head`, and the waiters that processes want to choose, with `head` for equality.
//!
//! So the normal form keeps
//!
//! 1. the order of the tickets that may still be compared for order. These are the tickets of processes that wait or
//!    are about to wait, or that were given slots; the tickets that a process remembers while it still searches the
//!    cards; and the copies of `next` that serving processes have;
//! 2. which copies of `next` equal `quiet`;
//! 3. which numbers equal those on their cards. All other numbers can be treated alike, because a card
//!    never gets an old number again;
//! 4. which of these tags are equal: `head`, its copies, and the waiters that processes want to choose. A tag whose
//!    ticket is no longer compared for order gets the number of its place in a list of such tags.
//!
//! Point 3 makes all void tags of one process equal. So a compare-and-swap that fails in the original state can
//! succeed in the normal form. Suppose that a serving process p reads a void tag A of process q (S6), and that
//! the slot then gets another void tag B of q. Now p executes S8:
//!
//! | | original state | normal form |
//! |---|---|---|
//! | the slot has | tag B | the void tag of q |
//! | S8 expects | tag A, and fails | the void tag of q, and removes it |
//! | then | p reads the slot again, and removes tag B | |
//!
//! So the original run takes a detour to the same state. A leaving process takes no detour: it does not read
//! the slot again after S8 has failed. But the normal form also has a run in which S8 fails. The slot was free or
//! sealed between A and B, because no process replaces a void tag by another tag. If p executes S8 at that time, S8
//! fails in the normal form, too. A failed S8 does not change the slot, so this run leads to the same state. This
//! argument is also valid for line N3, which replaces a void tag by a seal.

use alloc::vec::Vec;

use super::{
    lines::Line::{self, *},
    model::{ProcessesModel, State},
    serve::Seen,
    words::{Card, FREE, Number, Phase, Request, Tag, after, waits_with},
};
use crate::framework::{
    machine::Loc,
    memory::{Pid, Word},
};

/// Returns a number that no card has in a normal state.
pub(super) const fn stale(n: usize) -> Number {
    waits_with(max_ticket(n) + 2)
}

/// Returns a card that no process has in a normal state.
pub(super) const fn no_card(n: usize) -> Word {
    Card::new(Phase::Waiting(1), stale(n)).pack()
}

/// Returns the number of a process that does not wait, in a normal state.
pub(super) const fn idle() -> Number {
    after(waits_with(0))
}

/// The normal form of a copy of `next` that equals neither `quiet` nor a ticket whose order matters.
const OLD: Word = -2;
/// The normal form of `quiet`, and of each copy of `next` that equals it, if `quiet` equals no ticket whose
/// order matters.
const OLD_QUIET: Word = -1;

/// Returns the largest ticket in a normal state.
pub(super) const fn max_ticket(n: usize) -> Word {
    2 * n as Word + 1
}

/// Returns the numbers that processes with a ticket can have in a normal state or one step after it, and
/// the stale number. A process with a ticket waits or was given a slot.
pub(super) fn waiting_numbers(n: usize) -> impl Iterator<Item = Number> {
    (0..=max_ticket(n) + 2).map(waits_with)
}

/// Returns the numbers of processes that do not wait.
pub(super) fn idle_numbers(n: usize) -> impl Iterator<Item = Number> {
    waiting_numbers(n).map(after)
}

/// Returns the numbers of tags. With `many`, they include the numbers with which processes hold several slots after
/// they have waited.
pub(super) fn tag_numbers(n: usize, many: bool) -> impl Iterator<Item = Number> {
    let last = if many { max_ticket(n) + 2 } else { 0 };
    waiting_numbers(n).chain((0..=last).map(|ticket| after(waits_with(ticket))))
}

/// Returns the number of an old tag that is compared with `head`, from its place in the list of such tags.
const fn old_number(n: usize, place: usize) -> Number {
    waits_with(max_ticket(n) + 2 + place as Word)
}

/// Returns the numbers of `head`: those of waiters, and old numbers. Each process has at most two tags that are
/// compared with `head`.
pub(super) fn head_numbers(n: usize) -> impl Iterator<Item = Number> {
    waiting_numbers(n).chain((1..=2 * n).map(move |place| old_number(n, place)))
}

/// Brings a state into its normal form.
pub(super) fn normalize(model: &ProcessesModel, processes: &mut [Loc<State>], memory: &mut [Word]) {
    let cards: Vec<Card> =
        (0..model.n).map(|p| Card::unpack(memory[model.card.at(p).index()])).collect();
    let next = memory[model.next.index()];
    let quiet = memory[model.quiet.index()];

    let mut tickets = Vec::from([next]);
    tickets.extend(cards.iter().filter(|card| has_ticket(card)).map(|card| card.number / 2));
    for loc in processes.iter() {
        if let Some(line) = line_of(loc) {
            ordered(line, &mut tickets);
        }
    }
    tickets.sort_unstable();
    tickets.dedup();

    let head = model.head.map_or(FREE, |head| memory[head.index()]);
    let old_heads = old_heads(head, processes, &tickets);
    let small = Small { n: model.room, cards: &cards, tickets: &tickets, quiet, old_heads };
    for (p, loc) in processes.iter_mut().enumerate() {
        *loc = match *loc {
            Loc::Entry(State::At(line)) => Loc::Entry(State::At(small.line(p, line))),
            Loc::Critical(State::At(line)) => Loc::Critical(State::At(small.line(p, line))),
            Loc::Exit(State::At(line)) => Loc::Exit(State::At(small.line(p, line))),
            other => other,
        };
    }
    for j in 0..model.slots() {
        let word = &mut memory[model.slot.at(j).index()];
        *word = small.slot(*word);
    }
    if let Some(var) = model.head {
        memory[var.index()] = small.head(head);
    }
    for (p, &card) in cards.iter().enumerate() {
        memory[model.card.at(p).index()] = small.card(card).pack();
    }
    memory[model.next.index()] = small.ticket(next);
    memory[model.quiet.index()] =
        if tickets.contains(&quiet) { small.ticket(quiet) } else { OLD_QUIET };
}

/// Returns the tags that are compared with `head` and have an old ticket: `head` itself, its copies, and the
/// waiters that processes want to choose.
fn old_heads(head: Word, processes: &[Loc<State>], tickets: &[Word]) -> Vec<Tag> {
    let mut old = Vec::new();
    let mut add = |tag: Option<Tag>| {
        if let Some(tag) = tag.filter(|tag| !tickets.contains(&(tag.number / 2)))
            && !old.contains(&tag)
        {
            old.push(tag);
        }
    };
    add(Tag::unpack(head));
    for line in processes.iter().filter_map(line_of) {
        if let H1 { who, .. } | H2 { who, .. } | H3 { who, .. } = line {
            add(Some(who.tag));
        }
        if let H2 { head, .. } | H3 { head, .. } = line {
            add(Tag::unpack(head));
        }
    }
    old
}

/// Returns whether the process waits or was given a slot. A process that was given a slot counts, because
/// another process may have seen it waiting with its ticket.
fn has_ticket(card: &Card) -> bool {
    card.waits() || card.given().is_some() || matches!(card.phase, Phase::In(_))
}

fn line_of(loc: &Loc<State>) -> Option<Line<(), u8>> {
    match *loc {
        Loc::Entry(State::At(line))
        | Loc::Critical(State::At(line))
        | Loc::Exit(State::At(line)) => Some(line),
        _ => None,
    }
}

/// Adds the tickets at this line whose order matters.
fn ordered(line: Line<(), u8>, tickets: &mut Vec<Word>) {
    match line {
        S2 { c, .. } | S5 { c, .. } => tickets.push(c),
        S3 { c, seen, .. } | S4 { c, seen, .. } | S13 { c, seen, .. } => {
            tickets.push(c);
            tickets.extend(seen.first.map(|first| first.tag.number / 2));
        }
        E8 { x } => tickets.push(x / 2),
        W2 { number, before, .. } => {
            tickets.push(number / 2);
            tickets.extend(before.map(|before| before.number / 2));
        }
        W6 { number, .. } | W7 { number, .. } | W13 { number } => tickets.push(number / 2),
        _ => {}
    }
}

/// Maps each number to its normal form.
struct Small<'a> {
    /// The `room` of the model.
    n: usize,
    cards: &'a [Card],
    tickets: &'a [Word],
    quiet: Word,
    old_heads: Vec<Tag>,
}

impl Small<'_> {
    fn ticket(&self, ticket: Word) -> Word {
        self.tickets.binary_search(&ticket).expect("its order matters") as Word
    }

    /// Maps a copy of `next` that is only compared with `quiet`.
    fn copy(&self, c: Word) -> Word {
        match self.tickets.binary_search(&c) {
            Ok(rank) => rank as Word,
            Err(_) if c == self.quiet => OLD_QUIET,
            Err(_) => OLD,
        }
    }

    fn card(&self, card: Card) -> Card {
        let number = if has_ticket(&card) { self.ordered(card.number) } else { idle() };
        Card { number, ..card }
    }

    /// Maps the word of a slot.
    fn slot(&self, word: Word) -> Word {
        Tag::unpack(word).map_or(FREE, |tag| self.tag(tag).pack())
    }

    /// Maps a number that is only compared with the number on its process's card. A seal has no process, and stays.
    fn tag(&self, tag: Tag) -> Tag {
        if tag.is_seal() {
            return tag;
        }
        let card = self.cards[tag.process];
        let current = tag.number == card.number && card.phase != Phase::Vacant;
        let is_many = matches!(card.phase, Phase::GrantedMany | Phase::UnrungMany);
        let number = if current {
            self.card(card).number
        } else if is_many && tag.number == after(card.number) {
            after(self.card(card).number)
        } else {
            stale(self.n)
        };
        Tag { number, ..tag }
    }

    fn request(&self, request: Request) -> Request {
        Request { tag: self.tag(request.tag), ..request }
    }

    /// Maps a tag that is compared with `head`.
    fn chosen(&self, tag: Tag) -> Tag {
        match self.old_heads.iter().position(|old| *old == tag) {
            Some(place) => Tag { number: old_number(self.n, place), ..tag },
            None => self.ordered_tag(tag),
        }
    }

    /// Maps `head` or a copy of it.
    fn head(&self, word: Word) -> Word {
        Tag::unpack(word).map_or(FREE, |tag| self.chosen(tag).pack())
    }

    /// Maps a waiter that a process wants to choose.
    fn candidate(&self, request: Request) -> Request {
        Request { tag: self.chosen(request.tag), ..request }
    }

    /// Maps the process's own number.
    fn own(&self, p: Pid, number: Number) -> Number {
        self.tag(Tag { process: p, number }).number
    }

    /// Maps a card that another process has read.
    fn seen_card(&self, process: Pid, word: Word) -> Word {
        let card = Card::unpack(word);
        if card == self.cards[process] { self.card(card).pack() } else { no_card(self.n) }
    }

    /// Maps a number whose order matters.
    fn ordered(&self, number: Number) -> Number {
        waits_with(self.ticket(number / 2))
    }

    fn ordered_request(&self, request: Request) -> Request {
        Request { tag: self.ordered_tag(request.tag), ..request }
    }

    fn ordered_tag(&self, tag: Tag) -> Tag {
        Tag { number: self.ordered(tag.number), ..tag }
    }

    fn seen(&self, seen: Seen) -> Seen {
        Seen { first: seen.first.map(|first| self.ordered_request(first)), ..seen }
    }

    fn line(&self, p: Pid, line: Line<(), u8>) -> Line<(), u8> {
        let own = |number| self.own(p, number);
        let ordered = |number| self.ordered(number);
        match line {
            E1 { x } => E1 { x: own(x) },
            E2 { x, c } => E2 { x: own(x), c: self.copy(c) },
            E3 { x } => E3 { x: own(x) },
            E4 { x, k, j } => E4 { x: own(x), k, j },
            E5 { x, k, j } => E5 { x: own(x), k, j },
            E6 { x } => E6 { x: own(x) },
            E7 { x } => E7 { x: own(x) },
            E8 { x } => E8 { x: ordered(x) },
            S2 { role, c } => S2 { role, c: self.ticket(c) },
            S3 { role, c, size, i, seen } => {
                S3 { role, c: self.ticket(c), size, i, seen: self.seen(seen) }
            }
            S4 { role, c, size, i, seen, number, given } => {
                let (c, number) = (self.ticket(c), self.own(i, number));
                S4 { role, c, size, i, seen: self.seen(seen), number, given }
            }
            S13 { role, c, size, i, seen, number, given } => {
                let (c, number) = (self.ticket(c), self.own(i, number));
                S13 { role, c, size, i, seen: self.seen(seen), number, given }
            }
            S5 { c, finally } => S5 { c: self.ticket(c), finally },
            S6 { role, size, who, j, got, own } => {
                S6 { role, size, who: self.request(who), j, got, own }
            }
            S7 { role, size, who, j, got, own, tag } => {
                let (who, tag) = (self.request(who), self.tag(tag));
                S7 { role, size, who, j, got, own, tag }
            }
            S8 { role, size, who, j, got, own, tag } => {
                let (who, tag) = (self.request(who), self.tag(tag));
                S8 { role, size, who, j, got, own, tag }
            }
            S9 { role, size, who, j, got, own } => {
                S9 { role, size, who: self.request(who), j, got, own }
            }
            S10 { role, who, j, own, asleep } => {
                S10 { role, who: self.request(who), j, own, asleep }
            }
            S11 { role, who, j } => S11 { role, who: self.request(who), j },
            S14 { role, who, j } => S14 { role, who: self.request(who), j },
            H1 { role, size, who } => H1 { role, size, who: self.candidate(who) },
            H2 { role, size, who, head } => {
                H2 { role, size, who: self.candidate(who), head: self.head(head) }
            }
            H3 { role, size, who, head } => {
                H3 { role, size, who: self.candidate(who), head: self.head(head) }
            }
            N1 { role, size, who, j, held, above } => {
                N1 { role, size, who: self.request(who), j, held, above }
            }
            N2 { role, size, who, j, held, above, tag } => {
                N2 { role, size, who: self.request(who), j, held, above, tag: self.tag(tag) }
            }
            N3 { role, size, who, j, held, above, old } => {
                let (who, old) = (self.request(who), self.slot(old));
                N3 { role, size, who, j, held, above, old }
            }
            N4 { role, size, who } => N4 { role, size, who: self.request(who) },
            G1 { number, j } => G1 { number: own(number), j },
            G2 { number, outcome } => G2 { number: own(number), outcome },
            G3 { number, outcome } => G3 { number: own(number), outcome },
            G4 { number, outcome, i } => G4 { number: own(number), outcome, i },
            G5 { number, outcome, i } => G5 { number: own(number), outcome, i },
            G6 { number, first, j, got } => G6 { number: own(number), first, j, got },
            G7 { number, first } => G7 { number: own(number), first },
            W2 { number, i, before } => {
                W2 { number: ordered(number), i, before: before.map(|tag| self.ordered_tag(tag)) }
            }
            W3 { before } => W3 { before: self.tag(before) },
            W4 { before } => W4 { before: self.tag(before) },
            W11 { number } => W11 { number: own(number) },
            W12 { before } => W12 { before: self.tag(before) },
            W6 { number, i, watch, shrunk } => W6 { number: ordered(number), i, watch, shrunk },
            W7 { number, i, watch, shrunk } => W7 { number: ordered(number), i, watch, shrunk },
            W13 { number } => W13 { number: ordered(number) },
            C2 { number, asleep } => C2 { number: own(number), asleep },
            X2 { number, j } => X2 { number: own(number), j },
            X3 { number, j } => X3 { number: own(number), j },
            X5 { c } => X5 { c: self.copy(c) },
            X6 { number, j, left } => X6 { number: own(number), j, left },
            R2 { process, then, card } => R2 { process, then, card: self.seen_card(process, card) },
            R3 { process, then, card, dead } => {
                R3 { process, then, card: self.seen_card(process, card), dead }
            }
            J3 { .. } => J3 { x: idle() },
            no_number => no_number,
        }
    }
}
