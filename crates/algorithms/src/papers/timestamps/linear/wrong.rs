//! Deliberately wrong variants of [`Linear`], and one correct variant. The lab must reject the wrong
//! variants.
//!
//! A change to Scan also applies to the Scan within Label. The [parent module](super) explains colours and copies.

use super::{
    COLOURS, Form, Hand, Labelling, Linear, Registers, Scanning, Update,
    scan::{colour, set_colour},
};
use crate::{
    changed_lines,
    framework::memory::{Memory, Pid},
    papers::timestamps::{
        Collect,
        InProcedure::{Label, Scan},
        InProcedureOf, Turn, TurnOf,
        labels::{Labels, Stamp},
    },
};

/// A form in which a process commits its label to one group of readers after another.
pub struct GroupedBy<const READERS: usize>;

impl<const READERS: usize> Registers for GroupedBy<READERS> {
    fn form(_: usize, _: u32) -> Form {
        Form::Grouped(READERS)
    }
}

changed_lines! {
    Linear<C, L, F>, InProcedureOf<Linear<C, L, F>> => TurnOf<Linear<C, L, F>>
        where [C: Collect<Stamp>, L: Labels, F: Registers];
    /// A writer does not announce the colours it has seen.
    NoAnnounce: |s, m, p| {
        Label(Labelling::Ask(update)) => Label(s.ask(m, p, update, Labelling::Again)),
    }
    /// A writer does not read the colours a second time.
    NoAgain: |s, m, p| {
        Label(Labelling::Again(update)) => {
            let slot = update.slot as usize;
            s.colour_of(m, p, slot);
            Label(s.answer(update, s.hand(update.word, slot).ann))
        },
    }
    /// A writer that finds another colour keeps the old value of copy. This variant is correct, because
    /// the reader avoids that colour.
    SameCopy: |s, m, p| {
        Label(Labelling::Again(update)) => {
            Label(answer_with(s, m, p, update, |Hand { copy, .. }| copy))
        },
    }
    /// A writer that finds another colour announces a copy for the first colour, although there is none.
    NoNone: |s, m, p| {
        Label(Labelling::Again(update)) => {
            Label(answer_with(s, m, p, update, |Hand { ann, .. }| ann))
        },
    }
    /// A reader takes the next colour, even if that colour is in use.
    NoAvoid: |s, m, p| {
        Scan(Scanning::Pick { r, colours }) => Scan(pick_next(s, m, p, r, colours)),
        Label(Labelling::Scan(Scanning::Pick { r, colours })) => {
            Label(s.inner_scanned(p, pick_next(s, m, p, r, colours)))
        },
    }
    /// A reader takes the label even if a copy was saved for it.
    NoCopy: |s, m, p| {
        Scan(Scanning::Look { r, colours, seen }) => Scan(take_label(s, m, p, r, colours, seen)),
        Label(Labelling::Scan(Scanning::Look { r, colours, seen })) => {
            Label(s.inner_scanned(p, take_label(s, m, p, r, colours, seen)))
        },
    }
    /// A reader reads the labels one after another, without colours and copies.
    Collected: |s, m, p| {
        Scan(Scanning::Toggles) => Scan(s.scan_step(m, p, Scanning::Own { colours: 0 })),
        Scan(Scanning::Look { r, colours, seen }) => Scan(take_label(s, m, p, r, colours, seen)),
        Label(Labelling::Scan(Scanning::Toggles)) => {
            Label(s.inner_scanned(p, s.scan_step(m, p, Scanning::Own { colours: 0 })))
        },
        Label(Labelling::Scan(Scanning::Look { r, colours, seen })) => {
            Label(s.inner_scanned(p, take_label(s, m, p, r, colours, seen)))
        },
        Label(Labelling::Mine(update)) => {
            Label(s.label_step(m, p, Labelling::Commit(update.new)))
        },
    }
}

/// Executes the second look at a colour. If no copy is saved, the function `copy` returns the new value of copy.
fn answer_with<C: Collect<Stamp>, L: Labels, F: Registers>(
    s: &Linear<C, L, F>,
    m: &mut impl Memory,
    p: Pid,
    update: Update,
    copy: impl Fn(Hand) -> u64,
) -> Turn<Labelling, ()> {
    let slot = update.slot as usize;
    let colour = s.colour_of(m, p, slot);
    let hand = s.hand(update.word, slot);
    if colour == hand.ann && hand.ann != hand.copy {
        return Turn::Goto(Labelling::Save(update));
    }
    s.answered(update, Hand { copy: copy(hand), ..hand })
}

fn pick_next<C: Collect<Stamp>, L: Labels, F: Registers, D>(
    s: &Linear<C, L, F>,
    m: &mut impl Memory,
    p: Pid,
    r: u8,
    colours: u32,
) -> Turn<Scanning<D>, D> {
    let q = Pid::from(r);
    m.read(s.hand_var(q, Linear::<C, L, F>::slot(q, p)));
    let slot = Linear::<C, L, F>::slot(p, q);
    let next = (colour(colours, slot) + 1) % COLOURS;
    Turn::Goto(s.after_pick(p, q + 1, set_colour(colours, slot, next)))
}

fn take_label<C: Collect<Stamp>, L: Labels, F: Registers, D: Collect<Stamp>>(
    s: &Linear<C, L, F>,
    m: &mut impl Memory,
    p: Pid,
    r: u8,
    colours: u32,
    seen: D,
) -> Turn<Scanning<D>, D> {
    let label = s.stamp(m.read(s.label_var(r.into(), p)));
    s.after_look(p, r, colours, seen.see::<Linear<C, L, F>>(p, r.into(), label))
}
