//! Answers a question: compiles the algorithm, explores its states, and decides the properties.

use std::{fmt, sync::atomic::AtomicBool, time::Instant};

use hallpass_algorithms::{Pid, registry};

use crate::{
    buffers::{self, Buffers},
    explore::{Ended, Explored, Limits, Progress, explore},
    machine::{self, Machine},
    schedule::MemoryModel,
    search::FIXED_VICTIM,
    space::{
        Contradiction, Forgetful, Initial, Invariants, Normal, Quotient, SafetyFlags, Sequential,
        Space, Stale, StoreBuffers, Symmetry,
    },
    standing::{Settled, States},
    tables::{Budget, Tables},
};

use super::{
    Property, Question, Report,
    analyse::{Analysis, settle},
    compactly::{answer_compactly, check_compact},
    compile::{cannot_compile, check_contention, check_counts_steps, check_initial},
};

/// The resources of a check, and callbacks for its progress.
#[derive(Clone, Copy)]
pub struct Resources<'a> {
    /// The maximum number of states.
    pub states: u64,
    /// The maximum number of bytes of memory.
    pub bytes: u64,
    /// The number of threads.
    pub threads: usize,
    /// The check stops soon after this becomes true.
    pub stop: &'a AtomicBool,
    /// Called with the name of each phase when it begins.
    pub phase: &'a (dyn Fn(&str) + Sync),
    /// Called from time to time with the progress of the exploration.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

impl<'a> Resources<'a> {
    /// Returns the resources that are left while `bytes` bytes are in use.
    pub(crate) fn less(&self, bytes: u64) -> Self {
        Resources { bytes: self.bytes.saturating_sub(bytes), ..*self }
    }

    /// Returns the limits on compiling a step machine. A limit on states also limits the tables, so that
    /// the check of a few states stays small.
    pub(crate) fn budget(&self) -> Budget<'a> {
        const SMALL: u64 = 64 << 20;
        const BYTES_PER_STATE: u64 = 1 << 10;
        let by_states = self.states.saturating_mul(BYTES_PER_STATE).saturating_add(SMALL);
        Budget { bytes: self.bytes.min(by_states), stop: self.stop }
    }

    pub(crate) fn limits(&self) -> Limits<'a> {
        let Resources { states, bytes, threads, stop, progress, .. } = *self;
        Limits { states, bytes, threads, stop, progress }
    }
}

/// Error returned by [`check`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The algorithm does not exist at all, or does not exist at this size.
    Algorithm(registry::Error),
    /// The arguments are invalid. The text says what is allowed.
    Question(String),
    /// The algorithm is too large to compile or to explore at this size. The text says what may help.
    TooLarge(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Algorithm(error) => error.fmt(f),
            Error::Question(text) | Error::TooLarge(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

impl From<registry::Error> for Error {
    fn from(error: registry::Error) -> Self {
        Error::Algorithm(error)
    }
}

/// Calls `$run` with the number of words of a state as a constant parameter.
macro_rules! with_words {
    ($words:expr, $run:ident ( $($argument:expr),* )) => {
        match $words {
            1 => $run::<1>($($argument),*),
            2 => $run::<2>($($argument),*),
            _ => $run::<{ crate::tables::MOST_WORDS }>($($argument),*),
        }
    };
}
pub(crate) use with_words;

/// Answers the question.
pub fn check(question: &Question, resources: &Resources<'_>) -> Result<Report, Error> {
    let Question { algorithm, n, k, .. } = question;
    let machine = machine::build(algorithm, *n, *k)?;
    check_contention(question.contention, *n)?;
    if let Some(property) = question.properties.iter().find(|property| property.counts_steps()) {
        check_counts_steps(algorithm, property.name())?;
    }
    check_compact(question)?;
    if question.memory == MemoryModel::StoreBuffers && machine.is_unbounded() {
        return Err(Error::Question(format!(
            "{algorithm} counts without bound and cannot be explored with store buffers: leave out \
             --tso"
        )));
    }
    if question.memory == MemoryModel::StoreBuffers && (0..*n).any(|p| machine.mishap(p).is_some())
    {
        return Err(Error::Question(format!(
            "{algorithm} has mishaps, which cannot be explored with store buffers: leave out --tso"
        )));
    }
    let budget = resources.budget();
    let (tables, buffers) = match question.memory {
        MemoryModel::Sequential => {
            Tables::within(&*machine, &[], budget).map(|tables| (tables, None))
        }
        MemoryModel::StoreBuffers => Buffers::compile_within(&*machine, buffers::CAPACITY, budget)
            .map(|(tables, buffers)| (tables, Some(buffers))),
    }
    .map_err(|cause| cannot_compile(algorithm, *n, *k, cause))?;
    if question.crashes > *n {
        return Err(Error::Question(format!(
            "at most n = {n} processes can stop, got {}",
            question.crashes
        )));
    }
    check_initial(&tables, question.initial, resources.bytes)?;
    check_there_is_something(&*machine, &tables, question)?;
    let symmetry = match question.symmetry {
        true => Some(symmetry(&*machine, &tables, question)?),
        false => None,
    };
    let setup = Setup { machine: &*machine, tables: &tables, question, resources };
    if question.forget {
        let stale = stale_rules(&*machine, &tables, question)?;
        return with_words!(tables.words, run_forgetfully(&setup, stale));
    }
    Ok(with_words!(tables.words, run(&setup, buffers.as_ref(), symmetry.as_ref())))
}

/// Returns the rules for stale values, if the question and the algorithm allow them.
fn stale_rules(
    machine: &dyn Machine,
    tables: &Tables,
    question: &Question,
) -> Result<Stale, Error> {
    let algorithm = &question.algorithm;
    let refuse = |why: String| Err(Error::Question(why));
    if question.symmetry || question.memory == MemoryModel::StoreBuffers {
        return refuse(
            "--forget works neither with --symmetry nor with --tso: leave out --forget".into(),
        );
    }
    if question.properties.contains(&Property::Invariants) {
        return refuse(
            "--forget does not work for invariants, which may read any value: select other properties \
             with --property, or leave out --forget"
                .into(),
        );
    }
    if tables.has_mishaps() {
        return refuse(format!("{algorithm} has mishaps: leave out --forget"));
    }
    Stale::of(machine, tables).ok_or_else(|| {
        Error::Question(format!(
            "{algorithm} at this size has no rules about stale values: leave out --forget"
        ))
    })
}

/// Answers the question on merged states: states that differ only in stale values count as one.
fn run_forgetfully<const W: usize>(setup: &Setup<'_>, stale: Stale) -> Result<Report, Error> {
    let space = Forgetful::new(setup.space(), stale);
    let report = answer::<W>(setup, &space, None);
    let Some(Contradiction { var, what }) = space.contradiction() else { return Ok(report) };
    Err(Error::Question(format!(
        "the rules of {} about stale values are wrong, because {} is {what}: leave out --forget",
        setup.question.algorithm,
        setup.machine.layout().decls()[var].name
    )))
}

/// Returns an error if the algorithm has none of the requested properties.
fn check_there_is_something(
    machine: &dyn Machine,
    tables: &Tables,
    question: &Question,
) -> Result<(), Error> {
    let exists = |property: &Property| match property {
        Property::Names => tables.assigns_names(),
        Property::Invariants => !machine.invariants().is_empty(),
        _ => true,
    };
    if question.properties.iter().any(exists) {
        return Ok(());
    }
    Err(Error::Question(format!(
        "{} has none of the requested properties: names need +names, and only an algorithm whose \
         paper or file states invariants has some",
        question.algorithm
    )))
}

/// Returns the renamings of processes, if the question and the algorithm allow them. For starvation, they do not rename
/// the process that starves.
fn symmetry(
    machine: &dyn Machine,
    tables: &Tables,
    question: &Question,
) -> Result<Symmetry, Error> {
    let starvation = question.properties.contains(&Property::Starvation);
    let is_supported = |property: &Property| {
        property.is_safety() || question.compact && *property == Property::Starvation
    };
    if !question.properties.iter().all(is_supported) {
        return Err(Error::Question(
            "--symmetry works for exclusion, names and invariants only, and with --compact also for \
             starvation, because liveness depends on which process moves: select these with --property, or \
             leave out --symmetry"
                .into(),
        ));
    }
    if starvation && question.initial != Initial::All {
        return Err(Error::Question(
            "--initial smallest distinguishes processes by their numbers: leave out --symmetry"
                .into(),
        ));
    }
    let fixed = if starvation { FIXED_VICTIM + 1 } else { 0 };
    Symmetry::new(machine, tables, fixed).ok_or_else(|| {
        Error::Question(format!(
            "{} distinguishes processes by their numbers: leave out --symmetry",
            question.algorithm
        ))
    })
}

/// The inputs of a check. They are the same for all memory models.
pub(super) struct Setup<'a> {
    pub machine: &'a dyn Machine,
    pub tables: &'a Tables,
    pub question: &'a Question,
    pub resources: &'a Resources<'a>,
}

impl<'a> Setup<'a> {
    /// Returns the space of all runs under sequential consistency, without invariants.
    fn space(&self) -> Sequential<'a> {
        let Setup { machine, tables, question, .. } = *self;
        let asked = |property| question.properties.contains(&property);
        Sequential {
            tables,
            contention: question.contention,
            initial: question.initial,
            normal: Normal::of(machine, tables),
            mishaps: tables.has_mishaps(),
            flags: SafetyFlags {
                exclusion: asked(Property::Exclusion),
                names: asked(Property::Names),
            },
            invariants: None,
            every_step: question.every_step,
        }
    }
}

fn run<const W: usize>(
    setup: &Setup<'_>,
    buffers: Option<&Buffers>,
    symmetry: Option<&Symmetry>,
) -> Report {
    let Setup { machine, tables, question, .. } = *setup;
    let asked = |property| question.properties.contains(&property);
    let names = machine.invariants();
    let broken = |state: &[u64]| {
        let name = machine.broken_invariant(&tables.private(state), &tables.memory(state))?;
        names.iter().position(|&n| n == name).map(|index| index as u32)
    };
    let invariants: Option<Invariants<'_>> = asked(Property::Invariants).then_some(&broken);
    let base = Sequential { invariants, ..setup.space() };
    let Some(buffers) = buffers else {
        return match symmetry {
            None => answer::<W>(setup, &base, None),
            Some(symmetry) => answer::<W>(setup, &Quotient { space: base, symmetry }, None),
        };
    };
    let settled = |state: &[u64; W], p: Pid| tables.extra[p].get(state) == 0;
    let space = StoreBuffers { base, buffers };
    let settled = Some(BufferFacts {
        settled: &settled,
        capacity: (!buffers.is_exact()).then(|| buffers.capacity()),
    });
    match symmetry {
        None => answer::<W>(setup, &space, settled),
        Some(symmetry) => answer::<W>(setup, &Quotient { space, symmetry }, settled),
    }
}

/// The facts about store buffers that the analyses need.
struct BufferFacts<'a, const W: usize> {
    settled: Settled<'a, W>,
    /// The capacity of the buffers, if it excludes runs.
    capacity: Option<usize>,
}

/// Explores the space and numbers its states. Returns `None` if the compact set is the better choice: if the
/// question asks for it, or if the question is only about single states and the model is not small.
///
/// A small model is explored with numbers even if they are not needed. Then the lab finds a run without a second
/// search, and runs have long stretches of steps by one process, which makes them easier to read.
fn explore_unless_compact<const W: usize>(
    space: &dyn Space<W>,
    question: &Question,
    resources: &Resources<'_>,
) -> Option<Explored<W>> {
    /// The number of bytes that the states of a small model take. The exploration of a larger
    /// model starts again, so this number must be low.
    const SMALL: u64 = 1 << 20;
    if question.compact {
        return None;
    }
    let mut limits = resources.limits();
    if question.properties.iter().any(|property| !property.is_safety()) {
        return Some(explore(space, &limits));
    }
    limits.bytes = limits.bytes.min(SMALL);
    Some(explore(space, &limits)).filter(|explored| explored.ended != Ended::Memory)
}

fn answer<const W: usize>(
    setup: &Setup<'_>,
    space: &dyn Space<W>,
    buffers: Option<BufferFacts<'_, W>>,
) -> Report {
    let Setup { machine, tables, question, resources } = *setup;
    let begun = Instant::now();
    (resources.phase)("exploring");
    let Some(explored) = explore_unless_compact(space, question, resources) else {
        return answer_compactly(setup, space, buffers.and_then(|b| b.capacity), begun);
    };
    let explore_seconds = begun.elapsed().as_secs_f64();
    let settled = buffers.as_ref().map(|buffers| buffers.settled);
    let buffer_capacity = buffers.as_ref().and_then(|buffers| buffers.capacity);
    let analysis = Analysis {
        machine,
        question,
        resources,
        explored: &explored,
        standing: States { tables, explored: &explored, settled },
        covers_all_runs: explored.is_whole() && buffer_capacity.is_none(),
        agents: space.agents(),
        path: &|id| explored.path(space, id),
        graph: &|| explored.graph(space, resources.threads),
    };
    let properties = analysis.run();
    Report {
        question: question.clone(),
        ended: explored.ended,
        states: explored.states,
        transitions: explored.transitions,
        depth: explored.depth,
        seconds: begun.elapsed().as_secs_f64(),
        explore_seconds,
        bytes_per_state: explored.bytes as f64 / explored.states.max(1) as f64,
        state_bits: tables.bits,
        initial_states: u64::from(explored.roots()),
        buffer_capacity,
        properties: settle(properties, question),
    }
}
