//! Decides the properties of single states.

use std::sync::atomic::AtomicBool;

use hallpass_algorithms::{Pid, Section};

use crate::{
    catalogue,
    explore::{Ended, Limits, PathStep},
    machine::Machine,
    schedule::{Finding, Schedule},
    search::{AtLevel, FIXED_VICTIM, Lasso, Searched, renamed_cycle, run_to},
    space::{Agent, Space, violation},
    tables::Tables,
    trace::{self, Access},
};

use super::{Outcome, Property, Question, Resources, Verdict, analyse::Outcomes};

/// The violations that an exploration has found.
pub(super) trait Violations {
    /// Returns the rank of a nearest state that has the violation, if there is one. A state with a smaller rank is not
    /// farther from the initial states.
    fn rank(&self, bit: u32) -> Option<u64>;
    /// Returns a shortest run to a nearest state that has the violation, or the limit that prevents finding one.
    fn run(&self, bit: u32, finding: Finding) -> Result<Schedule, Ended>;
}

/// The inputs of the decision.
pub(super) struct Safety<'a> {
    pub machine: &'a dyn Machine,
    pub question: &'a Question,
    pub tables: &'a Tables,
    /// Whether every run was explored.
    pub covers_all_runs: bool,
    pub violations: &'a dyn Violations,
}

impl Safety<'_> {
    fn asked(&self, property: Property) -> bool {
        self.question.properties.contains(&property)
    }

    fn outcome(&self, bit: u32, finding: Finding) -> Outcome {
        match self.violations.rank(bit) {
            Some(_) => self.violated(bit, finding),
            None => self.nothing_found(),
        }
    }

    /// Returns the outcome for a property without a violation.
    fn nothing_found(&self) -> Outcome {
        Outcome::new(if self.covers_all_runs { Verdict::Holds } else { Verdict::Partial })
    }

    fn violated(&self, bit: u32, finding: Finding) -> Outcome {
        match self.violations.run(bit, finding) {
            Ok(run) => Outcome::violated(run),
            Err(limit) => Outcome::new(Verdict::Violated).noting(no_run(limit)),
        }
    }

    pub fn decide(&self) -> Outcomes {
        let mut outcomes = Outcomes::new();
        if self.asked(Property::Exclusion) {
            outcomes.insert("exclusion", self.outcome(violation::EXCLUSION, Finding::Exclusion));
        }
        if self.asked(Property::Names) && self.tables.assigns_names() {
            outcomes.insert("names", self.outcome(violation::NAMES, Finding::Names));
        }
        if self.violations.rank(violation::RANGE).is_some() {
            outcomes.insert("range", self.range(self.violated(violation::RANGE, Finding::Range)));
        }
        let names = self.machine.invariants();
        if self.asked(Property::Invariants) && !names.is_empty() {
            let broken = (violation::FIRST_INVARIANT..)
                .zip(names)
                .filter_map(|(bit, &name)| Some((self.violations.rank(bit)?, name, bit)))
                .min();
            let outcome = match broken {
                Some((_, name, bit)) => {
                    self.invariant(name, self.violated(bit, Finding::Invariant(name.to_string())))
                }
                None => self.nothing_found().noting(names.join(", ")),
            };
            outcomes.insert("invariants", outcome);
        }
        outcomes
    }

    /// Notes the name of the invariant that does not hold. If it has no value, also notes the reason.
    fn invariant(&self, name: &str, found: Outcome) -> Outcome {
        let fault =
            |run: &Schedule| trace::run(run, &trace::conventions(run)).ok()?.invariant_fault;
        let note = match (&found.note, found.run.as_ref().and_then(fault)) {
            (Some(no_run), _) => format!("{name}; {no_run}"),
            (None, Some(fault)) => trace::no_value(name, fault),
            (None, None) => name.to_string(),
        };
        found.noting(note)
    }

    /// Explains why a variable has left its range. Leaving the range is a mistake of the algorithm, unless the
    /// numbers are unbounded and the range only limits the exploration.
    fn range(&self, found: Outcome) -> Outcome {
        if found.run.is_none() {
            return found; // its note says why there is no run, and only a run shows the variable
        }
        let last =
            |run: &Schedule| trace::run(run, &trace::conventions(run)).ok()?.steps.pop()?.access;
        let access = found.run.as_ref().and_then(last);
        let decls = self.machine.layout().decls();
        // `access` is `None` if the last step cannot be replayed. Then the numbers are too large even in normal form.
        let is_unbounded = |access: &Access| decls[access.var].unbounded;
        if self.machine.is_unbounded() && access.as_ref().is_none_or(is_unbounded) {
            let subject = catalogue::find(&self.question.algorithm);
            let note = match subject.and_then(|subject| subject.source()) {
                None => "numbers grow without bound; what comes after the largest is not explored",
                Some(_) => {
                    "numbers grow without bound; for a full answer, count modulo a number, as in \
                     fetch_and_add(x, 1, n)"
                }
            };
            return Outcome::new(Verdict::Partial).noting(note);
        }
        let leaves = match access {
            Some(access) if access.is_fault() => access.left_shown,
            Some(access) => {
                format!("{} becomes {}, outside its declared range", access.name, access.left_shown)
            }
            None => "a variable leaves its declared range".into(),
        };
        found.noting(format!("{leaves}; what comes after is not explored"))
    }
}

/// Explains why an outcome has no run.
pub(super) fn no_run(limit: Ended) -> &'static str {
    match limit {
        Ended::Memory => "no run: finding one takes more memory than --memory allows",
        _ => "no run: the check was stopped before it found one",
    }
}

/// Returns the schedule of a run from `start`.
pub(super) fn schedule(
    question: &Question,
    tables: &Tables,
    start: &[u64],
    mut stem: Vec<Agent>,
    cycle: Vec<Agent>,
    finding: Finding,
) -> Schedule {
    if question.forget {
        // The first round of the cycle may overwrite stale values, so it may end in another state than the one in which
        // it begins. Each later round ends where it begins. So the first round becomes part of the stem.
        stem.extend(&cycle);
    }
    Schedule {
        algorithm: question.algorithm.clone(),
        n: question.n,
        k: question.k,
        memory: question.memory,
        initial: tables.memory(start),
        stem,
        cycle,
        finding,
    }
}

/// The violations that a search has found.
pub(super) struct SearchedViolations<'a, const W: usize> {
    pub searched: &'a Searched<W>,
    pub space: &'a dyn Space<W>,
    pub question: &'a Question,
    pub tables: &'a Tables,
    pub resources: &'a Resources<'a>,
}

impl<const W: usize> SearchedViolations<'_, W> {
    /// Returns a shortest run to a state: an initial state, and the steps.
    fn run_to(&self, goal: &AtLevel<W>) -> Result<([u64; W], Vec<PathStep<W>>), Ended> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        (self.resources.phase)("finding a shortest run");
        let mut limits: Limits<'_> = self.resources.limits();
        if self.searched.ended == Ended::Stopped {
            limits.stop = &NEVER; // the user has stopped the first search, and not this one
        }
        run_to(self.space, goal, &limits)
    }

    fn schedule(
        &self,
        (start, steps): ([u64; W], Vec<PathStep<W>>),
        cycle: Vec<Agent>,
        finding: Finding,
    ) -> Schedule {
        let stem = steps.iter().map(|&(agent, _)| agent).collect();
        schedule(self.question, self.tables, &start, stem, cycle, finding)
    }

    /// Returns a run from the initial state `start`.
    pub fn starting_in(
        &self,
        start: &[u64; W],
        stem: Vec<Agent>,
        cycle: Vec<Agent>,
        finding: Finding,
    ) -> Schedule {
        schedule(self.question, self.tables, start, stem, cycle, finding)
    }

    /// Returns a run to the state `to`. From there, the run continues with a path and a loop.
    pub fn continued(
        &self,
        to: &AtLevel<W>,
        path: &[Agent],
        cycle: Vec<Agent>,
        finding: Finding,
    ) -> Result<Schedule, Ended> {
        let (start, steps) = self.run_to(to)?;
        let stem = steps.iter().map(|&(agent, _)| agent).chain(path.iter().copied()).collect();
        Ok(self.starting_in(&start, stem, cycle, finding))
    }

    /// Returns a run to a loop in which processes are kept out. `finding` gets the processes that have stopped.
    pub fn lasso(
        &self,
        lasso: &Lasso<W>,
        finding: impl FnOnce(Vec<Pid>) -> Finding,
    ) -> Result<Schedule, Ended> {
        let run = self.run_to(&lasso.start)?;
        let (start, steps) = &run;
        // With symmetry, the run ends in a renaming of the state in which the loop begins.
        let end = steps.last().map_or(start, |(_, state)| state);
        let names = match self.question.symmetry {
            true => renamed_cycle(self.space, self.tables, end, &lasso.cycle, FIXED_VICTIM + 1)
                .expect("the run ends in a renaming of the first state of the loop"),
            false => (0..self.tables.n).collect(),
        };
        let n = self.tables.n;
        // The agents from n on are the mishaps of the processes, such as kills.
        let rename = |&agent: &Agent| agent - agent % n + names[agent % n];
        let cycle: Vec<Agent> = lasso.cycle.iter().map(rename).collect();
        let has_stopped =
            |p: &Pid| !cycle.contains(p) && self.tables.section(end, *p) != Section::Remainder;
        let stopped = (0..self.tables.n).filter(has_stopped).collect();
        Ok(self.schedule(run, cycle, finding(stopped)))
    }
}

impl<const W: usize> Violations for SearchedViolations<'_, W> {
    fn rank(&self, bit: u32) -> Option<u64> {
        self.searched.violating(bit).map(|violating| violating.level.into())
    }

    fn run(&self, bit: u32, finding: Finding) -> Result<Schedule, Ended> {
        let violating = self.searched.violating(bit).expect("it has a rank");
        Ok(self.schedule(self.run_to(&violating)?, Vec::new(), finding))
    }
}
