//! The table of a page, with one column for each process and one row for each step.

use std::fmt::Write as _;

use hallpass_algorithms::{Pid, Section};

use super::escape;
use crate::{
    schedule::{CostModel, Finding},
    trace::{
        step::{Event, Stand, Step, Trace},
        words,
    },
};

/// The class and name of each section that has a background.
pub(super) const SECTIONS: [(&str, &str); 4] = [
    ("door", "doorway"),
    ("wait", "waiting room"),
    ("crit", "critical section"),
    ("exit", "exit section"),
];

fn class(section: Section) -> &'static str {
    match section {
        Section::Remainder => "rem",
        Section::Doorway => "door",
        Section::Waiting => "wait",
        Section::Critical => "crit",
        Section::Exit => "exit",
    }
}

struct StepTable<'a> {
    trace: &'a Trace,
    figure: &'static str,
    lanes: Vec<Pid>,
    stops: Vec<Option<usize>>,
    /// The position of each process in the row that is being written.
    stands: Vec<Stand>,
    /// The row in which each process entered its section.
    since: Vec<usize>,
    /// The remote references of the current passage of each process, with cache-coherent and with
    /// distributed memory.
    counts: Vec<[u32; 2]>,
    out: String,
}

/// Renders the table.
pub(super) fn table(trace: &Trace) -> String {
    let n = trace.schedule.n;
    let remainder = Stand { section: Section::Remainder, label: None, name: None };
    let mut table = StepTable {
        trace,
        figure: words::main_figure(trace),
        lanes: trace.movers(),
        stops: trace.stops(),
        stands: vec![remainder; n],
        since: vec![0; n],
        counts: vec![[0; 2]; n],
        out: String::new(),
    };
    table.head();
    for (index, step) in trace.steps.iter().enumerate() {
        table.row(index, step);
    }
    if !trace.is_lasso() {
        table.end();
    }
    table.out.push_str("</tbody>\n</table>\n");
    table.out
}

impl StepTable<'_> {
    fn head(&mut self) {
        let kind = if self.trace.is_lasso() { " lasso" } else { "" };
        let _ = write!(
            self.out,
            "<table class=\"lanes{kind}\">\n<thead><tr><th class=\"no\">step</th>"
        );
        for &p in &self.lanes {
            let role = self.role(p).map(|role| format!("<small>{}</small>", escape(&role)));
            let role = role.unwrap_or_default();
            let _ = write!(self.out, "<th scope=\"col\">process {p}{role}</th>");
        }
        if self.trace.is_lasso() {
            self.out.push_str("<th></th>");
        }
        self.out.push_str("<th></th></tr></thead>\n<tbody>\n");
    }

    /// Describes the role of a process in the finding.
    fn role(&self, p: Pid) -> Option<String> {
        let counted = |model: CostModel, count: Option<u32>| {
            let model = match model {
                CostModel::Cc => "cache-coherent",
                CostModel::Dsm => "distributed memory",
            };
            count.map_or_else(|| format!("unbounded, {model}"), |c| format!("{c}, {model}"))
        };
        let stops = self.stops[p].map(|_| "stops \u{271d}".to_string());
        match self.trace.schedule.finding {
            Finding::Starvation { victim, .. } if victim == p => {
                let from = words::waits_from(self.trace, p);
                Some(format!("waits forever from step {from}"))
            }
            Finding::Fife { first, .. } | Finding::FifeStrong { first, .. } if first == p => {
                Some("came first, is kept out".into())
            }
            Finding::Fife { second, .. } if second == p => Some("came later, enters first".into()),
            Finding::FifeStrong { second, .. } if second == p => Some("came later, gets in".into()),
            Finding::Bypass { victim, .. } if victim == p => Some("is overtaken".into()),
            Finding::Exit { process, .. } if process == p => Some("leaves".into()),
            Finding::Doorway { process, .. } if process == p => Some("in its doorway".into()),
            Finding::Rmr { model, process, count, .. } if process == p => {
                Some(format!("remote: {}", counted(model, count)))
            }
            _ => stops,
        }
    }

    fn row(&mut self, index: usize, step: &Step) {
        let in_loop = self.trace.is_lasso() && index >= self.trace.stem();
        let mut classes = Vec::new();
        if in_loop {
            classes.push("loop");
        }
        if self.moment() == Some(index + 1) {
            classes.push("moment");
        }
        let _ = write!(
            self.out,
            "<tr class=\"{}\"><th class=\"no\">{}</th>",
            classes.join(" "),
            index + 1
        );
        if step.events.contains(&Event::LeavesRemainder) {
            self.counts[step.process] = [0; 2];
        }
        let counts = &mut self.counts[step.process];
        counts[0] += u32::from(step.miss);
        counts[1] += u32::from(step.remote);
        for p in self.lanes.clone() {
            let content =
                if p == step.process { self.step_box(index, step) } else { self.resting(p, index) };
            self.cell(p, index, &content);
        }
        self.bracket(index);
        let notes = self.notes(index, step);
        let _ = writeln!(self.out, "<td class=\"notes\">{notes}</td></tr>");
        if self.stands[step.process].section != step.after.section {
            self.since[step.process] = index + 1;
        }
        self.stands[step.process] = step.after.clone();
    }

    fn cell(&mut self, p: Pid, index: usize, content: &str) {
        let stopped = if self.stopped(p, index) { " stopped" } else { "" };
        let first = if self.since[p] == index { " first" } else { "" };
        let section = class(self.stands[p].section);
        let _ = write!(self.out, "<td class=\"lane {section}{first}{stopped}\">{content}</td>");
    }

    fn stopped(&self, p: Pid, index: usize) -> bool {
        self.stops[p].is_some_and(|stop| index >= stop)
    }

    /// Returns the cell of a process that takes no step.
    fn resting(&self, p: Pid, index: usize) -> String {
        if self.stops[p] == Some(index) {
            let place = match &self.stands[p].label {
                Some(label) => format!("at {}", escape(&words::label(label, self.figure))),
                None => "in its critical section".into(),
            };
            return format!(
                "<span class=\"cross\">\u{271d}</span> <span class=\"in\">stopped {place}</span>"
            );
        }
        let stand = &self.stands[p];
        if stand.section != Section::Critical || self.since[p] != index || self.stopped(p, index) {
            return String::new();
        }
        match stand.name {
            Some(name) => format!("<span class=\"in\">in, name {name}</span>"),
            None => "<span class=\"in\">in</span>".into(),
        }
    }

    fn step_box(&self, index: usize, step: &Step) -> String {
        let mut classes = String::from("step");
        let [cc, dsm] = self.counts[step.process];
        let mut badge = String::new();
        for (is, name, count) in [(step.miss, "cc", cc), (step.remote, "dsm", dsm)] {
            if is {
                let _ = write!(classes, " {name}");
                let _ = write!(badge, "<sup class=\"{name}\">{count}</sup>");
            }
        }
        if step.access.is_none() {
            classes.push_str(" local");
        }
        let label = match (step.mishap(), &step.before.label, step.before.section) {
            _ if step.is_flush() => "buffer".into(),
            (Some(mishap), ..) => mishap.into(),
            (_, Some(label), _) => words::label(label, self.figure),
            (_, None, Section::Critical) => match step.before.name {
                Some(name) => format!("in, name {name}"),
                None => "in".into(),
            },
            (_, None, _) => String::new(),
        };
        let what = match &step.access {
            Some(access) => words::access(access).replace("->", "\u{2192}"),
            None if step.before.section == Section::Remainder => "starts".into(),
            None if step.before.section == Section::Critical => "leaves".into(),
            None => "no access".into(),
        };
        format!(
            "<div class=\"{classes}\" tabindex=\"0\" data-i=\"{index}\" title=\"{}\">\
             <b>{}</b> <span>{}</span>{badge}</div>",
            escape(&self.sentence(index, step)),
            escape(&label),
            escape(&what),
        )
    }

    /// Describes the whole step. This is a tooltip that works without scripts.
    fn sentence(&self, index: usize, step: &Step) -> String {
        let mut out = format!("step {}, process {}", index + 1, step.process);
        if let Some(label) = &step.before.label {
            let _ = write!(out, ", {label}");
        }
        if let Some(access) = &step.access {
            let _ = write!(
                out,
                ": {} of {}",
                words::operation(access.operation),
                words::access(access)
            );
        }
        for (is, what) in [(step.miss, "cache-coherent"), (step.remote, "distributed")] {
            if is {
                let _ = write!(out, "; remote, {what}");
            }
        }
        out
    }

    fn notes(&self, index: usize, step: &Step) -> String {
        let p = step.process;
        let mut notes = Vec::new();
        for event in &step.events {
            match event {
                Event::LeavesRemainder | Event::LeavesCritical => {} // the box already shows it
                Event::LeavesDoorway if step.after.section == Section::Critical => {}
                Event::Enters(_) => {
                    notes.push(format!(
                        "<b class=\"enters\">{p} {}</b>",
                        words::event(event).to_lowercase()
                    ));
                }
                event => notes.push(format!("{p} {}", words::event(event))),
            }
        }
        if step.access.as_ref().is_some_and(|access| access.out_of_range && !access.is_fault()) {
            notes.push("<b class=\"bad\">outside its declared range</b>".into());
        }
        match self.trace.schedule.finding {
            Finding::Fife { first, second, at } if at == index + 1 => {
                notes.push(format!(
                    "<b class=\"bad\">now {second} is in its critical section while {first}, which came first, waits</b>"
                ));
            }
            Finding::FifeStrong { first, second, at } if at == index + 1 => {
                notes.push(format!(
                    "<b class=\"bad\">now nothing can keep {second} out, and {first} came first</b>"
                ));
            }
            _ => {}
        }
        notes.join(" &middot; ")
    }

    fn moment(&self) -> Option<usize> {
        match self.trace.schedule.finding {
            Finding::Fife { at, .. }
            | Finding::FifeStrong { at, .. }
            | Finding::Bypass { at, .. } => Some(at),
            _ => None,
        }
    }

    /// Writes the bracket beside the cycle: one cell for all its rows.
    fn bracket(&mut self, index: usize) {
        let (stem, all) = (self.trace.stem(), self.trace.steps.len());
        if !self.trace.is_lasso() {
            return;
        }
        if index < stem {
            self.out.push_str("<td class=\"before\"></td>");
        }
        if index == stem {
            let (rows, back) = (all - stem, stem + 1);
            let _ = write!(
                self.out,
                "<td class=\"bracket\" rowspan=\"{rows}\"><div></div>\
                 <p><b>forever</b>:<br>back to step {back}</p></td>"
            );
        }
    }

    /// Writes the final state of a run.
    fn end(&mut self) {
        self.out.push_str("<tr class=\"end\"><th class=\"no\">end</th>");
        let bad = self.trace.schedule.finding == Finding::Exclusion;
        let index = self.trace.steps.len();
        for p in self.lanes.clone() {
            let stand = self.stands[p].clone();
            let content = match (stand.section, &stand.label) {
                (Section::Critical, _) => {
                    let name = stand.name.map(|name| format!(", name {name}")).unwrap_or_default();
                    let class = if bad || self.clashes(p) { "in bad" } else { "in" };
                    format!("<span class=\"{class}\">in its critical section{name}</span>")
                }
                (Section::Remainder, _) | (_, None) => String::new(),
                (_, Some(label)) => {
                    let label = escape(&words::label(label, self.figure));
                    format!("<span class=\"at\">at {label}</span>")
                }
            };
            self.cell(p, index, &content);
        }
        self.out.push_str("<td class=\"notes\"></td></tr>\n");
    }

    /// Returns whether `p` holds a name that is too large, or that another process also holds.
    fn clashes(&self, p: Pid) -> bool {
        let Some(name) = self.stands[p].name else { return false };
        let others = (0..self.stands.len()).filter(|&other| other != p);
        name >= self.trace.schedule.k
            || others.into_iter().any(|other| self.stands[other].name == Some(name))
    }
}
