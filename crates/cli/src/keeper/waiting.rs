//! The keeper waits for a slot.

use std::{
    pin::pin,
    process,
    sync::mpsc::{self, Sender},
    task::{Context, Poll},
    thread,
    time::{Duration, Instant},
};

use hallpass_etcd::{Error, EtcdHall, EtcdPass};

use super::{
    desk::Desk,
    messages::{Order, Report, Wish},
};
use crate::{
    people::{Person, View},
    run::sentence,
};

/// For ever, as far as a clock can count.
const LONG: Duration = Duration::from_secs(1 << 30);
/// Longer than any line of a terminal.
const LONGEST_SENTENCE: usize = 2000;
/// How long a cluster that does not answer keeps us from leaving.
const LEAVING: Duration = Duration::from_secs(2);

/// A pass, or what to say instead.
pub fn wait(hall: &EtcdHall, wish: &Wish, desk: &mut Desk) -> Result<EtcdPass, Report> {
    let until = Instant::now().checked_add(wish.limit.unwrap_or(LONG));
    if wish.nonblock || wish.verbose {
        match hall.try_acquire() {
            Err(Error::NoPermits) if wish.nonblock => return Err(Report::NoSlot),
            Err(Error::NoPermits) => {
                let waiting = hall.status().map_err(refusal)?.queue.len();
                desk.tell(&Report::Full { waiting });
            }
            done => return done.map_err(refusal),
        }
    }
    let waited = wait_in_line(hall, until, desk);
    if waited.is_none() {
        withdrawn(hall);
    }
    waited.unwrap_or(Err(Error::NoPermits)).map_err(refusal)
}

/// Nothing if the time was over, or nobody wants it any more.
fn wait_in_line(
    hall: &EtcdHall,
    until: Option<Instant>,
    desk: &mut Desk,
) -> Option<Result<EtcdPass, Error>> {
    let mut passing = pin!(hall.acquire_async());
    let mut display = None;
    loop {
        if let Poll::Ready(done) = passing.as_mut().poll(&mut Context::from_waker(&desk.waker)) {
            return Some(done);
        }
        let left = until.map_or(LONG, |until| until.saturating_duration_since(Instant::now()));
        if desk.orphaned || left.is_zero() {
            return None;
        }
        if let Some(Order::Show) = desk.wait(left) {
            let display = display.get_or_insert_with(|| show(hall.clone(), desk));
            let _ = display.send(());
        }
    }
}

/// Tells who is ahead whenever it is asked. A thread, for it may take long.
fn show(hall: EtcdHall, desk: &Desk) -> Sender<()> {
    let (asks, asked) = mpsc::channel();
    let channel = desk.channel();
    let answer = move || {
        for () in asked {
            let sentence = match hall.status() {
                Ok(status) => sentence(&View::on_cluster(status), is_us),
                Err(error) => format!("{}: waiting: {error}", hall.name()),
            };
            let sentence = sentence.chars().take(LONGEST_SENTENCE).collect();
            let _ = channel.send(&Report::Waiting(sentence));
        }
    };
    // Without a thread nothing is shown, and one waits all the same.
    let _ = thread::Builder::new().name("display".into()).spawn(answer);
    asks
}

fn is_us(one: &Person) -> bool {
    let host = rustix::system::uname();
    one.pid == process::id()
        && one.host.as_deref().is_some_and(|name| name.as_bytes() == host.nodename().to_bytes())
}

/// Waits until we are in line no more, which takes as long as an answer of the cluster.
fn withdrawn(hall: &EtcdHall) {
    let until = Instant::now() + LEAVING;
    while Instant::now() < until {
        let Ok(status) = hall.status() else { return };
        let view = View::on_cluster(status);
        if !view.queue.iter().chain(&view.holders).any(is_us) {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn refusal(error: Error) -> Report {
    match error {
        Error::NoPermits => Report::NoSlot,
        error => Report::Failed(error.to_string()),
    }
}
