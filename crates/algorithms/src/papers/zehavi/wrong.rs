//! Deliberately wrong variants of Zehavi's algorithm. The checker must reject each of them, except [`NoAllow`]. It
//! fails only at sizes that are too large to explore, and a recorded run in `atlas.toml` shows the violation.

use super::{At, Line::*, Zehavi};
use crate::{
    changed_lines,
    framework::{
        machine::Next::{self, Goto, Leave},
        memory::Memory,
    },
    papers::timestamps::{Collect, Timestamps, Turn},
};

changed_lines! {
    Zehavi<T>, At<T> => Next<At<T>> where [T: Timestamps];
    /// One cell of `discover` instead of two: lines 4b, 4e, 4f and 14b are dropped.
    OneCell: |s, m, p| {
        L4 { i, .. } => match m.read(s.discovered(0, p, i)) != 0 {
            true => Goto(s.line_4(p, i)),
            false => Goto(L4a { i }),
        },
        L4a { i } => { m.write(s.discovered(0, p, i), 0); Goto(L4c { i }) },
        L4d { i } => match m.read(s.reveal.at(i)) != 0 {
            true => Goto(L4dSet { i }),
            false => Goto(s.line_4(p, i)),
        },
        L4dSet { i } => { m.write(s.discovered(0, p, i), 1); Goto(s.line_4(p, i)) },
        L11aii { i, part: 0, ahead } => match m.read(s.discovered(0, i, p)) != 0 {
            true => Goto(L11aii { i, part: 2, ahead }),
            false => Goto(s.line_11a(p, i, ahead)),
        },
        L11b { i, ahead, .. } => match m.read(s.discovered(0, i, p)) != 0 {
            true => Goto(L11bi { i, ahead }),
            false => s.line_11b(p, i, ahead),
        },
        L14a { i } => {
            m.write(s.discovered(0, i, p), 0);
            Goto(s.next(p, i).map_or(L15 { i: s.first(p) }, |i| L14a { i }))
        },
    }
    /// Line 11(a)ii does not read `ignore`.
    NoIgnore: |s, m, p| {
        L11aii { i, part: 1, ahead } => match m.read(s.discovered(1, i, p)) != 0 {
            true => Goto(L11aii { i, part: 3, ahead }),
            false => Goto(s.line_11a(p, i, ahead)),
        },
    }
    /// Line 11(a)ii does not read `discover`.
    NoDiscover: |s, m, p| {
        L11ai { i, ahead } => match m.read(s.element(s.compete, i, p)) != 0 {
            true => Goto(L11aii { i, part: 2, ahead }),
            false => Goto(s.line_11a(p, i, ahead.without(i))),
        },
    }
    /// Line 11(a)i is dropped: a process waits for processes that have left.
    NoCompete: |s, m, p| {
        L11ai { i, ahead } => match m.read(s.discovered(0, i, p)) != 0 {
            true => Goto(L11aii { i, part: 1, ahead }),
            false => Goto(s.line_11a(p, i, ahead)),
        },
    }
    /// Line 11(a)ii is dropped: a process ignores the order that others have seen.
    NoOrder: |s, _m, p| {
        L11aii { i, ahead, .. } => Goto(s.line_11a(p, i, ahead)),
    }
    /// Line 12 is dropped: no process allows another process to enter before its turn.
    NoAllow: |_s, _m, _p| {
        L12 { .. } => Next::Enter(L13),
    }
    /// Line 4c is dropped: an old permission is never revoked.
    NoCancel: |s, m, p| {
        L4b { i } => { m.write(s.discovered(1, p, i), 0); Goto(L4d { i }) },
    }
    /// Line 14 is dropped: a leaving process stays discovered.
    NoDelete: |s, m, p| {
        L13 => { m.write(s.reveal.at(p), 0); Goto(L15 { i: s.first(p) }) },
    }
    /// Line 3 is dropped: an arriving process keeps its old timestamp.
    NoLabel: |s, _m, p| {
        L3(_) => Goto(L4 { i: s.first(p), cell: 0 }),
    }
    /// Line 15 is dropped: a process competes forever.
    NoRetreat: |s, m, p| {
        L14b { i } => {
            m.write(s.discovered(1, i, p), 0);
            s.next(p, i).map_or(Leave, |i| Goto(L14a { i }))
        },
    }
    /// Lines 5 and 6 are swapped: a process reveals itself after its Scan.
    LateReveal: |s, m, p| {
        L5 => match s.stamps.scan(m, p, s.stamps.begin_scan(p)) {
            Turn::Goto(scan) => Goto(L6(scan)),
            Turn::Done(seen) => Goto(L7 { i: s.first(p), before: seen.before::<T>(p).with(p) }),
        },
        L6(scan) => match s.stamps.scan(m, p, scan) {
            Turn::Goto(scan) => Goto(L6(scan)),
            Turn::Done(seen) => Goto(L7 { i: s.first(p), before: seen.before::<T>(p).with(p) }),
        },
        L7 { i, before } if before.contains(p) => {
            m.write(s.reveal.at(p), 1);
            Goto(L7 { i, before: before.without(p) })
        },
    }
}
