//! The keeper: the process that speaks to the cluster for `hallpass run --on`.
//!
//! `hallpass run` is the parent of its command and only guards it; everything that may take long, fail or
//! need threads is done here. The two share a [`Channel`](messages::Channel), two
//! [timers](deadline) and a [pipe](lifeline). The keeper is in a session of its own, so that what a
//! terminal sends does not reach it. It ends by itself: when it is told to release the slot, or when
//! `hallpass run` and all processes that have the lifeline open have ended.

mod deadline;
mod descriptors;
mod holding;
mod inbox;
pub mod lifeline;
pub mod messages;
mod start;
mod waiting;

use std::{env, io, process::ExitCode};

use hallpass_cluster::{Cluster, ClusterHall};
use rustix::process::{Pid, Signal, getpid, getppid, getuid, setsid};

pub use self::{deadline::Deadline, start::Keeper};
use self::{
    descriptors::Descriptors,
    holding::Keeping,
    inbox::Inbox,
    lifeline::Lifeline,
    messages::{AcquireRequest, Report, Request},
};
use crate::{
    location::{Error, open_or_create},
    signals::SignalSet,
    users,
};

/// The word in the command line that makes this process a keeper. It is in no help: what follows it are
/// descriptors that `hallpass run` has opened for it.
const WORD: &str = "keeper";

/// The numbers of the descriptors, if that is what the command line says.
pub fn called() -> Option<[i32; descriptors::COUNT]> {
    let mut words = env::args_os().skip(1);
    words.next().filter(|word| word == WORD)?;
    let numbers: Option<Vec<_>> = words.map(|word| word.to_str()?.parse().ok()).collect();
    numbers?.try_into().ok()
}

pub fn run(numbers: [i32; descriptors::COUNT]) -> ExitCode {
    // `hallpass run` notices a failure and reports it: our standard error is closed.
    match Descriptors::take(numbers).and_then(keep) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn keep(descriptors: Descriptors) -> io::Result<()> {
    let Descriptors { channel, lifeline, deadline } = descriptors;
    let inside = Lifeline::of(&lifeline, parent()?, getpid())?;
    setsid()?;
    // A signal to all processes of a job or a service is meant for the command. We must outlive it.
    SignalSet::of([Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT]).block()?;
    let Some(Request { cluster, request }) = channel.receive()? else { return Ok(()) };
    let mut inbox = Inbox::open(channel, lifeline)?;
    let failed = |inbox: &Inbox, error: Error| inbox.tell(&Report::Failed(error.to_string()));
    let etcd = match Cluster::connect(cluster.into()) {
        Ok(etcd) => etcd,
        Err(error) => {
            failed(&inbox, error.into());
            return Ok(());
        }
    };
    let hall = match open(&etcd, &request) {
        Ok(hall) => hall,
        Err(error) => {
            failed(&inbox, error);
            return Ok(());
        }
    };
    inbox.tell(&Report::Opened { slots: hall.slots() });
    hall.describe_as(&request.command);
    hall.act_for(inside.run.as_raw_pid().unsigned_abs(), &user());
    match waiting::wait(&hall, &request, inside.run, &mut inbox) {
        Ok(pass) => {
            let (slots, AcquireRequest { grace, survive_kill, .. }) = (hall.slots(), request);
            holding::hold(pass, Keeping { slots, grace, survive_kill, inbox, deadline, inside })?;
        }
        Err(refusal) => inbox.tell(&refusal),
    }
    // Leaving the queue takes as long as an answer of the cluster; those we have told need not wait.
    etcd.settle();
    Ok(())
}

/// `hallpass run`; an error if it is in another container, where it has no number.
fn parent() -> io::Result<Pid> {
    getppid().ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// The user's name, or number if there is none.
fn user() -> String {
    let uid = getuid().as_raw();
    users::name_of(uid).unwrap_or_else(|| uid.to_string())
}

fn open(etcd: &Cluster, request: &AcquireRequest) -> Result<ClusterHall, Error> {
    let (existing, with) =
        (|| etcd.open_existing(&request.name), |slots| etcd.open(&request.name, slots));
    open_or_create(request.slots, request.default_slots, existing, with)
}
