//! The keeper has the slot: it keeps it as long as somebody is inside, and says until when it is ours.
//!
//! It is also the second guard. If `hallpass run` is gone and its command is not, or if it was stopped
//! and cannot act, whoever still has the lifeline open at the deadline is killed from here.

use std::{
    fs::File,
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use hallpass_etcd::{EtcdPass, Lost};

use super::{
    deadline::{self, Deadline, now},
    desk::Desk,
    lifeline::{self, Lifeline},
    messages::{Order, Report},
};

/// How often the pass is looked at in its time to live.
const LOOKS: u32 = 20;

/// How much later the second guard acts than the first.
const SECOND: Duration = Duration::from_millis(50);

pub struct Terms {
    pub slots: usize,
    pub ttl: Duration,
    pub grace: Duration,
}

/// Keeps the slot until nobody needs it.
pub fn hold(
    pass: EtcdPass,
    terms: Terms,
    desk: Desk,
    deadline: Deadline,
    inside: Lifeline,
) -> io::Result<()> {
    let mut keeping = Keeping {
        losing: Box::pin(pass.lost()),
        lost: false,
        asked: None,
        end: Duration::ZERO,
        desk,
        deadline,
        inside,
        terms,
    };
    keeping.look(&pass)?;
    let (slot, token) = (pass.slot(), pass.token());
    keeping.desk.tell(&Report::Granted { slot, token, slots: keeping.terms.slots });
    let mut told = false;
    loop {
        let order = keeping.desk.wait(keeping.patience());
        let desk = &mut keeping.desk;
        if matches!(order, Some(Order::Release)) || (desk.orphaned && desk.idle) {
            break;
        }
        if desk.idle && !told {
            desk.tell(&Report::Idle);
            told = true;
        }
        keeping.look(&pass)?;
        keeping.guard();
    }
    // Whoever reads what we could still say there would wait for us.
    rustix::stdio::dup2_stderr(File::open("/dev/null")?)?;
    let problem = pass.release().err().map(|error| error.to_string());
    keeping.desk.tell(&Report::Released(problem));
    Ok(())
}

struct Keeping {
    losing: Pin<Box<Lost>>,
    lost: bool,
    /// When those inside were asked to end by us.
    asked: Option<Duration>,
    /// Until when the slot is ours for certain.
    end: Duration,
    desk: Desk,
    deadline: Deadline,
    inside: Lifeline,
    terms: Terms,
}

impl Keeping {
    /// Sees whether the pass is still ours, and until when.
    fn look(&mut self, pass: &EtcdPass) -> io::Result<()> {
        if self.lost {
            return Ok(());
        }
        let waker = self.desk.waker();
        if let Poll::Ready(why) = self.losing.as_mut().poll(&mut Context::from_waker(&waker)) {
            self.lost = true;
            self.desk.tell(&Report::Lost(why.to_string()));
            return Ok(());
        }
        // In this order: whatever happens between the two, we do not think that we have longer.
        let now = now();
        let end = now + pass.valid_for();
        if end > self.end {
            self.end = end;
            self.deadline.set(end, self.terms.grace)?;
        }
        Ok(())
    }

    fn patience(&self) -> Duration {
        let next = self.terms.ttl / LOOKS;
        // Once it is over there is no hurry but that of seeing who is left.
        match self.kill_time().saturating_sub(now()) {
            Duration::ZERO => next,
            left => next.min(left),
        }
    }

    /// Ends those inside if `hallpass run` cannot.
    fn guard(&mut self) {
        let now = now();
        let is_time =
            self.lost || now >= deadline::kill_time(self.end).saturating_sub(self.terms.grace);
        if self.desk.orphaned && self.asked.is_none() && is_time {
            self.asked = Some(now);
            self.inside.holders().into_iter().for_each(lifeline::ask_to_end);
        }
        if now >= self.kill_time() {
            self.inside.holders().into_iter().for_each(lifeline::end);
        }
    }

    fn kill_time(&self) -> Duration {
        // The first guard goes first: it knows what to say of it.
        let last = deadline::kill_time(self.end) + SECOND;
        self.asked.map_or(last, |asked| last.min(asked + self.terms.grace))
    }
}
