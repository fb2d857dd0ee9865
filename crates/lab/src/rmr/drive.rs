//! A run in the making, observed from one process: who moves, what it costs that process, and the
//! ways an adversary moves the others.

use std::collections::HashMap;

use fastrand::Rng;
use hallpass_algorithms::{Pid, Word};

use super::{
    CostModel,
    simulate::{Rules, Simulation, Stepped},
};
use crate::machine::Local;

/// A run and what it costs.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub initial: Vec<Word>,
    pub observed: Pid,
    pub trace: Vec<Pid>,
    /// The references of the observed process's last passage in the trace.
    pub count: u32,
    /// If the state at the end of the trace was there before in the same passage: after how many
    /// steps.
    pub recurs: Option<usize>,
}

/// How the others are moved, which is drawn anew for each run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// How likely the observed process moves while it can.
    eager: f32,
    /// How likely the first in the run's order that can move is chosen, rather than any.
    rank: f32,
    /// How likely one that is in its remainder is made to leave it.
    refill: f32,
    /// How likely a process runs until it has to wait, rather than for a few steps.
    whole: f32,
    /// How many those few are at most.
    burst: usize,
    /// How likely all others are brought as far as they get before the observed process moves.
    fill: f32,
    /// How likely somebody is sought who can spoil the observed process's next move.
    meddle: f32,
    /// How likely the one who can release the observed process is sought while it waits.
    focus: f32,
    /// How likely the others freeze once the observed process need not wait any more.
    freeze: f32,
}

impl Style {
    /// Everybody moves, step by step, whoever it is.
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

    /// The others stay where they are, but for the one that spoils most or has to make way.
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

/// A run in the making.
#[derive(Clone)]
pub(super) struct Run<'a> {
    pub rules: &'a Rules,
    pub model: CostModel,
    pub observed: Pid,
    pub now: Simulation,
    pub trace: Vec<Pid>,
    /// How many steps have been simulated.
    pub steps: u64,
    initial: Vec<Word>,
    /// All processes, in the order in which some styles prefer them.
    order: Vec<Pid>,
    /// The latest own steps of the observed process, as long as they are reads that cost nothing:
    /// where it was, and what it read.
    trail: Vec<(Local, Option<usize>)>,
    /// Whether the trail has come back to where it was, so that it waits: its own steps change
    /// and cost nothing.
    waits: bool,
    /// The other processes that wait, as far as it is known: moving them changes nothing.
    stuck: u64,
    /// For each variable, those that may wait for it to be written.
    waiters: Vec<u64>,
    /// States of the passage right after a remote reference, as hashes, and how long the trace
    /// was then.
    seen: HashMap<u64, usize, foldhash::fast::FixedState>,
    /// The worst passage so far: its count, and how long the trace was at its last step.
    best: (u32, usize),
    recurs: Option<usize>,
}

/// How long one process may run without having to wait, so that nothing runs for ever.
const LONGEST_BURST: usize = 4096;

impl<'a> Run<'a> {
    pub fn new(rules: &'a Rules, model: CostModel, observed: Pid, initial: Vec<Word>) -> Self {
        Run {
            rules,
            model,
            observed,
            now: Simulation::new(rules, initial.clone()),
            trace: Vec::new(),
            steps: 0,
            initial,
            order: (0..rules.n()).collect(),
            trail: Vec::new(),
            waits: false,
            stuck: 0,
            waiters: vec![0; rules.machine.layout().decls().len()],
            seen: HashMap::default(),
            best: (0, 0),
            recurs: None,
        }
    }

    /// Whether nothing more can come of it.
    pub fn is_over(&self) -> bool {
        self.recurs.is_some() || self.now.fault
    }

    /// A step of `p`, if it may move. Steps that change nothing are left out of the trace.
    pub fn step(&mut self, p: Pid) -> Option<Stepped> {
        if self.is_over() {
            return None;
        }
        let from = self.now.locals[p];
        let done = self.now.step(self.rules, p)?;
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

    /// Takes a step of the observed process into account.
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
        // The end of a passage belongs to it, though it may cost nothing.
        if count > self.best.0 || done.left && count == self.best.0 {
            self.best = (count, self.trace.len());
        }
        if remote && !self.now.rests(p) {
            let hash = self.now.hash_for(p, self.model);
            self.recurs = self.seen.insert(hash, self.trace.len());
        }
    }

    /// Moves `q` until it has to wait, gets in, or is back in its remainder; and no further than
    /// where the observed process need not wait any more, if `freeze`.
    pub fn run_on(&mut self, q: Pid, freeze: bool) {
        let waited = self.waits;
        let mut been: Vec<(Local, Option<usize>)> = Vec::new();
        for _ in 0..LONGEST_BURST {
            let from = self.now.locals[q];
            let Some(done) = self.step(q) else {
                return;
            };
            if done.wrote {
                been.clear();
            } else {
                been.push((from, done.var));
            }
            let here = self.now.locals[q];
            if let Some(first) = been.iter().position(|&(at, _)| at == here) {
                self.stuck |= 1 << q;
                for var in been[first..].iter().filter_map(|&(_, var)| var) {
                    self.waiters[var] |= 1 << q;
                }
                return;
            }
            let woken = waited && !self.waits;
            if done.left || self.rules.is_critical(q, here) || woken && freeze {
                return;
            }
        }
    }

    /// Draws a new order of preference.
    pub fn shuffle(&mut self, rng: &mut Rng) {
        rng.shuffle(&mut self.order);
    }

    /// Some other process that may move; one in its remainder only if `refill`.
    fn other(&self, style: &Style, rng: &mut Rng, refill: bool) -> Option<Pid> {
        let n = self.rules.n();
        let full = self.now.outside >= self.room();
        let first = if rng.f32() < style.rank { 0 } else { rng.usize(..n) };
        (0..n)
            .map(|offset| self.order[(first + offset) % n])
            .filter(|&q| q != self.observed && !self.is_stuck(q))
            .find(|&q| !self.now.rests(q) || refill && !full)
    }

    /// How many may be outside, when a place is kept for the observed process.
    fn room(&self) -> usize {
        let kept = usize::from(self.now.rests(self.observed));
        self.rules.contention.saturating_sub(kept).max(1)
    }

    /// Moves some other process.
    pub fn disturb(&mut self, style: &Style, rng: &mut Rng) {
        let refill = rng.f32() < style.refill;
        // With nobody outside, only one from its remainder can move.
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

    /// Moves `q` so many times.
    pub fn burst(&mut self, q: Pid, steps: usize) {
        for _ in 0..steps {
            if self.step(q).is_none() {
                return;
            }
        }
    }

    /// Brings all others as far as they get, in random order.
    pub fn fill(&mut self, rng: &mut Rng) {
        let mut others: Vec<Pid> = (0..self.rules.n()).filter(|&q| q != self.observed).collect();
        rng.shuffle(&mut others);
        for q in others {
            let full = self.now.rests(q) && self.now.outside >= self.room();
            if !full && !self.is_stuck(q) && !self.now.is_inside(self.rules, q) {
                self.run_on(q, false);
            }
        }
    }

    /// Brings all others, one after the other, to where each has changed so many variables.
    pub fn line_up(&mut self, changes: usize) {
        for index in 0..self.order.len() {
            let q = self.order[index];
            let full = self.now.rests(q) && self.now.outside >= self.room();
            if q != self.observed && !full {
                (0..changes).for_each(|_| self.advance(q));
            }
        }
    }

    /// Whether `q` is known to wait.
    pub fn is_stuck(&self, q: Pid) -> bool {
        self.stuck >> q & 1 == 1
    }

    /// Whether the observed process looks at `var` while it waits.
    pub fn awaits(&self, var: usize) -> bool {
        self.trail.iter().any(|&(_, seen)| seen == Some(var))
    }

    /// What comes before the passage: earlier passages, and the others in place.
    pub fn prepare(&mut self, style: &Style, rng: &mut Rng) {
        let n = self.rules.n();
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

    /// Brings a passage of the observed process to its end, if it gets there within `most` steps.
    pub fn finish(&mut self, style: &Style, rng: &mut Rng, most: u64) {
        let last = self.steps + most;
        let n = self.rules.n();
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

    /// Whether the observed process has come to the end of a passage, and begun none since.
    pub fn has_ended_passage(&self) -> bool {
        self.best.1 > 0 && self.now.rests(self.observed)
    }

    /// The worst passage of the run.
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
