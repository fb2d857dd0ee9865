//! A question about a timestamp system, and the report that answers it.

use std::{
    collections::BTreeMap,
    fmt,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Instant,
};

use hallpass_algorithms::Kind;
use indexmap::IndexSet;

use super::{
    observe::{Observer, Violation},
    properties::Properties,
    random,
    refinement::Refinement,
    snapshots::{AtomicSnapshot, WeakSnapshot},
    space::{Role, Runs, words},
    subject::{Procedure, Subject},
    systems::{Entry, SYSTEMS, Snapshot},
    text,
};
use crate::{
    check::{Resources, Verdict},
    explore::{Explored, Limits, explore},
};

/// A part of the check.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// The snapshot without the labels, with one scanner and writers that never stop writing.
    Snapshot,
    /// Whether every run is a run of UCTSS, the unbounded system of Afek et al.
    Refinement,
    /// The properties that the papers state.
    Properties,
}

impl Part {
    /// All parts, in the order in which they are checked.
    pub const ALL: [Part; 3] = [Part::Snapshot, Part::Refinement, Part::Properties];

    /// Returns the name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Part::Snapshot => "snapshot",
            Part::Refinement => "refinement",
            Part::Properties => "properties",
        }
    }
}

/// A question about a system.
#[derive(Clone, Debug)]
pub struct Question {
    /// The system's identifier.
    pub system: String,
    /// The number of processes.
    pub n: usize,
    /// The parts to check.
    pub parts: Vec<Part>,
    /// The total number of steps and the seed of random runs, or `None` to explore all runs.
    pub random: Option<(u64, u64)>,
}

/// The reason why a question is invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// No system has this identifier.
    Unknown(String),
    /// The system cannot be checked for this size or part.
    Size(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unknown(id) => {
                let ids: Vec<_> = SYSTEMS.iter().map(|entry| entry.id).collect();
                write!(f, "there is no timestamp system `{id}`; choose one of {}", ids.join(", "))
            }
            Error::Size(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

/// The result of one part.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The part that was checked.
    pub part: Part,
    /// A description of the runs.
    pub what: String,
    /// The number of states seen. For random runs, the number of steps.
    pub states: u64,
    /// The largest distance of a state from the initial state, in steps.
    pub depth: u32,
    /// Whether all states were seen.
    pub complete: bool,
    /// The duration in seconds.
    pub seconds: f64,
    /// The checked properties.
    pub promises: Vec<Violation>,
    /// The violated properties, each with a shortest run that shows the violation, one line for each
    /// step. For random runs, the end of the run.
    pub violated: BTreeMap<&'static str, Vec<String>>,
}

/// A register, and the number of values that it took.
#[derive(Clone, Debug)]
pub struct Register {
    /// The name of the register.
    pub name: String,
    /// The number of bits in its declaration, or `None` if it counts without bound.
    pub declared: Option<u32>,
    /// The number of values that the register took.
    pub values: usize,
}

impl Register {
    /// Returns the number of bits that this many values need.
    pub fn bits(&self) -> u32 {
        self.values.next_power_of_two().trailing_zeros()
    }
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub struct Report {
    /// The question that this report answers.
    pub question: Question,
    /// The result of each part.
    pub outcomes: Vec<Outcome>,
    /// The registers, with the numbers of bits that they need.
    pub registers: Vec<Register>,
    /// The maximum number of a process's own steps in Label and in Scan, over all paths of private states that were
    /// seen. The number of a procedure is `None` if its steps have no bound. The pair is `None` for random runs, for a
    /// system that has no snapshot to check, and if the part `properties` was not checked.
    pub max_steps: Option<(Option<u32>, Option<u32>)>,
}

impl Report {
    /// Returns the verdict on everything that was checked.
    pub fn verdict(&self) -> Verdict {
        if self.outcomes.iter().any(|outcome| !outcome.violated.is_empty()) {
            Verdict::Violated
        } else if self.outcomes.iter().any(|outcome| !outcome.complete) {
            Verdict::Partial
        } else {
            Verdict::Holds
        }
    }

    /// Returns the report as one JSON object.
    pub fn to_json(&self) -> serde_json::Value {
        let verdict = match self.verdict() {
            Verdict::Violated => "violated",
            Verdict::Partial => "partial",
            Verdict::Holds | Verdict::NotChecked => "holds",
        };
        let parts: serde_json::Map<_, _> = self
            .outcomes
            .iter()
            .map(|outcome| {
                let holds: Vec<_> = outcome.promises.iter().map(|promise| promise.name()).collect();
                let part = serde_json::json!({
                    "what": outcome.what, "states": outcome.states, "depth": outcome.depth,
                    "complete": outcome.complete, "seconds": outcome.seconds,
                    "checked": holds, "violated": outcome.violated,
                });
                (outcome.part.name().into(), part)
            })
            .collect();
        let registers: Vec<_> = self
            .registers
            .iter()
            .map(|register| {
                serde_json::json!({
                    "name": register.name, "values": register.values,
                    "bits": register.bits(), "declared_bits": register.declared,
                })
            })
            .collect();
        let steps =
            self.max_steps.map(|(label, scan)| serde_json::json!({ "label": label, "scan": scan }));
        serde_json::json!({
            "system": self.question.system, "n": self.question.n, "verdict": verdict,
            "parts": parts, "registers": registers, "most_steps": steps,
        })
    }
}

/// Returns the system with this identifier.
pub fn entry(id: &str) -> Result<&'static Entry, Error> {
    SYSTEMS.iter().find(|entry| entry.id == id).ok_or_else(|| Error::Unknown(id.into()))
}

/// Answers a question.
pub fn check(question: &Question, resources: &Resources<'_>) -> Result<Report, Error> {
    let entry = entry(&question.system)?;
    let n = question.n;
    if !(2..=entry.max_processes).contains(&n) {
        let max = entry.max_processes;
        return Err(Error::Size(format!(
            "{} can be checked for n = 2 to {max}, got {n}",
            entry.id
        )));
    }
    let mut report = Report {
        question: question.clone(),
        outcomes: Vec::new(),
        registers: Vec::new(),
        max_steps: None,
    };
    if let Some((steps, seed)) = question.random {
        let (outcome, registers) = random::run(entry, n, &question.parts, steps, seed, resources);
        report.outcomes.push(outcome);
        report.registers = registers;
        return Ok(report);
    }
    for &part in &question.parts {
        (resources.phase)(part.name());
        match part {
            Part::Snapshot => {
                let Some((snapshot, build)) = entry.alone else { continue };
                let subject = build(snapshot.n());
                report.outcomes.push(match snapshot {
                    Snapshot::Weak => {
                        alone::<WeakSnapshot>(&*subject, Violation::NotAtT, resources)
                    }
                    Snapshot::Atomic => {
                        alone::<AtomicSnapshot>(&*subject, Violation::NoInstant, resources)
                    }
                });
            }
            Part::Refinement => {
                let Some(build) = entry.marked else { continue };
                let subject = build(n);
                let runs = Runs::<Refinement>::new(&*subject, vec![Role::BOTH; n]);
                let promises = vec![
                    Violation::NoOrder,
                    Violation::Stale,
                    Violation::Contradiction,
                    Violation::Kept,
                ];
                let what = format!("{n} processes label and scan");
                report.outcomes.push(all_runs(part, what, &runs, promises, resources));
                report.registers = registers(&runs);
            }
            Part::Properties => {
                let subject = (entry.plain)(n);
                let runs = Runs::<Properties>::new(&*subject, vec![Role::BOTH; n]);
                let has_steps = entry.alone.is_some();
                let runs = if has_steps { runs.recording_steps() } else { runs };
                let what = format!("{n} processes label and scan");
                let promises = PROPERTIES.to_vec();
                report.outcomes.push(all_runs(part, what, &runs, promises, resources));
                report.registers = registers(&runs);
                if has_steps {
                    let max = |procedure| runs.max_steps(procedure);
                    report.max_steps = Some((max(Procedure::Label), max(Procedure::Scan)));
                }
            }
        }
    }
    if report.outcomes.is_empty() {
        return Err(Error::Size(format!(
            "{} has none of the requested parts: choose another --part",
            entry.id
        )));
    }
    Ok(report)
}

pub(super) const PROPERTIES: [Violation; 7] = [
    Violation::P1,
    Violation::P2,
    Violation::P3,
    Violation::P4,
    Violation::P5,
    Violation::Consistent,
    Violation::Lasting,
];

/// Checks only the snapshot: one process scans, and the others write.
fn alone<O: Observer>(
    subject: &dyn Subject,
    promise: Violation,
    resources: &Resources<'_>,
) -> Outcome {
    let n = subject.n();
    let mut roles = vec![Role { labels: true, scans: false }; n];
    roles[0] = Role { labels: false, scans: true };
    let runs = Runs::<O>::new(subject, roles);
    let what = format!("the snapshot alone: one scans, {} write", n - 1);
    all_runs(Part::Snapshot, what, &runs, vec![promise], resources)
}

fn all_runs<O: Observer>(
    part: Part,
    what: String,
    runs: &Runs<'_, O>,
    promises: Vec<Violation>,
    resources: &Resources<'_>,
) -> Outcome {
    match words(runs.subject.n()) {
        2 => all_runs_in::<2, O>(part, what, runs, promises, resources),
        3 => all_runs_in::<3, O>(part, what, runs, promises, resources),
        _ => all_runs_in::<4, O>(part, what, runs, promises, resources),
    }
}

fn all_runs_in<const W: usize, O: Observer>(
    part: Part,
    what: String,
    runs: &Runs<'_, O>,
    mut promises: Vec<Violation>,
    resources: &Resources<'_>,
) -> Outcome {
    let begun = Instant::now();
    // The search ends at the first violation, because the run to it is a shortest run.
    let stop = AtomicBool::new(false);
    let progress = |so_far| {
        if runs.has_violation() || resources.stop.load(Relaxed) {
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
    let found: Explored<W> = explore(runs, &limits);
    promises.push(Violation::Range);
    let mut violated = BTreeMap::new();
    for &violation in &promises {
        if let Some(id) = found.violating(violation.bit()) {
            let (_, path) = found.path(runs, id);
            let agents: Vec<_> = path.into_iter().map(|(agent, _)| agent).collect();
            violated.insert(violation.name(), text::steps(runs, &agents));
        }
    }
    Outcome {
        part,
        what,
        states: found.states,
        depth: found.depth,
        complete: found.is_complete(),
        seconds: begun.elapsed().as_secs_f64(),
        promises,
        violated,
    }
}

/// Returns the values seen in each register.
fn registers<O: Observer>(runs: &Runs<'_, O>) -> Vec<Register> {
    let mut values: Values = Values::new(runs.subject);
    runs.memories().into_iter().for_each(|memory| values.add(runs.subject, memory.into_vec()));
    values.registers(runs.subject)
}

/// The values seen in each register.
pub(super) struct Values(Vec<IndexSet<i64, foldhash::fast::FixedState>>);

impl Values {
    pub(super) fn new(subject: &dyn Subject) -> Self {
        Values(subject.layout().decls().iter().map(|_| IndexSet::default()).collect())
    }

    pub(super) fn add(&mut self, subject: &dyn Subject, mut memory: Vec<i64>) {
        subject.renew_memory(&mut memory, &mut |_, _| 0);
        self.0.iter_mut().zip(memory).for_each(|(values, word)| _ = values.insert(word));
    }

    pub(super) fn registers(self, subject: &dyn Subject) -> Vec<Register> {
        let decls = subject.layout().decls().iter();
        decls
            .zip(self.0)
            .filter(|(decl, _)| decl.home.is_some()) // leaves out the auxiliary registers of models
            .map(|(decl, values)| {
                let format_bits = match &decl.kind {
                    Kind::Custom(codec) => codec.bits(),
                    _ => None,
                };
                let declared = format_bits.or_else(|| decl.bits());
                Register { name: decl.name.clone(), declared, values: values.len() }
            })
            .collect()
    }
}
