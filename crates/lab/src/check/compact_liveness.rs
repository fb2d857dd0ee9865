//! Decides the properties of whole runs without a stored graph.

use hallpass_algorithms::{Pid, Section};

use crate::{
    compact::{Memory, Numbered},
    explore::{Ended, MOST_STATES},
    graph::Bound,
    schedule::Finding,
    search::{
        KeptOut, LongestRun, Overtaking, Overtakings, Pair, Searched, Trap, cheapest_deadlock,
        cheapest_trap, longest_section,
    },
    space::Space,
};

use super::{
    Outcome, Property, Verdict,
    analyse::{Outcomes, alike, observed},
    run::Setup,
    safety::{SearchedViolations, no_run},
};

/// The inputs of the decisions.
pub(super) struct CompactAnalysis<'a, const W: usize> {
    pub setup: &'a Setup<'a>,
    pub space: &'a dyn Space<W>,
    pub searched: &'a Searched<W>,
    pub violations: &'a SearchedViolations<'a, W>,
    pub memory: &'a Memory,
}

impl<const W: usize> CompactAnalysis<'_, W> {
    /// Decides every requested property of whole runs. `states` are all states, or the limit that prevents
    /// numbering them.
    pub fn decide(&self, states: Result<Numbered<W>, Ended>) -> Outcomes {
        let asked = |property| self.setup.question.properties.contains(&property);
        let mut outcomes = Outcomes::new();
        let states = states.as_ref();
        if asked(Property::Deadlock) {
            outcomes.insert(Property::Deadlock.name(), self.deadlock(states));
        }
        if asked(Property::Starvation) {
            outcomes.insert(Property::Starvation.name(), self.starvation(states));
        }
        for property in [Property::Exit, Property::Doorway] {
            if asked(property) {
                outcomes.insert(property.name(), self.bound(states, property));
            }
        }
        if asked(Property::Fife) || asked(Property::FifeStrong) {
            let both = [Property::Fife, Property::FifeStrong];
            for (property, outcome) in both.into_iter().zip(self.fife(states)) {
                if asked(property) {
                    outcomes.insert(property.name(), outcome);
                }
            }
        }
        outcomes
    }

    /// Returns the verdict for a property without a violation.
    fn nothing_found(&self) -> Verdict {
        if self.searched.is_whole() { Verdict::Holds } else { Verdict::Partial }
    }

    /// Returns the outcome for a property that a limit leaves undecided.
    fn undecided(&self, property: Property, limit: Ended) -> Outcome {
        let name = property.name();
        let why = match limit {
            Ended::Stopped => "stopped".into(),
            Ended::States if self.searched.ended == Ended::Complete => {
                format!("{name} is decided for at most {MOST_STATES} states")
            }
            Ended::States => format!("{name} is decided only if every state was found"),
            _ => format!("{name} takes more memory than --memory allows"),
        };
        Outcome::new(Verdict::Partial).noting(why)
    }

    fn observed(&self) -> Vec<Pid> {
        observed(self.setup.machine, self.setup.question)
    }

    fn deadlock(&self, states: Result<&Numbered<W>, &Ended>) -> Outcome {
        let Setup { tables, resources, .. } = *self.setup;
        let limits = resources.limits();
        let found = states.map_err(|&limit| limit).and_then(|states| {
            cheapest_deadlock(self.space, tables, states, &limits, self.memory, resources.phase)
        });
        self.trapped(Property::Deadlock, found, 0)
    }

    fn starvation(&self, states: Result<&Numbered<W>, &Ended>) -> Outcome {
        let Setup { tables, question, resources, .. } = *self.setup;
        let limits = resources.limits();
        let victims = self.observed();
        let found = states.map_err(|&limit| limit).and_then(|states| {
            let victims = (&victims[..], question.symmetry);
            let (memory, phase) = (self.memory, resources.phase);
            cheapest_trap(self.space, tables, states, victims, &limits, memory, phase)
        });
        self.trapped(Property::Starvation, found, question.crashes)
    }

    fn trapped(
        &self,
        property: Property,
        found: Result<Option<Trap<W>>, Ended>,
        crashes: usize,
    ) -> Outcome {
        let trap = match found {
            Ok(Some(trap)) => trap,
            Ok(None) => return Outcome::new(self.nothing_found()),
            Err(limit) => return self.undecided(property, limit),
        };
        let verdict = if trap.cost <= crashes { Verdict::Violated } else { self.nothing_found() };
        let outcome = Outcome { resilience: Some(trap.cost), ..Outcome::new(verdict) };
        let run = trap.lasso.and_then(|lasso| {
            self.violations.lasso(&lasso, |stopped| match trap.victim {
                Some(victim) => Finding::Starvation { victim, stopped },
                None => Finding::Deadlock { stopped },
            })
        });
        match run {
            Ok(run) => Outcome { run: Some(run), ..outcome },
            Err(limit) => outcome.noting(no_run(limit)),
        }
    }

    fn bound(&self, states: Result<&Numbered<W>, &Ended>, property: Property) -> Outcome {
        let Setup { tables, resources, .. } = *self.setup;
        let (limits, processes) = (resources.limits(), self.observed());
        let section = if property == Property::Exit { Section::Exit } else { Section::Doorway };
        let report = |process: Pid, visited: u64| {
            let millions = visited / 1_000_000;
            let name = property.name();
            (resources.phase)(&format!(
                "{name} of process {process}, {millions} million states visited"
            ));
        };
        let found = states.map_err(|&limit| limit).and_then(|states| {
            let part = (&processes[..], section);
            longest_section(self.space, tables, states, part, &limits, self.memory, &report)
        });
        let longest = match found {
            Ok(Some(longest)) => longest,
            Ok(None) => {
                return Outcome {
                    bound: Some(Bound::Most(0)),
                    ..Outcome::new(self.nothing_found())
                };
            }
            Err(limit) => return self.undecided(property, limit),
        };
        let (process, bound) = (longest.process, longest.bound);
        let (verdict, steps) = match bound {
            Bound::Most(steps) => (self.nothing_found(), Some(steps)),
            Bound::Unbounded => (Verdict::Violated, None),
        };
        let finding = match property {
            Property::Exit => Finding::Exit { process, steps },
            _ => Finding::Doorway { process, steps },
        };
        let outcome = Outcome { bound: Some(bound), ..Outcome::new(verdict) };
        let run = longest.run.and_then(|LongestRun { start, path, cycle }| {
            self.violations.continued(&start, &path, cycle, finding)
        });
        match run {
            Ok(run) => Outcome { run: Some(run), ..outcome },
            Err(limit) => outcome.noting(no_run(limit)),
        }
    }

    /// Decides both FIFE properties.
    fn fife(&self, states: Result<&Numbered<W>, &Ended>) -> [Outcome; 2] {
        let both = [Property::Fife, Property::FifeStrong];
        match states.map_err(|&limit| limit).and_then(|states| self.decide_fife(states)) {
            Ok(outcomes) => outcomes,
            Err(limit) => both.map(|property| self.undecided(property, limit)),
        }
    }

    fn decide_fife(&self, states: &Numbered<W>) -> Result<[Outcome; 2], Ended> {
        let Setup { machine, question, .. } = *self.setup;
        let pairs: Vec<(Pid, Pid)> = if alike(machine, question) && question.n > 1 {
            vec![(0, 1)]
        } else {
            let others = |i| (0..question.n).filter(move |&j| j != i).map(move |j| (i, j));
            (0..question.n).flat_map(others).collect()
        };
        let mut found: [Option<Overtaken<W>>; 2] = [None, None];
        let mut stopped_short = None;
        let mut first_kept_out = None;
        for (first, second) in pairs {
            // Pairs with the same first process follow each other, so the states that keep this process out are
            // computed once for all of these pairs.
            if first_kept_out.as_ref().is_none_or(|(process, _)| *process != first) {
                drop(first_kept_out.take());
                first_kept_out = Some((first, self.kept_out(states, first)?));
            }
            let (_, first_kept_out) = first_kept_out.as_ref().expect("just computed");
            let second_kept_out = &self.kept_out(states, second)?;
            (self.setup.resources.phase)(&format!(
                "first in, first enabled: {first} before {second}"
            ));
            let pair = Pair { first, second, first_kept_out, second_kept_out };
            let Overtakings { runs, ended } = pair.overtakings(&self.setup.resources.limits());
            if ended != Ended::Complete {
                stopped_short = Some(ended);
            }
            for (found, run) in found.iter_mut().zip(runs) {
                let Some(run) = run else { continue };
                let overtaken = Overtaken { first, second, run };
                if found.as_ref().is_none_or(|best| overtaken.length() < best.length()) {
                    *found = Some(overtaken);
                }
            }
        }
        let whole = self.searched.is_whole();
        let both = [(Property::Fife, true), (Property::FifeStrong, whole)];
        let mut outcomes =
            both.into_iter().zip(found).map(|((property, believable), found)| {
                match (found, stopped_short) {
                    (Some(overtaken), _) if believable => self.overtaken(property, overtaken),
                    (_, Some(limit)) => self.undecided(property, limit),
                    _ => Outcome::new(self.nothing_found()),
                }
            });
        let mut next = || outcomes.next().expect("two properties");
        Ok([next(), next()])
    }

    fn kept_out<'b>(
        &'b self,
        states: &'b Numbered<W>,
        process: Pid,
    ) -> Result<KeptOut<'b, W>, Ended> {
        let Setup { tables, resources, .. } = *self.setup;
        let report = |visited: u64| {
            let millions = visited / 1_000_000;
            (resources.phase)(&format!(
                "states in which process {process} can be kept out, {millions} million states visited"
            ));
        };
        report(0);
        let limits = (&resources.limits(), self.memory);
        KeptOut::new(self.space, tables, states, process, limits, &report)
    }

    fn overtaken(&self, property: Property, overtaken: Overtaken<W>) -> Outcome {
        let Overtaken { first, second, run } = overtaken;
        match run {
            Ok(Overtaking { start, stem, at, cycle }) => {
                let finding = match property {
                    Property::Fife => Finding::Fife { first, second, at },
                    _ => Finding::FifeStrong { first, second, at },
                };
                Outcome::violated(self.violations.starting_in(&start, stem, cycle, finding))
            }
            Err(limit) => Outcome::new(Verdict::Violated).noting(no_run(limit)),
        }
    }
}

/// A violation of FIFE.
struct Overtaken<const W: usize> {
    first: Pid,
    second: Pid,
    run: Result<Overtaking<W>, Ended>,
}

impl<const W: usize> Overtaken<W> {
    /// Returns the number of steps until `first` is overtaken.
    fn length(&self) -> usize {
        self.run.as_ref().map_or(usize::MAX, |run| run.at)
    }
}
