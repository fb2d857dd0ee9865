//! Wrong variants: as printed in the paper, or deliberately wrong. The checker must reject each of them
//! and name the violation.

use alloc::string::ToString;

use super::{
    excl::excl,
    gtex::{groups, ladder},
    ladder::{Ladder, Line},
};
use crate::{
    changed_lines,
    framework::{
        machine::Next::{self, Goto, Leave, Spin},
        memory::{Memory, Word},
    },
};

/// Builds GTEX in which `gcheck` reads turn(p, q), as printed. All nodes of height p share their turns, so a process
/// that arrives at one node lets the last process of another node pass. (Here line 2 also writes turn(p, q). The paper
/// prints turn(g(i, bl-p), q) there. If line 2 were as printed too, `gcheck` would read a variable that no process ever
/// writes.)
pub fn gtex_printed(n: usize, k: usize) -> Ladder {
    let mut groups = groups(n, k);
    for group in &mut groups {
        group.turns = group.p.to_string();
        group.writers = 0..n;
    }
    ladder(n, k, groups)
}

/// Builds GTEX without the competitions of the root: k winners come from each of its children.
pub fn gtex_no_root(n: usize, k: usize) -> Ladder {
    let mut groups = groups(n, k);
    if groups.len() > 1 {
        groups.pop();
    }
    ladder(n, k, groups)
}

/// Builds GTEX with leaves that compete like inner nodes, for 2k entrants. The paper prints this algorithm for
/// n = 2^bl * 2k, where bl is the depth of the tree. Here it is used for other n. It is correct for leaves of at most
/// 2k processes.
pub fn gtex_leaf_as_inner(n: usize, k: usize) -> Ladder {
    let mut groups = groups(n, k);
    groups.iter_mut().for_each(|group| group.entrants = 2 * k);
    ladder(n, k, groups)
}

/// Builds EXCL with `count <= n - s`, which accepts one process too many.
pub fn excl_off_by_one(n: usize, k: usize) -> Ladder {
    let mut ladder = excl(n, k);
    ladder.competitions.iter_mut().for_each(|competition| competition.crowd += 1);
    ladder
}

/// Builds EXCL without level 1: n processes reach level 2, which is built for n - 1.
pub fn excl_no_first_level(n: usize, k: usize) -> Ladder {
    let mut ladder = excl(n, k);
    ladder.routes.iter_mut().for_each(|route| {
        route.remove(0);
    });
    ladder
}

changed_lines! {
    Ladder, Line => Next<Line>;
    /// Line 2 is dropped: no process announces that it arrived last.
    NoTurn: |a, m, p| {
        Line::L1 { s } => { m.write(a.level.at(p), a.competition(p, s).level); Goto(a.rescan(p, s, 0)) },
    }
    /// Lines 1 and 2 are swapped: a process announces that it arrived last before others can see its
    /// level.
    TurnFirst: |a, m, p| {
        Line::L1 { s } => { m.write(a.competition(p, s).turn, p as Word); Goto(Line::L2 { s }) },
        Line::L2 { s } => { m.write(a.level.at(p), a.competition(p, s).level); Goto(a.rescan(p, s, 0)) },
    }
    /// `goto L` skips `count := 0`: a process that has counted too many processes keeps this count when it counts
    /// again.
    CountKept: |a, m, p| {
        Line::L4 { s, crowded: true } => if m.read(a.competition(p, s).turn) == p as Word { Spin(a.rescan(p, s, a.competition(p, s).crowd)) } else { a.won(p, s) },
    }
    /// Line 5 is dropped: a leaving process stays at the top level.
    NoReset: |_a, _m, _p| {
        Line::L5 => Leave,
    }
}
