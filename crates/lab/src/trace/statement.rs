//! Checks findings about statements of a paper, on the states of the interpreter.

use hallpass_algorithms::{Observed, Pid, Side};

use super::{confirm::Evidence, interpreter::Interpreter, state::RunState, words};
use crate::{
    machine::{Numeric, NumericStep},
    schedule::MemoryModel,
    space::Agent,
};

fn numeric(state: &RunState) -> Numeric<'_> {
    Numeric { processes: &state.processes, memory: &state.memory }
}

/// Returns every state of the stem and of one round of the cycle. The first one is the initial state.
fn states(run: &Evidence<'_>) -> Result<Vec<RunState>, String> {
    let schedule = run.schedule;
    if schedule.memory != MemoryModel::Sequential {
        return Err("statements are decided only without store buffers".into());
    }
    let rules = words::conventions(schedule);
    let (machine, initial) = (run.interpreter.shared_machine(), schedule.initial.clone());
    let mut interpreter = Interpreter::on(machine, schedule.memory, initial, &rules);
    let mut states = vec![interpreter.state().clone()];
    for (index, agent) in schedule.stem.iter().chain(&schedule.cycle).enumerate() {
        interpreter.steps(index, std::slice::from_ref(agent)).map_err(|error| error.to_string())?;
        states.push(interpreter.state().clone());
    }
    Ok(states)
}

/// Checks that the last step decides the statement, and that no earlier step does. A step decides a statement about all
/// steps if it contradicts the statement. If the statement is that something happens at some time, a step decides it by
/// showing this.
pub(super) fn found_at_the_end(run: &Evidence<'_>, name: &str) -> Result<(), String> {
    let states = states(run)?;
    let machine = run.interpreter.machine();
    let observe =
        |observed: Observed, agent: Option<Agent>, before: &RunState, after: &RunState| {
            let mover = agent.filter(|&agent| agent < run.schedule.n);
            let step = NumericStep { mover, before: numeric(before), after: numeric(after) };
            machine.observe(name, observed.history, step)
        };
    let mut observed = observe(Observed::default(), None, &states[0], &states[0]);
    for (index, &agent) in run.schedule.stem.iter().enumerate() {
        if observed.found {
            return Err(format!("{name} is decided before the end, after {index} steps"));
        }
        observed = observe(observed, Some(agent), &states[index], &states[index + 1]);
    }
    match observed.found {
        true => Ok(()),
        false => Err(format!("the last step does not decide {name}")),
    }
}

/// Checks a violation of a statement that one condition leads to another. The first condition must hold for `p` before
/// the cycle or when the cycle begins, and the second must never hold for `p` from then on. `p` must take steps in the
/// cycle.
pub(super) fn never_gets_there(
    run: &Evidence<'_>,
    name: &str,
    instance: usize,
    p: Pid,
) -> Result<(), String> {
    if !run.schedule.cycle.contains(&p) {
        return Err(format!("process {p} does not move in the cycle"));
    }
    let states = states(run)?;
    let machine = run.interpreter.machine();
    let is =
        |state: &RunState, side: Side| machine.condition(name, instance, side, p, numeric(state));
    let last = states.iter().rposition(|state| is(state, Side::Then)).map_or(0, |last| last + 1);
    let stem = states.get(last..=run.schedule.stem.len());
    match stem.is_some_and(|stem| stem.iter().any(|state| is(state, Side::If))) {
        true => Ok(()),
        false => Err(format!("the run does not violate {name} for process {p}")),
    }
}
