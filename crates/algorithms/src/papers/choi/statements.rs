//! The observations about steps in the proof of Choi's algorithm, and Lemma 4. Choi 2011, Sections 3.4 and 3.5.
//!
//! Notation: an arriving process takes the token t from entry. The token t' of a leaving process is the number that it
//! takes from exit, plus k (see [`algorithm`](super::algorithm)). En(t), "t is enabled", means that some cell on which
//! the holder of t waits has reached the round of t.
//!
//! - O1, O2: entry and exit only increase, each by 1, entry at line 1 and exit at line 3.
//! - O3: a cell only increases, at line 9.
//! - O5: the largest t' of all processes is exit + k - 1. As in Section 2.2, t' is k - 1 at the start.
//! - O6: no two processes have the same token. This is checked for processes that have taken one.
//! - O6-printed: O6 for all processes. At the start, all tokens have the same value.
//! - O7: En(t) never goes from true to false. This is checked for the tokens from one round (N tokens) before exit
//!   up to one round after exit + k, as in [`invariants`](super::invariants).
//! - Lemma-4: a process at line 2 with token t is enabled if and only if En(t).
//!
//! The model does not store tokens of processes that have passed line 2, nor t' of processes that have
//! left. So O5 and O6 use the history, which has two bits for each process. These bits store the lag: how far
//! the token or t' of the process is behind the newest one. A lag above 3 is stored as 3. This is enough: as long as
//! O1 holds, tokens only grow, so a token that does not equal the newest token never equals a later one. As long as O2
//! holds, this is also true of t'.

use super::algorithm::{
    Choi,
    Line::{self, L1, L2, L3, L7, L9},
    Token,
};
use crate::framework::{
    machine::{Loc, View},
    memory::{Pid, Var, Word},
    statement::{Observed, RunStatement, Side, Transition},
};

/// The statements about runs.
pub const ALL: &[RunStatement] = &[
    RunStatement::always("O1"),
    RunStatement::always("O2"),
    RunStatement::always("O3"),
    RunStatement::always("O5"),
    RunStatement::always("O6"),
    RunStatement::always("O6-printed"),
    RunStatement::always("O7"),
    RunStatement::enabled("Lemma-4"),
];

/// The maximum number of processes whose histories fit.
const MAX_PROCESSES: usize = 15;

/// Evaluates a statement on a step.
pub(super) fn observe(
    choi: &Choi,
    statement: &str,
    history: u32,
    step: &Transition<'_, Line>,
) -> Observed {
    let is_at =
        |line: fn(&Loc<Line>) -> bool| step.mover.is_some_and(|p| line(&step.before.processes[p]));
    match statement {
        "O1" => counts_up(step, choi.entry, is_at(|at| matches!(at, Loc::Entry(L1)))),
        "O2" => counts_up(step, choi.exit, is_at(|at| matches!(at, Loc::Exit(L3)))),
        "O3" => {
            let at_9 = is_at(|at| matches!(at, Loc::Exit(L9 { .. })));
            let cells = (0..choi.cells() as usize).map(|f| change(step, choi.a.at(f)));
            cells.fold(Observed::default(), |all, change| {
                all.any(Observed::implication(change != 0, change > 0 && at_9))
            })
        }
        "O5" => highest_left(choi, history, step),
        "O6" => different_tokens(choi, history, step, false),
        "O6-printed" => different_tokens(choi, history, step, true),
        _ => stays_enabled(choi, step),
    }
}

/// Returns by how much a step increases a variable.
fn change(step: &Transition<'_, Line>, var: Var) -> Word {
    step.after.value(var) - step.before.value(var)
}

/// Evaluates: a step at the line increases `var` by 1, and no other step changes it.
fn counts_up(step: &Transition<'_, Line>, var: Var, at_line: bool) -> Observed {
    let found = change(step, var) != Word::from(at_line);
    Observed { history: 0, applies: at_line || found, found }
}

/// Returns the lag of each process. The history has two bits for each lag.
fn lags(choi: &Choi, history: u32) -> impl Iterator<Item = (Pid, Word)> {
    (0..choi.n.min(MAX_PROCESSES)).map(move |p| (p, Word::from(history >> (2 * p) & 3)))
}

/// Packs lags. A lag above 3 becomes 3.
fn pack(lags: impl Iterator<Item = (Pid, Word)>) -> u32 {
    lags.fold(0, |history, (p, lag)| history | (lag.clamp(0, 3) as u32) << (2 * p))
}

/// Evaluates O5. The lag of a process is exit + k - 1 - t'.
fn highest_left(choi: &Choi, history: u32, step: &Transition<'_, Line>) -> Observed {
    let exit = step.after.value(choi.exit);
    let passed = change(step, choi.exit);
    let taken = step.mover.and_then(|p| match step.after.processes[p] {
        Loc::Exit(L7 { u }) if step.before.processes[p] == Loc::Exit(L3) => {
            Some((p, exit + choi.k as Word - 1 - choi.unparse(u.last)))
        }
        _ => None,
    });
    let new = lags(choi, history).map(|(p, lag)| match taken {
        Some((mover, lag)) if mover == p => (p, lag),
        _ => (p, lag + passed),
    });
    let (mut least, mut packed) = (Word::MAX, 0);
    for (p, lag) in new {
        least = least.min(lag);
        packed |= pack(core::iter::once((p, lag)));
    }
    Observed { history: packed, applies: true, found: least != 0 }
}

/// Evaluates O6. If a process has taken a token, its lag is entry minus the token, and this is at least 1. If
/// it has not taken a token yet, its lag is 0.
fn different_tokens(
    choi: &Choi,
    history: u32,
    step: &Transition<'_, Line>,
    from_the_start: bool,
) -> Observed {
    let entry = step.after.value(choi.entry);
    let passed = change(step, choi.entry);
    let taken = step.mover.and_then(|p| match step.after.processes[p] {
        Loc::Entry(L2 { t, .. }) if step.before.processes[p] == Loc::Entry(L1) => {
            Some((p, entry - choi.unparse(t)))
        }
        _ => None,
    });
    let new = |(p, lag): (Pid, Word)| match taken {
        Some((mover, lag)) if mover == p => (p, lag),
        _ if lag == 0 => (p, 0),
        _ => (p, lag + passed),
    };
    let packed = pack(lags(choi, history).map(new));
    let same = |(p, lag): (Pid, Word), (q, other): (Pid, Word)| {
        // A lag of 3 also stands for all larger lags.
        p < q && lag == other && lag < 3 && (lag > 0 || from_the_start)
    };
    let found = lags(choi, packed).any(|one| lags(choi, packed).any(|other| same(one, other)));
    Observed { history: packed, applies: true, found }
}

/// Evaluates O7.
fn stays_enabled(choi: &Choi, step: &Transition<'_, Line>) -> Observed {
    let exit = step.before.value(choi.exit);
    let tokens = exit - choi.cells()..exit + choi.k as Word + choi.cells();
    tokens.fold(Observed::default(), |all, t| {
        let [before, after] = [&step.before, &step.after].map(|state| en(choi, state, t));
        all.any(Observed::implication(before, after))
    })
}

/// Evaluates En(t): some cell on which the holder of t waits has reached the round of t.
fn en(choi: &Choi, state: &View<'_, Line>, t: Word) -> bool {
    let Token { e, i, j } = choi.parse(t);
    choi.parameters.wait[j as usize].iter().any(|&w| state.value(choi.cell(i, w)) >= e)
}

/// Evaluates one side of Lemma 4. `If`: the process is at line 2. `Then`: it is at line 2, and En(t) holds for its
/// token t.
pub(super) fn waits_and_may_enter(choi: &Choi, side: Side, p: Pid, state: &View<'_, Line>) -> bool {
    let Loc::Entry(L2 { t, .. }) = state.processes[p] else { return false };
    side == Side::If || en(choi, state, choi.unparse(t))
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;
    use crate::papers::choi::algorithm::Update;

    /// Returns whether a step of process 0 from the state `before` to the state `after` contradicts the statement.
    /// A state consists of the positions of both processes, and the memory: entry, exit and the two cells.
    fn contradicts(
        statement: &str,
        before: (&[Loc<Line>], &[Word]),
        after: (&[Loc<Line>], &[Word]),
    ) -> bool {
        let choi = Choi::new(2, 1);
        let view = |(processes, memory)| View { processes, memory };
        let step = Transition { mover: Some(0), before: view(before), after: view(after) };
        // For O6, process 1 has the newest token, entry - 1. The other statements in these tests use no history.
        let history = match statement {
            "O6" => pack([(1, 1)].into_iter()),
            _ => 0,
        };
        observe(&choi, statement, history, &step).found
    }

    fn waiting(choi: &Choi, t: Word) -> Loc<Line> {
        Loc::Entry(L2 { t: choi.parse(t), w: 0 })
    }

    #[test]
    fn statements_about_steps_can_be_contradicted() {
        let choi = Choi::new(2, 1);
        let (at_1, other) = (Loc::Entry(L1), Loc::Remainder);
        let has_5: Vec<_> = vec![waiting(&choi, 5), other];
        // Line 1 draws token 5.
        let drawn =
            |entry| contradicts("O1", (&[at_1, other], &[5, 5, 3, 2]), (&has_5, &[entry, 5, 3, 2]));
        assert_eq!([5, 6, 7].map(drawn), [true, false, true], "O1");
        let tokens = |t: Word| {
            contradicts(
                "O6",
                (&[at_1, other], &[5, 5, 3, 2]),
                (&[waiting(&choi, t), other], &[6, 5, 3, 2]),
            )
        };
        assert_eq!([4, 5].map(tokens), [true, false], "O6");
        let last = choi.parse(6);
        let leaves = Loc::Exit(L7 { u: Update { last, r: 0, second: false } });
        let counted = |exit| {
            contradicts(
                "O2",
                (&[Loc::Exit(L3), other], &[6, 5, 3, 3]),
                (&[leaves, other], &[6, exit, 3, 3]),
            )
        };
        assert_eq!([5, 6, 7].map(counted), [true, false, true], "O2");
        // Process 0 is at line 2, which must not change a cell.
        let cells = |cell| contradicts("O3", (&has_5, &[6, 5, 3, 2]), (&has_5, &[6, 5, cell, 2]));
        assert_eq!([2, 3, 4].map(cells), [true, false, true], "O3");
        let enabled = |cell| contradicts("O7", (&has_5, &[6, 5, 3, 3]), (&has_5, &[6, 5, 3, cell]));
        assert_eq!([2, 3, 4].map(enabled), [true, false, false], "O7");
    }
}
