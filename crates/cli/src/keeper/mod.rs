//! The keeper: the process that talks to the cluster for `hallpass run --on`.
//!
//! `hallpass run` is the parent of its command and only guards it. The keeper does everything that may take
//! long, fail or need threads. The two processes share a [`Channel`](messages::Channel), two
//! [timers](deadline) and a [lifeline], a pipe that the command and its processes inherit. The keeper is in a separate
//! session, so that signals of the terminal do not reach it. The keeper ends when `hallpass run` orders it to release
//! the slot. It also ends when `hallpass run` has ended and no process needs the slot any more.

mod deadline;
mod descriptors;
mod holding;
mod inbox;
pub mod lifeline;
pub mod messages;
mod start;
mod waiting;

use std::{env, io, process::ExitCode};

use hallpass_cluster::Cluster;
use rustix::process::{Pid, Signal, getpid, getppid, getuid, setsid};

pub use self::{deadline::Deadline, start::Keeper};
use self::{
    descriptors::Descriptors,
    holding::Keeping,
    inbox::Inbox,
    lifeline::Lifeline,
    messages::{AcquireRequest, Report, Request},
};
use crate::{signals::SignalSet, users};

/// The first argument of a keeper. The other arguments are descriptors that `hallpass run` has opened. Users do not
/// start keepers, so no help text mentions this word.
const WORD: &str = "keeper";

/// Returns the descriptors in the command line, if this process is a keeper.
pub fn called() -> Option<[i32; descriptors::COUNT]> {
    let mut words = env::args_os().skip(1);
    words.next().filter(|word| word == WORD)?;
    let numbers: Option<Vec<_>> = words.map(|word| word.to_str()?.parse().ok()).collect();
    numbers?.try_into().ok()
}

pub fn run(numbers: [i32; descriptors::COUNT]) -> ExitCode {
    // `hallpass run` notices a failure and reports it. The standard error of the keeper is /dev/null.
    match Descriptors::take(numbers).and_then(keep) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn keep(descriptors: Descriptors) -> io::Result<()> {
    let Descriptors { channel, lifeline: read_end, deadline } = descriptors;
    let lifeline = Lifeline::of(&read_end, parent()?, getpid())?;
    setsid()?;
    // A signal to all processes of a job or a service is meant for the command. The keeper must outlive the
    // command.
    SignalSet::of([Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT]).block()?;
    let Some(Request { cluster, request }) = channel.receive()? else { return Ok(()) };
    let mut inbox = Inbox::open(channel, read_end)?;
    let until = waiting::until(&request);
    let cluster = match Cluster::connect(cluster.into()) {
        Ok(cluster) => cluster,
        Err(error) => {
            inbox.report(&Report::Failed(error.to_string()));
            return Ok(());
        }
    };
    let hall = match waiting::open(&cluster, &request, until, &mut inbox) {
        Ok(hall) => hall,
        Err(refusal) => {
            inbox.report(&refusal);
            return Ok(());
        }
    };
    inbox.report(&Report::Opened { slots: hall.slots() });
    hall.describe_as(&request.command);
    hall.act_for(lifeline.run.as_raw_pid().unsigned_abs(), &user());
    match waiting::wait(&hall, &request, until, lifeline.run, &mut inbox) {
        Ok(pass) => {
            let AcquireRequest { grace, survive_kill, close, .. } = request;
            let slots = hall.slots();
            let keeping = Keeping { slots, grace, survive_kill, close, inbox, deadline, lifeline };
            holding::hold(pass, keeping)?;
        }
        Err(refusal) => inbox.report(&refusal),
    }
    // Leaving the queue takes as long as an answer of the cluster. `hallpass run` has its report already and
    // does not wait for this.
    cluster.settle();
    Ok(())
}

/// Returns the PID of `hallpass run`. Fails if `hallpass run` is in another PID namespace and has no PID here.
fn parent() -> io::Result<Pid> {
    getppid().ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Returns the name of the user, or the number if there is no name.
fn user() -> String {
    let uid = getuid().as_raw();
    users::name_of(uid).unwrap_or_else(|| uid.to_string())
}
