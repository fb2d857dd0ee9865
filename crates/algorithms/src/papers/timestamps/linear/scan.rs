//! The Scan procedure: the weak snapshot. A *hand* is what a writer shows to one reader: an announced colour, and the
//! colour of a copy (ann and copy in the [parent module](super), which also explains the instant T).

use super::{Form, Hand, Linear};
use crate::{
    framework::memory::{Memory, Pid, Word},
    papers::timestamps::{
        Collect,
        Turn::{self, Done, Goto},
        labels::{Labels, Stamp},
        linear::Registers,
        shape::{COLOUR_BITS, COLOURS},
    },
};

/// The position of a process in Scan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scanning<C> {
    /// The process reads its own TOG.
    Toggles,
    /// The process reads the hand of r and picks a colour.
    Pick {
        /// The next writer.
        r: u8,
        /// New colours for the writers before r, and old colours for the others.
        colours: u32,
    },
    /// The process writes TOG: the instant T.
    Toggle {
        /// The new colours.
        colours: u32,
    },
    /// The process reads its own label.
    Own {
        /// The new colours.
        colours: u32,
    },
    /// The process reads the label of r. If one register holds both, it also reads the hand of r.
    Look {
        /// The next writer.
        r: u8,
        /// The new colours of the writers that have not been read yet.
        colours: u32,
        /// The collection so far.
        seen: C,
    },
    /// The process reads the hand of r.
    Hand {
        /// The writer.
        r: u8,
        /// The new colours of the writers that have not been read yet.
        colours: u32,
        /// The collection so far.
        seen: C,
        /// The label of r that the process has read.
        label: Stamp,
    },
    /// The process reads the copy that r has saved.
    Saved {
        /// The writer.
        r: u8,
        /// The new colours of the writers that have not been read yet.
        colours: u32,
        /// The collection so far.
        seen: C,
    },
}

impl<C> Scanning<C> {
    /// Returns the short name of the line.
    pub(super) fn line(&self) -> &'static str {
        match self {
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

impl<C: Collect<Stamp>, L: Labels, F: Registers> Linear<C, L, F> {
    pub(super) fn after_pick<D>(&self, p: Pid, r: usize, colours: u32) -> Scanning<D> {
        match self.other(p, r) {
            Some(r) => Scanning::Pick { r, colours },
            None => Scanning::Toggle { colours },
        }
    }

    /// Continues after `p` has seen the label of `r`.
    pub(super) fn after_look<D: Collect<Stamp>>(
        &self,
        p: Pid,
        r: u8,
        colours: u32,
        seen: D,
    ) -> Turn<Scanning<D>, D> {
        let colours = set_colour(colours, Self::slot(p, r as Pid), 0); // no longer needed
        match self.other(p, r as usize + 1) {
            Some(r) => Goto(Scanning::Look { r, colours, seen }),
            None => Done(seen),
        }
    }

    pub(super) fn scan_step<M: Memory, D: Collect<Stamp>>(
        &self,
        m: &mut M,
        p: Pid,
        at: Scanning<D>,
    ) -> Turn<Scanning<D>, D> {
        match at {
            Scanning::Toggles => Goto(self.after_pick(p, 0, m.read(self.tog.at(p)) as u32)),
            Scanning::Pick { r, colours } => {
                let q = r as Pid;
                let slot = Self::slot(p, q);
                let reader = Self::slot(q, p);
                let hand = self.hand(m.read(self.hand_var(q, reader)) as u64, reader);
                let colour = pick(colour(colours, slot), hand);
                Goto(self.after_pick(p, q + 1, set_colour(colours, slot, colour)))
            }
            Scanning::Toggle { colours } => {
                m.write(self.tog.at(p), colours.into());
                Goto(Scanning::Own { colours })
            }
            Scanning::Own { colours } => {
                let seen = D::begin(p, self.stamp(m.read(self.label_var(p, p))));
                match self.other(p, 0) {
                    Some(r) => Goto(Scanning::Look { r, colours, seen }),
                    None => Done(seen),
                }
            }
            Scanning::Look { r, colours, seen } => {
                let word = m.read(self.label_var(r as Pid, p));
                let label = self.stamp(word);
                match self.form {
                    Form::Split(_) => Goto(Scanning::Hand { r, colours, seen, label }),
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

    /// Takes the label of `r`, or the saved copy if the hand of `r` shows that a copy was saved after T (S3 in
    /// the [parent module](super)).
    pub(super) fn choose<D: Collect<Stamp>>(
        &self,
        p: Pid,
        r: u8,
        colours: u32,
        seen: D,
        label: Stamp,
        hand: Word,
    ) -> Turn<Scanning<D>, D> {
        let (mine, theirs) = (Self::slot(p, r as Pid), Self::slot(r as Pid, p));
        if self.hand(hand as u64, theirs).copy == colour(colours, mine) {
            return Goto(Scanning::Saved { r, colours, seen });
        }
        self.after_look(p, r, colours, seen.see::<Self>(p, r as Pid, label))
    }
}

/// Returns a colour other than `old` that is not in use, or `old` if there is none.
pub(super) fn pick(old: u64, hand: Hand) -> u64 {
    let used = |colour: u64| colour == hand.ann || colour == hand.copy;
    let mut colours = (1..COLOURS).map(|by| (old + by) % COLOURS);
    colours.find(|&colour| !used(colour)).unwrap_or(old)
}

pub(super) fn colour(colours: u32, slot: usize) -> u64 {
    u64::from(colours) >> (slot as u32 * COLOUR_BITS) & (COLOURS - 1)
}

pub(super) fn set_colour(colours: u32, slot: usize, colour: u64) -> u32 {
    let shift = slot as u32 * COLOUR_BITS;
    colours & !((COLOURS as u32 - 1) << shift) | (colour as u32) << shift
}
