//! The lines of the paper's Algorithm 1.

use alloc::{format, string::String};

use crate::framework::{memory::Pid, pids::Pids};

/// The processes that come before p, and those of them that p still waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ahead {
    /// The processes that the Scan of p has ordered before p.
    pub before: Pids,
    /// The processes that p still waits for: the paper's `precede`.
    pub precede: Pids,
}

impl Ahead {
    /// Executes `precede.delete(i)`.
    pub(super) fn without(self, i: Pid) -> Self {
        Ahead { precede: self.precede.without(i), ..self }
    }
}

/// The line that a process p executes next. `i` is the loop variable. `L` and `S` are the positions in Label (line 3)
/// and Scan (line 6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line<L, S> {
    L1 {
        i: Pid,
    },
    L2 {
        i: Pid,
    },
    L3(L),
    /// The condition of line 4 reads cell 0 or 1 of `discover[p][i]`.
    L4 {
        i: Pid,
        cell: u8,
    },
    L4a {
        i: Pid,
    },
    L4b {
        i: Pid,
    },
    L4c {
        i: Pid,
    },
    L4d {
        i: Pid,
    },
    /// Line 4d has found `reveal` set.
    L4dSet {
        i: Pid,
    },
    L4e {
        i: Pid,
    },
    /// Line 4e has found `reveal` set.
    L4eSet {
        i: Pid,
    },
    /// The condition of line 4f reads cell 0 or 1 of `discover[p][i]`.
    L4f {
        i: Pid,
        cell: u8,
    },
    L4fi {
        i: Pid,
    },
    L4fii {
        i: Pid,
    },
    L5,
    L6(S),
    L7 {
        i: Pid,
        before: Pids,
    },
    L8 {
        i: Pid,
        before: Pids,
    },
    L11ai {
        i: Pid,
        ahead: Ahead,
    },
    /// The condition of line 11(a)ii has four parts. `part`, 0 to 3, is the part that comes next.
    L11aii {
        i: Pid,
        part: u8,
        ahead: Ahead,
    },
    /// The condition of line 11(b) reads cell 0 or 1 of `discover[i][p]`.
    L11b {
        i: Pid,
        cell: u8,
        ahead: Ahead,
    },
    L11bi {
        i: Pid,
        ahead: Ahead,
    },
    L12 {
        i: Pid,
        before: Pids,
    },
    L13,
    L14a {
        i: Pid,
    },
    L14b {
        i: Pid,
    },
    L15 {
        i: Pid,
    },
}
use Line::*;

impl<L, S> Line<L, S> {
    /// Returns the line as printed, and the value of the loop variable.
    #[rustfmt::skip]
    pub(super) fn printed(self) -> (&'static str, String) {
        let (line, i) = match self {
            L3(_) => ("3", None), L6(_) => ("6", None),
            L5 => ("5", None), L13 => ("13", None),
            L1 { i } => ("1", Some(i)), L2 { i } => ("2", Some(i)),
            L4 { i, .. } => ("4", Some(i)), L4a { i } => ("4a", Some(i)), L4b { i } => ("4b", Some(i)), L4c { i } => ("4c", Some(i)),
            L4d { i } | L4dSet { i } => ("4d", Some(i)), L4e { i } | L4eSet { i } => ("4e", Some(i)),
            L4f { i, .. } => ("4f", Some(i)), L4fi { i } => ("4(f)i", Some(i)), L4fii { i } => ("4(f)ii", Some(i)),
            L7 { i, .. } => ("7", Some(i)), L8 { i, .. } => ("8", Some(i)),
            L11ai { i, .. } => ("11(a)i", Some(i)), L11aii { i, .. } => ("11(a)ii", Some(i)),
            L11b { i, .. } => ("11b", Some(i)), L11bi { i, .. } => ("11(b)i", Some(i)),
            L12 { i, .. } => ("12", Some(i)),
            L14a { i } => ("14a", Some(i)), L14b { i } => ("14b", Some(i)), L15 { i } => ("15", Some(i)),
        };
        (line, i.map_or_else(String::new, |i| format!("{i}")))
    }
}
