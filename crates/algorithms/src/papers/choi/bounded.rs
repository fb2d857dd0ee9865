//! Tokens with bounded counters: Choi's Entry and Exit modulo M, without the array A. The paper leaves
//! bounded variables open (Section 4), so this algorithm is not in it.
//!
//! - entry: the number of arrivals, modulo M, and an age for each process, from 2 down to 0.
//! - exit: the number of departures, modulo M.
//!
//! An arriving process takes the next token t and may enter when t < exit + k. A leaving process
//! increments exit. So the exit section is one step, and no process can stop in the middle of it.
//!
//! Bounded counters have one problem: while a waiter sleeps, the counters can wrap around. The waiter
//! would then mistake its token for a later one. Ages solve this problem. Line 1 sets the age of its own
//! process to 2. It also decrements the age of process t mod n, if that age is above 0. So each process
//! has its age decremented once in n tokens.
//!
//! - B1: the age of a waiter becomes 0 after more than n and at most 2n tokens since the waiter's own
//!   token. From then on the waiter may enter: at most n processes are at 2..4, so exit >= entry - n >
//!   t.
//! - B2: while the age of a waiter is not 0, entry - t <= 2n, so -2n <= t - exit < n. With M = 3n, the
//!   waiter has to wait if and only if t - exit modulo M is from k to n-1. (M is a multiple of n so that
//!   t mod n stays evenly spread.)
//! - So line 2 never lets a process enter that has to wait: by B1, the age of such a process is not 0, and
//!   by B2, line 2 then decides correctly. If the age is 0, line 2 may make the process wait unnecessarily.
//!   Line 3 then finds the age 0, and lets the process enter.
//! - Tokens give exclusion, FIFE, and progress as long as fewer than k processes have stopped.
//! - I1: entry = exit + the number of processes at 2..4 (modulo M).
//! - I3: at most k processes are in their critical sections.
//!
//! Cost: O(n) remote references on a cache-coherent computer, because a waiter sees at most 2n arrivals
//! and n departures. Line 1 is a stronger primitive than fetch-and-increment. Line 4 is
//! fetch-and-increment modulo M. A real computer offers this if n is a power of two and M is 4n.
//!
//! This algorithm does not achieve O(log k). For that, it would need the array A, and ages do not bound the
//! numbers in A. A process could stop in its exit section, just before a compare-and-swap, until the numbers
//! have wrapped around and the compare-and-swap can succeed again. And cells can lag behind by more than M.

use alloc::{format, string::String, vec::Vec};

use crate::framework::{
    layout::{Codec, Decl, Init, Kind, Layout},
    machine::{
        Algorithm, Label, Loc,
        Next::{self, Enter, Goto, Leave, Spin},
        View,
    },
    memory::{Memory, Pid, Var, Word},
};

/// The maximum number of processes. It is small, because the domain lists every value of entry.
pub const MAX_PROCESSES: usize = 8;

const OLDEST: Word = 0;
const AGES: Word = 3;

/// The algorithm with bounded counters.
pub struct Bounded {
    n: usize,
    k: usize,
    /// The modulus M.
    modulus: Word,
    layout: Layout,
    entry: Var,
    pub(super) exit: Var,
}

/// The four lines. Their numbers are not those of the paper's lines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line {
    L1,
    L2 { t: Word },
    L3 { t: Word },
    L4,
}
use Line::*;

/// Returns the word that holds entry and the ages.
fn pack(modulus: Word, entry: Word, ages: &[Word]) -> Word {
    ages.iter().rev().fold(0, |rest, age| rest * AGES + age) * modulus + entry
}

fn unpack(n: usize, modulus: Word, word: Word) -> (Word, Vec<Word>) {
    let mut rest = word / modulus;
    let age = |_| {
        let age = rest % AGES;
        rest /= AGES;
        age
    };
    (word % modulus, (0..n).map(age).collect())
}

/// The format of the word that holds entry and the ages.
#[derive(Debug)]
struct EntryAndAges {
    n: usize,
    modulus: Word,
}

impl Codec for EntryAndAges {
    fn show(&self, word: Word) -> String {
        let (entry, ages) = unpack(self.n, self.modulus, word);
        format!("{entry}, ages {ages:?}")
    }
}

/// Returns M: at least 3n, and a multiple of n, so that t mod n stays evenly spread when entry wraps
/// around.
fn modulus(n: usize) -> Word {
    3 * n as Word
}

/// Executes line 1. The argument is 64 n + p.
fn arrive(word: Word, argument: Word) -> Word {
    let (n, p) = ((argument / 64) as usize, (argument % 64) as usize);
    let modulus = modulus(n);
    let (entry, mut ages) = unpack(n, modulus, word);
    let turn = entry as usize % n;
    ages[turn] = (ages[turn] - 1).max(OLDEST);
    ages[p] = AGES - 1;
    pack(modulus, (entry + 1) % modulus, &ages)
}

fn count(word: Word, modulus: Word) -> Word {
    (word + 1) % modulus
}

impl Bounded {
    /// Builds the algorithm for `n` processes, of which `k` may be in the critical section.
    pub fn new(n: usize, k: usize) -> Self {
        let modulus = modulus(n);
        let mut layout = Layout::default();
        let max = modulus * AGES.pow(n as u32) - 1;
        let kind = Kind::custom(EntryAndAges { n, modulus });
        let values = (0..=max).collect();
        let entry = layout.add(Decl::listed("Entry", kind, values, Init::Is(0)).waited_on());
        let exit = layout.add(Decl::number("Exit", 0, modulus - 1, 0).waited_on());
        Bounded { n, k, modulus, layout, entry, exit }
    }

    /// Returns whether line 2 lets token `t` enter. It does not if t - exit is from k to n-1 (modulo M).
    pub(super) fn may_enter(&self, t: Word, exit: Word) -> bool {
        let ahead = (t - exit).rem_euclid(self.modulus);
        !(self.k as Word..self.n as Word).contains(&ahead)
    }
}

impl Algorithm for Bounded {
    type State = Line;

    fn n(&self) -> usize {
        self.n
    }

    fn k(&self) -> usize {
        self.k
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&self, _: Pid) -> Line {
        L1
    }

    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: Line) -> Next<Line> {
        match at {
            L1 => {
                let word = m.atomic_update(self.entry, arrive, (64 * self.n + p) as Word);
                Goto(L2 { t: word % self.modulus })
            }
            L2 { t } => {
                if self.may_enter(t, m.read(self.exit)) {
                    Enter(L4)
                } else {
                    Goto(L3 { t })
                }
            }
            L3 { t } => {
                let (_, ages) = unpack(self.n, self.modulus, m.read(self.entry));
                if ages[p] == OLDEST { Enter(L4) } else { Spin(L2 { t }) }
            }
            L4 => {
                m.atomic_update(self.exit, count, self.modulus);
                Leave
            }
        }
    }

    fn waits(&self, _: Pid, at: Line) -> bool {
        matches!(at, L2 { .. } | L3 { .. })
    }

    fn label(&self, _: Pid, at: Line) -> Label {
        let line = match at {
            L1 => "1",
            L2 { .. } => "2",
            L3 { .. } => "3",
            L4 => "4",
        };
        Label { figure: "bounded", line: line.into(), instance: String::new() }
    }

    fn invariants(&self) -> &'static [&'static str] {
        &["I1", "I3", "B2"]
    }

    fn broken_invariant(&self, state: &View<'_, Line>) -> Option<&'static str> {
        let (entry, ages) = unpack(self.n, self.modulus, state.value(self.entry));
        let (mut waiting, mut admitted) = (0, 0);
        let mut b2 = true;
        for (p, at) in state.processes.iter().enumerate() {
            match *at {
                Loc::Entry(L2 { t } | L3 { t }) => {
                    waiting += 1;
                    let since = (entry - t).rem_euclid(self.modulus);
                    b2 &= ages[p] == OLDEST || since <= 2 * self.n as Word;
                }
                Loc::Critical(_) | Loc::Exit(_) => admitted += 1,
                _ => {}
            }
        }
        let between = (entry - state.value(self.exit)).rem_euclid(self.modulus);
        let checks =
            [("I1", between == waiting + admitted), ("I3", admitted <= self.k as Word), ("B2", b2)];
        checks.into_iter().find(|(_, holds)| !holds).map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiter_is_old_after_more_than_n_and_at_most_2n_tokens() {
        for n in 2..=MAX_PROCESSES {
            for first in 0..modulus(n) {
                let mut word = arrive(first, (64 * n) as Word); // process 0 arrives; all others are old
                let mut after = 0;
                // Only other processes arrive from now on.
                while unpack(n, modulus(n), word).1[0] != OLDEST {
                    word = arrive(word, (64 * n + 1) as Word);
                    after += 1;
                }
                assert!((n + 1..=2 * n).contains(&after), "n = {n}: after {after}");
            }
        }
    }
}
