//! Checks that everything to which a schedule refers exists.

use hallpass_algorithms::{Init, Pid};

use super::Error;
use crate::{
    counted::counted,
    machine::{self, Machine},
    schedule::{Finding, MemoryModel, Schedule},
    space::Agent,
};

/// Builds the step machine of a schedule, and checks everything that can be checked without running it.
/// After this, every index in the schedule is in bounds.
pub(super) fn machine(schedule: &Schedule) -> Result<Box<dyn Machine>, Error> {
    let machine = machine::build(&schedule.algorithm, schedule.n, schedule.k)?;
    refers_to(schedule, &*machine)?;
    Ok(machine)
}

/// Checks that a schedule of `machine` refers only to things that exist.
pub(super) fn refers_to(schedule: &Schedule, machine: &dyn Machine) -> Result<(), Error> {
    initial(schedule, machine)?;
    for &agent in schedule.stem.iter().chain(&schedule.cycle) {
        self::agent(schedule, machine, agent)?;
    }
    finding(schedule, machine)
}

fn initial(schedule: &Schedule, machine: &dyn Machine) -> Result<(), Error> {
    let decls = machine.layout().decls();
    if schedule.initial.len() != decls.len() {
        return Err(Error::Part(format!(
            "{} has {} variables, and {} initial values are given",
            schedule.algorithm,
            decls.len(),
            schedule.initial.len()
        )));
    }
    for (decl, &value) in decls.iter().zip(&schedule.initial) {
        if !decl.initial().contains(&value) {
            let allowed = match &decl.init {
                Init::Is(word) => format!("it starts at {}", decl.show(*word)),
                Init::Open => format!("it starts at one of {} values", decl.domain.listed().len()),
            };
            return Err(Error::Part(format!("{} cannot start at {value}: {allowed}", decl.name)));
        }
    }
    Ok(())
}

fn agent(schedule: &Schedule, machine: &dyn Machine, agent: Agent) -> Result<(), Error> {
    let n = schedule.n;
    let has_mishap = |p: Pid| p < n && machine.mishap(p).is_some();
    match schedule.memory {
        _ if agent < n => Ok(()),
        MemoryModel::Sequential if has_mishap(agent - n) => Ok(()),
        MemoryModel::StoreBuffers if agent < 2 * n => Ok(()),
        MemoryModel::StoreBuffers => Err(Error::Part(format!(
            "there is no agent {agent}: the processes are 0 to {}, their buffers {n} to {}",
            n - 1,
            2 * n - 1
        ))),
        MemoryModel::Sequential => Err(Error::Part(format!(
            "there is no agent {agent}: the processes are 0 to {}, and no store buffer or mishap has \
             this number",
            n - 1
        ))),
    }
}

fn process(schedule: &Schedule, p: Pid) -> Result<(), Error> {
    if p < schedule.n {
        return Ok(());
    }
    let last = schedule.n - 1;
    Err(Error::Part(format!("there is no process {p}: the processes are 0 to {last}")))
}

/// Checks that the stem has at least `at` steps.
fn moment(schedule: &Schedule, at: usize) -> Result<(), Error> {
    let steps = schedule.stem.len();
    if at <= steps {
        return Ok(());
    }
    let steps = counted(steps, "step");
    Err(Error::Part(format!("the stem has {steps}, so there is no moment after step {at}")))
}

fn different(first: Pid, second: Pid) -> Result<(), Error> {
    if first != second {
        return Ok(());
    }
    Err(Error::Part("a process does not come before itself".into()))
}

/// Checks that the algorithm has a statement of this name.
fn statement(schedule: &Schedule, machine: &dyn Machine, name: &str) -> Result<(), Error> {
    let known: Vec<&str> = machine.run_statements().iter().map(|known| known.name).collect();
    if known.contains(&name) {
        return Ok(());
    }
    let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
    let id = &schedule.algorithm;
    Err(Error::Part(format!("{id} has no statement `{name}`; its statements are: {known}")))
}

fn finding(schedule: &Schedule, machine: &dyn Machine) -> Result<(), Error> {
    let all = |pids: &[Pid]| pids.iter().try_for_each(|&p| process(schedule, p));
    match &schedule.finding {
        Finding::Exclusion | Finding::Names | Finding::Range => Ok(()),
        Finding::Invariant(name) => {
            let known = machine.invariants();
            if known.contains(&name.as_str()) {
                return Ok(());
            }
            let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
            let id = &schedule.algorithm;
            Err(Error::Part(format!("{id} has no invariant `{name}`; its invariants are: {known}")))
        }
        Finding::Statement { name } => statement(schedule, machine, name),
        Finding::LeadsTo { name, instance, process: p, stopped } => {
            statement(schedule, machine, name)?;
            if *instance >= machine.instances(name) {
                let count = machine.instances(name);
                return Err(Error::Part(format!(
                    "{name} has no instance {instance}: it has {count}, counted from 0"
                )));
            }
            process(schedule, *p)?;
            all(stopped)
        }
        Finding::Fcfs { first, second } => {
            all(&[*first, *second])?;
            different(*first, *second)
        }
        Finding::Deadlock { stopped } | Finding::Played { stopped } => all(stopped),
        Finding::Starvation { victim, stopped } => {
            process(schedule, *victim)?;
            all(stopped)
        }
        Finding::Exit { process: p, .. }
        | Finding::Doorway { process: p, .. }
        | Finding::Rmr { process: p, .. } => process(schedule, *p),
        Finding::Fife { first, second, at } | Finding::FifeStrong { first, second, at } => {
            all(&[*first, *second])?;
            different(*first, *second)?;
            moment(schedule, *at)
        }
        Finding::Bypass { victim, at, .. } => {
            process(schedule, *victim)?;
            moment(schedule, *at)
        }
    }
}
