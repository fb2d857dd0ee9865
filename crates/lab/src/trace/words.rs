//! Makes sentences about a run.

use hallpass_algorithms::{Init, Label, Pid, Section};

use super::step::{Access, Event, Operation, Trace, Via};
use crate::{
    catalogue::author,
    check::Question,
    counted::counted,
    schedule::{
        CacheAtStart, Conventions, CostModel, FailedRmw, Finding, MemoryModel, Schedule, WriterCopy,
    },
};

/// Returns the rules for counting remote references in a schedule: those of its finding, or the default
/// rules.
pub fn conventions(schedule: &Schedule) -> Conventions {
    match &schedule.finding {
        Finding::Rmr { conventions, .. } => *conventions,
        _ => Conventions::default(),
    }
}

/// Formats a list of processes: `0, 1 and 2`, or `none`.
pub(crate) fn list(pids: impl IntoIterator<Item = Pid>) -> String {
    let mut words: Vec<String> = pids.into_iter().map(|p| p.to_string()).collect();
    match words.pop() {
        None => "none".into(),
        Some(last) if words.is_empty() => last,
        Some(last) => format!("{} and {last}", words.join(", ")),
    }
}

/// Returns the name of a section, for use in a sentence.
pub(crate) fn section(section: Section) -> &'static str {
    match section {
        Section::Remainder => "remainder section",
        Section::Doorway => "doorway",
        Section::Waiting => "waiting room",
        Section::Critical => "critical section",
        Section::Exit => "exit section",
    }
}

fn with_stopped(sentence: String, stopped: &[Pid], schedule: &Schedule) -> String {
    let k = schedule.k;
    let promise = match Question::everything(&schedule.algorithm, schedule.n, k).crashes {
        0 if k > 1 => {
            format!(
                "{} does not promise to tolerate stopped processes",
                author(&schedule.algorithm)
            )
        }
        0 => "with k = 1 the algorithm need not tolerate stopped processes".to_string(),
        1 => format!("with k = {k} the algorithm must tolerate one stopped process"),
        crashes => format!("with k = {k} the algorithm must tolerate {crashes} stopped processes"),
    };
    match stopped.len() {
        0 => format!("{sentence}; no process has stopped"),
        1 => format!("{sentence}, while process {} has stopped; {promise}", stopped[0]),
        _ => {
            let stopped = list(stopped.iter().copied());
            format!("{sentence}, while processes {stopped} have stopped; {promise}")
        }
    }
}

/// Describes the finding of a schedule in one sentence without a full stop.
pub fn describe(schedule: &Schedule) -> String {
    let k = schedule.k;
    match &schedule.finding {
        Finding::Exclusion => {
            format!("more than k = {k} processes are in their critical sections at once")
        }
        Finding::Names => {
            format!("two processes hold the same name, or one holds a name not below k = {k}")
        }
        Finding::Range => "the last step takes a variable out of its declared range".into(),
        Finding::Invariant(name) => {
            format!("{}'s invariant {name} does not hold at the end", author(&schedule.algorithm))
        }
        Finding::Statement { name } => {
            format!("the last step decides {}'s statement {name}", author(&schedule.algorithm))
        }
        Finding::LeadsTo { name, process, stopped, .. } => {
            let stopped = match stopped.len() {
                0 => "no process has stopped".to_string(),
                _ => format!("stopped: {}", list(stopped.iter().copied())),
            };
            let author = author(&schedule.algorithm);
            format!("{author}'s statement {name} does not hold for process {process}; {stopped}")
        }
        Finding::Fcfs { first, second } => format!(
            "process {first} left its doorway before process {second} left its remainder, yet {second} \
             enters first"
        ),
        Finding::Deadlock { stopped } => with_stopped(
            "no process ever enters, although at least one tries forever".into(),
            stopped,
            schedule,
        ),
        Finding::Starvation { victim, stopped } => {
            with_stopped(format!("process {victim} waits forever"), stopped, schedule)
        }
        Finding::Played { stopped } if stopped.is_empty() => "a run that was played by hand".into(),
        Finding::Played { stopped } => {
            format!("a run that was played by hand; stopped: {}", list(stopped.iter().copied()))
        }
        Finding::Exit { process, steps: Some(steps) } => {
            let steps = counted(*steps as usize, "step");
            format!("process {process} takes {steps} in its exit section")
        }
        Finding::Exit { process, steps: None } => {
            format!("process {process} never leaves its exit section")
        }
        Finding::Doorway { process, steps: Some(steps) } => {
            let steps = counted(*steps as usize, "step");
            format!("process {process} takes {steps} in its doorway")
        }
        Finding::Doorway { process, steps: None } => {
            format!("process {process} never leaves its doorway")
        }
        Finding::Fife { first, second, at } => format!(
            "process {first} left the doorway before process {second} entered it, yet after {at} \
             steps {second} is in its critical section and {first} can be kept out forever"
        ),
        Finding::FifeStrong { first, second, at } => format!(
            "process {first} left the doorway before process {second} entered it, yet after {at} \
             steps nothing can keep {second} out and {first} can be kept out forever"
        ),
        Finding::Bypass { victim, times: Some(times), at } => format!(
            "process {victim} is overtaken {times} {} within {at} steps, and can be kept out forever",
            if *times == 1 { "time" } else { "times" }
        ),
        Finding::Bypass { victim, times: None, .. } => {
            format!("process {victim} waits and is overtaken again and again, without a bound")
        }
        Finding::Rmr { model, process, count, .. } => {
            let machine = model_name(*model);
            match count {
                Some(count) => {
                    let count = counted(*count as usize, "remote reference");
                    format!("the last passage of process {process} makes {count} {machine}")
                }
                None => format!(
                    "process {process} makes an unbounded number of remote references in one passage {machine}"
                ),
            }
        }
    }
}

/// Describes the finding of a trace: [`describe`] with the details that the run shows.
pub fn shows(trace: &Trace) -> String {
    let sentence = describe(&trace.schedule);
    let stands = |p: Pid| trace.steps.iter().rev().find(|s| s.process == p).map(|s| &s.after);
    let all = 0..trace.schedule.n;
    match &trace.schedule.finding {
        Finding::Starvation { victim, stopped } => {
            let from = waits_from(trace, *victim);
            let sentence = format!("process {victim} waits forever from step {from}");
            with_stopped(sentence, stopped, &trace.schedule)
        }
        Finding::Exclusion => {
            let inside = |p: &Pid| stands(*p).is_some_and(|s| s.section == Section::Critical);
            format!("{sentence}: {}", list(all.filter(inside)))
        }
        Finding::Names => {
            let held: Vec<String> =
                all.filter_map(|p| Some(format!("{p} holds {}", stands(p)?.name?))).collect();
            format!("{sentence}: {}", held.join(", "))
        }
        Finding::Range => match trace.steps.last().and_then(|step| step.access.as_ref()) {
            Some(access) if access.is_fault() => access.left_shown.clone(),
            Some(access) => format!("{sentence}: {} = {}", access.name, access.left_shown),
            None => sentence,
        },
        Finding::Invariant(name) => match trace.invariant_fault {
            Some(fault) => no_value(name, fault),
            None => sentence,
        },
        _ => sentence,
    }
}

/// Returns a text that says why an invariant has no value in a state.
pub fn no_value(name: &str, fault: &str) -> String {
    format!("the invariant {name} has no value: it {fault}")
}

/// Returns the step from which `p` waits for the rest of the run. This is the first step after which its
/// last passage is in the waiting room. If the passage stays in the doorway, it is the first step of
/// that passage.
pub(super) fn waits_from(trace: &Trace, p: Pid) -> usize {
    let last = |event: &Event| {
        trace.steps.iter().rposition(|step| step.process == p && step.events.contains(event))
    };
    let begins = last(&Event::LeavesRemainder);
    let waits = last(&Event::LeavesDoorway).filter(|&waits| Some(waits) >= begins);
    waits.or(begins).map_or(0, |index| index + 1)
}

/// Returns words for the cost model, for use in a sentence.
pub(super) fn model_name(model: CostModel) -> &'static str {
    match model {
        CostModel::Cc => "on a cache-coherent machine",
        CostModel::Dsm => "with distributed shared memory",
    }
}

/// Returns words for the memory model, for use in a sentence.
pub(crate) fn memory_model(model: MemoryModel) -> &'static str {
    match model {
        MemoryModel::Sequential => "sequential consistency",
        MemoryModel::StoreBuffers => "store buffers, as on x86",
    }
}

/// Describes the rules of counting.
pub(crate) fn rules(rules: &Conventions) -> [&'static str; 3] {
    let writer = match rules.writer_copy {
        WriterCopy::AsItWas => "a write leaves the writer's own copy as it was",
        WriterCopy::Gained => "a write leaves the writer a valid copy",
        WriterCopy::Lost => "a write removes the writer's own copy",
    };
    let failed = match rules.failed_rmw {
        FailedRmw::Write => "a failed read-modify-write counts as a write",
        FailedRmw::Read => "a failed read-modify-write counts as a read",
    };
    let cache = match rules.cache {
        CacheAtStart::Cold => "a passage begins with an empty cache",
        CacheAtStart::Warm => {
            "a passage begins with the copies that earlier passages left in the cache"
        }
    };
    [writer, failed, cache]
}

/// Returns the initial values of the variables that the algorithm leaves open.
pub(super) fn open_values(trace: &Trace) -> Vec<(String, String)> {
    let values = trace.vars.iter().zip(&trace.schedule.initial);
    values
        .filter(|(decl, _)| decl.init == Init::Open)
        .map(|(decl, &value)| (decl.name.clone(), decl.show(value)))
        .collect()
}

/// Describes an access.
pub(crate) fn access(access: &Access) -> String {
    let Access { name, found_shown: found, left_shown: left, operation, via, .. } = access;
    match (via, operation) {
        _ if access.is_fault() => left.clone(),
        (Via::IntoBuffer, _) => format!("{name}: {left} into its buffer"),
        (Via::FromBuffer, _) => format!("{name}: read {found} from its buffer"),
        (Via::Flush, _) => format!("{name}: {found} -> {left} out of its buffer"),
        (Via::Outside, _) => format!("{name}: {found} -> {left} from outside"),
        (Via::Memory, Operation::Read) => format!("{name}: read {found}"),
        (Via::Memory, Operation::TestAndSet) if access.failed => {
            format!("{name}: {found}, already set")
        }
        (Via::Memory, Operation::CompareAndSwap) if access.failed => {
            format!("{name}: {found}, not swapped")
        }
        (Via::Memory, _) => format!("{name}: {found} -> {left}"),
    }
}

/// Returns the name of an operation.
pub(crate) fn operation(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::FetchAdd => "fetch-and-add",
        Operation::TestAndSet => "test-and-set",
        Operation::Set => "setting bits",
        Operation::Clear => "clearing bits",
        Operation::CompareAndSwap => "compare-and-swap",
        Operation::AtomicUpdate => "atomic statement",
    }
}

/// Describes an event.
pub(crate) fn event(event: &Event) -> String {
    match event {
        Event::LeavesRemainder => "starts".into(),
        Event::LeavesDoorway => "leaves the doorway".into(),
        Event::Enters(None) => "ENTERS".into(),
        Event::Enters(Some(name)) => format!("ENTERS as name {name}"),
        Event::LeavesCritical => "leaves".into(),
        Event::Returns => "returns to its remainder".into(),
        Event::Mishap(name) => name.to_uppercase(),
    }
}

/// Returns the figure to which most lines of a run belong. Labels omit its name.
pub(super) fn main_figure(trace: &Trace) -> &'static str {
    let labels = || trace.steps.iter().filter_map(|step| step.before.label.as_ref());
    let count = |figure: &str| labels().filter(|label| label.figure == figure).count();
    let mut figures: Vec<&'static str> = labels().map(|label| label.figure).collect();
    figures.sort_unstable();
    figures.dedup();
    figures.into_iter().max_by_key(|figure| count(figure)).unwrap_or("")
}

/// Formats a label. Leaves out the figure if it is `main`.
pub(crate) fn label(label: &Label, main: &str) -> String {
    let full = label.to_string();
    match full.strip_prefix(main).and_then(|rest| rest.strip_prefix(':')) {
        Some(short) if label.figure == main => short.to_string(),
        _ => full,
    }
}
