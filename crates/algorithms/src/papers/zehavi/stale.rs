//! The rules that say which values of order and allow are stale (see
//! [`framework::stale`](crate::framework::stale)).
//!
//! Process p writes `order[p][i]` and `allow[p][i]`, and only i reads them. Process i reads them only after it
//! has found both cells of `discover[p][i]` set. Only p sets these cells, at line 4. Both p (line 4) and i (line 14)
//! clear them.
//!
//! There are five rules for each p and i. Line numbers without a process are lines of p:
//!
//! - Until line 7: while p is between line 2 for i and line 7 for i, `ignore[p][i]` is set, so i does not get to
//!   `order[p][i]` before p overwrites it at line 7. The exception is that i has already found `ignore[p][i]` clear.
//! - Undiscovered order: while a cell of `discover[p][i]` is clear, i does not get to `order[p][i]`. Before p has
//!   set both cells again, p has set `ignore[p][i]`, and it clears `ignore[p][i]` only after line 7. The exception
//!   is that i has already found both cells set.
//! - Undiscovered allow: while a cell of `discover[p][i]` is clear, i does not get to `allow[p][i]`. Before p sets a
//!   cell again, it writes `allow[p][i]` at line 4c. The exceptions are that p is between line 4c and the last
//!   line that sets a cell, and that i has already found the first cell set.
//! - First cell clear: this rule covers a part of the first exception of the rule above. Between line 4d and line 4f,
//!   p sets the second cell only. So if the first cell is clear, it stays clear: p finds it clear at line 4f, and
//!   clears both cells. So `allow[p][i]` is stale.
//! - Second cell clear: this rule covers a part of the second exception. If i has already found the first cell set, it
//!   next reads the second cell. If that cell is clear, and p is not about to set it (lines 4d and 4e),
//!   `allow[p][i]` is stale.

use alloc::{vec, vec::Vec};

use super::{At, Line::*, Zehavi};
use crate::{
    framework::{machine::Loc, memory::Pid, stale::StaleRule},
    papers::timestamps::Timestamps,
};

const UNTIL_LINE_7: u8 = 0;
const UNDISCOVERED_ORDER: u8 = 1;
const UNDISCOVERED_ALLOW: u8 = 2;
const FIRST_CELL_CLEAR: u8 = 3;
const SECOND_CELL_CLEAR: u8 = 4;

impl<T: Timestamps> Zehavi<T> {
    pub(super) fn rules(&self) -> Vec<StaleRule> {
        let pairs = (0..self.n).flat_map(|p| (0..self.n).map(move |i| (p, i)));
        let rules_of = |(writer, reader): (Pid, Pid)| {
            let order = self.element(self.order, writer, reader);
            let allow = self.element(self.allow, writer, reader);
            let cells = [0, 1].map(|cell| self.discovered(cell, writer, reader));
            let rule =
                |kind, var, unless_all_set| StaleRule { kind, var, writer, reader, unless_all_set };
            [
                rule(UNTIL_LINE_7, order, vec![]),
                rule(UNDISCOVERED_ORDER, order, cells.to_vec()),
                rule(UNDISCOVERED_ALLOW, allow, cells.to_vec()),
                rule(FIRST_CELL_CLEAR, allow, vec![cells[0]]),
                rule(SECOND_CELL_CLEAR, allow, vec![cells[1]]),
            ]
        };
        pairs.filter(|(p, i)| p != i).flat_map(rules_of).collect()
    }

    /// Returns whether the value of a rule may be stale while its writer is at `at`.
    pub(super) fn writer_permits(&self, kind: u8, reader: Pid, at: &Loc<At<T>>) -> bool {
        let Loc::Entry(line) = *at else { return !matches!(kind, UNTIL_LINE_7 | FIRST_CELL_CLEAR) };
        let discovers =
            matches!(line, L4d { i } | L4dSet { i } | L4e { i } | L4eSet { i } if i == reader);
        match kind {
            UNTIL_LINE_7 => match line {
                L1 { .. } => false,
                L2 { i } => i > reader,
                L7 { i, .. } => i <= reader,
                L8 { .. } => false,
                line => !self.is_waiting(line),
            },
            UNDISCOVERED_ORDER => true,
            UNDISCOVERED_ALLOW | SECOND_CELL_CLEAR => !discovers,
            _ => discovers && matches!(line, L4e { .. } | L4eSet { .. }),
        }
    }

    /// Returns whether the value of a rule may be stale while its reader is at `at`.
    pub(super) fn reader_permits(&self, kind: u8, writer: Pid, at: &Loc<At<T>>) -> bool {
        let Loc::Entry(line) = *at else { return kind != SECOND_CELL_CLEAR };
        let at_second_cell = matches!(line, L11b { i, cell: 1, .. } if i == writer);
        match kind {
            UNTIL_LINE_7 => !matches!(line, L11aii { i, part: 3, .. } if i == writer),
            UNDISCOVERED_ORDER => !matches!(line, L11aii { i, part: 2 | 3, .. } if i == writer),
            SECOND_CELL_CLEAR => at_second_cell,
            _ => !at_second_cell && !matches!(line, L11bi { i, .. } if i == writer),
        }
    }
}
