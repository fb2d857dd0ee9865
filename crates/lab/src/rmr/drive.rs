//! A run under construction, as one observed process sees it: which process takes each step, what the run costs
//! the observed process, and how the adversary schedules the others.

use std::collections::HashMap;

use fastrand::Rng;
use hallpass_algorithms::{Pid, Word};

use super::{
    CostModel,
    simulate::{Setting, Simulation, Stepped},
};
use crate::machine::Local;

/// A run and its cost.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub initial: Vec<Word>,
    pub observed: Pid,
    pub trace: Vec<Pid>,
    /// The number of references of the observed process in its last passage of the trace.
    pub count: u32,
    /// If the last state of the trace has occurred before in the same passage: the number of steps up to that
    /// occurrence. The run compares only hashes of states.
    pub recurs: Option<usize>,
}

/// The way in which the other processes are scheduled. Each run draws its own style.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// The probability that the observed process takes a step while it can.
    eager: f32,
    /// The probability that the first movable process in the order of the run is chosen, instead of a
    /// random process.
    rank: f32,
    /// The probability that a process may be made to leave its remainder.
    refill: f32,
    /// The probability that a process runs until it has to wait, instead of taking a few steps.
    whole: f32,
    /// The maximum number of steps that a process takes, unless it runs until it has to wait.
    burst: usize,
    /// The probability that all others take as many steps as possible before the observed process takes a step.
    fill: f32,
    /// The probability that the adversary tries to make the next step of the observed process more expensive.
    meddle: f32,
    /// The probability that the adversary looks for one process that can release the observed process.
    focus: f32,
    /// The probability that the others stop moving once the observed process no longer has to wait.
    freeze: f32,
}

impl Style {
    /// Creates the style in which all processes take steps with the same probability.
    pub fn uniform(n: usize) -> Self {
        let eager = 1.0 / n as f32;
        let none = 0.0;
        Style {
            eager,
            rank: none,
            refill: 1.0,
            whole: none,
            burst: 1,
            fill: none,
            meddle: none,
            focus: none,
            freeze: none,
        }
    }

    /// Creates the style in which only one other process takes steps: the process that does the most harm, or
    /// the process that has to release the observed process.
    pub fn adversary() -> Self {
        let always = 1.0;
        Style {
            eager: always,
            rank: 0.0,
            refill: 0.5,
            whole: always,
            burst: 1,
            fill: 0.0,
            meddle: always,
            focus: always,
            freeze: always,
        }
    }

    pub fn draw(rng: &mut Rng) -> Self {
        let pick = |rng: &mut Rng, from: &[f32]| from[rng.usize(..from.len())];
        Style {
            eager: pick(rng, &[0.5, 0.9, 1.0, 1.0]),
            rank: pick(rng, &[0.0, 0.5, 0.9, 1.0]),
            refill: pick(rng, &[0.1, 0.5, 1.0, 1.0]),
            whole: pick(rng, &[0.0, 0.5, 0.9, 1.0]),
            burst: [1, 2, 4, 16][rng.usize(..4)],
            fill: pick(rng, &[0.0, 0.0, 0.02, 0.3]),
            meddle: pick(rng, &[0.0, 0.1, 0.5, 1.0]),
            focus: pick(rng, &[0.0, 0.5, 1.0]),
            freeze: pick(rng, &[0.5, 0.9, 1.0]),
        }
    }
}

/// A run under construction.
#[derive(Clone)]
pub(super) struct Run<'a> {
    pub setting: &'a Setting,
    pub model: CostModel,
    pub observed: Pid,
    pub now: Simulation,
    pub trace: Vec<Pid>,
    /// The number of simulated steps.
    pub steps: u64,
    initial: Vec<Word>,
    /// All processes, in the order that some styles prefer.
    order: Vec<Pid>,
    /// The latest steps of the observed process, as long as they cost nothing and write nothing. For each step: the
    /// private state before it, and the variable that it read, if any.
    trail: Vec<(Local, Option<usize>)>,
    /// Whether the trail has returned to an earlier state. If so, the process waits: its own steps
    /// change nothing and cost nothing.
    waits: bool,
    /// The other processes that are known to wait, one bit each. Moving them changes nothing.
    stuck: u64,
    /// For each variable: the processes that may wait for a write to it.
    waiters: Vec<u64>,
    /// Hashes of the states right after each remote reference of the passage, with the length of the
    /// trace at that point.
    seen: HashMap<u64, usize, foldhash::fast::FixedState>,
    /// The count of the worst passage so far, and the length of the trace at its last step.
    best: (u32, usize),
    recurs: Option<usize>,
}

/// The maximum number of steps that one process takes without having to wait. It prevents endless runs.
const LONGEST_BURST: usize = 4096;

impl<'a> Run<'a> {
    pub fn new(setting: &'a Setting, model: CostModel, observed: Pid, initial: Vec<Word>) -> Self {
        Run {
            setting,
            model,
            observed,
            now: Simulation::new(setting, initial.clone()),
            trace: Vec::new(),
            steps: 0,
            initial,
            order: (0..setting.n()).collect(),
            trail: Vec::new(),
            waits: false,
            stuck: 0,
            waiters: vec![0; setting.machine.layout().decls().len()],
            seen: HashMap::default(),
            best: (0, 0),
            recurs: None,
        }
    }

    /// Returns whether the run cannot be extended.
    pub fn is_over(&self) -> bool {
        self.recurs.is_some() || self.now.out_of_range
    }

    /// Executes a step of `p`, if `p` may take one. The trace omits steps that change nothing.
    pub fn step(&mut self, p: Pid) -> Option<Stepped> {
        if self.is_over() {
            return None;
        }
        let from = self.now.locals[p];
        let done = self.now.step(self.setting, p)?;
        self.steps += 1;
        let remote = p == self.observed && done.remote.of(self.model) > 0;
        if done.changed || remote {
            self.trace.push(p);
        }
        if let Some(var) = done.var.filter(|_| done.wrote) {
            self.stuck &= !std::mem::take(&mut self.waiters[var]);
        }
        if p == self.observed {
            self.observe(from, &done, remote);
        } else if done.wrote && self.trail.iter().any(|&(_, var)| var == done.var) {
            self.trail.clear();
            self.waits = false;
        }
        Some(done)
    }

    /// Records a step of the observed process.
    fn observe(&mut self, from: Local, done: &Stepped, remote: bool) {
        let p = self.observed;
        if done.began {
            self.seen.clear();
        }
        if remote || done.wrote || done.began || done.left {
            self.trail.clear();
            self.waits = false;
        } else {
            self.trail.push((from, done.var));
            let here = self.now.locals[p];
            self.waits = self.trail.iter().any(|&(at, _)| at == here);
        }
        let count = self.now.counts[p].of(self.model);
        // The last step of a passage belongs to the passage, even if it costs nothing.
        if count > self.best.0 || done.left && count == self.best.0 {
            self.best = (count, self.trace.len());
        }
        if remote && !self.now.rests(p) {
            let hash = self.now.hash_for(p, self.model);
            self.recurs = self.seen.insert(hash, self.trace.len());
        }
    }

    /// Moves `q` until it has to wait, enters its critical section, or returns to its remainder. With
    /// `freeze`, also stops as soon as the observed process no longer has to wait.
    pub fn run_on(&mut self, q: Pid, freeze: bool) {
        let waited = self.waits;
        let mut visited: Vec<(Local, Option<usize>)> = Vec::new();
        for _ in 0..LONGEST_BURST {
            let from = self.now.locals[q];
            let Some(done) = self.step(q) else {
                return;
            };
            if done.wrote {
                visited.clear();
            } else {
                visited.push((from, done.var));
            }
            let here = self.now.locals[q];
            if let Some(first) = visited.iter().position(|&(at, _)| at == here) {
                self.stuck |= 1 << q;
                for var in visited[first..].iter().filter_map(|&(_, var)| var) {
                    self.waiters[var] |= 1 << q;
                }
                return;
            }
            let woken = waited && !self.waits;
            if done.left || self.setting.is_critical(q, here) || woken && freeze {
                return;
            }
        }
    }

    /// Draws a new order of preference.
    pub fn shuffle(&mut self, rng: &mut Rng) {
        rng.shuffle(&mut self.order);
    }

    /// Chooses another process that may take a step. Chooses a process in its remainder only with `refill`.
    fn other(&self, style: &Style, rng: &mut Rng, refill: bool) -> Option<Pid> {
        let n = self.setting.n();
        let full = self.now.outside >= self.room();
        let first = if rng.f32() < style.rank { 0 } else { rng.usize(..n) };
        (0..n)
            .map(|offset| self.order[(first + offset) % n])
            .filter(|&q| q != self.observed && !self.is_stuck(q))
            .find(|&q| !self.now.rests(q) || refill && !full)
    }

    /// Returns the maximum number of other processes outside their remainder, so that the observed
    /// process can still leave its own.
    fn room(&self) -> usize {
        let kept = usize::from(self.now.rests(self.observed));
        self.setting.contention.saturating_sub(kept).max(1)
    }

    /// Moves one other process.
    pub fn disturb(&mut self, style: &Style, rng: &mut Rng) {
        let refill = rng.f32() < style.refill;
        // If no process outside its remainder can be moved, a process in its remainder is moved even without `refill`.
        let Some(q) = self.other(style, rng, refill).or_else(|| self.other(style, rng, true))
        else {
            return;
        };
        if rng.f32() < style.whole {
            self.run_on(q, rng.f32() < style.freeze);
        } else {
            self.burst(q, 1 + rng.usize(..style.burst));
        }
    }

    /// Moves `q` by this many steps.
    pub fn burst(&mut self, q: Pid, steps: usize) {
        for _ in 0..steps {
            if self.step(q).is_none() {
                return;
            }
        }
    }

    /// Moves all others as far as possible, in random order.
    pub fn fill(&mut self, rng: &mut Rng) {
        let mut others: Vec<Pid> = (0..self.setting.n()).filter(|&q| q != self.observed).collect();
        rng.shuffle(&mut others);
        for q in others {
            let full = self.now.rests(q) && self.now.outside >= self.room();
            if !full && !self.is_stuck(q) && !self.now.is_critical(self.setting, q) {
                self.run_on(q, false);
            }
        }
    }

    /// Moves all others in turn, until each has changed variables this many times, or waits.
    pub fn line_up(&mut self, changes: usize) {
        for index in 0..self.order.len() {
            let q = self.order[index];
            let full = self.now.rests(q) && self.now.outside >= self.room();
            if q != self.observed && !full {
                (0..changes).for_each(|_| self.advance(q));
            }
        }
    }

    /// Returns whether `q` is known to wait.
    pub fn is_stuck(&self, q: Pid) -> bool {
        self.stuck >> q & 1 == 1
    }

    /// Returns whether the observed process reads `var` while it waits.
    pub fn awaits(&self, var: usize) -> bool {
        self.trail.iter().any(|&(_, seen)| seen == Some(var))
    }

    /// Prepares the passage: makes earlier passages, and schedules the others.
    pub fn prepare(&mut self, style: &Style, rng: &mut Rng) {
        let n = self.setting.n();
        if rng.bool() {
            for _ in 0..rng.usize(..4 * n) {
                let p = rng.usize(..n);
                if !self.now.rests(p) || self.now.outside < self.room() {
                    self.burst(p, 1 + rng.usize(..16));
                }
            }
        }
        match rng.u8(..6) {
            0 => {}
            1 | 2 => self.line_up(1 + rng.usize(..2)),
            3 => (0..rng.usize(..4 * n)).for_each(|_| self.disturb(style, rng)),
            _ => self.fill(rng),
        }
    }

    /// Completes a passage of the observed process, if this takes at most `limit` steps.
    pub fn finish(&mut self, style: &Style, rng: &mut Rng, limit: u64) {
        let last = self.steps + limit;
        let n = self.setting.n();
        let mut begun = !self.now.rests(self.observed);
        let mut idle = 0;
        while self.steps < last && idle < 16 * n && !self.is_over() {
            if rng.f32() < style.fill {
                self.fill(rng);
            }
            if !self.waits && rng.f32() < style.eager {
                if rng.f32() < style.meddle {
                    self.meddle(rng);
                }
                let done = self.step(self.observed);
                begun |= done.is_some_and(|done| done.began);
                if done.is_some() {
                    idle = 0;
                    if begun && self.now.rests(self.observed) {
                        return;
                    }
                    continue;
                }
            }
            let before = self.trace.len();
            let focus = self.waits && rng.f32() < style.focus;
            if !(focus && self.release(rng)) {
                self.disturb(style, rng);
            }
            idle = if self.trace.len() > before { 0 } else { idle + 1 };
        }
    }

    /// Returns whether the observed process has completed a passage and has not begun another one since.
    pub fn has_ended_passage(&self) -> bool {
        self.best.1 > 0 && self.now.rests(self.observed)
    }

    /// Returns the run up to its worst passage.
    pub fn candidate(mut self) -> Candidate {
        let (count, length) = self.best;
        if self.recurs.is_none() {
            self.trace.truncate(length);
        }
        Candidate {
            initial: self.initial,
            observed: self.observed,
            trace: self.trace,
            count,
            recurs: self.recurs,
        }
    }
}
