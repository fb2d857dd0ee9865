//! Decides the properties on the explored states, one after another.

use std::collections::BTreeMap;

use hallpass_algorithms::Pid;

use crate::{
    bypass::{self, Overtaken, Victim},
    explore::{Ended, Explored, PathStep, explore},
    fife::{self, OVERTAKEN, OVERTAKEN_STRONG, Pair},
    graph::{Bound, Graph, Heaviest},
    liveness::{self, KeptOut, Trap},
    machine::Machine,
    schedule::{Finding, Schedule},
    space::{Agent, Initial},
    standing::{Standing, States},
    store::Id,
};
use hallpass_algorithms::Section;

use super::{
    Outcome, Property, Question, Resources, Verdict,
    safety::{self, Safety, Violations},
};

/// The inputs of the analyses.
pub(super) struct Analysis<'a, const W: usize> {
    pub machine: &'a dyn Machine,
    pub question: &'a Question,
    pub resources: &'a Resources<'a>,
    pub explored: &'a Explored<W>,
    pub standing: States<'a, W>,
    pub agents: usize,
    /// Whether every run was explored. If so, no limit was reached, no step left a range, and no buffer
    /// was ever full.
    pub covers_all_runs: bool,
    /// Returns a shortest path to a state.
    pub path: &'a dyn Fn(Id) -> ([u64; W], Vec<PathStep<W>>),
    /// Returns the graph of all steps.
    pub graph: &'a dyn Fn() -> Graph,
}

pub(super) type Outcomes = BTreeMap<&'static str, Outcome>;

/// Adds an outcome for every property that has none yet.
pub(super) fn settle(mut outcomes: Outcomes, question: &Question) -> Outcomes {
    for property in Property::ALL {
        let asked = question.properties.contains(&property);
        outcomes.entry(property.name()).or_insert_with(|| {
            let outcome = Outcome::new(Verdict::NotChecked);
            outcome.noting(if asked { "the algorithm has none" } else { "not asked" })
        });
    }
    outcomes
}

impl<const W: usize> Violations for Analysis<'_, W> {
    fn rank(&self, bit: u32) -> Option<u64> {
        self.explored.violating(bit).map(u64::from)
    }

    fn run(&self, bit: u32, finding: Finding) -> Result<Schedule, Ended> {
        let id = self.explored.violating(bit).expect("it has a rank");
        Ok(self.schedule(id, &[], Vec::new(), finding))
    }
}

impl<const W: usize> Analysis<'_, W> {
    fn asked(&self, property: Property) -> bool {
        self.question.properties.contains(&property)
    }

    /// Returns the verdict for a property without a violation.
    fn nothing_found(&self) -> Verdict {
        if self.covers_all_runs { Verdict::Holds } else { Verdict::Partial }
    }

    fn schedule(&self, id: Id, then: &[Agent], cycle: Vec<Agent>, finding: Finding) -> Schedule {
        let (start, steps) = (self.path)(id);
        let stem = steps.iter().map(|&(agent, _)| agent).chain(then.iter().copied()).collect();
        safety::schedule(self.question, self.standing.tables, &start, stem, cycle, finding)
    }

    /// Returns the processes to analyse: all, or only one if all are alike.
    fn observed(&self) -> Vec<Pid> {
        observed(self.machine, self.question)
    }

    fn alike(&self) -> bool {
        alike(self.machine, self.question)
    }

    pub fn run(&self) -> Outcomes {
        let mut outcomes = self.safety();
        if self.question.properties.iter().all(|property| property.is_safety()) {
            return outcomes;
        }
        // After Ctrl-C, the user wants an answer immediately.
        if self.explored.ended == Ended::Stopped {
            for property in self.question.properties.iter().filter(|p| !p.is_safety()) {
                outcomes.insert(property.name(), Outcome::new(Verdict::Partial).noting("stopped"));
            }
            return outcomes;
        }
        let mishaps = self.standing.tables.has_mishaps();
        let also = if mishaps { self.question.n } else { 0 };
        let needed = self.explored.bytes + self.explored.graph_bytes(self.agents + also);
        if needed > self.resources.bytes {
            for property in self.question.properties.iter().filter(|p| !p.is_safety()) {
                let note = format!("the graph would take {} MiB of memory", needed >> 20);
                outcomes.insert(property.name(), Outcome::new(Verdict::Partial).noting(note));
            }
            return outcomes;
        }
        (self.resources.phase)("building the graph");
        let all = (self.graph)();
        // A mishap is an event that hits a process from outside, such as a kill (see `Mishap`). A process need not
        // enter while others are killed again and again. So liveness is decided for runs with
        // finitely many mishaps, on the steps after the last mishap. The exception is a model with mishaps that may
        // recur forever (`Mishap::recurs`): there, liveness is decided on all steps.
        let has_last = mishaps && !self.standing.tables.mishaps_recur;
        let afterwards = has_last.then(|| all.of_first(self.question.n));
        let graph = afterwards.as_ref().unwrap_or(&all);
        if self.asked(Property::Deadlock) {
            (self.resources.phase)("deadlock");
            outcomes.insert(Property::Deadlock.name(), self.deadlock(graph));
        }
        if self.asked(Property::Starvation) {
            outcomes.insert(Property::Starvation.name(), self.starvation(graph));
        }
        for property in [Property::Exit, Property::Doorway] {
            if self.asked(property) {
                outcomes.insert(property.name(), self.bound(graph, property));
            }
        }
        if self.asked(Property::Fife) || self.asked(Property::FifeStrong) {
            let [plain, strong] = self.fife(&all, graph);
            for (property, outcome) in [(Property::Fife, plain), (Property::FifeStrong, strong)] {
                if self.asked(property) {
                    outcomes.insert(property.name(), outcome);
                }
            }
        }
        if self.asked(Property::Bypass) {
            outcomes.insert(Property::Bypass.name(), self.bypass(&all, graph));
        }
        outcomes
    }

    fn safety(&self) -> Outcomes {
        Safety {
            machine: self.machine,
            question: self.question,
            tables: self.standing.tables,
            covers_all_runs: self.covers_all_runs,
            violations: self,
        }
        .decide()
    }

    fn deadlock(&self, graph: &Graph) -> Outcome {
        let trap = liveness::deadlock(graph, &self.standing);
        self.trapped(
            trap.map(|trap| {
                let stopped = trap.stopped.clone();
                (trap, Finding::Deadlock { stopped })
            }),
            0,
        )
    }

    fn starvation(&self, graph: &Graph) -> Outcome {
        let trap = self
            .observed()
            .into_iter()
            .filter_map(|victim| {
                (self.resources.phase)(&format!("starvation of process {victim}"));
                let trap = liveness::starvation(graph, &self.standing, victim)?;
                let stopped = trap.stopped.clone();
                Some((trap, Finding::Starvation { victim, stopped }))
            })
            .min_by_key(|(trap, _)| (trap.stopped.len(), trap.start));
        self.trapped(trap, self.question.crashes)
    }

    /// Returns the outcome for a trap. The outcome includes the run even if the trap needs more crashes
    /// than the algorithm promises to survive.
    fn trapped(&self, trap: Option<(Trap, Finding)>, crashes: usize) -> Outcome {
        let Some((trap, finding)) = trap else {
            return Outcome::new(self.nothing_found());
        };
        let cost = trap.stopped.len();
        let violated = cost <= crashes;
        let verdict = if violated { Verdict::Violated } else { self.nothing_found() };
        let run = self.schedule(trap.start, &[], trap.cycle, finding);
        Outcome { resilience: Some(cost), run: Some(run), ..Outcome::new(verdict) }
    }

    fn bound(&self, graph: &Graph, property: Property) -> Outcome {
        let region = match property {
            Property::Exit => Section::Exit,
            _ => Section::Doorway,
        };
        let mut worst: Option<(Bound, Schedule)> = None;
        for process in self.observed() {
            (self.resources.phase)(&format!("{} of process {process}", property.name()));
            let part = |node: Id| self.standing.section(node, process) == region;
            let weight = |_: Id, agent: Agent| u32::from(agent == process);
            let heaviest = Heaviest::new(graph, &part, weight);
            let starts = |id: Id| match property {
                Property::Exit => part(id),
                _ => part(id) && self.standing.begins(id, process),
            };
            let mut best: Option<(Bound, Id)> = None;
            for id in self.explored.ids().filter(|&id| starts(id)) {
                let bound = heaviest.from(id);
                if best.is_none_or(|(most, _)| bound > most) {
                    best = Some((bound, id));
                }
            }
            let Some((bound, id)) = best else { continue };
            if worst.as_ref().is_none_or(|(most, _)| bound > *most) {
                let (path, cycle) = heaviest.path(graph, weight, id);
                let steps = match bound {
                    Bound::Most(steps) => Some(steps),
                    Bound::Unbounded => None,
                };
                let finding = match property {
                    Property::Exit => Finding::Exit { process, steps },
                    _ => Finding::Doorway { process, steps },
                };
                worst = Some((bound, self.schedule(id, &path, cycle, finding)));
            }
        }
        let bound = worst.as_ref().map_or(Bound::Most(0), |(bound, _)| *bound);
        let verdict = match bound {
            Bound::Most(_) => self.nothing_found(),
            Bound::Unbounded => Verdict::Violated,
        };
        Outcome { bound: Some(bound), run: worst.map(|(_, run)| run), ..Outcome::new(verdict) }
    }

    /// Computes the maximum number of times that a process is overtaken. `all` has all steps. `graph` has the
    /// steps on which liveness is decided (see `Analysis::run`).
    fn bypass(&self, all: &Graph, graph: &Graph) -> Outcome {
        if self.standing.n() > bypass::MAX_PROCESSES {
            let note = format!("bypass is decided for at most {} processes", bypass::MAX_PROCESSES);
            return Outcome::new(Verdict::Partial).noting(note);
        }
        let used = self.explored.bytes + self.explored.graph_bytes(self.agents + 3);
        let limits = self.resources.less(used).limits();
        let mut limit = None;
        let mut worst = (Bound::Most(0), None);
        for victim in self.observed() {
            (self.resources.phase)(&format!("overtakings of process {victim}"));
            let kept_out = KeptOut::new(graph, &self.standing, victim);
            let roots = self.explored.roots();
            let history =
                Victim { graph: all, standing: &self.standing, roots, victim, kept_out: &kept_out };
            let Overtaken { bound, run, ended } = history.most(&limits);
            limit = limit.or(reached(ended));
            if let Some(run) = run.filter(|_| bound > worst.0) {
                worst = (bound, Some(self.overtakings(graph, victim, &kept_out, bound, run)));
            }
        }
        let (bound, run) = worst;
        let most = self.question.bypass.map_or(Bound::Most(u32::MAX), Bound::Most);
        let verdict = match bound {
            // If some runs are missing, the graph may not show that a process can be kept out.
            _ if !self.covers_all_runs => Verdict::Partial,
            bound if bound > most => Verdict::Violated,
            _ if limit.is_some() => Verdict::Partial,
            _ => Verdict::Holds,
        };
        let outcome = Outcome { bound: Some(bound), run, ..Outcome::new(verdict) };
        match limit.filter(|_| verdict == Verdict::Partial) {
            Some(limit) => outcome.noting(why(Property::Bypass, limit)),
            None => outcome,
        }
    }

    /// Returns a run in which `victim` is overtaken as often as `bound` says. If there is a bound, the run
    /// continues to a cycle that keeps `victim` out forever.
    fn overtakings(
        &self,
        graph: &Graph,
        victim: Pid,
        kept_out: &KeptOut,
        bound: Bound,
        run: bypass::Run,
    ) -> Schedule {
        let bypass::Run { start, mut stem, end, mut cycle } = run;
        let at = stem.len();
        let times = match bound {
            Bound::Most(times) => {
                let (way, trap) = kept_out.evidence(graph, &self.standing, end);
                stem.extend(way);
                cycle = trap;
                Some(times)
            }
            Bound::Unbounded => None,
        };
        self.schedule(start, &stem, cycle, Finding::Bypass { victim, times, at })
    }

    /// Decides both FIFE properties. `all` has all steps. `graph` has the steps on which liveness is decided (see
    /// `Analysis::run`).
    fn fife(&self, all: &Graph, graph: &Graph) -> [Outcome; 2] {
        let n = self.question.n;
        let pairs: Vec<(Pid, Pid)> = if self.alike() {
            vec![(0, 1)]
        } else {
            (0..n).flat_map(|i| (0..n).filter(move |&j| j != i).map(move |j| (i, j))).collect()
        };
        // Besides the graph, memory holds one set of components for each observed process.
        let observed = if self.alike() { 2 } else { n };
        let used = self.explored.bytes + self.explored.graph_bytes(self.agents + 3 * observed);
        let limits = self.resources.less(used).limits();
        let mut found: [Option<Schedule>; 2] = [None, None];
        let mut limit = None;
        let kept_out: Vec<Option<KeptOut>> = (0..n)
            .map(|p| {
                let needed = pairs.iter().any(|&(i, j)| i == p || j == p);
                needed.then(|| KeptOut::new(graph, &self.standing, p))
            })
            .collect();
        for (first, second) in pairs {
            (self.resources.phase)(&format!("first in, first enabled: {first} before {second}"));
            let [Some(first_kept_out), Some(second_kept_out)] =
                [&kept_out[first], &kept_out[second]]
            else {
                continue;
            };
            let pair = Pair {
                graph: all,
                standing: &self.standing,
                roots: self.explored.roots(),
                first,
                second,
                first_kept_out,
                second_kept_out,
            };
            let histories = explore::<1>(&pair, &limits);
            limit = limit.or(reached(histories.ended));
            for (bit, found) in [OVERTAKEN, OVERTAKEN_STRONG].into_iter().zip(&mut found) {
                let Some(id) = histories.violating(bit) else { continue };
                let (_, steps) = histories.path(&pair, id);
                if found.as_ref().is_some_and(|run| fife_at(run) <= steps.len()) {
                    continue;
                }
                *found = Some(self.overtaking(graph, &pair, &histories, id, bit));
            }
        }
        let [plain, strong] = found;
        [(Property::Fife, plain, true), (Property::FifeStrong, strong, self.covers_all_runs)].map(
            |(property, run, believable)| match (run, limit) {
                (Some(run), _) if believable => Outcome::violated(run),
                (_, Some(limit)) => Outcome::new(Verdict::Partial).noting(why(property, limit)),
                _ => Outcome::new(self.nothing_found()),
            },
        )
    }

    /// Returns a run to a state in which `first` is overtaken. The run continues to a cycle in which
    /// `first` never enters its critical section.
    fn overtaking(
        &self,
        graph: &Graph,
        pair: &Pair<'_, States<'_, W>>,
        histories: &Explored<1>,
        id: Id,
        bit: u32,
    ) -> Schedule {
        let (start, steps) = histories.path(pair, id);
        let (first, second, at) = (pair.first, pair.second, steps.len());
        let finding = match bit {
            OVERTAKEN => Finding::Fife { first, second, at },
            _ => Finding::FifeStrong { first, second, at },
        };
        let here = steps.last().map_or(start, |&(_, state)| state);
        let (way, cycle) = pair.first_kept_out.evidence(graph, &self.standing, fife::id_of(&here));
        let stem: Vec<Agent> = steps.iter().map(|&(agent, _)| agent).chain(way).collect();
        let run = self.schedule(fife::id_of(&start), &stem, cycle, finding);
        debug_assert_eq!(run.stem.len(), stem.len(), "the run starts in an initial state");
        run
    }
}

/// Returns the limit that ended an exploration.
fn reached(ended: Ended) -> Option<Ended> {
    Some(ended).filter(|&ended| ended != Ended::Complete)
}

/// Returns why this limit leaves a property undecided, although every state was found. To decide it, the check adds a
/// history to the states, so it finds more of them.
fn why(property: Property, limit: Ended) -> String {
    let name = property.name();
    match limit {
        Ended::Stopped => "stopped".into(),
        Ended::States => format!("{name} takes more states than --states allows"),
        _ => format!("{name} takes more memory than --memory allows"),
    }
}

/// Returns whether the results for one process apply to all processes. Fixing an open initial value breaks
/// this.
pub(super) fn alike(machine: &dyn Machine, question: &Question) -> bool {
    machine.is_symmetric() && question.initial == Initial::All
}

/// Returns the processes to analyse: all, or only one if all are alike.
pub(super) fn observed(machine: &dyn Machine, question: &Question) -> Vec<Pid> {
    if alike(machine, question) { vec![0] } else { (0..question.n).collect() }
}

fn fife_at(run: &Schedule) -> usize {
    match run.finding {
        Finding::Fife { at, .. } | Finding::FifeStrong { at, .. } => at,
        _ => usize::MAX,
    }
}
