//! The keeper: the process that speaks to the cluster for `hallpass run --on`.
//!
//! `hallpass run` is the parent of its command and does nothing but guard it; whatever may take long,
//! go wrong or need threads is done here. The two share a [`Channel`](messages::Channel), two
//! [timers](deadline) and a [pipe](lifeline). The keeper is in a session of its own, so that what a
//! terminal sends does not reach it. It ends by itself: when it is told to give the slot back, or when
//! `hallpass run` is gone and so is everybody who has the lifeline open.

mod deadline;
mod desk;
mod holding;
mod inherited;
pub mod lifeline;
pub mod messages;
mod start;
mod waiting;

use std::{env, io, process::ExitCode};

use hallpass_cluster::{Cluster, ClusterHall};
use rustix::process::{Pid, Signal, getpid, getppid, getuid, setsid};

pub use self::{deadline::Deadline, start::Keeper};
use self::{
    desk::Desk,
    holding::Keeping,
    inherited::Inherited,
    lifeline::Lifeline,
    messages::{Report, Request, Wish},
};
use crate::{
    place::{Error, open_or_make},
    signals::SignalSet,
    users,
};

/// The word in the command line that makes this process a keeper. It is in no help: what follows it are
/// descriptors that `hallpass run` has opened for it.
const WORD: &str = "keeper";

/// The numbers of the descriptors, if that is what the command line says.
pub fn called() -> Option<[i32; inherited::COUNT]> {
    let mut words = env::args_os().skip(1);
    words.next().filter(|word| word == WORD)?;
    let numbers: Option<Vec<_>> = words.map(|word| word.to_str()?.parse().ok()).collect();
    numbers?.try_into().ok()
}

pub fn run(numbers: [i32; inherited::COUNT]) -> ExitCode {
    // What goes wrong here `hallpass run` notices, and says so: nobody else hears us.
    match Inherited::take(numbers).and_then(keep) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn keep(inherited: Inherited) -> io::Result<()> {
    let Inherited { channel, lifeline, deadline } = inherited;
    let inside = Lifeline::of(&lifeline, parent()?, getpid())?;
    setsid()?;
    // Whoever ends all processes of a job or a service means the command. We have to outlive it.
    SignalSet::of([Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT]).block()?;
    let Some(Request { cluster, wish }) = channel.receive()? else { return Ok(()) };
    let mut desk = Desk::open(channel, lifeline)?;
    let failed = |desk: &Desk, error: Error| desk.tell(&Report::Failed(error.to_string()));
    let etcd = match Cluster::connect(cluster.into()) {
        Ok(etcd) => etcd,
        Err(error) => {
            failed(&desk, error.into());
            return Ok(());
        }
    };
    let hall = match open(&etcd, &wish) {
        Ok(hall) => hall,
        Err(error) => {
            failed(&desk, error);
            return Ok(());
        }
    };
    desk.tell(&Report::Opened { slots: hall.slots() });
    hall.describe_as(&wish.command);
    hall.act_for(inside.run.as_raw_pid().unsigned_abs(), &user());
    match waiting::wait(&hall, &wish, inside.run, &mut desk) {
        Ok(pass) => {
            let (slots, Wish { grace, keeps, .. }) = (hall.slots(), wish);
            holding::hold(pass, Keeping { slots, grace, keeps, desk, deadline, inside })?;
        }
        Err(refusal) => desk.tell(&refusal),
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

fn open(etcd: &Cluster, wish: &Wish) -> Result<ClusterHall, Error> {
    let (existing, with) =
        (|| etcd.open_existing(&wish.name), |slots| etcd.open(&wish.name, slots));
    open_or_make(wish.slots, wish.otherwise, existing, with)
}
