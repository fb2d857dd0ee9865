//! An adversary that looks a few steps ahead. Before the observed process takes a step, the adversary looks for
//! a process that can make this step more expensive. While the observed process waits, the adversary
//! looks for a single process that can release it, and schedules only that process.

use fastrand::Rng;
use hallpass_algorithms::Pid;

use super::{drive::Run, simulate::Simulation};
use crate::machine::Local;

/// The number of steps of the observed process that the adversary looks ahead.
const AHEAD: usize = 12;
/// The limit on the steps of another process up to a write that the adversary considers.
const NEAR: usize = 64;
/// The limit on the steps of another process that release the observed process.
const FAR: usize = 4096;
/// The number of writes of another process that the adversary considers.
const WRITES: usize = 2;

/// The private states of a process that runs alone.
struct Solo {
    visited: Vec<Local>,
}

impl Solo {
    fn new() -> Self {
        Solo { visited: Vec::new() }
    }

    /// Records a step. Returns whether the process waits: it is back at an earlier state and has only
    /// read since then.
    fn waits(&mut self, from: Local, here: Local, wrote: bool) -> bool {
        if wrote {
            self.visited.clear();
        } else {
            self.visited.push(from);
        }
        self.visited.contains(&here)
    }
}

impl Run<'_> {
    /// Simulates the next steps of the observed process while no other process takes a step. Returns whether it
    /// has to wait, and how many references its passage has made by then.
    fn outlook(&mut self, mut state: Simulation) -> (bool, u32) {
        let p = self.observed;
        let mut solo = Solo::new();
        for _ in 0..AHEAD {
            let from = state.locals[p];
            let Some(done) = state.step(self.setting, p) else {
                break;
            };
            self.steps += 1;
            if solo.waits(from, state.locals[p], done.wrote) {
                return (true, state.counts[p].of(self.model));
            }
            if done.left {
                break;
            }
        }
        (false, state.counts[p].of(self.model))
    }

    /// Returns the other processes that may take a step, starting with a random one.
    fn others(&self, rng: &mut Rng) -> Vec<Pid> {
        let n = self.setting.n();
        let first = rng.usize(..n);
        let full = self.now.outside >= self.setting.contention;
        (0..n)
            .map(|offset| (first + offset) % n)
            .filter(|&q| q != self.observed && !self.is_stuck(q) && !(full && self.now.rests(q)))
            .collect()
    }

    /// If one of the next [`WRITES`] writes of `q` is to `var`, returns the number of steps to this write, and the
    /// state after it.
    fn until_write(&mut self, q: Pid, var: usize) -> Option<(usize, Simulation)> {
        let mut state = self.now.clone();
        let mut solo = Solo::new();
        let mut writes = 0;
        for steps in 1..=NEAR {
            let from = state.locals[q];
            let done = state.step(self.setting, q)?;
            self.steps += 1;
            if done.wrote {
                if done.var == Some(var) {
                    return Some((steps, state));
                }
                writes += 1;
            }
            if writes == WRITES || solo.waits(from, state.locals[q], done.wrote) {
                return None;
            }
        }
        None
    }

    /// Lets another process write the variable that the observed process is about to access, if this
    /// makes the observed process wait or makes its access more expensive. If no write has this effect,
    /// the adversary sometimes makes a write anyway, because two writes together may have an effect that
    /// neither has alone.
    pub fn meddle(&mut self, rng: &mut Rng) {
        let mut next = self.now.clone();
        let Some(var) = next.step(self.setting, self.observed).and_then(|done| done.var) else {
            return;
        };
        let mut best = self.outlook(self.now.clone());
        let (mut choice, mut any) = (None, None);
        for q in self.others(rng) {
            if let Some((steps, state)) = self.until_write(q, var) {
                any = Some((q, steps));
                let outlook = self.outlook(state);
                if outlook > best {
                    best = outlook;
                    choice = any;
                }
            }
        }
        if let Some((q, steps)) = choice.or(any.filter(|_| rng.u8(..4) == 0)) {
            self.burst(q, steps);
        }
    }

    /// Finds a process that can release the observed process by its own steps alone, and executes
    /// exactly these steps. Returns whether there is such a process.
    pub fn release(&mut self, rng: &mut Rng) -> bool {
        for q in self.others(rng) {
            if self.now.rests(q) {
                continue;
            }
            let mut state = self.now.clone();
            let mut solo = Solo::new();
            for steps in 1..=FAR {
                let from = state.locals[q];
                let Some(done) = state.step(self.setting, q) else {
                    break;
                };
                self.steps += 1;
                if done.wrote && done.var.is_some_and(|var| self.awaits(var)) {
                    self.burst(q, steps);
                    return true;
                }
                if done.left || solo.waits(from, state.locals[q], done.wrote) {
                    break;
                }
            }
        }
        false
    }

    /// Moves `q` up to and including its next write. A failed read-modify-write does not count as one. Stops earlier if
    /// `q` waits at a line, or after [`NEAR`] steps.
    pub fn advance(&mut self, q: Pid) {
        for _ in 0..NEAR {
            let from = self.now.locals[q];
            match self.step(q) {
                Some(done) if !done.wrote && (done.began || self.now.locals[q] != from) => {}
                Some(done) if done.failed => {}
                _ => return,
            }
        }
    }
}
