//! Histories that were recorded.

use std::{error::Error, fmt};

use super::{Monitor, Specification};

/// Something that a process did.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Event<Op, Ret> {
    /// Who.
    pub process: usize,
    /// What.
    pub kind: Kind<Op, Ret>,
}

/// The two ends of an operation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind<Op, Ret> {
    /// The call.
    Invoke(Op),
    /// The return, with what was returned.
    Return(Ret),
}

impl<Op, Ret> Event<Op, Ret> {
    /// The process calls this operation.
    pub fn invoke(process: usize, op: Op) -> Self {
        Event { process, kind: Kind::Invoke(op) }
    }

    /// The process's operation returned this.
    pub fn returned(process: usize, ret: Ret) -> Self {
        Event { process, kind: Kind::Return(ret) }
    }
}

/// A return that nothing explains. Printed, it shows what happened shortly before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Which event of the history it is.
    pub at: usize,
    /// The process that returned.
    pub process: usize,
    /// What could have been returned instead, as `Debug` shows it.
    pub possible: Vec<String>,
    /// The events before it and itself, a line each, a column for each process.
    pub window: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "not linearizable: nothing explains what process {} returned (event {})",
            self.process, self.at
        )?;
        f.write_str(&self.window)?;
        write!(f, "it could have returned: {}", self.possible.join(", "))
    }
}

impl Error for Violation {}

/// Whether the history is linearizable: the events in the order in which they happened, beginning
/// with an object that is `initial`. What never returns is still under way at the end.
///
/// # Panics
/// If a process calls an operation before its last one has returned, or returns without a call.
pub fn check<S: Specification>(
    spec: &S,
    initial: S::State,
    history: &[Event<S::Op, S::Ret>],
) -> Result<(), Violation>
where
    S::Op: fmt::Debug,
    S::Ret: fmt::Debug,
{
    let mut monitor = Monitor::<S>::new(initial);
    for (at, Event { process, kind }) in history.iter().enumerate() {
        match kind {
            Kind::Invoke(op) => monitor.invoke(spec, *process, op.clone()),
            Kind::Return(ret) => {
                let configurations = monitor.after(spec, *process, ret);
                if configurations.is_empty() {
                    let possible = monitor.possible(spec, *process);
                    return Err(Violation {
                        at,
                        process: *process,
                        possible: possible.iter().map(|ret| format!("{ret:?}")).collect(),
                        window: window(history, at),
                    });
                }
                monitor.configurations = configurations;
            }
        }
    }
    Ok(())
}

/// How many events are shown at least, and at most.
const SHOWN: std::ops::RangeInclusive<usize> = 16..=64;

/// What happened up to the event: from the call of what returns there, or a little before.
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
            Kind::Invoke(op) => format!("{op:?}"),
            Kind::Return(ret) => format!("-> {ret:?}"),
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
