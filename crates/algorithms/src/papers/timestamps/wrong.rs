//! Deliberately wrong labels, and UCTSS as printed. The wrong variants of the snapshots are in
//! [`linear::wrong`](super::linear::wrong) and [`quadratic::wrong`](super::quadratic::wrong).

use core::{cmp::Ordering, marker::PhantomData};

use super::{
    Collect,
    InProcedure::Label,
    InProcedureOf, TurnOf,
    labels::{FiveDigits, Labels, Stamp},
    unbounded::{Labelling, Uctss},
};
use crate::{
    changed_lines,
    framework::memory::{Memory, Pid, Word},
};

/// Labels with digits from 1 to 4.
pub struct FourDigits;

impl FourDigits {
    const CHAIN: u64 = 1;
}

impl Labels for FourDigits {
    fn precedes(a: (Stamp, Pid), b: (Stamp, Pid)) -> bool {
        Stamp::precedes(Self::CHAIN, a, b)
    }

    fn next(n: usize, i: Pid, view: impl Fn(Pid) -> Stamp) -> Option<Stamp> {
        Stamp::later(Self::CHAIN, n, i, view)
    }
}

/// The labels of `L`, except that every new label is the first label. So a new label is not later than the others.
pub struct Constant<L = FiveDigits>(PhantomData<fn() -> L>);

impl<L: Labels> Labels for Constant<L> {
    fn precedes(a: (Stamp, Pid), b: (Stamp, Pid)) -> bool {
        L::precedes(a, b)
    }

    fn next(n: usize, i: Pid, view: impl Fn(Pid) -> Stamp) -> Option<Stamp> {
        L::next(n, i, view).map(|_| Stamp::FIRST)
    }
}

changed_lines! {
    Uctss<C>, InProcedureOf<Uctss<C>> => TurnOf<Uctss<C>> where [C: Collect<Word>];
    /// Label keeps a timestamp that equals the largest, as printed.
    Printed: |s, m, p| {
        Label(Labelling::Read { j, max, own }) => {
            let x = m.read(s.label.at(j as usize));
            let mine = j as Pid == p;
            let own = match x.cmp(&max) {
                Ordering::Greater => mine,
                Ordering::Equal => own || mine,
                Ordering::Less => own,
            };
            Label(s.after_read(j, max.max(x), own))
        },
    }
}
