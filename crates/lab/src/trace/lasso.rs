//! Checks findings of runs that continue forever.

use std::collections::BTreeSet;

use hallpass_algorithms::{Pid, Section};

use super::{
    confirm::Evidence,
    kept_out,
    step::{Event, Step},
    words,
};

fn moves(steps: &[Step], p: Pid) -> bool {
    steps.iter().any(|step| step.agent == p)
}

fn has_cycle(run: &Evidence<'_>) -> Result<(), String> {
    match run.cycle.is_empty() {
        true => Err("the run ends, but the finding is about a run that continues forever".into()),
        false => Ok(()),
    }
}

/// Checks that there is a cycle that can repeat forever. The caller has checked that the cycle ends
/// where it begins. This function also checks that no store stays in a buffer forever: on real hardware, every store
/// reaches memory.
pub(super) fn repeats_forever(run: &Evidence<'_>) -> Result<(), String> {
    has_cycle(run)?;
    // If the buffer of a process takes no step in the cycle, the process stores nothing in the cycle
    // either, because the state recurs. So its buffer is the same in all states of the cycle.
    let n = run.schedule.n;
    match (0..n).find(|&p| !run.end.buffers[p].is_empty() && !moves(&run.cycle, n + p)) {
        Some(p) => Err(format!("the store buffer of process {p} is never flushed")),
        None => Ok(()),
    }
}

/// Checks that there is a cycle that can repeat forever in a run in which a process starves. A mishap is an event that
/// hits a process, such as its death. Liveness is about what happens after the last mishap, unless mishaps of this kind
/// may recur forever.
fn keeps_out_forever(run: &Evidence<'_>) -> Result<(), String> {
    repeats_forever(run)?;
    let recurs = |p: Pid| run.machine().mishap(p).is_some_and(|mishap| mishap.recurs);
    let mut steps = run.cycle.iter();
    match steps.find_map(|step| {
        step.mishap().filter(|_| !recurs(step.process)).map(|name| (step.process, name))
    }) {
        Some((p, name)) => Err(format!(
            "the cycle contains a mishap (process {p}: {name}), but liveness is about what happens after the last mishap"
        )),
        None => Ok(()),
    }
}

/// Returns whether `p` is in a section that `allowed` accepts in every state of the cycle.
fn all_along(run: &Evidence<'_>, p: Pid, allowed: impl Fn(Section) -> bool) -> bool {
    allowed(run.section(p, run.stem.len()))
        && run.cycle.iter().filter(|s| s.process == p).all(|s| allowed(s.after.section))
}

pub(super) fn check_stopped(run: &Evidence<'_>, claimed: &[Pid]) -> Result<(), String> {
    let outside = |p: Pid| run.section(p, run.stem.len()) != Section::Remainder;
    let stopped: BTreeSet<Pid> =
        (0..run.schedule.n).filter(|&p| outside(p) && !moves(&run.cycle, p)).collect();
    let claimed: BTreeSet<Pid> = claimed.iter().copied().collect();
    if stopped == claimed {
        return Ok(());
    }
    Err(format!(
        "the processes that stop outside their remainders are {}, not {}",
        words::list(stopped),
        words::list(claimed)
    ))
}

fn waits_forever(run: &Evidence<'_>, p: Pid) -> Result<(), String> {
    if !moves(&run.cycle, p) {
        return Err(format!("process {p} does not move in the cycle"));
    }
    if !all_along(run, p, Section::is_entry) {
        return Err(format!("process {p} is not in its entry section during the whole cycle"));
    }
    Ok(())
}

/// Checks that no process enters in the cycle, although a process in its entry section takes steps.
pub(super) fn deadlock(run: &Evidence<'_>, stopped: &[Pid]) -> Result<(), String> {
    keeps_out_forever(run)?;
    check_stopped(run, stopped)?;
    let enters = |step: &&Step| step.after.section == Section::Critical && !step.is_flush();
    if let Some(step) = run.cycle.iter().find(enters) {
        return Err(format!("process {} enters in the cycle", step.process));
    }
    if (0..run.schedule.n).any(|p| waits_forever(run, p).is_ok()) {
        return Ok(());
    }
    Err("no process is in its entry section during the whole cycle and moves".into())
}

/// Checks that `victim` takes steps in the cycle and stays in its entry section.
pub(super) fn starvation(run: &Evidence<'_>, victim: Pid, stopped: &[Pid]) -> Result<(), String> {
    keeps_out_forever(run)?;
    check_stopped(run, stopped)?;
    waits_forever(run, victim)
}

/// Checks that `p` takes steps in the cycle and stays in `section`.
///
/// A store may stay in its buffer during the whole cycle. The cycle shows that no number of steps is a bound: for every
/// number, a run repeats the cycle often enough, and the store reaches memory after that.
pub(super) fn stays_in(run: &Evidence<'_>, p: Pid, section: Section) -> Result<(), String> {
    has_cycle(run)?;
    let name = words::section(section);
    if !moves(&run.cycle, p) {
        return Err(format!("process {p} does not move in the cycle"));
    }
    if !all_along(run, p, |at| at == section) {
        return Err(format!("process {p} is not in its {name} during the whole cycle"));
    }
    Ok(())
}

/// Checks that `p` stays in one passage during the whole cycle.
pub(super) fn inside_passage(run: &Evidence<'_>, p: Pid) -> Result<(), String> {
    if all_along(run, p, |at| at != Section::Remainder) {
        return Ok(());
    }
    Err(format!("process {p} is not in one passage during the whole cycle"))
}

/// Checks three things: `first` left its doorway before `second` left its remainder; `first` waits after `at`
/// steps while `second` is in `there`; and `first` does not enter from then on.
pub(super) fn fife(
    run: &Evidence<'_>,
    first: Pid,
    second: Pid,
    at: usize,
    there: Section,
) -> Result<(), String> {
    keeps_out_forever(run)?;
    let must_be = |p: Pid, section: Section| {
        let is = run.section(p, at);
        let name = words::section;
        if is == section {
            return Ok(());
        }
        let (is, section) = (name(is), name(section));
        Err(format!("after {at} steps process {p} is in its {is}, not in its {section}"))
    };
    must_be(first, Section::Waiting)?;
    must_be(second, there)?;
    let left = run.last(first, at, &Event::LeavesDoorway);
    let entered = run.last(second, at, &Event::LeavesRemainder);
    if left >= entered {
        return Err(format!(
            "process {first} had not left the doorway when process {second} entered it"
        ));
    }
    // If `second` waits, the finding is that it is enabled. One run cannot show this, but it can show the opposite.
    if there == Section::Waiting
        && run.in_some_state(at..=at, |interpreter| kept_out::alone(interpreter, second))?
    {
        return Err(format!(
            "after {at} steps process {second} waits forever if it alone takes steps"
        ));
    }
    stays_out(run, first, at)
}

/// Checks that `p` takes steps in the cycle, and does not enter after `at` steps.
fn stays_out(run: &Evidence<'_>, p: Pid, at: usize) -> Result<(), String> {
    let kept_out = |step: &Step| step.agent != p || step.after.section.is_entry();
    if !run.stem[at..].iter().all(kept_out) {
        return Err(format!("process {p} enters after step {at}"));
    }
    waits_forever(run, p)
}

/// Checks how often `victim` is overtaken. With `times`, the victim must be overtaken this many times in the first `at`
/// steps, and must not enter from then on. Without `times`, it must wait during the whole cycle, some process must
/// enter in the cycle, and the run must show that the victim can be kept out forever.
pub(super) fn bypass(
    run: &Evidence<'_>,
    victim: Pid,
    times: Option<u32>,
    at: usize,
) -> Result<(), String> {
    has_cycle(run)?;
    let last = |event: &Event| run.last(victim, at, event);
    let (left, began) = (last(&Event::LeavesDoorway), last(&Event::LeavesRemainder));
    let (Some(left), true) = (left.filter(|_| left >= began), run.section(victim, at).is_entry())
    else {
        return Err(format!("after {at} steps process {victim} does not wait"));
    };
    let enters = |step: &Step| step.events.iter().any(|event| matches!(event, Event::Enters(_)));
    let Some(times) = times else {
        if !all_along(run, victim, Section::is_entry) {
            return Err(format!("process {victim} does not wait during the whole cycle"));
        }
        // A process that enters in every round (execution of the cycle) begins a passage in every round, so it
        // overtakes the victim from the second round on, unless the victim is enabled.
        if !run.cycle.iter().any(enters) {
            return Err("no process enters in the cycle".into());
        }
        // The cycle shows an unbounded number of overtakings, even if a store reaches memory only after many rounds.
        // It also shows that the victim is not enabled if it can repeat forever while the victim takes steps.
        let shown = moves(&run.cycle, victim) && keeps_out_forever(run).is_ok();
        // Otherwise, another run from some state of the cycle shows it, because an enabled process stays enabled until
        // it enters.
        let moments = run.stem.len()..=run.stem.len() + run.cycle.len();
        let memory = run.schedule.memory;
        let last = *moments.end();
        if shown
            || run.in_some_state(moments, |interpreter| kept_out::alone(interpreter, victim))?
            || run.in_some_state(last..=last, |interpreter| {
                kept_out::by_others(interpreter, memory, victim)
            })?
        {
            return Ok(());
        }
        return Err(format!("the run does not show that process {victim} can be kept out forever"));
    };
    keeps_out_forever(run)?;
    let overtakes = |&index: &usize| {
        let step = &run.stem[index];
        enters(step) && run.last(step.process, index + 1, &Event::LeavesRemainder) > Some(left)
    };
    let count = (left + 1..at).filter(overtakes).count();
    if count as u64 != u64::from(times) {
        return Err(format!("process {victim} is overtaken {count} times, not {times}"));
    }
    stays_out(run, victim, at)
}
