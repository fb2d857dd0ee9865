//! Variants that are wrong, as printed or on purpose. The checker must reject each, and say why.

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

/// GTEX with turn(p, q), as `gcheck` prints it: one for all nodes of a depth. Whoever comes to
/// another node lets the last one of this node pass. (Read to the letter it is worse: gcheck would
/// look at a variable that nobody ever writes.)
pub fn gtex_printed(n: usize, k: usize) -> Ladder {
    let mut groups = groups(n, k);
    for group in &mut groups {
        group.turns = group.p.to_string();
        group.writers = 0..n;
    }
    ladder(n, k, groups)
}

/// The competitions of the root left out: k winners come from each of its sons.
pub fn gtex_no_root(n: usize, k: usize) -> Ladder {
    let mut groups = groups(n, k);
    if groups.len() > 1 {
        groups.pop();
    }
    ladder(n, k, groups)
}

/// A leaf competes like an inner node, with room for 2k: what is printed for n = 2^bl 2k, used for
/// other n. It is enough for leaves of at most 2k processes.
pub fn gtex_leaf_as_inner(n: usize, k: usize) -> Ladder {
    let mut groups = groups(n, k);
    groups.iter_mut().for_each(|group| group.entrants = 2 * k);
    ladder(n, k, groups)
}

/// `count <= n - s`: one more is few enough.
pub fn excl_off_by_one(n: usize, k: usize) -> Ladder {
    let mut ladder = excl(n, k);
    ladder.competitions.iter_mut().for_each(|competition| competition.crowd += 1);
    ladder
}

/// Level 1 left out: n processes come to level 2, which is for n - 1.
pub fn excl_no_first_level(n: usize, k: usize) -> Ladder {
    let mut ladder = excl(n, k);
    ladder.ways.iter_mut().for_each(|way| {
        way.remove(0);
    });
    ladder
}

changed_lines! {
    Ladder, Line => Next<Line>;
    /// Line 2 dropped: nobody says that it came last.
    NoTurn: |a, m, p| {
        Line::L1 { s } => { m.write(a.level.at(p), a.competition(p, s).level); Goto(a.rescan(p, s, 0)) },
    }
    /// Lines 1 and 2 swapped: it says that it came last before others can see it.
    TurnFirst: |a, m, p| {
        Line::L1 { s } => { m.write(a.competition(p, s).turn, p as Word); Goto(Line::L2 { s }) },
        Line::L2 { s } => { m.write(a.level.at(p), a.competition(p, s).level); Goto(a.rescan(p, s, 0)) },
    }
    /// `goto L` goes past `count := 0`: who has counted too many once goes on counting from there.
    CountKept: |a, m, p| {
        Line::L4 { s, crowded: true } => if m.read(a.competition(p, s).turn) == p as Word { Spin(a.rescan(p, s, a.competition(p, s).crowd)) } else { a.won(p, s) },
    }
    /// Line 5 dropped: who leaves stays at the top level.
    NoReset: |_a, _m, _p| {
        Line::L5 => Leave,
    }
}
