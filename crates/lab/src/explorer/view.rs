//! Nodes and steps as JSON.

use hallpass_algorithms::{Label, Pid, Section};
use serde_json::{Value, json};

use super::{
    moment::Node,
    session::{Action, Choice, NodeId, Session},
    subject::Subject,
};
use crate::trace::{Event, Stand, Step, words};

pub(super) fn section(section: Section) -> &'static str {
    match section {
        Section::Remainder => "remainder",
        Section::Doorway => "doorway",
        Section::Waiting => "waiting",
        Section::Critical => "critical",
        Section::Exit => "exit",
    }
}

/// Returns the instance of a label. For an algorithm of a file, the instance lists the private variables. The page
/// shows them apart from the label, so this function returns an empty text.
fn instance(label: &Label) -> &str {
    if label.instance.contains('=') { "" } else { &label.instance }
}

/// Returns a label without its figure.
pub(super) fn short(label: &Label) -> String {
    match instance(label) {
        "" => label.line.clone(),
        instance => format!("{}@{instance}", label.line),
    }
}

/// Returns a label as the page shows it, and where its text is: the figure and the index of the line.
fn label(subject: &Subject, label: &Label) -> Value {
    let at = subject
        .figures()
        .iter()
        .enumerate()
        .find_map(|(figure, text)| Some((figure, text.line(label)?)));
    json!({
        "figure": label.figure,
        "line": label.line,
        "instance": instance(label),
        "short": short(label),
        "at": at.map(|(figure, line)| [figure, line]),
    })
}

fn stand(subject: &Subject, stand: &Stand) -> Value {
    json!({
        "section": section(stand.section),
        "label": stand.label.as_ref().map(|at| label(subject, at)),
        "name": stand.name,
    })
}

/// Returns the text about a step: its access, and what follows from it.
fn sentence(step: &Step) -> String {
    let mut parts = Vec::new();
    match &step.access {
        Some(access) => parts.push(words::access(access).replace("->", "\u{2192}")),
        None if step.mishap().is_none() && step.events.is_empty() => parts.push("no access".into()),
        None => {}
    }
    for event in &step.events {
        parts.push(match event {
            Event::LeavesRemainder => "starts a passage".into(),
            Event::LeavesDoorway => "leaves the doorway".into(),
            Event::Enters(None) => "enters the critical section".into(),
            Event::Enters(Some(name)) => format!("enters the critical section with slot {name}"),
            Event::LeavesCritical => "leaves the critical section".into(),
            Event::Returns => "returns to the remainder section".into(),
            Event::Mishap(name @ ("lease ends" | "request hangs")) => format!("its {name}"),
            Event::Mishap(name) => format!("is {name}"),
        });
    }
    if step.stays {
        parts.push("nothing changes".into());
    }
    parts.join("; ")
}

/// Returns a step as JSON.
pub(super) fn step(subject: &Subject, step: &Step) -> Value {
    let kind = match (step.is_flush(), step.mishap()) {
        (true, _) => "flush",
        (_, Some(_)) => "mishap",
        _ => "step",
    };
    json!({
        "agent": step.agent,
        "process": step.process,
        "kind": kind,
        "mishap": step.mishap(),
        "before": stand(subject, &step.before),
        "after": stand(subject, &step.after),
        "access": step.access.as_ref().map(|access| json!({
            "variable": access.var,
            "name": access.name,
            "operation": words::operation(access.operation),
            "found": access.found_shown,
            "left": access.left_shown,
            "writes": access.found != access.left || access.via == crate::trace::Via::IntoBuffer,
            "out_of_range": access.out_of_range,
        })),
        "does": sentence(step),
        "cc": step.miss,
        "dsm": step.remote,
        "stays": step.stays,
        "enters": step.events.iter().any(|event| matches!(event, Event::Enters(_))),
    })
}

fn choice(subject: &Subject, choice: &Choice) -> Value {
    match &choice.step {
        Ok(taken) => step(subject, taken),
        Err(why) => json!({ "agent": choice.agent, "impossible": why }),
    }
}

fn process(subject: &Subject, node: &Node, p: Pid) -> Value {
    let moment = &node.moment;
    let state = moment.snapshot.state();
    let decls = subject.machine().layout().decls();
    let buffer = state.buffers[p]
        .iter()
        .map(|&(var, value)| json!([decls[var].name, decls[var].show(value)]));
    let copies = (0..decls.len()).filter(|&var| moment.snapshot.has_copy(p, var));
    let before: Vec<Pid> =
        (0..moment.stands.len()).filter(|&other| moment.ahead[p] >> other & 1 == 1).collect();
    let mut value = stand(subject, &moment.stands[p]);
    value["process"] = json!(p);
    value["stopped"] = json!(moment.stopped >> p & 1 == 1);
    value["private"] = json!(subject.machine().variables(state.processes[p]));
    value["cc"] = json!(moment.counts[p][0]);
    value["dsm"] = json!(moment.counts[p][1]);
    value["copies"] = json!(copies.collect::<Vec<_>>());
    value["buffer"] = json!(buffer.collect::<Vec<_>>());
    value["came_before"] = json!(before);
    value
}

impl Session {
    /// Returns everything about a node that the page shows, apart from the checker's answers.
    ///
    /// # Errors
    /// Fails if there is no such node.
    pub fn view(&mut self, id: NodeId) -> Result<Value, String> {
        let choices = self.choices(id)?;
        let judgement = self.judge(id)?;
        let replay = self.replay_of(id, &judgement)?;
        let (subject, node) = (self.subject(), self.node(id)?);
        let state = node.moment.snapshot.state();
        let changed = node
            .step
            .as_ref()
            .and_then(|step| step.access.as_ref())
            .filter(|access| access.changes_memory())
            .map(|access| access.var);
        let memory: Vec<String> = (subject.machine().layout().decls().iter())
            .zip(&state.memory)
            .map(|(decl, &value)| decl.show(value))
            .collect();
        let n = subject.machine().n();
        Ok(json!({
            "node": id,
            "parent": node.parent,
            "children": node.children,
            "steps": node.steps,
            "stop": match node.action { Some(Action::Stop(p)) => Some(p), _ => None },
            "step": node.step.as_ref().map(|taken| step(subject, taken)),
            "processes": (0..n).map(|p| process(subject, node, p)).collect::<Vec<_>>(),
            "memory": memory,
            "changed": changed,
            "choices": choices.iter().map(|one| choice(subject, one)).collect::<Vec<_>>(),
            "facts": judgement.facts,
            "loop": judgement.repeats,
            "replay": replay,
        }))
    }
}
