//! Deliberately wrong variants of Afek et al.'s algorithm. The checker must reject each of them. Three keep
//! exclusion, starvation freedom and FIFE at all sizes that the lab explores: for these, a recorded run in `atlas.toml`
//! shows a violation at a larger size.

use super::{Afek, At, Line::*};
use crate::{
    changed_lines,
    framework::{
        machine::Next::{self, Enter, Goto, Leave},
        memory::Memory,
        pids::Pids,
    },
    papers::timestamps::{Collect, Timestamps, Turn},
};

changed_lines! {
    Afek<T>, At<T> => Next<At<T>> where [T: Timestamps];
    /// Line 12 is dropped: the process still has its old timestamp when it sets its x again.
    NoSecondLabel: |s, m, p| {
        L11 => { m.write(s.x.at(p), 0); Leave },
    }
    /// Line 2 is dropped: an arriving process keeps its old timestamp.
    NoLabel: |s, m, p| {
        L1 => { m.write(s.x.at(p), 1); Goto(s.line_4(p, None, Pids::NONE)) },
    }
    /// Lines 1 and 2 are swapped: a process takes its timestamp before it sets its x.
    LateFlag: |s, m, p| {
        L1 => match s.stamps.label(m, p, s.stamps.begin_label(p)) {
            Turn::Goto(label) => Goto(L2(label)),
            Turn::Done(()) => Goto(s.line_4(p, None, Pids::NONE)),
        },
        L4 { j, s: seen } if s.others(p).first() == Some(j) && !seen.contains(p) => {
            m.write(s.x.at(p), 1);
            Goto(L4 { j, s: seen.with(p) })
        },
    }
    /// Line 4 adds every process to S, even those in their remainder.
    EverybodyCounts: |s, m, p| {
        L4 { j, s: _ } => { m.read(s.x.at(j)); Goto(s.line_4(p, Some(j), s.others(p))) },
    }
    /// Line 6 is dropped: a process that was counted in the doorway counts forever.
    NoSecondLook: |s, _m, p| {
        L6 { s: seen, .. } => Goto(s.line_7(p, seen, seen)),
    }
    /// Line 9 lets one process too many enter.
    OneTooMany: |s, m, p| {
        L7 { s: seen, y, scan } => match s.stamps.scan(m, p, scan) {
            Turn::Goto(scan) => Goto(L7 { s: seen, y, scan }),
            Turn::Done(found) if y.and(found.before::<T>(p)).len() <= s.k => Enter(L11),
            Turn::Done(_) => Next::Spin(s.line_6(p, seen)),
        },
    }
}
