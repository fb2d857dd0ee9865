//! A question about a shared object, and the report.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Instant,
};

use hallpass_algorithms::objects::universal::copies;

use super::{
    normal::Depth,
    observe::Fault,
    space::{MOST, Programs, Runs, WORDS},
    steps, text,
    toys::{Kind, Toy},
    variants::{SOUND, WRONG, wrong},
};
use crate::{
    check::{Resources, Verdict},
    explore::{Explored, Limits, explore},
    graph::Bound,
    space::{Agent, Space},
};

/// A question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The object.
    pub kind: Kind,
    /// How many share it.
    pub k: usize,
    /// How many operations each begins at most, 0 for no end; a single number is for all.
    pub operations: Vec<u8>,
    /// Which of the object's operations they choose from, a bit each; see [`Kind::operations`].
    pub only: u8,
    /// What is wrong on purpose, by name.
    pub wrong: Option<String>,
    /// How much is left out of states; [`Depth::Full`] unless that is in question.
    pub depth: Depth,
}

impl Question {
    /// As it is, and for ever.
    pub fn new(kind: Kind, k: usize) -> Self {
        Question { kind, k, operations: vec![0], only: !0, wrong: None, depth: Depth::Full }
    }

    /// All runs that it is about.
    pub fn runs(&self) -> Result<Runs, Error> {
        if !(1..=MOST).contains(&self.k) {
            return Err(Error::Size(self.k));
        }
        if ![1, self.k].contains(&self.operations.len()) {
            return Err(Error::Programs);
        }
        if self.chosen().is_empty() {
            return Err(Error::Nothing);
        }
        let variant = match &self.wrong {
            None => SOUND,
            Some(name) => wrong(name).ok_or_else(|| Error::Unknown(name.clone()))?,
        };
        let toy = Toy { kind: self.kind, k: self.k };
        let operations: [_; MOST] = std::array::from_fn(|name| {
            let of = self.operations.get(name).or(self.operations.last());
            of.copied().filter(|&operations| operations != 0)
        });
        let programs = Programs { operations, only: self.only };
        Ok(Runs::new(toy, variant, programs, self.depth))
    }

    /// The names of the operations they choose from.
    pub fn chosen(&self) -> Vec<&'static str> {
        let all = self.kind.operations().iter().enumerate();
        all.filter(|(which, _)| self.only >> which & 1 != 0).map(|(_, name)| *name).collect()
    }

    /// The same with all numbers as they are.
    fn raw(&self) -> Result<Runs, Error> {
        Question { depth: Depth::Raw, ..self.clone() }.runs()
    }
}

/// Why a question cannot be asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// No wrong variant has this name.
    Unknown(String),
    /// So many participants do not fit.
    Size(usize),
    /// It must be one number of operations for all, or one for each.
    Programs,
    /// There is no operation to choose from.
    Nothing,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unknown(name) => {
                let names: Vec<_> = WRONG.iter().filter_map(|variant| variant.name).collect();
                write!(f, "no wrong variant is called `{name}`; there are {}", names.join(", "))
            }
            Error::Size(k) => write!(f, "k = {k}: objects can be checked for k = 1 to {MOST}"),
            Error::Programs => f.write_str("one number of operations for all, or one for each"),
            Error::Nothing => f.write_str("the object has none of these operations"),
        }
    }
}

impl std::error::Error for Error {}

/// A run that shows what is violated.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What.
    pub fault: Fault,
    /// Who moves.
    pub agents: Vec<Agent>,
    /// The last so many steps are repeated for ever.
    pub cycle: usize,
    /// A line a step.
    pub lines: Vec<String>,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Report {
    /// The question.
    pub question: Question,
    /// States seen.
    pub states: u64,
    /// Steps between them.
    pub transitions: u64,
    /// The longest of all shortest ways to a state.
    pub depth: u32,
    /// Whether these are all there are.
    pub complete: bool,
    /// What is violated, with a shortest run that shows it.
    pub violated: Option<Shown>,
    /// The most own steps of an operation that changes the object, and of one that looks at it.
    pub most_steps: Option<(Option<Bound>, Option<Bound>)>,
    /// The most copies in use at once.
    pub copies: u32,
    /// How long it took.
    pub seconds: f64,
}

impl Report {
    /// Whether all is as it should be.
    pub fn verdict(&self) -> Verdict {
        match (&self.violated, self.most_steps) {
            (Some(_), _) => Verdict::Violated,
            (None, Some(_)) => Verdict::Holds,
            (None, None) => Verdict::Partial,
        }
    }

    /// Whether a promise was kept.
    pub fn outcome(&self, fault: Fault) -> Verdict {
        match &self.violated {
            Some(shown) if shown.fault == fault => Verdict::Violated,
            Some(_) if fault == Fault::WaitFree => Verdict::NotChecked,
            _ if fault == Fault::WaitFree && self.most_steps.is_none() => Verdict::NotChecked,
            _ if self.complete => Verdict::Holds,
            _ => Verdict::Partial,
        }
    }

    /// As one object.
    pub fn to_json(&self) -> serde_json::Value {
        let word = |verdict| match verdict {
            Verdict::Violated => "violated",
            Verdict::Partial => "partial",
            Verdict::Holds => "holds",
            Verdict::NotChecked => "not checked",
        };
        let promises: serde_json::Map<_, _> = Fault::ALL
            .iter()
            .map(|&fault| (fault.name().into(), word(self.outcome(fault)).into()))
            .collect();
        let run = self.violated.as_ref().map(|shown| {
            serde_json::json!({
                "shows": shown.fault.name(), "agents": shown.agents,
                "cycle": shown.cycle, "steps": shown.lines,
            })
        });
        let steps = self
            .most_steps
            .map(|(change, look)| serde_json::json!({ "change": change, "look": look }));
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

/// Answers a question.
pub fn check(question: &Question, resources: &Resources<'_>) -> Result<Report, Error> {
    let runs = question.runs()?;
    let begun = Instant::now();
    (resources.phase)(question.kind.name());
    // The first fault is the end: what comes first has a shortest run.
    let stop = AtomicBool::new(false);
    let progress = |so_far| {
        let is_full = runs.bytes() > resources.bytes / 2;
        if runs.is_faulty() || is_full || resources.stop.load(Relaxed) {
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
        most_steps: None,
        copies: runs.most_in_use(),
        seconds: 0.0,
    };
    let flaws = Fault::ALL.iter().filter_map(|&fault| Some((found.flawed(fault.bit())?, fault)));
    if let Some((id, fault)) = flaws.min() {
        let (_, path) = found.path(&runs, id);
        let agents = path.into_iter().map(|(agent, _)| agent).collect();
        report.violated = Some(shown(question, fault, agents, 0)?);
    } else if found.is_complete() && found.graph_bytes(runs.agents()) < resources.bytes / 2 {
        (resources.phase)("wait-freedom");
        let graph = found.graph(&runs, resources.threads);
        let most = steps::most(&runs, &found, &graph);
        report.most_steps = Some((most.change, most.look));
        if let Some((id, way, cycle)) = most.lasso {
            let (_, path) = found.path(&runs, id);
            let mut agents: Vec<_> = path.into_iter().map(|(agent, _)| agent).collect();
            agents.extend(way.iter().chain(&cycle));
            report.violated = Some(shown(question, Fault::WaitFree, agents, cycle.len())?);
        }
    }
    report.seconds = begun.elapsed().as_secs_f64();
    Ok(report)
}

fn shown(
    question: &Question,
    fault: Fault,
    agents: Vec<Agent>,
    cycle: usize,
) -> Result<Shown, Error> {
    let lines = text::steps(&question.raw()?, &agents);
    Ok(Shown { fault, agents, cycle, lines })
}

/// Runs these steps with all numbers as they are, and says what they violate: no normal form, no
/// table and no explorer has a part in it.
pub fn replay(question: &Question, agents: &[Agent]) -> Result<Option<Fault>, Error> {
    let runs = question.raw()?;
    let mut watched = runs.start();
    for &agent in agents {
        if runs.step(agent, &mut watched, false).is_none() {
            break;
        }
    }
    Ok(watched.2)
}
