//! `hallpass cancel`: makes waiters leave the queue.

use std::{
    process::ExitCode,
    thread,
    time::{Duration, Instant, SystemTime},
};

use clap::Args as ClapArgs;
use hallpass_common::Participant;
use hallpass_processes::{HallDir, SharedHall};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::{
    halls::ErrorReport,
    location::{Error, Location, LocationArgs, hide_on_machine},
    signals::exit_on_truncated_file,
};

/// The signal by which `hallpass cancel` asks a waiting `hallpass run` to give up. By default, a process ignores
/// this signal. So the signal does no harm to a command that has got its slot in the meantime, or to another program.
pub const CANCEL: Signal = Signal::URG;

/// The time limit for a waiter to leave the queue.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time between two checks of the queue.
const LOOK: Duration = Duration::from_millis(5);

const USAGE: &str = "hallpass cancel [OPTIONS] NAME PID...
       hallpass cancel [OPTIONS] NAME --position N
       hallpass cancel [OPTIONS] NAME --all";

const AFTER: &str = "\
A cancelled `hallpass run` exits with status 125. A command that has its slot is never cancelled.";

#[derive(ClapArgs)]
#[command(override_usage = USAGE, after_help = AFTER, mut_args(hide_on_machine))]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// Cancel the waiter at this position in the queue, counted from 1; can be repeated
    #[arg(short, long, value_name = "N")]
    position: Vec<usize>,
    /// Cancel all waiters
    #[arg(short, long, conflicts_with_all = ["position", "pids"])]
    all: bool,
    /// The name of the hall
    #[arg(value_name = "NAME")]
    name: String,
    /// The PIDs of waiters, as `status` shows them
    #[arg(value_name = "PID", required_unless_present_any = ["position", "all"])]
    pids: Vec<u32>,
}

/// A waiter, identified by its PID and by the moment at which it joined the queue.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Waiter {
    pid: u32,
    since: SystemTime,
}

impl Waiter {
    fn of(one: &Participant) -> Self {
        Waiter { pid: one.pid, since: one.since }
    }

    fn is(&self, one: &Participant) -> bool {
        *self == Waiter::of(one)
    }
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    let Location::Machine(dir) = args.location.location()? else {
        let why = "cancel is for halls of this machine: with --on or HALLPASS_ON, end the waiting process on its machine";
        return Err(Error::Options(why.into()));
    };
    exit_on_truncated_file(crate::halls::FAILED);
    let mut errors = ErrorReport::default();
    let hall = HallDir::open_existing(&dir, &args.name)?;
    let (waiters, missing) = chosen(&args, &hall);
    for why in missing {
        errors.about(&Error::Options(why));
    }
    for waiter in waiters {
        if let Err(why) = cancel(&hall, waiter) {
            errors.about(&Error::Options(format!("{}: {why}", args.name)));
        }
    }
    Ok(errors.exit_code())
}

/// Returns the waiters that the arguments name, and a message for each waiter that does not exist.
fn chosen(args: &Args, hall: &SharedHall) -> (Vec<Waiter>, Vec<String>) {
    let mut queue = hall.status().waiters;
    queue.retain(|one| one.alive);
    if args.all {
        return (queue.iter().map(Waiter::of).collect(), Vec::new());
    }
    let (mut waiters, mut missing) = (Vec::new(), Vec::new());
    for position in &args.position {
        match position.checked_sub(1).and_then(|index| queue.get(index)) {
            Some(one) => waiters.push(Waiter::of(one)),
            None => missing.push(format!(
                "{}: nobody waits at position {position}; waiters: {}",
                args.name,
                queue.len()
            )),
        }
    }
    for pid in &args.pids {
        match queue.iter().find(|one| one.pid == *pid) {
            Some(one) => waiters.push(Waiter::of(one)),
            None => missing.push(format!("{}: process {pid} does not wait", args.name)),
        }
    }
    (waiters, missing)
}

/// Makes a waiter leave the queue, and returns when it has.
fn cancel(hall: &SharedHall, waiter: Waiter) -> Result<(), String> {
    let pid = waiter.pid;
    let failed = |error| format!("cannot cancel process {pid}: {error}");
    // The descriptor refers to this process even if its PID is used again.
    let number = Pid::from_raw(pid as i32).ok_or("a waiter has no PID")?;
    let process = pidfd_open(number, PidfdFlags::empty()).map_err(failed)?;
    if !hall.status().waiters.iter().any(|one| waiter.is(one)) {
        return outcome(hall, pid);
    }
    pidfd_send_signal(&process, CANCEL).map_err(failed)?;
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let waits = |one: &Participant| one.alive && waiter.is(one);
        if !hall.status().waiters.iter().any(waits) {
            return outcome(hall, pid);
        }
        thread::sleep(LOOK);
    }
    Err(format!(
        "process {pid} still waits: it is suspended, or it is not `hallpass run`; end it with `kill {pid}`"
    ))
}

/// Fails if the process got a slot instead of leaving the queue.
fn outcome(hall: &SharedHall, pid: u32) -> Result<(), String> {
    let holder = hall.status().holders.into_iter().find(|one| one.alive && one.pid == pid);
    match holder.and_then(|one| one.slot) {
        None => Ok(()),
        Some(slot) => Err(format!("process {pid} has slot {slot} by now, and is not cancelled")),
    }
}
