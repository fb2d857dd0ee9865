//! Deliberately wrong variants of [`Quadratic`]. The lab must reject each of them.
//!
//! A change to Scan also applies to the Scan within Label. The [parent module](super) explains flags, toggles and
//! borrowing.

use super::{Head, Labelling, Quadratic, Round, Scanning};
use crate::{
    changed_lines,
    framework::{
        memory::{Memory, Pid},
        pids::Pids,
    },
    papers::timestamps::{
        Collect,
        InProcedure::{Label, Scan},
        InProcedureOf,
        Turn::{self, Goto},
        TurnOf,
        labels::{Labels, Stamp},
    },
};

changed_lines! {
    Quadratic<C, L>, InProcedureOf<Quadratic<C, L>> => TurnOf<Quadratic<C, L>>
        where [C: Collect<Stamp>, L: Labels];
    /// A scanner that cannot finish takes the labels as it finds them, instead of borrowing the view of
    /// a writer.
    NoBorrow: |s, m, p| {
        Scan(Scanning::Second { j, round, seen }) => Scan(take_label(s, m, p, j, round, seen)),
        Label(Labelling::Scan { head, scan: Scanning::Second { j, round, seen } }) => {
            Label(s.inner_scanned(p, head, take_label(s, m, p, j, round, seen)))
        },
    }
    /// A writer does not change its toggle.
    NoToggle: |s, m, p| {
        Label(Labelling::Toggle) => {
            let toggle = s.toggle(m.read(s.r.at(p)));
            let head = Head { flags: Pids::NONE, toggle };
            Label(Goto(Labelling::Ask { j: u8::from(p == 0), head }))
        },
    }
    /// A writer does not answer the flags of scanners: all flags in its register stay clear.
    NoShake: |s, m, p| {
        Label(Labelling::Ask { j, head }) => {
            m.read(s.q.at(j.into()));
            Label(Goto(s.after_ask(p, j, head)))
        },
    }
}

fn take_label<C: Collect<Stamp>, L: Labels, D: Collect<Stamp>>(
    s: &Quadratic<C, L>,
    m: &mut impl Memory,
    p: Pid,
    j: u8,
    round: Round,
    seen: D,
) -> Turn<Scanning<D>, D> {
    let word = m.read(s.r.at(j.into()));
    s.take(p, j, round, seen, word)
}
