//! The Label procedure: a scan, followed by an update for every reader. A *hand* is what a process shows to one reader:
//! an announced colour, and the colour of a copy (ann and copy in the [parent module](super)).

use super::{Form, Hand, Linear, Registers, scan::Scanning};
use crate::{
    framework::memory::{Memory, Pid, Word},
    papers::timestamps::{
        All, Collect,
        Turn::{self, Done, Goto},
        labels::{Labels, Stamp},
        shape::NONE,
    },
};

/// The private variables in the second part of Label.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Update {
    pub(super) own: Stamp,
    pub(super) new: Stamp,
    /// The index of the next reader among the other processes.
    pub(super) slot: u8,
    /// The register with the hands, as it is about to be written.
    pub(super) word: u64,
}

/// The position of a process in Label.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(clippy::large_enum_variant)] // a private state is Copy, so it cannot contain a Box
pub enum Labelling {
    /// The process scans.
    Scan(Scanning<All<Stamp>>),
    /// The process reads its own hands.
    Mine(Update),
    /// The process reads the colour of a reader.
    Ask(Update),
    /// The process announces the colours.
    Announce(Update),
    /// The process reads the colour of a reader again.
    Again(Update),
    /// The process saves a copy for a reader.
    Save(Update),
    /// The process writes its hands, with the label if one register holds both.
    Hands(Update),
    /// The process writes its label.
    Commit(Stamp),
}

impl<C: Collect<Stamp>, L: Labels, F: Registers> Linear<C, L, F> {
    pub(super) fn label_step<M: Memory>(
        &self,
        m: &mut M,
        p: Pid,
        at: Labelling,
    ) -> Turn<Labelling, ()> {
        match at {
            Labelling::Scan(scan) => self.inner_scanned(p, self.scan_step(m, p, scan)),
            Labelling::Mine(update) => {
                let word = m.read(self.hand_var(p, update.slot as usize)) as u64;
                // The label in `word` is `own`. It is removed here, and a label is added again when
                // `word` is written.
                Goto(Labelling::Ask(Update { word: self.with(word, Stamp::FIRST), ..update }))
            }
            Labelling::Ask(update) => self.ask(m, p, update, Labelling::Announce),
            Labelling::Announce(update) => {
                let word = self.with(update.word, update.own);
                m.write(self.hand_var(p, update.slot as usize), word as Word);
                Goto(Labelling::Again(update))
            }
            Labelling::Again(update) => {
                let colour = self.colour_of(m, p, update.slot as usize);
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

    /// Returns where a line of the Scan within Label leads.
    pub(super) fn inner_scanned(
        &self,
        p: Pid,
        turn: Turn<Scanning<All<Stamp>>, All<Stamp>>,
    ) -> Turn<Labelling, ()> {
        match turn {
            Goto(scan) => Goto(Labelling::Scan(scan)),
            Done(view) => self.decide(p, view),
        }
    }

    /// Takes a new label, or ends Label. The view of the Scan decides.
    fn decide(&self, p: Pid, view: All<Stamp>) -> Turn<Labelling, ()> {
        let stamp = |q: Pid| view.stamp(q).unwrap_or(Stamp::FIRST);
        match L::next(self.n, p, stamp) {
            Some(new) => Goto(Labelling::Mine(Update { own: stamp(p), new, slot: 0, word: 0 })),
            None => Done(()),
        }
    }

    /// Reads the colour that a reader shows. After the last reader of the group, continues at `last`.
    pub(super) fn ask<M: Memory>(
        &self,
        m: &mut M,
        p: Pid,
        update: Update,
        last: fn(Update) -> Labelling,
    ) -> Turn<Labelling, ()> {
        let slot = update.slot as usize;
        let ann = self.colour_of(m, p, slot);
        let Hand { copy, .. } = self.hand(update.word, slot);
        let word = self.with_hand(update.word, slot, Hand { ann, copy });
        self.next_reader(Update { word, ..update }, Labelling::Ask, last)
    }

    /// Continues with the same line for the next reader of the group, or with `last` after the last reader.
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

    /// Decides what the writer shows to the reader (S2 in the [parent module](super)). `colour` is the colour
    /// that the reader showed at the second look.
    pub(super) fn answer(&self, update: Update, colour: u64) -> Turn<Labelling, ()> {
        let slot = update.slot as usize;
        let Hand { ann, copy } = self.hand(update.word, slot);
        if colour == ann && ann != copy {
            return Goto(Labelling::Save(update));
        }
        let copy = if colour == ann { copy } else { NONE };
        self.answered(update, Hand { ann, copy })
    }

    /// Sets what the writer will show to the reader, and continues with the next reader.
    pub(super) fn answered(&self, update: Update, hand: Hand) -> Turn<Labelling, ()> {
        let word = self.with_hand(update.word, update.slot as usize, hand);
        self.next_reader(Update { word, ..update }, Labelling::Again, Labelling::Hands)
    }

    /// Continues after the hands of one group are written.
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
