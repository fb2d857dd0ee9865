//! Holds the slot as long as a process needs it, and sets the timers of the deadline whenever the pass is renewed.
//!
//! The keeper also acts when `hallpass run` cannot: `hallpass run` may have died while its command continues, or it may
//! be suspended. In both cases, the keeper itself ends all processes that need the slot (see [`lifeline`]). It does so
//! before the deadline. The code calls this part of the keeper the *backstop*.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use hallpass_cluster::{ClusterPass, Loss, Renewals};
use rustix::process::Pid;

use super::{
    deadline::{self, Deadline, now},
    inbox::Inbox,
    lifeline::{self, Lifeline},
    messages::{Order, Report},
};

/// How much later the backstop acts than `hallpass run`. `hallpass run` acts first, because it can print the reason.
const BACKSTOP_DELAY: Duration = Duration::from_millis(50);
/// Time between two readings of the clock. The keeper reads the clock again and again, because the timer of the wait
/// stops while the machine sleeps.
const LOOK: Duration = Duration::from_millis(500);
/// Time between two searches for remaining processes while they are being killed.
const SOON: Duration = Duration::from_millis(50);

/// The parts that the keeper needs to hold a slot.
pub struct Keeping {
    /// The number of slots of the hall.
    pub slots: usize,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Whether the command and its processes keep running if `hallpass run` is killed.
    pub survive_kill: bool,
    /// Whether the slot is free as soon as `hallpass run` has ended.
    pub close: bool,
    pub inbox: Inbox,
    pub deadline: Deadline,
    pub lifeline: Lifeline,
}

/// Holds the slot until no process needs it.
pub fn hold(pass: ClusterPass, keeping: Keeping) -> io::Result<()> {
    let mut news = News::of(&pass);
    let (end, lost, asked, remaining) = (pass.valid_until(), false, None, None);
    let mut backstop = Backstop { keeping, end, lost, asked, remaining };
    backstop.prolong(pass.valid_until())?;
    let (held, token, slots) = (pass.slots().to_vec(), pass.token(), backstop.keeping.slots);
    backstop.keeping.inbox.report(&Report::Granted { held, token, slots });
    loop {
        while let Some(update) = news.next(&backstop.keeping.inbox) {
            match update {
                Ok(end) => backstop.prolong(end)?,
                Err(why) => backstop.lose(why),
            }
        }
        backstop.act();
        let patience = backstop.patience();
        let inbox = &mut backstop.keeping.inbox;
        let order = inbox.wait(patience);
        if matches!(order, Some(Order::Release)) || backstop.is_over() {
            break;
        }
    }
    let problem = pass.release().err().map(|error| error.to_string());
    backstop.keeping.inbox.report(&Report::Released(problem));
    Ok(())
}

/// Renewals and the loss of a pass, polled beside other events.
struct News(Option<Pin<Box<dyn Future<Output = Next>>>>);

/// A renewal or a loss, and the source of the next one.
type Next = (Result<Duration, Loss>, Renewals);

impl News {
    fn of(pass: &ClusterPass) -> Self {
        News::after(pass.watch())
    }

    fn after(mut renewals: Renewals) -> Self {
        News(Some(Box::pin(async move {
            let update = renewals.next().await;
            (update, renewals)
        })))
    }

    /// Returns the next renewal or loss. If there is none yet, the next one will wake `inbox`. After a loss, there is
    /// no more news.
    fn next(&mut self, inbox: &Inbox) -> Option<Result<Duration, Loss>> {
        let mut context = Context::from_waker(&inbox.waker);
        match self.0.as_mut()?.as_mut().poll(&mut context) {
            Poll::Pending => None,
            Poll::Ready((update, renewals)) => {
                *self = if update.is_ok() { News::after(renewals) } else { News(None) };
                Some(update)
            }
        }
    }
}

struct Backstop {
    keeping: Keeping,
    /// The time until which the pass is valid.
    end: Duration,
    lost: bool,
    /// The time at which the keeper sent SIGTERM.
    asked: Option<Duration>,
    /// A process that needed the slot when the keeper looked last.
    remaining: Option<Pid>,
}

impl Backstop {
    fn prolong(&mut self, end: Duration) -> io::Result<()> {
        self.end = end;
        self.keeping.deadline.set(end, self.keeping.grace)
    }

    fn lose(&mut self, why: Loss) {
        self.lost = true;
        self.keeping.inbox.report(&Report::Lost(why.to_string()));
    }

    /// Returns the time at which SIGTERM is due, if `hallpass run` does not send it.
    fn stop_time(&self) -> Duration {
        deadline::kill_time(self.end).saturating_sub(self.keeping.grace)
    }

    fn kill_time(&self) -> Duration {
        let last = deadline::kill_time(self.end) + BACKSTOP_DELAY;
        self.asked.map_or(last, |asked| last.min(asked.saturating_add(self.keeping.grace)))
    }

    /// Ends the command and its processes when `hallpass run` cannot.
    fn act(&mut self) {
        let now = now();
        let Keeping { inbox, lifeline, survive_kill, .. } = &self.keeping;
        let is_over = self.lost || !survive_kill || now >= self.stop_time();
        if inbox.orphaned && self.asked.is_none() && is_over {
            lifeline.holders().into_iter().for_each(lifeline::ask_to_end);
            self.asked = Some(now);
        }
        if now >= self.kill_time() {
            lifeline.holders().into_iter().for_each(lifeline::end);
        }
    }

    /// Returns `true` if `hallpass run` has ended and no process needs the slot. A process that has closed the lifeline
    /// may still need it. With `--close`, no process needs the slot, but the processes of a killed `hallpass run` are
    /// ended first, unless they may survive.
    fn is_over(&mut self) -> bool {
        let Keeping { inbox, lifeline, close, survive_kill, .. } = &self.keeping;
        let mut is_needed = || lifeline.is_needed(&mut self.remaining);
        inbox.orphaned && inbox.idle && ((*close && *survive_kill) || !is_needed())
    }

    /// Returns how long the keeper may sleep: until the next action is due, but at most [`LOOK`].
    fn patience(&self) -> Duration {
        let now = now();
        let asks = self.keeping.inbox.orphaned && self.asked.is_none();
        let next = if asks { self.stop_time() } else { self.kill_time() };
        match next.saturating_sub(now) {
            Duration::ZERO => SOON,
            left => left.min(LOOK),
        }
    }
}
