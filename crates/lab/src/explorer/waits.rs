//! Finds the variables for which a process waits, and the processes that can still end its wait.
//!
//! A process *waits for* variables if, alone, it would read them again and again and never enter. Another process ends
//! the wait if it changes such a variable so that the waiting process goes on. The search for these processes follows
//! the explored states, but starts no passage: a process in its remainder section need not start one, so no process can
//! rely on it. The stores in the buffer of a stopped process still reach memory.

use std::collections::VecDeque;

use hallpass_algorithms::{Decl, Kind, Pid, Section, Word};
use indexmap::{IndexMap, IndexSet};
use serde_json::{Value, json};

use super::{
    answers::Answers,
    chart::Chart,
    moment::Moment,
    session::{NodeId, Session},
};
use crate::{
    machine::Local,
    space::Agent,
    standing::Standing as _,
    store::Id,
    tables::Access,
    trace::{Operation, RunState, Snapshot, Step, Via, words},
};

/// A process that waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Wait {
    process: Pid,
    /// Where the process is: `at line 5`.
    place: String,
    /// The variables that it reads over and over.
    variables: Vec<usize>,
    /// If the process reads only one variable: the values with which it goes on, if they can be listed.
    goes_on: Option<Vec<Word>>,
    /// The condition that ends the wait: `Q.2 ≠ 2`.
    until: String,
}

/// The maximum number of steps that a process makes alone until it repeats a state.
const MOST_STEPS: usize = 300;
/// The maximum number of values that are tried.
const MOST_VALUES: usize = 64;
/// The maximum number of variables that a sentence names.
const MOST_NAMED: usize = 4;
/// The maximum number of states that the search for the end of a wait visits.
const MOST_STATES: usize = 3_000;

impl Session {
    /// Returns what `p` waits for at `node`; `None` if it does not wait.
    pub(super) fn wait(&mut self, node: NodeId, p: Pid) -> Result<Option<Wait>, String> {
        let moment = &self.node(node)?.moment;
        let gone = moment.stopped >> p & 1 == 1 || moment.snapshot.out_of_range().is_some();
        if gone || moment.stands[p].section != Section::Waiting {
            return Ok(None);
        }
        let place = match &moment.stands[p].label {
            Some(label) => format!("at line {}", super::view::short(label)),
            None => String::new(),
        };
        let snapshot = moment.snapshot.clone();
        let Some(round) = self.repeated_steps(p, &snapshot) else { return Ok(None) };
        let accesses = || round.iter().filter_map(|step| step.access.as_ref());
        let reads = accesses().filter(|access| access.operation != Operation::Write);
        let variables: IndexSet<usize> = reads.map(|access| access.var).collect();
        let variables: Vec<usize> = variables.into_iter().collect();
        if variables.is_empty() {
            return Ok(None);
        }
        // The values cannot be listed if the process itself changes the variable, or reads it from its own buffer.
        let steady = accesses().all(|access| !access.changes_memory() && access.via == Via::Memory);
        let goes_on = match &variables[..] {
            &[var] if steady => self.values_that_end(p, &snapshot, var, round.len()),
            _ => None,
        };
        let decls = self.subject().machine().layout().decls();
        let until = until(decls, &variables, goes_on.as_deref(), &snapshot.state().memory);
        Ok(Some(Wait { process: p, place, variables, goes_on, until }))
    }

    /// Returns the steps that `p`, alone, repeats forever; `None` if it enters, leaves or changes something first.
    fn repeated_steps(&mut self, p: Pid, snapshot: &Snapshot) -> Option<Vec<Step>> {
        let run = self.interpreter_mut();
        run.restore(snapshot);
        let mut states: IndexMap<RunState, Step> = IndexMap::new();
        let first = loop {
            let state = run.state().clone();
            if let Some(first) = states.get_index_of(&state) {
                break first;
            }
            if states.len() == MOST_STEPS {
                return None;
            }
            let step = run.step(p).ok()?;
            if !run.stand(p).section.is_entry() {
                return None;
            }
            states.insert(state, step);
        };
        let steps: Vec<Step> = states.into_values().collect();
        let harmless = |step: &Step| {
            let access = step.access.as_ref();
            access.is_none_or(|access| !access.changes_memory() && access.via != Via::IntoBuffer)
        };
        steps[..first].iter().all(harmless).then(|| steps[first..].to_vec())
    }

    /// Returns the values of `var` with which `p`, alone, leaves its round: the steps that it repeats while it waits.
    /// The round has `round` steps. Returns `None` if the values cannot be listed.
    fn values_that_end(
        &mut self,
        p: Pid,
        snapshot: &Snapshot,
        var: usize,
        round: usize,
    ) -> Option<Vec<Word>> {
        let decl = &self.subject().machine().layout().decls()[var];
        let values = decl.domain.listed().to_vec();
        if decl.unbounded || values.is_empty() || values.len() > MOST_VALUES {
            return None;
        }
        let run = self.interpreter_mut();
        let mut lines = |value: Word| -> Option<Vec<Local>> {
            let mut state = snapshot.state().clone();
            state.memory[var] = value;
            run.restore(&snapshot.with_state(state));
            // The process may be in the middle of a round. Any two rounds of steps contain a whole round.
            (0..2 * round).map(|_| run.step(p).ok().map(|_| run.state().processes[p])).collect()
        };
        let repeated = lines(snapshot.state().memory[var])?;
        let ends = |&value: &Word| lines(value).is_some_and(|lines| lines != repeated);
        Some(values.into_iter().filter(ends).collect())
    }
}

/// Returns the condition that ends the wait, as text.
fn until(decls: &[Decl], variables: &[usize], goes_on: Option<&[Word]>, memory: &[Word]) -> String {
    let (&[var], Some(goes_on)) = (variables, goes_on) else {
        let name =
            |&var: &usize| format!("{} (now {})", decls[var].name, decls[var].show(memory[var]));
        let mut names: Vec<String> = variables.iter().take(MOST_NAMED).map(name).collect();
        if variables.len() > MOST_NAMED {
            names.push(format!("one of {} more variables", variables.len() - MOST_NAMED));
        }
        return match &names[..] {
            [name] => format!("{name} changes"),
            [first @ .., last] => format!("{} or {last} changes", first.join(", ")),
            [] => String::new(),
        };
    };
    let decl = &decls[var];
    let stays: Vec<Word> =
        decl.domain.listed().iter().copied().filter(|value| !goes_on.contains(value)).collect();
    let is_pid = matches!(decl.kind, Kind::Pid);
    match (goes_on, &stays[..]) {
        (&[only], _) if !is_pid => format!("{} = {}", decl.name, decl.show(only)),
        (_, &[only]) => format!("{} \u{2260} {}", decl.name, decl.show(only)),
        _ => format!("{} (now {}) changes", decl.name, decl.show(memory[var])),
    }
}

/// The result of the search for the end of a wait.
struct Ends {
    /// The processes that can still end the wait without a new passage. A stopped process ends it by a store in its
    /// buffer.
    processes: u64,
    /// Whether the search can show that no other process ends the wait: the search examined all states, and in none of
    /// them does the waiting process enter on its own.
    complete: bool,
}

impl Wait {
    /// Returns whether the step of `agent` ends the wait.
    fn is_ended_by(&self, chart: &Chart, from: Id, agent: Agent, to: Id) -> bool {
        let written = if agent < chart.n {
            // With store buffers, a write reaches memory by the step of the buffer.
            let (access, var, failed) = chart.access(from, agent);
            let direct = match access {
                Access::None | Access::Read => false,
                Access::Write => !chart.has_buffers(),
                Access::ReadModifyWrite => true,
            };
            (direct && !failed && self.variables.contains(&var)).then_some(var)
        } else {
            let (before, after) = (chart.memory(from), chart.memory(to));
            self.variables.iter().copied().find(|&var| before[var] != after[var])
        };
        written.is_some_and(|var| {
            self.goes_on.as_ref().is_none_or(|values| values.contains(&chart.memory(to)[var]))
        })
    }

    /// Looks for the processes that can end the wait in their current passages.
    fn find_ends(&self, chart: &Chart, answers: &Answers, here: Id) -> Ends {
        let n = chart.n;
        let others = ((1u64 << n) - 1) & !(1 << self.process);
        let mut found: IndexSet<Id> = IndexSet::from([here]);
        let mut queue = VecDeque::from([here]);
        let (mut processes, mut enters) = (0, false);
        while let Some(from) = queue.pop_front() {
            for (agent, to) in answers.graph(chart).edges(from) {
                let starts = agent < n && chart.sections.section(from, agent) == Section::Remainder;
                if starts {
                    continue;
                }
                if agent % n != self.process && self.is_ended_by(chart, from, agent, to) {
                    processes |= 1 << (agent % n);
                    continue;
                }
                let waits = chart.sections.section(to, self.process).is_entry();
                enters |= !waits;
                if waits && found.len() < MOST_STATES && found.insert(to) {
                    queue.push_back(to);
                }
            }
            if processes == others {
                break;
            }
        }
        Ends { processes, complete: found.len() < MOST_STATES && !enters }
    }

    /// Describes the wait, without what the checker knows.
    pub(super) fn sentence(&self) -> String {
        format!("Process {} waits {} until {}.", self.process, self.place, self.until)
    }

    /// Returns a sentence about the processes that can still end the wait, or `None` if the search does not decide
    /// this. `all` has the waits of all processes.
    pub(super) fn who_ends(
        &self,
        chart: &Chart,
        answers: &Answers,
        here: Id,
        moment: &Moment,
        all: &[Option<Wait>],
    ) -> Option<String> {
        let Ends { processes, complete } = self.find_ends(chart, answers, here);
        match processes.count_ones() {
            0 if !complete || !chart.covers_all_runs => None,
            0 => {
                let others = (0..chart.n).filter(|&p| p != self.process);
                Some(format!(
                    "No process ends this wait in its current passage: {}. So process {} can wait forever.",
                    reasons(others, moment, all),
                    self.process
                ))
            }
            _ => Some(who_can(processes, answers.stopped, chart.n)),
        }
    }

    /// Returns the wait as JSON, with these sentences.
    pub(super) fn to_json(&self, text: String) -> Value {
        json!({ "until": self.until, "variables": self.variables, "text": text })
    }
}

/// Returns sentences which say that these processes can still end a wait. A process that has stopped
/// ends the wait by a store in its buffer.
fn who_can(processes: u64, stopped: u64, n: usize) -> String {
    let named = |set: u64| words::list((0..n).filter(|p| set >> p & 1 == 1));
    let (moving, rest) = (processes & !stopped, processes & stopped);
    let moving = match moving.count_ones() {
        0 => None,
        1 => Some(format!(
            "Process {} can still end this wait in its current passage.",
            named(moving)
        )),
        _ => Some(format!(
            "Processes {} can still end this wait in their current passages.",
            named(moving)
        )),
    };
    let rest = match rest.count_ones() {
        0 => None,
        1 => Some(format!("The store buffer of process {} can still end this wait.", named(rest))),
        _ => {
            Some(format!("The store buffers of processes {} can still end this wait.", named(rest)))
        }
    };
    moving.into_iter().chain(rest).collect::<Vec<_>>().join(" ")
}

/// Returns the reasons why these processes do not end a wait.
fn reasons(others: impl Iterator<Item = Pid>, moment: &Moment, all: &[Option<Wait>]) -> String {
    let mut groups: IndexMap<(&str, &str), Vec<Pid>> = IndexMap::new();
    for p in others {
        let reason = match moment.stands[p].section {
            _ if moment.stopped >> p & 1 == 1 => ("has stopped forever", "have stopped forever"),
            Section::Remainder => (
                "is in its remainder section and need not start again",
                "are in their remainder sections and need not start again",
            ),
            _ if all[p].is_some() => ("waits, too", "wait, too"),
            _ => (
                "does not end it in the rest of its passage",
                "do not end it in the rest of their passages",
            ),
        };
        groups.entry(reason).or_default().push(p);
    }
    let say = |((one, several), group): ((&str, &str), Vec<Pid>)| match &group[..] {
        [p] => format!("process {p} {one}"),
        group => format!("processes {} {several}", words::list(group.iter().copied())),
    };
    groups.into_iter().map(say).collect::<Vec<_>>().join("; ")
}
