//! Recorded histories.

use std::{collections::BTreeMap, error::Error, fmt};

use super::{Completion, Monitor, Specification, busy};

/// An event of a process: a call or a return.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Event<Op, Ret> {
    /// The process that calls or returns.
    pub process: usize,
    /// The call or the return.
    pub kind: EventKind<Op, Ret>,
}

/// The two ends of an operation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EventKind<Op, Ret> {
    /// The call.
    Invoke(Op),
    /// The return, with its result.
    Return(Ret),
}

impl<Op, Ret> Event<Op, Ret> {
    /// Creates the event that the process calls this operation.
    pub fn invoke(process: usize, op: Op) -> Self {
        Event { process, kind: EventKind::Invoke(op) }
    }

    /// Creates the event that the process's operation has returned this result.
    pub fn returned(process: usize, ret: Ret) -> Self {
        Event { process, kind: EventKind::Return(ret) }
    }
}

/// A return that no order of the operations explains. Its `Display` output shows the events shortly
/// before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The index of the event in the history.
    pub at: usize,
    /// The process that returned.
    pub process: usize,
    /// The results that were possible, formatted with `Debug`.
    pub possible: Vec<String>,
    /// The last events up to and including the return, one line each, with one column for each process.
    pub window: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "not linearizable: no order of the operations explains the result of process {} (event {})",
            self.process, self.at
        )?;
        f.write_str(&self.window)?;
        write!(f, "possible results: {}", self.possible.join(", "))
    }
}

impl Error for Violation {}

/// Checks whether the history is linearizable. The events are in the order in which they happened, and
/// `initial` is the first state of the object. An operation that never returns is still under way at the
/// end.
///
/// # Panics
/// Panics if a process calls an operation before its previous one has returned, or returns without a
/// call.
pub fn check<S: Specification>(
    spec: &S,
    initial: S::State,
    history: &[Event<S::Op, S::Ret>],
) -> Result<(), Violation>
where
    S::Op: fmt::Debug,
    S::Ret: fmt::Debug,
{
    if follow(spec, initial.clone(), history, None).is_some() {
        return Ok(());
    }
    // `follow` knows the results of later returns, so it may fail before the return that shows the violation. That
    // return is the last event of the shortest prefix that cannot be explained. Longer prefixes cannot be
    // explained either, so a binary search finds the shortest one.
    let (mut explained, mut unexplained) = (0, history.len());
    while unexplained - explained > 1 {
        let middle = explained.midpoint(unexplained);
        match follow(spec, initial.clone(), &history[..middle], None) {
            Some(_) => explained = middle,
            None => unexplained = middle,
        }
    }
    let (at, process) = (explained, history[explained].process);
    let before =
        follow(spec, initial, &history[..at], Some(process)).expect("it was explained just now");
    let possible = before.possible(spec, process);
    Err(Violation {
        at,
        process,
        possible: possible.iter().map(|ret| format!("{ret:?}")).collect(),
        window: window(history, at),
    })
}

/// Returns the monitor at the end of the history, if some order explains the history. An operation
/// without a return is dropped after it has had its effect, unless `asked` is its process.
fn follow<S: Specification>(
    spec: &S,
    initial: S::State,
    history: &[Event<S::Op, S::Ret>],
    asked: Option<usize>,
) -> Option<Monitor<S>> {
    let mut monitor = Monitor::new(initial);
    let foreseen = foresee(history);
    // The results of the pending operations that return later.
    let mut later_results = BTreeMap::new();
    for (Event { process, kind }, foreseen) in history.iter().zip(foreseen) {
        match kind {
            EventKind::Invoke(op) => {
                let under_way = later_results.insert(*process, foreseen).is_some();
                assert!(!under_way, "{}", busy(*process));
                monitor.invoke(spec, *process, op.clone());
            }
            EventKind::Return(ret) => {
                let completion = |process: usize, ret: &S::Ret| match later_results[&process] {
                    Some(other) if other != ret => Completion::Cannot,
                    None if asked != Some(process) => Completion::Lost,
                    _ => Completion::Returns,
                };
                monitor.configurations = monitor.after(spec, *process, ret, completion);
                later_results.remove(process);
                if monitor.is_violated() {
                    return None;
                }
            }
        }
    }
    Some(monitor)
}

/// Returns, for each event, the result of the operation that it calls. `None` if the event is a return, or if the
/// operation never returns.
fn foresee<Op, Ret>(history: &[Event<Op, Ret>]) -> Vec<Option<&Ret>> {
    let mut next = BTreeMap::new();
    let mut foreseen: Vec<_> = history
        .iter()
        .rev()
        .map(|event| match &event.kind {
            EventKind::Invoke(_) => next.remove(&event.process),
            EventKind::Return(ret) => {
                next.insert(event.process, ret);
                None
            }
        })
        .collect();
    foreseen.reverse();
    foreseen
}

/// The minimum and maximum number of events shown.
const SHOWN: std::ops::RangeInclusive<usize> = 16..=64;

/// Formats the last events up to and including the event `at`. They include the call of the operation that returns
/// at `at`, unless there are too many events in between.
fn window<Op: fmt::Debug, Ret: fmt::Debug>(history: &[Event<Op, Ret>], at: usize) -> String {
    let process = history[at].process;
    let call = history[..at].iter().rposition(|event| event.process == process).unwrap_or(at);
    let first = (at + 1).saturating_sub((at + 1 - call).clamp(*SHOWN.start(), *SHOWN.end()));
    let shown = &history[first..=at];

    let mut processes: Vec<_> = shown.iter().map(|event| event.process).collect();
    processes.sort_unstable();
    processes.dedup();
    let cells: Vec<_> = shown
        .iter()
        .map(|event| match &event.kind {
            EventKind::Invoke(op) => format!("{op:?}"),
            EventKind::Return(ret) => format!("-> {ret:?}"),
        })
        .collect();
    let titles: Vec<_> = processes.iter().map(|process| format!("process {process}")).collect();
    let widths: Vec<_> = processes
        .iter()
        .zip(&titles)
        .map(|(process, title)| {
            let own = shown.iter().zip(&cells).filter(|(event, _)| event.process == *process);
            own.map(|(_, cell)| cell.chars().count()).max().unwrap_or(0).max(title.len()) + 2
        })
        .collect();

    let mut lines = line("event", &widths, |column| &titles[column]);
    for (offset, (event, cell)) in shown.iter().zip(&cells).enumerate() {
        let mine = |column: usize| if processes[column] == event.process { cell } else { "" };
        lines += &line(&(first + offset).to_string(), &widths, mine);
    }
    lines
}

fn line<'a>(number: &str, widths: &[usize], cell: impl Fn(usize) -> &'a str) -> String {
    let mut line = format!("{number:>7}  ");
    for (column, &width) in widths.iter().enumerate() {
        line += &format!("{:<width$}", cell(column));
    }
    line.truncate(line.trim_end().len());
    line + "\n"
}
