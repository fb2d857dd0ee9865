//! Deliberately wrong variants. The lab must reject each of them and name the violation.

use super::{Line::*, *};
use crate::changed_lines;

changed_lines! {
    Turnstile, Line => Next<Line>;
    /// Line E3 draws a number without checking that it is the number for which the process found room.
    NoCompare: |s, m, _p| {
        E3 { .. } => {
            m.fetch_add(s.drawn, 1);
            Enter(X1)
        },
    }

    /// Line E4 draws no number, so newcomers can overtake a waiter any number of times.
    NoNumber: |s, m, _p| {
        E4 => {
            m.read(s.drawn);
            Goto(E1 { last: true })
        },
    }

    /// Line X1 does not count the exit.
    NoExit: |s, m, _p| {
        X1 => {
            m.read(s.exits);
            Leave
        },
    }
}
