//! Bounded timestamps over a weak snapshot: Label and Scan in O(n), as Zehavi's algorithm needs.
//!
//! A *weak snapshot* returns for each other process r the timestamp that r had at one instant T of
//! the scan, or the one that r was in the middle of writing at T. That is enough for
//! [labels](super::labels) (the lab checks it). One write makes it one instant for all: at T the
//! scanner p gives every writer a new *colour*. A writer that finds the new colour before it
//! commits keeps a copy of the timestamp that it had, for p to take.
//!
//! | register | | written by |
//! |---|---|---|
//! | MAIN\[r\] | label; for each reader p a colour *ann*, and a colour or none *copy* | r |
//! | TOG\[p\] | a colour for each r; the write of it is T | p |
//! | SAVED\[r\]\[p\] | label | r |
//!
//! Why p sees no third timestamp. Let X be the colour that p writes at T, for r.
//! - S1: until T, nothing that r has says X: not TOG, and neither ann nor copy when p looked. If r
//!   has read an old X and not yet announced it, then it reads the colour once more after p has
//!   looked, and either finds another one (*none*) or the X of T.
//! - S2: an update that reads X after T finds X again, because p waits for nobody but writes no
//!   other colour before its scan ends. So it saves what r had before, once: the next one finds
//!   copy = X.
//! - S3: so copy = X says that SAVED has the timestamp that r had, or was writing, at T; and
//!   copy /= X, that no update that began after T has committed.
//!
//! Above eight processes MAIN does not fit 63 bits, and is split: LABEL\[r\], and HAND\[r\]\[g\]
//! with ann and copy for a group of readers. An update writes copy before it commits the label; a
//! scan reads the label before copy. S3 holds as before. (Committing to one group of readers after
//! the other would not do, though it keeps S1 to S3 for each reader: of two scans, one after the
//! other, the first may see the new timestamp and the second the old one, which no register
//! allows, and even property (1) of Afek et al. fails. The lab keeps it as `linear:grouped`.)
//!
//! Cost: at most 3n for Scan and 6n for Label (11 for n = 2); split, with g groups, 4n - 1 and 7n - 3 + 3g.
//!
//! The *none* of S1 could be left out: with what copy said before in its place, the guarantee holds
//! as well (`linear:same-copy` in the lab), for p avoids that colour, too.
//!
//! Differs from the construction as it was worked out: a process keeps nothing between procedures,
//! so it reads its own registers, two for Scan and one more for Label. The split form is new.

use alloc::{format, string::String};
use core::marker::PhantomData;

use super::{
    All, Collect, Timestamps, Turn,
    labels::{self, Stamp},
    marked::{Marked, Renew, fresh},
    rules::{Form, Otherwise, Rules, Sound},
    shape::{COLOUR_BITS, COLOURS, HAND_BITS, MOST_BITS, NONE, Shape},
};
use crate::{
    layout::{Array, Layout},
    memory::{Memory, Pid, Var, Word},
};
use Turn::{Done, Goto};

/// The system; `R` says which parts a wrong variant leaves out.
pub struct Linear<R = Sound> {
    n: usize,
    form: Form,
    /// Announcements and copies that a register holds.
    readers: usize,
    /// MAIN or LABEL.
    label: Array,
    /// HAND, with [`Form::Split`].
    hand: Array,
    tog: Array,
    saved: Array,
    rules: PhantomData<R>,
}

/// What a writer says to one reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Hand {
    ann: u64,
    copy: u64,
}

/// Where a process stands in Scan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scanning<C> {
    /// It reads its own TOG.
    Toggles,
    /// It reads the hand of r and picks a colour.
    Pick {
        /// The next writer.
        r: u8,
        /// New colours for those before r, old ones for the others.
        colours: u32,
    },
    /// It writes TOG: the instant T.
    Toggle {
        /// The new colours.
        colours: u32,
    },
    /// It reads its own label.
    Own {
        /// The new colours.
        colours: u32,
    },
    /// It reads the label of r, and its hand where both are in one register.
    Look {
        /// The next writer.
        r: u8,
        /// The new colours of those not looked at.
        colours: u32,
        /// What it has seen.
        seen: C,
    },
    /// It reads the hand of r.
    Hand {
        /// The writer.
        r: u8,
        /// As above.
        colours: u32,
        /// As above.
        seen: C,
        /// The label it has read.
        label: Stamp,
    },
    /// It reads the copy that r has made.
    Saved {
        /// The writer.
        r: u8,
        /// As above.
        colours: u32,
        /// As above.
        seen: C,
    },
}

/// What a process has in hand in the second part of Label.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Update {
    own: Stamp,
    new: Stamp,
    /// The next reader's place among the others.
    slot: u8,
    /// The register with its hands, as it will be written.
    word: u64,
}

/// Where a process stands in Label.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(clippy::large_enum_variant)] // a private state is Copy: there is nothing to point to
pub enum Labelling {
    /// It scans.
    Scan(Scanning<All<Stamp>>),
    /// It reads its own hands.
    Mine(Update),
    /// It reads a reader's colour.
    Ask(Update),
    /// It announces the colours.
    Announce(Update),
    /// It reads a reader's colour again.
    Again(Update),
    /// It keeps a copy for a reader.
    Save(Update),
    /// It writes its hands; with them the label, where both are in one register.
    Hands(Update),
    /// It writes its label.
    Commit(Stamp),
}

impl<R: Rules> Linear<R> {
    /// Bits of a label in a register.
    fn label_bits(n: usize) -> u32 {
        labels::bits(n) + R::MARK_BITS
    }

    fn form(n: usize) -> Form {
        let whole = Self::label_bits(n) + HAND_BITS * (n as u32 - 1) <= MOST_BITS;
        R::FORM.unwrap_or(if whole {
            Form::Whole
        } else {
            Form::Split((MOST_BITS / HAND_BITS) as usize)
        })
    }

    fn groups(&self) -> usize {
        (self.n - 1).div_ceil(self.readers)
    }

    /// The place of `q` among the others than `p`.
    fn slot(p: Pid, q: Pid) -> usize {
        if q < p { q } else { q - 1 }
    }

    /// Who has this place among the others than `p`.
    fn at_slot(p: Pid, slot: usize) -> Pid {
        if slot < p { slot } else { slot + 1 }
    }

    /// The next other process, from `q` on.
    fn other(&self, p: Pid, q: usize) -> Option<u8> {
        let q = if q == p { q + 1 } else { q };
        (q < self.n).then_some(q as u8)
    }

    /// The register from which `p` reads the label of `r`.
    fn label_var(&self, r: Pid, p: Pid) -> Var {
        match self.form {
            Form::Whole | Form::Split(_) => self.label.at(r),
            Form::Grouped(_) if p == r => self.label.at(r * self.groups()),
            Form::Grouped(_) => self.hand_var(r, Self::slot(r, p)),
        }
    }

    /// The register of `r` with the hand for the reader at `slot`.
    fn hand_var(&self, r: Pid, slot: usize) -> Var {
        match self.form {
            Form::Whole => self.label.at(r),
            Form::Grouped(_) => self.label.at(r * self.groups() + slot / self.readers),
            Form::Split(_) => self.hand.at(r * self.groups() + slot / self.readers),
        }
    }

    /// The register for a copy of the label of `r` for `p`.
    fn saved_var(&self, r: Pid, p: Pid) -> Var {
        self.saved.at(r * (self.n - 1) + Self::slot(r, p))
    }

    fn stamp(&self, word: Word) -> Stamp {
        Stamp::unpack(word as u64, self.n, R::MARK_BITS)
    }

    /// `word` with another label in it.
    fn with_label(&self, word: u64, stamp: Stamp) -> u64 {
        word & !((1 << Self::label_bits(self.n)) - 1) | stamp.pack(self.n)
    }

    /// The word of a register with hands, and with this label where both are in one register.
    fn with(&self, word: u64, stamp: Stamp) -> u64 {
        match self.form {
            Form::Split(_) => word,
            Form::Whole | Form::Grouped(_) => self.with_label(word, stamp),
        }
    }

    fn hand_shift(&self, slot: usize) -> u32 {
        let below = match self.form {
            Form::Split(_) => 0,
            _ => Self::label_bits(self.n),
        };
        below + (slot % self.readers) as u32 * HAND_BITS
    }

    fn hand(&self, word: u64, slot: usize) -> Hand {
        let hand = word >> self.hand_shift(slot);
        Hand { ann: hand & (COLOURS - 1), copy: hand >> COLOUR_BITS & 7 }
    }

    fn with_hand(&self, word: u64, slot: usize, hand: Hand) -> u64 {
        let shift = self.hand_shift(slot);
        word & !(((1 << HAND_BITS) - 1) << shift) | (hand.ann | hand.copy << COLOUR_BITS) << shift
    }

    /// The colour that the reader at `slot` shows to `p`.
    fn colour_of<M: Memory>(&self, m: &mut M, p: Pid, slot: usize) -> u64 {
        let reader = Self::at_slot(p, slot);
        colour(m.read(self.tog.at(reader)) as u32, Self::slot(reader, p))
    }

    fn after_pick<C>(&self, p: Pid, r: usize, colours: u32) -> Scanning<C> {
        match self.other(p, r) {
            Some(r) => Scanning::Pick { r, colours },
            None => Scanning::Toggle { colours },
        }
    }

    /// `p` has seen the label of `r`.
    fn after_look<C: Collect<Stamp>>(
        &self,
        p: Pid,
        r: u8,
        colours: u32,
        seen: C,
    ) -> Turn<Scanning<C>, C> {
        let colours = set_colour(colours, Self::slot(p, r as Pid), 0); // not needed any more
        match self.other(p, r as usize + 1) {
            Some(r) => Goto(Scanning::Look { r, colours, seen }),
            None => Done(seen),
        }
    }

    fn begin<C>(&self) -> Scanning<C> {
        if R::SNAPSHOT { Scanning::Toggles } else { Scanning::Own { colours: 0 } }
    }

    fn wscan<M: Memory, C: Collect<Stamp>>(
        &self,
        m: &mut M,
        p: Pid,
        at: Scanning<C>,
    ) -> Turn<Scanning<C>, C> {
        match at {
            Scanning::Toggles => Goto(self.after_pick(p, 0, m.read(self.tog.at(p)) as u32)),
            Scanning::Pick { r, colours } => {
                let q = r as Pid;
                let slot = Self::slot(p, q);
                let reader = Self::slot(q, p);
                let hand = self.hand(m.read(self.hand_var(q, reader)) as u64, reader);
                let colour = pick::<R>(colour(colours, slot), hand);
                Goto(self.after_pick(p, q + 1, set_colour(colours, slot, colour)))
            }
            Scanning::Toggle { colours } => {
                m.write(self.tog.at(p), colours.into());
                Goto(Scanning::Own { colours })
            }
            Scanning::Own { colours } => {
                let seen = C::begin(p, self.stamp(m.read(self.label_var(p, p))));
                match self.other(p, 0) {
                    Some(r) => Goto(Scanning::Look { r, colours, seen }),
                    None => Done(seen),
                }
            }
            Scanning::Look { r, colours, seen } => {
                let word = m.read(self.label_var(r as Pid, p));
                let label = self.stamp(word);
                match self.form {
                    Form::Split(_) if R::COPY => Goto(Scanning::Hand { r, colours, seen, label }),
                    _ => self.choose(p, r, colours, seen, label, word),
                }
            }
            Scanning::Hand { r, colours, seen, label } => {
                let word = m.read(self.hand_var(r as Pid, Self::slot(r as Pid, p)));
                self.choose(p, r, colours, seen, label, word)
            }
            Scanning::Saved { r, colours, seen } => {
                let copy = self.stamp(m.read(self.saved_var(r as Pid, p)));
                self.after_look(p, r, colours, seen.see::<Self>(p, r as Pid, copy))
            }
        }
    }

    /// S3: takes the label of `r`, unless its hand says that a copy was made after T.
    fn choose<C: Collect<Stamp>>(
        &self,
        p: Pid,
        r: u8,
        colours: u32,
        seen: C,
        label: Stamp,
        hand: Word,
    ) -> Turn<Scanning<C>, C> {
        let (mine, theirs) = (Self::slot(p, r as Pid), Self::slot(r as Pid, p));
        if R::COPY && self.hand(hand as u64, theirs).copy == colour(colours, mine) {
            return Goto(Scanning::Saved { r, colours, seen });
        }
        self.after_look(p, r, colours, seen.see::<Self>(p, r as Pid, label))
    }

    /// What Label does with the view of its Scan.
    fn decide(&self, p: Pid, view: All<Stamp>) -> Turn<Labelling, ()> {
        let stamp = |q: Pid| view.stamp(q).unwrap_or(Stamp::FIRST);
        let later = Stamp::later(R::CHAIN, self.n, p, stamp);
        let Some(new) = later.or(R::ALWAYS.then_some(Stamp::FIRST)) else {
            return Done(());
        };
        let new = if R::RENEW { new } else { Stamp::FIRST }.marked(fresh(R::MARK_BITS));
        match self.form {
            Form::Whole if !R::SNAPSHOT => Goto(Labelling::Commit(new)),
            _ => Goto(Labelling::Mine(Update { own: stamp(p), new, slot: 0, word: 0 })),
        }
    }

    /// The part of Label that comes after an `update` for one reader: the same for the next one of
    /// the group, or `last`.
    fn next_reader(
        &self,
        update: Update,
        same: fn(Update) -> Labelling,
        last: fn(Update) -> Labelling,
    ) -> Turn<Labelling, ()> {
        let next = update.slot as usize + 1;
        let update = Update { slot: next as u8, ..update };
        if next < self.n - 1 && !next.is_multiple_of(self.readers) {
            return Goto(same(update));
        }
        Goto(last(Update { slot: ((next - 1) / self.readers * self.readers) as u8, ..update }))
    }

    /// S2: what the writer says to the reader at `slot`, who has shown `colour` at the second look.
    fn answer(&self, update: Update, colour: u64) -> Turn<Labelling, ()> {
        let slot = update.slot as usize;
        let Hand { ann, copy } = self.hand(update.word, slot);
        if colour == ann && ann != copy {
            return Goto(Labelling::Save(update));
        }
        let copy = match R::OTHERWISE {
            Otherwise::None if colour != ann => NONE,
            Otherwise::Made => ann,
            _ => copy,
        };
        let word = self.with_hand(update.word, slot, Hand { ann, copy });
        self.next_reader(Update { word, ..update }, Labelling::Again, Labelling::Hands)
    }

    /// The hands of one group are written.
    fn next_group(&self, update: Update) -> Turn<Labelling, ()> {
        let slot = update.slot as usize + self.readers;
        if slot < self.n - 1 {
            return Goto(Labelling::Mine(Update { slot: slot as u8, word: 0, ..update }));
        }
        match self.form {
            Form::Split(_) => Goto(Labelling::Commit(update.new)),
            _ => Done(()),
        }
    }
}

/// A colour that nobody uses.
fn pick<R: Rules>(old: u64, hand: Hand) -> u64 {
    let used = |colour: u64| colour == hand.ann || colour == hand.copy;
    let mut colours = (1..COLOURS).map(|by| (old + by) % COLOURS);
    colours.find(|&colour| !R::AVOID || !used(colour)).unwrap_or(old)
}

fn colour(colours: u32, slot: usize) -> u64 {
    u64::from(colours) >> (slot as u32 * COLOUR_BITS) & (COLOURS - 1)
}

fn set_colour(colours: u32, slot: usize, colour: u64) -> u32 {
    let shift = slot as u32 * COLOUR_BITS;
    colours & !((COLOURS as u32 - 1) << shift) | (colour as u32) << shift
}

impl<R: Rules> Timestamps for Linear<R> {
    const NAME: &'static str = "linear";
    const MOST_PROCESSES: usize = labels::MOST_PROCESSES;

    type Stamp = Stamp;
    type Labelling = Labelling;
    type Scanning<C: Collect<Stamp>> = Scanning<C>;

    fn new(layout: &mut Layout, n: usize) -> Self {
        let form = Self::form(n);
        let others = n - 1;
        let readers = match form {
            Form::Whole => others,
            Form::Split(readers) | Form::Grouped(readers) => readers.min(others),
        };
        let groups = others.div_ceil(readers);
        let hands = Shape { hands: readers as u8, ..Shape::default() };
        let label = Shape {
            labels: 1,
            digits: n as u8 - 1,
            mark_bits: R::MARK_BITS as u8,
            ..Shape::default()
        };
        let both = Shape { hands: hands.hands, ..label };
        let grouped = |name: &str, shape: Shape| {
            let name = String::from(name);
            move |index: usize| {
                let (r, group) = (index / groups, index % groups);
                shape.declare(format!("{name}[{r}][{group}]")).at(r)
            }
        };
        let none = layout.array(0, |_| unreachable!("of none"));
        let (label_at, hand) = match form {
            Form::Whole => (layout.array(n, |r| both.declare(format!("MAIN[{r}]")).at(r)), none),
            Form::Grouped(_) => (layout.array(n * groups, grouped("MAIN", both)), none),
            Form::Split(_) => (
                layout.array(n, |r| label.declare(format!("LABEL[{r}]")).at(r)),
                layout.array(n * groups, grouped("HAND", hands)),
            ),
        };
        let colours = Shape { colours: others as u8, ..Shape::default() };
        let tog = layout.array(n, |p| colours.declare(format!("TOG[{p}]")).at(p));
        let saved = layout.array(n * others, |index| {
            let (r, p) = (index / others, Self::at_slot(index / others, index % others));
            label.declare(format!("SAVED[{r}][{p}]")).at(r)
        });
        Linear { n, form, readers, label: label_at, hand, tog, saved, rules: PhantomData }
    }

    fn precedes(a: (Stamp, Pid), b: (Stamp, Pid)) -> bool {
        Stamp::precedes(R::CHAIN, a, b)
    }

    fn begin_label(&self, _: Pid) -> Labelling {
        Labelling::Scan(self.begin())
    }

    fn label<M: Memory>(&self, m: &mut M, p: Pid, at: Labelling) -> Turn<Labelling, ()> {
        match at {
            Labelling::Scan(scan) => match self.wscan(m, p, scan) {
                Goto(scan) => Goto(Labelling::Scan(scan)),
                Done(view) => self.decide(p, view),
            },
            Labelling::Mine(update) => {
                let word = m.read(self.hand_var(p, update.slot as usize)) as u64;
                // The label in it is `own`, which is put back where it is written.
                Goto(Labelling::Ask(Update { word: self.with(word, Stamp::FIRST), ..update }))
            }
            Labelling::Ask(update) => {
                let slot = update.slot as usize;
                let ann = self.colour_of(m, p, slot);
                let Hand { copy, .. } = self.hand(update.word, slot);
                let word = self.with_hand(update.word, slot, Hand { ann, copy });
                let last = if R::ANNOUNCE { Labelling::Announce } else { Labelling::Again };
                self.next_reader(Update { word, ..update }, Labelling::Ask, last)
            }
            Labelling::Announce(update) => {
                let word = self.with(update.word, update.own);
                m.write(self.hand_var(p, update.slot as usize), word as Word);
                Goto(Labelling::Again(update))
            }
            Labelling::Again(update) => {
                let slot = update.slot as usize;
                let seen = self.colour_of(m, p, slot);
                let colour = if R::AGAIN { seen } else { self.hand(update.word, slot).ann };
                self.answer(update, colour)
            }
            Labelling::Save(update) => {
                let slot = update.slot as usize;
                m.write(self.saved_var(p, Self::at_slot(p, slot)), update.own.pack(self.n) as Word);
                let Hand { ann, .. } = self.hand(update.word, slot);
                let word = self.with_hand(update.word, slot, Hand { ann, copy: ann });
                self.next_reader(Update { word, ..update }, Labelling::Again, Labelling::Hands)
            }
            Labelling::Hands(update) => {
                let word = self.with(update.word, update.new);
                m.write(self.hand_var(p, update.slot as usize), word as Word);
                self.next_group(update)
            }
            Labelling::Commit(new) => {
                m.write(self.label.at(p), self.with_label(0, new) as Word);
                Done(())
            }
        }
    }

    fn begin_scan<C: Collect<Stamp>>(&self, _: Pid) -> Scanning<C> {
        self.begin()
    }

    fn scan<M: Memory, C: Collect<Stamp>>(
        &self,
        m: &mut M,
        p: Pid,
        at: Scanning<C>,
    ) -> Turn<Scanning<C>, C> {
        self.wscan(m, p, at)
    }

    fn label_line(at: Labelling) -> &'static str {
        match at {
            Labelling::Scan(scan) => Self::scan_line(scan),
            Labelling::Mine(_) => "mine",
            Labelling::Ask(_) => "ask",
            Labelling::Announce(_) => "announce",
            Labelling::Again(_) => "again",
            Labelling::Save(_) => "save",
            Labelling::Hands(_) => "hands",
            Labelling::Commit(_) => "commit",
        }
    }

    fn scan_line<C: Collect<Stamp>>(at: Scanning<C>) -> &'static str {
        match at {
            Scanning::Toggles => "toggles",
            Scanning::Pick { .. } => "pick",
            Scanning::Toggle { .. } => "toggle",
            Scanning::Own { .. } => "own",
            Scanning::Look { .. } => "look",
            Scanning::Hand { .. } => "hand",
            Scanning::Saved { .. } => "saved",
        }
    }
}

impl<R: Rules> Marked for Linear<R> {
    const MARK_BITS: u32 = R::MARK_BITS;

    fn inner_scan(at: Labelling) -> Option<Scanning<All<Stamp>>> {
        match at {
            Labelling::Scan(scan) => Some(scan),
            _ => None,
        }
    }

    fn renew_label(p: Pid, at: Labelling, renew: Renew<'_>) -> Labelling {
        let mut update = |u: Update| Update { own: renew(p, u.own), new: renew(p, u.new), ..u };
        match at {
            Labelling::Scan(scan) => Labelling::Scan(Self::renew_scan(p, scan, renew)),
            Labelling::Mine(u) => Labelling::Mine(update(u)),
            Labelling::Ask(u) => Labelling::Ask(update(u)),
            Labelling::Announce(u) => Labelling::Announce(update(u)),
            Labelling::Again(u) => Labelling::Again(update(u)),
            Labelling::Save(u) => Labelling::Save(update(u)),
            Labelling::Hands(u) => Labelling::Hands(update(u)),
            Labelling::Commit(new) => Labelling::Commit(renew(p, new)),
        }
    }

    fn renew_scan(_: Pid, at: Scanning<All<Stamp>>, renew: Renew<'_>) -> Scanning<All<Stamp>> {
        match at {
            Scanning::Look { r, colours, seen } => {
                Scanning::Look { r, colours, seen: seen.renewed(renew) }
            }
            Scanning::Hand { r, colours, seen, label } => {
                let label = renew(r.into(), label);
                Scanning::Hand { r, colours, seen: seen.renewed(renew), label }
            }
            Scanning::Saved { r, colours, seen } => {
                Scanning::Saved { r, colours, seen: seen.renewed(renew) }
            }
            Scanning::Toggles
            | Scanning::Pick { .. }
            | Scanning::Toggle { .. }
            | Scanning::Own { .. } => at,
        }
    }

    fn renew_memory(&self, memory: &mut [Word], renew: Renew<'_>) {
        let groups = if matches!(self.form, Form::Grouped(_)) { self.groups() } else { 1 };
        let labels = (0..self.n * groups).map(|index| (self.label.at(index), index / groups));
        let others = self.n - 1;
        let saved = (0..self.n * others).map(|index| (self.saved.at(index), index / others));
        for (var, r) in labels.chain(saved) {
            let word = &mut memory[var.index()];
            *word = self.with_label(*word as u64, renew(r, self.stamp(*word))) as Word;
        }
    }
}
