//! The keeper has the slot: it keeps it as long as somebody is inside, and says until when it is ours.
//!
//! It is also the second guard. If `hallpass run` is gone and its command is not, or if it was stopped
//! and cannot act, whoever still has the lifeline open at the deadline is killed from here.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use hallpass_cluster::{ClusterPass, Loss, Renewals};

use super::{
    deadline::{self, Deadline, now},
    desk::Desk,
    lifeline::{self, Lifeline},
    messages::{Order, Report},
};

/// How much later the second guard acts than the first, who knows what to say of it.
const SECOND: Duration = Duration::from_millis(50);
/// The second guard looks at the time this often: machines sleep, and it does not notice.
const LOOK: Duration = Duration::from_millis(500);
/// How often it is seen who is left, when all are to be dead.
const SOON: Duration = Duration::from_millis(50);

/// What is to be kept, and how.
pub struct Keeping {
    pub slots: usize,
    /// How long those inside may take to end when they are asked to.
    pub grace: Duration,
    /// They run on if `hallpass run` is killed.
    pub keeps: bool,
    pub desk: Desk,
    pub deadline: Deadline,
    pub inside: Lifeline,
}

/// Keeps the slot until nobody needs it.
pub fn hold(pass: ClusterPass, keeping: Keeping) -> io::Result<()> {
    let mut news = News::of(&pass);
    let mut guard = Guard { keeping, end: pass.valid_until(), lost: false, asked: None };
    guard.prolong(pass.valid_until())?;
    let (slot, token, slots) = (pass.slot(), pass.token(), guard.keeping.slots);
    guard.keeping.desk.tell(&Report::Granted { slot, token, slots });
    loop {
        while let Some(heard) = news.next(&guard.keeping.desk) {
            match heard {
                Ok(end) => guard.prolong(end)?,
                Err(why) => guard.lose(why),
            }
        }
        guard.act();
        let patience = guard.patience();
        let desk = &mut guard.keeping.desk;
        let order = desk.wait(patience);
        if matches!(order, Some(Order::Release)) || (desk.orphaned && desk.idle) {
            break;
        }
    }
    let problem = pass.release().err().map(|error| error.to_string());
    guard.keeping.desk.tell(&Report::Released(problem));
    Ok(())
}

/// What happens to a pass, while we also listen to others.
struct News(Option<Pin<Box<dyn Future<Output = Next>>>>);

/// What happened, and who tells what happens then.
type Next = (Result<Duration, Loss>, Renewals);

impl News {
    fn of(pass: &ClusterPass) -> Self {
        News::after(pass.watch())
    }

    fn after(mut renewals: Renewals) -> Self {
        News(Some(Box::pin(async move {
            let heard = renewals.next().await;
            (heard, renewals)
        })))
    }

    /// The next, if it is there; otherwise `desk` is woken by it. After a loss there is nothing more.
    fn next(&mut self, desk: &Desk) -> Option<Result<Duration, Loss>> {
        let mut context = Context::from_waker(&desk.waker);
        match self.0.as_mut()?.as_mut().poll(&mut context) {
            Poll::Pending => None,
            Poll::Ready((heard, renewals)) => {
                *self = if heard.is_ok() { News::after(renewals) } else { News(None) };
                Some(heard)
            }
        }
    }
}

struct Guard {
    keeping: Keeping,
    /// Until when the slot is ours for certain.
    end: Duration,
    lost: bool,
    /// When those inside were asked by us to end.
    asked: Option<Duration>,
}

impl Guard {
    fn prolong(&mut self, end: Duration) -> io::Result<()> {
        self.end = end;
        self.keeping.deadline.set(end, self.keeping.grace)
    }

    fn lose(&mut self, why: Loss) {
        self.lost = true;
        self.keeping.desk.tell(&Report::Lost(why.to_string()));
    }

    /// When those inside are to be asked to end, if nobody else does.
    fn stop_time(&self) -> Duration {
        deadline::kill_time(self.end).saturating_sub(self.keeping.grace)
    }

    fn kill_time(&self) -> Duration {
        let last = deadline::kill_time(self.end) + SECOND;
        self.asked.map_or(last, |asked| last.min(asked + self.keeping.grace))
    }

    /// Ends those inside when `hallpass run` cannot.
    fn act(&mut self) {
        let now = now();
        let Keeping { desk, inside, keeps, .. } = &self.keeping;
        let is_over = self.lost || !keeps || now >= self.stop_time();
        if desk.orphaned && self.asked.is_none() && is_over {
            inside.holders().into_iter().for_each(lifeline::ask_to_end);
            self.asked = Some(now);
        }
        if now >= self.kill_time() {
            inside.holders().into_iter().for_each(lifeline::end);
        }
    }

    /// How long nothing has to be done here.
    fn patience(&self) -> Duration {
        let now = now();
        let asks = self.keeping.desk.orphaned && self.asked.is_none();
        let next = if asks { self.stop_time() } else { self.kill_time() };
        match next.saturating_sub(now) {
            Duration::ZERO => SOON,
            left => left.min(LOOK),
        }
    }
}
