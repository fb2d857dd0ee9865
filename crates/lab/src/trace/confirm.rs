//! Confirms that a run shows its finding. This uses only the states of the interpreter.

use std::{ops::RangeInclusive, sync::Arc};

use hallpass_algorithms::{Pid, Section};

use super::{
    check,
    interpreter::Interpreter,
    lasso,
    repeat::repeat,
    state::RunState,
    statement,
    step::{Event, Step},
    words,
};
use crate::{
    counted::counted,
    machine::Machine,
    schedule::{CostModel, Finding, MemoryModel, Schedule},
};

/// The record of a run.
pub(super) struct Evidence<'a> {
    pub(super) schedule: &'a Schedule,
    /// The steps before the cycle.
    pub(super) stem: Vec<Step>,
    /// The steps of the first round (execution) of the cycle.
    pub(super) cycle: Vec<Step>,
    /// The steps of the third round. In this round, every cached copy that the cycle touches is in the
    /// state in which the cycle leaves it.
    pub(super) third: Vec<Step>,
    /// The state after the stem. Each round of the cycle ends in a state with the same normal form as this one (see
    /// [`Interpreter::normal`]).
    pub(super) end: RunState,
    pub(super) interpreter: Interpreter,
}

impl Evidence<'_> {
    pub(super) fn machine(&self) -> &dyn Machine {
        self.interpreter.machine()
    }

    /// Returns the section of `p` after this many steps of the stem.
    pub(super) fn section(&self, p: Pid, after: usize) -> Section {
        let own = self.stem[..after].iter().rev().find(|step| step.process == p);
        own.map_or(Section::Remainder, |step| step.after.section)
    }

    /// Returns whether `holds` returns true for some state of the run. `moments` selects the states by the number of
    /// steps before them.
    pub(super) fn in_some_state(
        &self,
        moments: RangeInclusive<usize>,
        holds: impl Fn(&mut Interpreter) -> bool,
    ) -> Result<bool, String> {
        let Schedule { initial, stem, cycle, memory, .. } = self.schedule;
        let rules = words::conventions(self.schedule);
        let machine = self.interpreter.shared_machine();
        let mut interpreter = Interpreter::on(machine, *memory, initial.clone(), &rules);
        let mut steps = stem.iter().chain(cycle);
        for moment in 0..=*moments.end() {
            if moments.contains(&moment) && holds(&mut interpreter) {
                return Ok(true);
            }
            let Some(agent) = steps.next() else { break };
            interpreter.step(*agent)?;
        }
        Ok(false)
    }

    /// Finds the last step with this event of `p` among the first `until` steps of the stem.
    pub(super) fn last(&self, p: Pid, until: usize, event: &Event) -> Option<usize> {
        self.stem[..until].iter().rposition(|s| s.agent == p && s.events.contains(event))
    }
}

/// Executes the schedule on the step machine and checks that the run shows the finding.
///
/// # Errors
/// Returns one sentence that says why the run does not show the finding.
pub fn confirm(schedule: &Schedule) -> Result<(), String> {
    let machine = check::machine(schedule).map_err(|error| error.to_string())?;
    confirm_on(machine.into(), schedule)
}

/// Executes the schedule on `machine` and checks that the run shows the finding, as [`confirm`] does.
///
/// # Errors
/// Returns one sentence on why the run does not show the finding.
pub fn confirm_on(machine: Arc<dyn Machine>, schedule: &Schedule) -> Result<(), String> {
    let sentence = |error: super::Error| error.to_string();
    check::refers_to(schedule, &*machine).map_err(sentence)?;
    let rules = words::conventions(schedule);
    let (model, initial) = (schedule.memory, schedule.initial.clone());
    let mut interpreter = Interpreter::on(machine, model, initial, &rules);
    let (stem_len, round) = (schedule.stem.len(), schedule.cycle.len());
    let stem = interpreter.steps(0, &schedule.stem).map_err(sentence)?;
    let end = interpreter.state().clone();
    let cycle = interpreter.steps(stem_len, &schedule.cycle).map_err(sentence)?;
    if interpreter.normal(interpreter.state()) != interpreter.normal(&end) {
        return Err("the cycle does not end in the state in which it begins".into());
    }
    let third = repeat(&mut interpreter, &schedule.cycle, &cycle, stem_len + round)?;
    let run = Evidence { schedule, stem, cycle, third, end, interpreter };
    match &schedule.finding {
        Finding::Exclusion => run.check_no_cycle().and_then(|()| run.exclusion()),
        Finding::Names => run.check_no_cycle().and_then(|()| run.names()),
        Finding::Range => run.check_no_cycle().and_then(|()| run.range()),
        Finding::Invariant(name) => run.check_no_cycle().and_then(|()| run.invariant(name)),
        Finding::Statement { name } => {
            run.check_no_cycle()?;
            statement::found_at_the_end(&run, name)
        }
        Finding::LeadsTo { name, instance, process, stopped } => {
            lasso::repeats_forever(&run)?;
            lasso::check_stopped(&run, stopped)?;
            statement::never_gets_there(&run, name, *instance, *process)
        }
        Finding::Fcfs { first, second } => {
            run.check_no_cycle().and_then(|()| run.fcfs(*first, *second))
        }
        Finding::Deadlock { stopped } => lasso::deadlock(&run, stopped),
        Finding::Starvation { victim, stopped } => lasso::starvation(&run, *victim, stopped),
        Finding::Exit { process, steps: None } => lasso::stays_in(&run, *process, Section::Exit),
        Finding::Doorway { process, steps: None } => {
            lasso::stays_in(&run, *process, Section::Doorway)
        }
        Finding::Exit { process, steps: Some(steps) } => {
            run.check_no_cycle()?;
            run.steps_in(*process, &Event::LeavesCritical, Section::Exit, *steps)
        }
        Finding::Doorway { process, steps: Some(steps) } => {
            run.check_no_cycle()?;
            run.steps_in(*process, &Event::LeavesRemainder, Section::Doorway, *steps)
        }
        Finding::Fife { first, second, at } => {
            lasso::fife(&run, *first, *second, *at, Section::Critical)
        }
        Finding::FifeStrong { first, second, at } => {
            lasso::fife(&run, *first, *second, *at, Section::Waiting)
        }
        Finding::Bypass { victim, times, at } => lasso::bypass(&run, *victim, *times, *at),
        Finding::Rmr { model, process, count, .. } => run.rmr(*model, *process, *count),
        Finding::Played { .. } => Ok(()),
    }
}

impl Evidence<'_> {
    /// Fails if the run has a cycle.
    fn check_no_cycle(&self) -> Result<(), String> {
        if self.schedule.cycle.is_empty() {
            return Ok(());
        }
        Err("the finding is about the end of the run, but the run has a cycle".into())
    }

    fn exclusion(&self) -> Result<(), String> {
        let (n, k) = (self.schedule.n, self.schedule.k);
        let at = |p: Pid| self.machine().position(p, self.end.processes[p]).section;
        let inside = (0..n).filter(|&p| at(p) == Section::Critical).count();
        if inside > k {
            return Ok(());
        }
        Err(format!(
            "at the end, the number of processes in their critical sections is {inside}, which k = {k} allows"
        ))
    }

    fn names(&self) -> Result<(), String> {
        let name = |p: Pid| self.machine().position(p, self.end.processes[p]).name;
        let names: Vec<usize> = (0..self.schedule.n).filter_map(name).collect();
        let high = names.iter().any(|&name| name >= self.schedule.k);
        let twice = (1..names.len()).any(|i| names[..i].contains(&names[i]));
        if high || twice {
            return Ok(());
        }
        Err(format!("the names held at the end, {names:?}, are all different and below k"))
    }

    fn range(&self) -> Result<(), String> {
        match self.stem.last().and_then(|step| step.access.as_ref()) {
            Some(access) if access.out_of_range => Ok(()),
            Some(access) => Err(format!(
                "the last step leaves {} in {}, which is in its declared range",
                access.left_shown, access.name
            )),
            None => Err("the last step accesses no variable".into()),
        }
    }

    fn invariant(&self, name: &str) -> Result<(), String> {
        match self.machine().broken_invariant(&self.end.processes, &self.end.memory) {
            Some(broken) if broken == name => Ok(()),
            Some(other) => Err(format!("the first invariant broken at the end is {other}")),
            None => Err("no invariant is broken at the end".into()),
        }
    }

    /// Checks that `first` left its doorway before the last time that `second` left its remainder, and still
    /// waits while `second` is in its critical section.
    fn fcfs(&self, first: Pid, second: Pid) -> Result<(), String> {
        let all = self.stem.len();
        if self.section(second, all) != Section::Critical {
            return Err(format!("process {second} is not in its critical section at the end"));
        }
        if !self.section(first, all).is_entry() {
            return Err(format!("process {first} does not wait at the end"));
        }
        let began = self.last(second, all, &Event::LeavesRemainder);
        let left = self.last(first, all, &Event::LeavesRemainder);
        let past_doorway = |from: usize, to: usize| {
            let mut own = self.stem[from..to].iter().filter(|step| step.process == first);
            own.next_back().is_some_and(|step| step.after.section.is_entry())
                && self.stem[from..to]
                    .iter()
                    .any(|step| step.process == first && step.after.section == Section::Waiting)
        };
        match (left, began) {
            (Some(left), Some(began)) if left < began && past_doorway(left, began) => Ok(()),
            _ => Err(format!(
                "process {first} had not left its doorway when process {second} left its remainder"
            )),
        }
    }

    /// Checks that `p` takes `claimed` steps in `section` after the last `event`.
    fn steps_in(
        &self,
        p: Pid,
        event: &Event,
        section: Section,
        claimed: u32,
    ) -> Result<(), String> {
        let Some(from) = self.last(p, self.stem.len(), event) else {
            return Err(format!("process {p} never reaches its {}", words::section(section)));
        };
        let steps = self.stem[from..]
            .iter()
            .filter(|step| step.agent == p && step.before.section == section)
            .count();
        if steps as u64 == u64::from(claimed) {
            return Ok(());
        }
        let section = words::section(section);
        let steps = counted(steps, "step");
        Err(format!("process {p} takes {steps} in its {section}, not {claimed}"))
    }

    fn rmr(&self, model: CostModel, p: Pid, claimed: Option<u32>) -> Result<(), String> {
        if self.schedule.memory != MemoryModel::Sequential {
            return Err("remote references are counted only without store buffers".into());
        }
        let remote = |step: &&Step| {
            step.agent == p
                && match model {
                    CostModel::Cc => step.miss,
                    CostModel::Dsm => step.remote,
                }
        };
        let Some(claimed) = claimed else {
            lasso::repeats_forever(self)?;
            lasso::inside_passage(self, p)?;
            if self.third.iter().any(|step| remote(&step)) {
                return Ok(());
            }
            return Err(format!("process {p} makes no remote reference in the cycle"));
        };
        self.check_no_cycle()?;
        let all = self.stem.len();
        // An incomplete passage also counts, because continuing it can only add references.
        let Some(from) = self.last(p, all, &Event::LeavesRemainder) else {
            return Err(format!("process {p} makes no passage"));
        };
        let count = self.stem[from..].iter().filter(remote).count();
        if count as u64 == u64::from(claimed) {
            return Ok(());
        }
        let count = counted(count, "remote reference");
        Err(format!("process {p}'s last passage makes {count}, not {claimed}"))
    }
}
