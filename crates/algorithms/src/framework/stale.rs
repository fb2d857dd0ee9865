//! Stale values: no process can read such a value before a process overwrites it.
//!
//! States that differ only in stale values behave alike. An algorithm may list rules that say which values are stale.
//! The lab can then explore one state instead of many. The lab does not trust the rules. On every step that it
//! explores, it verifies that no process reads a stale value, and that a stale value stays stale until a process
//! overwrites it.

use alloc::vec::Vec;

use super::memory::{Pid, Var};

/// A rule that says when the value of a variable is stale.
///
/// The value is stale if the positions of both processes permit this
/// ([`Algorithm::permits_stale`](super::machine::Algorithm::permits_stale)), and if not all variables of
/// `unless_all_set` are set. If that list is empty, only the positions matter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StaleRule {
    /// A number by which the algorithm distinguishes its rules.
    pub kind: u8,
    /// The variable whose value may be stale.
    pub var: Var,
    /// The process that writes the variable.
    pub writer: Pid,
    /// The process that reads the variable.
    pub reader: Pid,
    /// Flags: the value is visible to the reader only while all of them are set. No rule may say that one of these
    /// flags is stale.
    pub unless_all_set: Vec<Var>,
}
