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

use hallpass_etcd::{Etcd, EtcdHall, EtcdPass, Options};
use nix::{
    sys::signal::{SigSet, Signal},
    unistd::{getpid, getppid, setsid},
};

pub use self::{deadline::Deadline, start::Keeper};
use self::{
    desk::Desk,
    holding::Keeping,
    inherited::Inherited,
    lifeline::Lifeline,
    messages::{Report, Request, Wish},
};
use crate::{
    output::say,
    place::{Error, open_or_make},
};

/// The word in the command line that makes this process a keeper. It is in no help: what follows it are
/// descriptors that `hallpass run` has opened for it.
const WORD: &str = "keeper";

/// The numbers of the descriptors, if that is what the command line says.
pub fn called() -> Option<[i32; inherited::COUNT]> {
    let mut words = env::args().skip(1);
    words.next().filter(|word| word == WORD)?;
    let numbers: Vec<_> = words.map(|word| word.parse()).collect::<Result<_, _>>().ok()?;
    numbers.try_into().ok()
}

pub fn run(numbers: [i32; inherited::COUNT]) -> ExitCode {
    match Inherited::take(numbers).and_then(keep) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(format_args!("the keeper failed: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn keep(inherited: Inherited) -> io::Result<()> {
    let Inherited { channel, lifeline, deadline } = inherited;
    let outsiders = vec![getpid(), getppid()];
    setsid()?;
    // Whoever ends all processes of a job or a service means the command. We have to outlive it.
    SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT])
        .thread_block()?;
    let Some(Request { cluster, wish }) = channel.receive()? else { return Ok(()) };
    let inside = Lifeline::of(&lifeline, outsiders)?;
    let mut desk = Desk::open(channel, lifeline)?;
    match obtain(cluster.into(), &wish, &mut desk) {
        Ok((hall, pass)) => {
            let (slots, grace) = (hall.slots(), wish.grace);
            holding::hold(pass, Keeping { slots, grace, desk, deadline, inside })
        }
        Err(refusal) => {
            desk.tell(&refusal);
            Ok(())
        }
    }
}

/// A pass, or what to say instead.
fn obtain(options: Options, wish: &Wish, desk: &mut Desk) -> Result<(EtcdHall, EtcdPass), Report> {
    let failed = |error: Error| Report::Failed(error.to_string());
    let etcd = Etcd::connect(options).map_err(|error| failed(error.into()))?;
    let hall = open_or_make(
        wish.slots,
        wish.otherwise,
        || etcd.open_existing(&wish.name),
        |slots| etcd.open(&wish.name, slots),
    )
    .map_err(failed)?;
    desk.tell(&Report::Opened { slots: hall.slots() });
    hall.describe_as(&wish.command);
    let pass = waiting::wait(&hall, wish, desk)?;
    Ok((hall, pass))
}
