//! n-k levels, each of which counts who is there or above.
//! Omori et al. 2002, procedures (n, k)-EXCL and check.
//!
//! level(i): 0, or the level i has come to.   turn(s): who came to level s last, at first anybody.
//!
//! - Lemma 1: at most n-s winners at level s.
//!
//! The paper: at most (n-k)(n+2)+1 steps to get in while at most k compete (section 7). That is one
//! scan a level, but a scan is no snapshot: who leaves after it was seen and who comes before it is
//! looked at both count, and the scan has to be made again. At n = 3, k = 2 it takes up to 8 steps,
//! not 6.
//!
//! The waitfor of level s: at most n-s-1 others are at level s or above, or turn(s) /= i. It is not
//! atomic, and its parts are read in `check`'s order: levels first, then turn.

use alloc::{format, string::ToString};

use super::ladder::{Competition, Ladder};
use crate::framework::{
    layout::{Decl, Init, Layout},
    memory::Word,
};

/// (n, k)-EXCL.
pub fn excl(n: usize, k: usize) -> Ladder {
    levels(n, k, "excl", |s| n - s)
}

/// Levels 1 to n-k, where `crowd(s)` others are too many to leave level s.
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
    let ways = (0..n).map(|_| (0..top).collect()).collect();
    Ladder { n, k, figure, lemma: &["Lemma 1"], layout, level, competitions, ways }
}
