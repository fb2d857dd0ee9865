//! Questions about a shared object, and their reports.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Instant,
};

use hallpass_algorithms::objects::universal::copies;

use super::{
    bounds::step_bounds,
    normal::Reduction,
    object::{ObjectKind, SmallObject},
    observe::Violation,
    space::{MAX_PROCESSES, Runs, WORDS, Workload},
    text,
    variants::{SOUND, WRONG, wrong_variant},
};
use crate::{
    check::{Resources, Verdict},
    explore::{Explored, Limits, explore},
    graph::Bound,
    space::{Agent, Space},
};

/// A model to explore.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The object that the processes share.
    pub kind: ObjectKind,
    /// The number of processes that share the object.
    pub k: usize,
    /// The number of operations that each process may begin, where 0 means no limit. A single number
    /// applies to all processes.
    pub operations: Vec<u8>,
    /// The operations from which processes choose, one bit each. See [`ObjectKind::operations`].
    pub only: u8,
    /// The name of a wrong variant.
    pub wrong: Option<String>,
    /// The parts of a state that are replaced by a normal form. This is [`Reduction::Full`], except in checks of the
    /// normal form itself.
    pub reduction: Reduction,
}

impl Question {
    /// Creates a question about the sound construction with all operations and no limit.
    pub fn new(kind: ObjectKind, k: usize) -> Self {
        Question { kind, k, operations: vec![0], only: !0, wrong: None, reduction: Reduction::Full }
    }

    /// Returns the space of all runs of the model.
    ///
    /// # Errors
    /// Fails if the question is invalid; see [`Error`].
    pub fn runs(&self) -> Result<Runs, Error> {
        if !(1..=MAX_PROCESSES).contains(&self.k) {
            return Err(Error::Size(self.k));
        }
        if ![1, self.k].contains(&self.operations.len()) {
            return Err(Error::Operations);
        }
        if self.chosen().is_empty() {
            return Err(Error::NoOperation);
        }
        let variant = match &self.wrong {
            None => SOUND,
            Some(name) => wrong_variant(name).ok_or_else(|| Error::Unknown(name.clone()))?,
        };
        let object = SmallObject { kind: self.kind, k: self.k };
        let operations: [_; MAX_PROCESSES] = std::array::from_fn(|process| {
            let of = self.operations.get(process).or(self.operations.last());
            of.copied().filter(|&operations| operations != 0)
        });
        let workload = Workload { operations, only: self.only };
        Ok(Runs::new(object, variant, workload, self.reduction))
    }

    /// Returns the names of the operations from which processes choose.
    pub fn chosen(&self) -> Vec<&'static str> {
        let all = self.kind.operations().iter().enumerate();
        all.filter(|(which, _)| self.only >> which & 1 != 0).map(|(_, name)| *name).collect()
    }

    /// Returns the space of all runs of this model, without normal forms.
    fn raw(&self) -> Result<Runs, Error> {
        Question { reduction: Reduction::Raw, ..self.clone() }.runs()
    }
}

/// Error for an invalid question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// No wrong variant has this name.
    Unknown(String),
    /// The number of processes is out of range.
    Size(usize),
    /// The number of operations is given neither once for all processes nor once for each process.
    Operations,
    /// No operation is selected.
    NoOperation,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unknown(name) => {
                let names: Vec<_> = WRONG.iter().filter_map(|variant| variant.name).collect();
                write!(f, "no wrong variant is called `{name}`; there are {}", names.join(", "))
            }
            Error::Size(k) => write!(f, "k must be between 1 and {MAX_PROCESSES}, got {k}"),
            Error::Operations => f.write_str(
                "give one number of operations for all processes, or one for each process",
            ),
            Error::NoOperation => f.write_str("the object has none of these operations"),
        }
    }
}

impl std::error::Error for Error {}

/// A run that violates a property.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The property.
    pub violation: Violation,
    /// The agent of each step.
    pub agents: Vec<Agent>,
    /// The length of the cycle at the end that repeats forever, or 0 if there is no cycle.
    pub cycle: usize,
    /// The steps as text.
    pub lines: Vec<String>,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// The question that this report answers.
    pub question: Question,
    /// The number of states.
    pub states: u64,
    /// The number of steps between states.
    pub transitions: u64,
    /// The number of levels of the breadth-first search.
    pub depth: u32,
    /// Whether every reachable state was explored.
    pub complete: bool,
    /// The violation that was found, with a run that shows it. The run is a shortest one, except for
    /// [`Violation::WaitFree`].
    pub violated: Option<Counterexample>,
    /// The maximum number of a process's own steps in an applied operation and in a read, or `None` if this was not
    /// computed.
    pub max_steps: Option<(Option<Bound>, Option<Bound>)>,
    /// The maximum number of copies of the object that were in use at once.
    pub copies: u32,
    /// The duration of the check.
    pub seconds: f64,
}

impl Report {
    /// Returns the verdict on all properties together.
    pub fn verdict(&self) -> Verdict {
        match (&self.violated, self.max_steps) {
            (Some(_), _) => Verdict::Violated,
            (None, Some(_)) => Verdict::Holds,
            (None, None) => Verdict::Partial,
        }
    }

    /// Returns the verdict on one property.
    pub fn outcome(&self, violation: Violation) -> Verdict {
        match &self.violated {
            Some(counterexample) if counterexample.violation == violation => Verdict::Violated,
            Some(_) if violation == Violation::WaitFree => Verdict::NotChecked,
            _ if violation == Violation::WaitFree && self.max_steps.is_none() => {
                Verdict::NotChecked
            }
            _ if self.complete => Verdict::Holds,
            _ => Verdict::Partial,
        }
    }

    /// Returns the report as one JSON object.
    pub fn to_json(&self) -> serde_json::Value {
        let word = |verdict| match verdict {
            Verdict::Violated => "violated",
            Verdict::Partial => "partial",
            Verdict::Holds => "holds",
            Verdict::NotChecked => "not checked",
        };
        let promises: serde_json::Map<_, _> = Violation::ALL
            .iter()
            .map(|&violation| (violation.name().into(), word(self.outcome(violation)).into()))
            .collect();
        let run = self.violated.as_ref().map(|counterexample| {
            serde_json::json!({
                "shows": counterexample.violation.name(), "agents": counterexample.agents,
                "cycle": counterexample.cycle, "steps": counterexample.lines,
            })
        });
        let steps = self
            .max_steps
            .map(|(apply, read)| serde_json::json!({ "change": apply, "look": read }));
        serde_json::json!({
            "object": self.question.kind.name(), "k": self.question.k,
            "operations": self.question.operations, "only": self.question.chosen(), "wrong": self.question.wrong,
            "verdict": word(self.verdict()), "promises": promises,
            "states": self.states, "transitions": self.transitions, "depth": self.depth,
            "complete": self.complete, "seconds": self.seconds,
            "most_steps": steps, "copies": self.copies, "copies_there": copies(self.question.k),
            "run": run,
        })
    }
}

/// Explores the model of a question.
///
/// # Errors
/// Fails if the question is invalid; see [`Error`].
pub fn check(question: &Question, resources: &Resources<'_>) -> Result<Report, Error> {
    let runs = question.runs()?;
    let begun = Instant::now();
    (resources.phase)(question.kind.name());
    // The search stops at the first violation, because the run to it is a shortest run.
    let stop = AtomicBool::new(false);
    let progress = |so_far| {
        let is_full = runs.bytes() > resources.bytes / 2;
        if runs.has_violation() || is_full || resources.stop.load(Relaxed) {
            stop.store(true, Relaxed);
        }
        (resources.progress)(so_far);
    };
    let limits = Limits {
        states: resources.states,
        bytes: resources.bytes / 2, // the other half is for the tables
        threads: resources.threads,
        stop: &stop,
        progress: &progress,
    };
    let found: Explored<WORDS> = explore(&runs, &limits);
    let mut report = Report {
        question: question.clone(),
        states: found.states,
        transitions: found.transitions,
        depth: found.depth,
        complete: found.is_complete(),
        violated: None,
        max_steps: None,
        copies: runs.max_in_use(),
        seconds: 0.0,
    };
    let violations = Violation::ALL
        .iter()
        .filter_map(|&violation| Some((found.violating(violation.bit())?, violation)));
    if let Some((id, violation)) = violations.min() {
        let (_, path) = found.path(&runs, id);
        let agents = path.into_iter().map(|(agent, _)| agent).collect();
        report.violated = Some(counterexample(question, violation, agents, 0)?);
    } else if found.is_complete() && found.graph_bytes(runs.agents()) < resources.bytes / 2 {
        (resources.phase)("wait-freedom");
        let graph = found.graph(&runs, resources.threads);
        let bounds = step_bounds(&runs, &found, &graph);
        report.max_steps = Some((bounds.apply, bounds.read));
        if let Some((id, way, cycle)) = bounds.lasso {
            let (_, path) = found.path(&runs, id);
            let mut agents: Vec<_> = path.into_iter().map(|(agent, _)| agent).collect();
            agents.extend(way.iter().chain(&cycle));
            report.violated =
                Some(counterexample(question, Violation::WaitFree, agents, cycle.len())?);
        }
    }
    report.seconds = begun.elapsed().as_secs_f64();
    Ok(report)
}

fn counterexample(
    question: &Question,
    violation: Violation,
    agents: Vec<Agent>,
    cycle: usize,
) -> Result<Counterexample, Error> {
    let lines = text::steps(&question.raw()?, &agents);
    Ok(Counterexample { violation, agents, cycle, lines })
}

/// Replays these steps and returns the property that they violate. The replay does not use normal forms,
/// tables or the explored graph.
///
/// # Errors
/// Fails if the question is invalid; see [`Error`].
pub fn replay(question: &Question, agents: &[Agent]) -> Result<Option<Violation>, Error> {
    let runs = question.raw()?;
    let mut monitored = runs.start();
    for &agent in agents {
        if runs.step(agent, &mut monitored, false).is_none() {
            break;
        }
    }
    Ok(monitored.2)
}
