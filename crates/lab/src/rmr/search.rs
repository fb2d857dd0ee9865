//! Searches for lower bounds on the worst passage, if there are too many schedules to explore them all.
//!
//! A search has two phases. First, it draws runs at random, in several styles. Some runs are uniform or in bursts. In
//! some, the observed process is ahead of all others or behind them. In some, the others first go to lines where they
//! block the observed process. In the second phase, the search changes the worst of these runs to make them worse. It
//! cuts a run, most often where the observed process is about to take a step, and schedules the others differently
//! there. The rest of the new run is as before, or consists of new random steps. A worse run replaces the old one. An
//! equally bad run also replaces it, but rarely if it is longer.
//!
//! The result is a run that can be replayed. This run proves the lower bound. If the search finds no worse run, this
//! proves nothing.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use fastrand::Rng;
use hallpass_algorithms::{Pid, Word};

use super::{
    CostModel, Figure, Question, Report,
    drive::{Candidate, Run, Style},
    promise,
    simulate::{Setting, Simulation},
};
use crate::{
    check::{Error, REMOTE_REFERENCES, check_counts_steps},
    explore::Ended,
    graph::Bound,
    schedule::{Finding, MemoryModel, Schedule},
    space::Initial,
};

/// Limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchBudget {
    /// The approximate limit on simulated steps. Half of them are for each cost model.
    pub steps: u64,
    /// The approximate limit in seconds. Half of them are for each cost model. If this limit ends the
    /// search before the limit on steps does, another search with the same seed may find a different run.
    pub seconds: f64,
    /// The seed of the random numbers. A search with the same seed and steps finds the same run, unless the limit in
    /// seconds ends it.
    pub seed: u64,
}

impl Default for SearchBudget {
    fn default() -> Self {
        SearchBudget { steps: 20_000_000, seconds: 60.0, seed: 1 }
    }
}

/// Searches for the worst passage. The figures of the report are lower bounds. The number of states in
/// the report is 0.
///
/// # Errors
/// Fails if the algorithm does not exist at this size, or if the question is invalid.
pub fn search(
    question: &Question,
    budget: &SearchBudget,
    stop: &AtomicBool,
) -> Result<Report, Error> {
    let begun = Instant::now();
    let cc = search_one(question, CostModel::Cc, budget, stop)?;
    let dsm = search_one(question, CostModel::Dsm, budget, stop)?;
    Ok(Report {
        question: question.clone(),
        states: 0,
        ended: if stop.load(Relaxed) { Ended::Stopped } else { Ended::States },
        seconds: begun.elapsed().as_secs_f64(),
        cc,
        dsm,
    })
}

/// Searches under one cost model, with half of the budget.
pub(super) fn search_one(
    question: &Question,
    model: CostModel,
    budget: &SearchBudget,
    stop: &AtomicBool,
) -> Result<Figure, Error> {
    let Question { algorithm, n, k, contention, conventions, .. } = question;
    check_counts_steps(algorithm, REMOTE_REFERENCES)?;
    let setting = Setting::new(algorithm, *n, *k, *contention, *conventions)?;
    // The limit is at most a day, so that the duration does not overflow.
    let seconds = budget.seconds.clamp(0.0, 86_400.0) / 2.0;
    let mut hunt = Hunt {
        setting: &setting,
        question,
        model,
        rng: Rng::with_seed(budget.seed),
        left: budget.steps / 2,
        until: Instant::now() + Duration::from_secs_f64(seconds),
        stop,
        population: Vec::new(),
        endless: None,
    };
    hunt.draw_runs(budget.steps / 10);
    hunt.make_worse();
    Ok(hunt.figure())
}

/// The number of runs in the population: the runs that the search keeps in order to change them.
const POPULATION: usize = 12;
/// The number of changes that are tried at each cut. With several changes, the run up to the cut is
/// simulated only once.
const CHILDREN: usize = 4;

struct Hunt<'a> {
    setting: &'a Setting,
    question: &'a Question,
    model: CostModel,
    rng: Rng,
    left: u64,
    until: Instant,
    stop: &'a AtomicBool,
    population: Vec<Candidate>,
    /// A run whose number of references is unbounded.
    endless: Option<Candidate>,
}

impl Hunt<'_> {
    fn is_over(&self) -> bool {
        self.left == 0
            || self.endless.is_some()
            || self.stop.load(Relaxed)
            || Instant::now() >= self.until
    }

    /// Draws runs until this many steps are used. Draws at least one run for each process that it observes.
    fn draw_runs(&mut self, steps: u64) {
        let end = self.left.saturating_sub(steps);
        let alike = self.setting.machine.is_symmetric() && self.question.initial == Initial::All;
        let observed = if alike { 1 } else { self.setting.n() };
        let mut drawn = 0;
        while !self.is_over() && (drawn < observed || self.left > end) {
            // For each observed process, the first of every four runs is a run of the adversary.
            match drawn / observed % 4 {
                0 => self.draw_adversary(drawn % observed),
                _ => self.draw_run(drawn % observed),
            }
            drawn += 1;
        }
    }

    /// Draws a run of the [adversary](Style::adversary). At its beginning, each of the other processes in turn takes
    /// steps up to its first change of a variable, as far as the contention allows. After that, it takes no step until
    /// the adversary chooses it.
    fn draw_adversary(&mut self, observed: Pid) {
        let (initial, longest) = (self.initial(), self.longest());
        let mut run = Run::new(self.setting, self.model, observed, initial);
        run.shuffle(&mut self.rng);
        run.line_up(1);
        run.finish(&Style::adversary(), &mut self.rng, longest);
        let candidate = self.settle(run);
        self.keep(candidate);
    }

    fn draw_run(&mut self, observed: Pid) {
        let initial = self.initial();
        let (style, longest) = (self.style(), self.longest());
        let mut run = Run::new(self.setting, self.model, observed, initial);
        run.shuffle(&mut self.rng);
        run.prepare(&style, &mut self.rng);
        run.finish(&style, &mut self.rng, longest);
        let candidate = self.settle(run);
        self.keep(candidate);
    }

    fn initial(&mut self) -> Vec<Word> {
        let decls = self.setting.machine.layout().decls();
        let rng = &mut self.rng;
        let choose = |values: &[Word]| match self.question.initial {
            Initial::All => values[rng.usize(..values.len())],
            Initial::Smallest => values[0],
        };
        decls.iter().map(|decl| decl.initial()).map(choose).collect()
    }

    fn style(&mut self) -> Style {
        match self.rng.u8(..8) {
            0 => Style::uniform(self.setting.n()),
            1 => Style::adversary(),
            _ => Style::draw(&mut self.rng),
        }
    }

    /// Returns the maximum number of steps of a passage. A run with a longer passage is given up.
    fn longest(&self) -> u64 {
        let n = self.setting.n() as u64;
        (4096 + 64 * n * n).min(self.left)
    }

    /// Ends a run: counts its steps, and checks whether it could continue forever.
    fn settle(&mut self, run: Run<'_>) -> Candidate {
        self.left = self.left.saturating_sub(run.steps);
        let candidate = run.candidate();
        if candidate.recurs.is_some() && self.recurs(&candidate) {
            self.endless = Some(candidate.clone());
        }
        candidate
    }

    /// Returns whether the final state and the state after `recurs` steps of the trace are the same for the observed
    /// process, and the process makes references in between. The run itself has only compared hashes.
    fn recurs(&self, candidate: &Candidate) -> bool {
        let mut now = Simulation::new(self.setting, candidate.initial.clone());
        let mut before = None;
        for (index, &p) in candidate.trace.iter().enumerate() {
            if candidate.recurs == Some(index) {
                before = Some(now.clone());
            }
            if now.step(self.setting, p).is_none() {
                return false;
            }
        }
        let p = candidate.observed;
        before.is_some_and(|before| {
            now.is_same_for(&before, p, self.model)
                && now.counts[p].of(self.model) > before.counts[p].of(self.model)
        })
    }

    /// Adds a run to the population if it is bad enough.
    fn keep(&mut self, candidate: Candidate) {
        if self.population.len() < POPULATION {
            self.population.push(candidate);
            return;
        }
        let best = self.population.iter_mut().min_by_key(|kept| kept.count);
        if let Some(best) = best.filter(|kept| kept.count <= candidate.count) {
            *best = candidate;
        }
    }

    fn make_worse(&mut self) {
        while !self.is_over() && !self.population.is_empty() {
            // The worse of two random runs is the parent, so that the worst runs are changed most often.
            let (one, two) = (self.any(), self.any());
            let worse = self.population[one].count >= self.population[two].count;
            let parent = if worse { one } else { two };
            if self.rng.u8(..16) == 0 {
                self.draw_run(self.population[parent].observed);
            } else {
                self.breed(parent);
            }
        }
    }

    fn any(&mut self) -> usize {
        self.rng.usize(..self.population.len())
    }

    /// Cuts a run and continues it differently. Replaces the run if the result is worse, or equally bad and, in most
    /// cases, not longer.
    fn breed(&mut self, index: usize) {
        let parent = self.population[index].clone();
        if parent.trace.is_empty() {
            return self.draw_run(parent.observed);
        }
        let cut = self.cut(&parent);
        let mut until_cut =
            Run::new(self.setting, self.model, parent.observed, parent.initial.clone());
        parent.trace[..cut].iter().for_each(|&p| {
            until_cut.step(p);
        });
        self.left = self.left.saturating_sub(until_cut.steps);
        until_cut.steps = 0;
        for _ in 0..CHILDREN {
            let mut run = until_cut.clone();
            self.change(&mut run, &parent, cut);
            let child = self.settle(run);
            let kept = &self.population[index];
            // A longer run with the same count is rarely accepted, because long runs are expensive to change.
            let shorter = child.trace.len() <= kept.trace.len() || self.rng.u8(..8) == 0;
            if child.count > kept.count || child.count == kept.count && shorter {
                self.population[index] = child;
            }
            if self.is_over() {
                return;
            }
        }
    }

    /// Chooses where to cut a run: mostly where the observed process is about to take a step.
    fn cut(&mut self, parent: &Candidate) -> usize {
        let moves: Vec<usize> = (0..parent.trace.len())
            .filter(|&index| parent.trace[index] == parent.observed)
            .collect();
        if moves.is_empty() || self.rng.u8(..4) == 0 {
            self.rng.usize(..parent.trace.len())
        } else {
            moves[self.rng.usize(..moves.len())]
        }
    }

    /// Changes a run at the cut and completes it.
    fn change(&mut self, run: &mut Run<'_>, parent: &Candidate, cut: usize) {
        let (style, longest) = (self.style(), self.longest());
        let n = self.setting.n();
        let mut rest = parent.trace[cut..].to_vec();
        let q = self.rng.usize(..n);
        let some = 1 + self.rng.usize(..16);
        let rng = &mut self.rng;
        run.shuffle(rng);
        match rng.u8(..9) {
            0 => run.burst(q, some),
            1 => run.run_on(q, rng.bool()),
            2 => run.fill(rng),
            3 => drop(take(&mut rest, q, some)), // delays q
            4 => take(&mut rest, q, some).into_iter().for_each(|q| run.burst(q, 1)),
            5 => (0..1 + some / 4).for_each(|_| run.disturb(&style, rng)),
            6 => {
                let other = &self.population[rng.usize(..self.population.len())];
                if other.observed == parent.observed {
                    let at = cut.min(other.trace.len());
                    rest = other.trace[at..].to_vec();
                }
            }
            7 => run.meddle(rng),
            _ => {}
        }
        if self.rng.u8(..8) < 5 {
            rest.into_iter().for_each(|p| {
                run.step(p);
            });
        }
        if !run.has_ended_passage() {
            run.finish(&style, &mut self.rng, longest);
        }
    }

    fn figure(self) -> Figure {
        let claim = promise(self.question, self.model);
        let worst = self.population.iter().max_by_key(|kept| kept.count);
        let (worst, run) = match (self.endless.as_ref(), worst) {
            (Some(endless), _) => (Bound::Unbounded, Some(self.schedule(endless, true))),
            (None, Some(worst)) => (Bound::Most(worst.count), Some(self.schedule(worst, false))),
            (None, None) => (Bound::Most(0), None),
        };
        Figure { worst, exact: false, claim, run }
    }

    fn schedule(&self, candidate: &Candidate, endless: bool) -> Schedule {
        let mut stem = candidate.trace.clone();
        let cycle = match candidate.recurs {
            Some(from) if endless => stem.split_off(from),
            _ => Vec::new(),
        };
        Schedule {
            algorithm: self.question.algorithm.clone(),
            n: self.question.n,
            k: self.question.k,
            memory: MemoryModel::Sequential,
            initial: candidate.initial.clone(),
            stem,
            cycle,
            finding: Finding::Rmr {
                model: self.model,
                process: candidate.observed,
                count: (!endless).then_some(candidate.count),
                conventions: self.question.conventions,
            },
        }
    }
}

/// Removes the next steps of `q` from the rest of a run, at most `limit`, and returns them.
fn take(rest: &mut Vec<Pid>, q: Pid, limit: usize) -> Vec<Pid> {
    let mut taken = Vec::new();
    rest.retain(|&p| {
        let hit = p == q && taken.len() < limit;
        if hit {
            taken.push(p);
        }
        !hit
    });
    taken
}
