//! Waits for a slot, in the keeper.

use std::{
    pin::pin,
    sync::mpsc::{self, Sender},
    task::{Context, Poll},
    thread,
    time::{Duration, Instant},
};

use hallpass_cluster::{Cluster, ClusterHall, ClusterPass, ClusterPasses, Error};
use hallpass_common::Participant;
use rustix::process::Pid;

use super::{
    inbox::Inbox,
    messages::{AcquireRequest, Order, Report},
};
use crate::{
    location::open_or_create,
    run::sentence,
    snapshot::{Users, View},
};

/// A time limit that is never reached in practice.
const LONG: Duration = Duration::from_secs(1 << 30);
/// The maximum length of a description of the queue. No terminal has longer lines.
const LONGEST_SENTENCE: usize = 2000;
/// The longest time that a reachable cluster usually takes to answer. If the time limit is shorter, the keeper first
/// tries to get a slot without joining the queue.
const ANSWER: Duration = Duration::from_secs(1);

/// The pause before another attempt on a busy or unreachable store. An attempt itself tries for a few seconds.
const BUSY_PAUSE: Duration = Duration::from_millis(100);

/// Returns the time at which the wait ends. `None` means never.
pub fn until(request: &AcquireRequest) -> Option<Instant> {
    Instant::now().checked_add(request.limit.unwrap_or(LONG))
}

/// Opens the hall. If the user is willing to wait, also waits until the store has capacity. The error is the report
/// for `hallpass run`.
pub fn open(
    cluster: &Cluster,
    request: &AcquireRequest,
    until: Option<Instant>,
    inbox: &mut Inbox,
) -> Result<ClusterHall, Report> {
    let (existing, with) =
        (|| cluster.open_existing(&request.name), |slots| cluster.open(&request.name, slots));
    loop {
        let opened = open_or_create(request.slots, request.default_slots, existing, with);
        let error = match opened {
            Ok(hall) => return Ok(hall),
            Err(error) => error,
        };
        let left = left(until);
        if request.nonblock || !error.is_busy() || left.is_zero() || inbox.orphaned {
            return Err(Report::Failed(error.to_string()));
        }
        if let Some(Order::Show) = inbox.wait(left.min(BUSY_PAUSE)) {
            inbox.report(&Report::Waiting(format!("{}: waiting: {error}", request.name)));
        }
    }
}

/// Waits for a pass. The error is the report for `hallpass run`.
pub fn wait(
    hall: &ClusterHall,
    request: &AcquireRequest,
    until: Option<Instant>,
    run: Pid,
    inbox: &mut Inbox,
) -> Result<ClusterPass, Report> {
    let in_a_hurry = request.limit.is_some_and(|limit| limit < ANSWER);
    if request.nonblock || request.verbose || in_a_hurry {
        match one_pass(hall.try_acquire_many(request.take)) {
            Err(Error::NoPermits) if request.nonblock => return Err(Report::NoSlot),
            Err(Error::NoPermits) if !request.verbose => {}
            Err(Error::NoPermits) => {
                if let Ok(status) = hall.status() {
                    inbox.report(&Report::Full { waiting: status.waiters.len() });
                }
            }
            // The cluster has answered before. The user is willing to wait until it answers again.
            Err(Error::Unreachable { .. } | Error::Busy { .. }) if !request.nonblock => {}
            done => return done.map_err(refusal),
        }
    }
    loop {
        match wait_in_queue(hall, request.take, until, run, inbox) {
            // The hall was opened, so the options are right. The user is willing to wait until the cluster answers
            // again.
            Some(Err(error @ (Error::Unreachable { .. } | Error::Busy { .. })))
                if !left(until).is_zero() && !inbox.orphaned =>
            {
                if let Some(Order::Show) = inbox.wait(left(until).min(BUSY_PAUSE)) {
                    inbox.report(&Report::Waiting(format!("{}: waiting: {error}", hall.name())));
                }
            }
            Some(done) => return done.map_err(refusal),
            // If the time is over because the cluster did not answer, report this error, and not a full hall.
            None => return Err(refusal(hall.trouble().unwrap_or(Error::NoPermits))),
        }
    }
}

/// Returns the pass of a request for at least one slot.
fn one_pass(passes: Result<ClusterPasses, Error>) -> Result<ClusterPass, Error> {
    passes.map(|passes| passes.into_pass().expect("the request was for at least one slot"))
}

/// Returns how much longer the user waits.
fn left(until: Option<Instant>) -> Duration {
    until.map_or(LONG, |until| until.saturating_duration_since(Instant::now()))
}

/// Waits in the queue. Returns `None` if the time is over, or `hallpass run` has ended.
fn wait_in_queue(
    hall: &ClusterHall,
    take: usize,
    until: Option<Instant>,
    run: Pid,
    inbox: &mut Inbox,
) -> Option<Result<ClusterPass, Error>> {
    let mut passing = pin!(hall.acquire_many_async(take));
    let mut display = None;
    loop {
        if let Poll::Ready(done) = passing.as_mut().poll(&mut Context::from_waker(&inbox.waker)) {
            return Some(one_pass(done));
        }
        let left = left(until);
        if inbox.orphaned || left.is_zero() {
            return None;
        }
        if let Some(Order::Show) = inbox.wait(left) {
            let display = display.get_or_insert_with(|| show(hall.clone(), run, inbox));
            let _ = display.send(());
        }
    }
}

/// Starts a thread that reports the queue on request. Reading the queue may take a long time.
fn show(hall: ClusterHall, run: Pid, inbox: &Inbox) -> Sender<()> {
    let (asks, asked) = mpsc::channel();
    let channel = inbox.channel();
    let mut users = Users::default();
    let answer = move || {
        for () in asked {
            let sentence = match hall.status() {
                Ok(status) => sentence(&View::new(status, &mut users), |one| is_of(run, one)),
                Err(error) => format!("{}: waiting: {error}", hall.name()),
            };
            let sentence = sentence.chars().take(LONGEST_SENTENCE).collect();
            let _ = channel.send(&Report::Waiting(sentence));
        }
    };
    // If no thread can be started, the keeper waits without showing the queue.
    let _ = thread::Builder::new().name("display".into()).spawn(answer);
    asks
}

fn is_of(run: Pid, one: &Participant) -> bool {
    let host = rustix::system::uname();
    one.pid == run.as_raw_pid().unsigned_abs()
        && one.host.as_deref().is_some_and(|name| name.as_bytes() == host.nodename().to_bytes())
}

fn refusal(error: Error) -> Report {
    match error {
        Error::NoPermits => Report::NoSlot,
        Error::TooMany { asked, slots } => Report::Failed(format!(
            "--take {asked} is more than a command can have in this hall: take at most {slots}, or resize the hall"
        )),
        error => Report::Failed(error.to_string()),
    }
}
