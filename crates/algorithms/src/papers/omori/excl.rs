//! An algorithm with n-k levels. At each level, a process counts the other processes at this level or
//! above. Omori et al. 2002, procedures (n, k)-EXCL and check.
//!
//! - level(i): 0, or the level that i has reached.
//! - turn(s): the last process that has reached level s; initially any process.
//!
//! - Lemma 1: there are at most n-s winners at level s.
//!
//! The paper states that a process enters its critical section within (n-k)(n+2)+1 steps while at most k processes
//! compete (Section 7). This bound assumes one scan per level. But a scan is not a snapshot. It counts a process that
//! leaves after the scan has read its level. It may also count a process that arrives only after the first one has left.
//! The two never compete at the same time, but because of both counts, the scanning process may have to scan again. For n = 3, k = 2, entering takes up to 8 steps, not 6.
//!
//! The paper's `waitfor` at level s ends when at most n-s-1 others are at level s or above, or when turn(s) /= i.
//! It is not atomic. `check` determines the order of its reads: first the levels, then turn.

use alloc::{format, string::ToString};

use super::ladder::{Competition, Ladder};
use crate::framework::{
    layout::{Decl, Init, Layout},
    memory::Word,
};

/// Builds (n, k)-EXCL.
pub fn excl(n: usize, k: usize) -> Ladder {
    levels(n, k, "excl", |s| n - s)
}

/// Builds levels 1 to n-k. A process has to wait at level s as long as no other process has reached this level
/// after it, and at least `crowd(s)` others are at this level or above.
pub(super) fn levels(
    n: usize,
    k: usize,
    figure: &'static str,
    crowd: impl Fn(usize) -> usize,
) -> Ladder {
    let mut layout = Layout::default();
    let top = n - k;
    let turn =
        layout.array(top, |s| Decl::pid(format!("turn({})", s + 1), n, Init::Open).waited_on());
    let level = layout
        .array(n, |i| Decl::number(format!("level({i})"), 0, top as Word, 0).at(i).waited_on());
    let competition = |s: usize| Competition {
        level: s as Word,
        turn: turn.at(s - 1),
        group: 0..n,
        crowd: crowd(s),
        winners: n - s,
        name: s.to_string(),
    };
    let competitions = (1..=top).map(competition).collect();
    let routes = (0..n).map(|_| (0..top).collect()).collect();
    Ladder { n, k, figure, lemma: &["Lemma 1"], layout, level, competitions, routes }
}
