//! Formats a trace as text for a terminal.

use std::fmt::Write as _;

use hallpass_algorithms::{Pid, Section, registry};

use super::{
    step::{Step, Trace},
    words,
};
use crate::{
    catalogue::author,
    schedule::{Finding, MemoryModel},
};

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";

struct Printer<'a> {
    trace: &'a Trace,
    colour: bool,
    figure: &'static str,
    /// The processes that have a column.
    columns: Vec<Pid>,
    /// The width of a column.
    cell: usize,
    /// The width of the column of accesses.
    accesses: usize,
    stops: Vec<Option<usize>>,
}

/// Renders the trace, with one line for each step and one column for each process. Equal steps that follow each other
/// and change nothing share a line. Uses ANSI colours if `colour` is set.
pub fn text(trace: &Trace, colour: bool) -> String {
    let figure = words::main_figure(trace);
    let columns = trace.movers();
    let mut printer =
        Printer { trace, colour, figure, columns, cell: 5, accesses: 0, stops: trace.stops() };
    for step in &trace.steps {
        printer.cell = printer.cell.max(printer.moving_cell(step).chars().count() + 1);
        printer.accesses = printer.accesses.max(access(step).chars().count());
    }
    let mut out = printer.header();
    printer.table(&mut out);
    printer.footer(&mut out);
    out
}

fn access(step: &Step) -> String {
    step.access.as_ref().map_or_else(String::new, words::access)
}

/// Returns whether two steps look the same and change nothing, so that one line can stand for both.
fn same(one: &Step, other: &Step) -> bool {
    one == other && one.stays && one.events.is_empty()
}

impl Printer<'_> {
    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour && !text.trim().is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_string()
        }
    }

    fn header(&self) -> String {
        let schedule = &self.trace.schedule;
        let mut out = String::new();
        let (n, k) = (schedule.n, schedule.k);
        let title = self.paint(BOLD, &schedule.algorithm);
        let memory = words::memory_model(schedule.memory);
        let _ = writeln!(out, "{title}   n = {n}, k = {k}   {memory}");
        match &self.trace.confirmed {
            Ok(()) => {
                let _ = writeln!(out, "Shows: {}.", words::shows(self.trace));
            }
            Err(why) => {
                let _ = writeln!(out, "Should show: {}.", words::describe(schedule));
                let not = self.paint(RED, "The run does not show this:");
                let _ = writeln!(out, "{not} {why}.");
            }
        }
        let open = words::open_values(self.trace);
        if !open.is_empty() {
            let values: Vec<String> = open.iter().map(|(n, v)| format!("{n} = {v}")).collect();
            let author = author(&schedule.algorithm);
            let _ = writeln!(out, "Initially: {} (left open by {author}).", values.join(", "));
        }
        if let Ok((entry, _)) = registry::entry(&schedule.algorithm) {
            let _ = writeln!(
                out,
                "Lines: {}, {}; 5@2 is line 5 of instance 2.",
                entry.paper, self.figure
            );
        }
        let idle: Vec<Pid> = (0..n).filter(|p| !self.columns.contains(p)).collect();
        if !idle.is_empty() {
            let _ =
                writeln!(out, "Processes that take no step are not shown: {}.", words::list(idle));
        }
        let _ = writeln!(out, "Replay: {}", self.trace.replay);
        out
    }

    /// Returns the cell of the process that takes the step.
    fn moving_cell(&self, step: &Step) -> String {
        if step.is_flush() {
            return "flush".into();
        }
        if let Some(name) = step.mishap() {
            return name.into();
        }
        match (&step.before.label, step.before.section) {
            (Some(label), _) => words::label(label, self.figure),
            (None, Section::Critical) => "in".into(),
            (None, _) => "rem".into(),
        }
    }

    /// Returns the cell of a process that takes no step.
    fn resting_cell(&self, p: Pid, section: Section, taken: usize) -> &'static str {
        match section {
            _ if self.stops[p].is_some_and(|stop| taken >= stop) => "✝",
            Section::Remainder => "",
            Section::Critical => "#",
            Section::Waiting => ":",
            Section::Doorway | Section::Exit => "·",
        }
    }

    fn table(&self, out: &mut String) {
        let names: String = self.columns.iter().map(|p| self.pad(&format!("p{p}"))).collect();
        let _ = writeln!(out, "\n{}", self.paint(BOLD, format!(" step  {names}").trim_end()));
        let steps = &self.trace.steps;
        let mut sections = vec![Section::Remainder; self.trace.schedule.n];
        let mut first = 0;
        while first < steps.len() {
            if self.trace.is_lasso() && first == self.trace.stem() {
                let _ = writeln!(out, "{}", self.paint(YELLOW, "    ,- loop starts here"));
            }
            let last = self.end_of_fold(first);
            self.line(out, first, last, &sections);
            sections[steps[first].process] = steps[first].after.section;
            first = last + 1;
        }
        if self.trace.is_lasso() {
            let back = self.trace.stem() + 1;
            let text = format!("    '- back to step {back}, forever");
            let _ = writeln!(out, "{}", self.paint(YELLOW, &text));
        }
    }

    /// Returns the last step that can share the line of step `first`.
    fn end_of_fold(&self, first: usize) -> usize {
        let steps = &self.trace.steps;
        let mut last = first;
        // A line ends before the first step of the loop, and at the moment of the finding.
        while last + 1 < steps.len()
            && same(&steps[first], &steps[last + 1])
            && last + 1 != self.trace.stem()
            && self.moment() != Some(last + 1)
        {
            last += 1;
        }
        last
    }

    fn moment(&self) -> Option<usize> {
        match self.trace.schedule.finding {
            Finding::Fife { at, .. }
            | Finding::FifeStrong { at, .. }
            | Finding::Bypass { at, .. } => Some(at),
            _ => None,
        }
    }

    fn line(&self, out: &mut String, first: usize, last: usize, sections: &[Section]) {
        let step = &self.trace.steps[first];
        let number = if first == last {
            format!("{}", first + 1)
        } else {
            format!("{}-{}", first + 1, last + 1)
        };
        let gutter = if self.trace.is_lasso() && first >= self.trace.stem() { '|' } else { ' ' };
        let mut line = format!("{number:>4}{gutter}  ");
        for &p in &self.columns {
            let cell = if p == step.process {
                self.paint(BOLD, &self.pad(&self.moving_cell(step)))
            } else {
                let mark = self.resting_cell(p, sections[p], first);
                let code = if mark == "✝" { RED } else { DIM };
                self.paint(code, &self.pad(mark))
            };
            line.push_str(&cell);
        }
        line.push(if step.miss { 'c' } else { ' ' });
        line.push(if step.remote { 'd' } else { ' ' });
        let _ = write!(line, "  {:<width$}", access(step), width = self.accesses);
        let notes = self.notes(step, first, last);
        if !notes.is_empty() {
            let _ = write!(line, "   {notes}");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }

    fn notes(&self, step: &Step, first: usize, last: usize) -> String {
        let mut notes = Vec::new();
        if first < last {
            notes.push(format!("{} times", last - first + 1));
        }
        for event in &step.events {
            let text = words::event(event);
            let code = if text.starts_with("ENTERS") { GREEN } else { "0" };
            notes.push(self.paint(code, &text));
        }
        if step.access.as_ref().is_some_and(|access| access.out_of_range && !access.is_fault()) {
            notes.push(self.paint(RED, "outside its declared range"));
        }
        if !step.is_flush() && self.stops[step.process] == Some(last + 1) {
            notes.push(self.paint(RED, "stops forever ✝"));
        }
        match self.trace.schedule.finding {
            Finding::Fife { first: one, second, at } if at == last + 1 => {
                notes.push(format!(
                    "now {second} is in its critical section, and {one}, which came first, waits"
                ));
            }
            Finding::FifeStrong { first: one, second, at } if at == last + 1 => {
                notes.push(format!("now nothing can keep {second} out, and {one} came first"));
            }
            _ => {}
        }
        notes.join(", ")
    }

    fn pad(&self, cell: &str) -> String {
        let width = self.cell + 1;
        format!("{cell:<width$}")
    }

    fn footer(&self, out: &mut String) {
        let mut marks = vec!["# in its critical section", ": waiting", "· doorway or exit"];
        if self.stops.iter().any(Option::is_some) {
            marks.push("✝ stopped");
        }
        let _ = writeln!(out, "\nThe other processes: {}.", marks.join(", "));
        out.push_str("d: remote with distributed shared memory.\n");
        out.push_str("c: remote on a cache-coherent machine, where\n");
        for rule in words::rules(&self.trace.conventions) {
            let _ = writeln!(out, "   - {rule}");
        }
        if self.trace.is_lasso() {
            out.push_str(
                "In the loop, c is about the first round: later rounds may find valid copies.\n",
            );
        }
        if self.trace.schedule.memory == MemoryModel::StoreBuffers {
            out.push_str("A store counts when it leaves the buffer.\n");
        }
    }
}
