//! A claim of ours, and what we know of it: the lease that it hangs on, and when we last saw it.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{sync::watch, time::sleep};

use crate::{
    Clock,
    core::lock,
    pass::Loss,
    records,
    store::{Asker, Store},
    view::{Me, View, Waiter},
};

/// A claim of ours.
pub(crate) struct Claim {
    pub record: records::Claim,
    pub lease: i64,
    /// A moment at which the lease certainly had all its time before it.
    kept: Mutex<Duration>,
    /// For how long we may go on after we have last seen it.
    ttl: Duration,
    clock: Clock,
    health: watch::Sender<Health>,
    /// How things were at some moment since we got in.
    hint: Mutex<Option<View>>,
    stage: Mutex<Stage>,
    /// Something that was asked for it may still happen later.
    pub uncertain: AtomicBool,
}

/// A lease, and a moment at which it certainly had all its time before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tenure {
    pub id: i64,
    pub kept: Duration,
}

/// What the claim is to us.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// We want to get in, and may be out of touch as long as it takes.
    Wanted,
    /// We are in.
    Held,
    /// We have no use for it any more.
    Done,
}

/// What we know of a claim.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Health {
    /// A moment at which it certainly was there.
    pub proof: Duration,
    /// Where it was then, or later.
    pub me: Me,
    /// The newest revision that it was seen in.
    revision: i64,
    /// Once and for all.
    pub lost: Option<Loss>,
}

impl Claim {
    /// One that has yet to be put down.
    pub(crate) fn new(
        lease: Tenure,
        ttl: Duration,
        clock: Clock,
        owner: (u32, String),
        command: &str,
    ) -> Self {
        // The lease is nobody else's, and its claims are counted.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let id = format!("{:x}-{}", lease.id, COUNT.fetch_add(1, Relaxed));
        let health = Health { proof: clock.now(), me: Me::Outside, revision: 0, lost: None };
        Claim {
            record: records::Claim::of(owner, command, id, ttl),
            lease: lease.id,
            kept: Mutex::new(lease.kept),
            ttl,
            clock,
            health: watch::Sender::new(health),
            hint: Mutex::default(),
            stage: Mutex::new(Stage::Wanted),
            uncertain: AtomicBool::new(false),
        }
    }

    pub(crate) fn asker(&self) -> Asker<'_> {
        Asker { claim: &self.record, lease: self.lease }
    }

    pub(crate) fn health(&self) -> Health {
        *self.health.borrow()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    /// It was seen there by a question that was asked at this time.
    pub(crate) fn seen(&self, asked: Duration, view: &View) {
        let (me, revision) = (view.me, view.revision);
        if self.stage() == Stage::Done {
            return; // it goes, and that is as it should be
        }
        self.health.send_if_modified(|health| match me {
            // What we have lost stays lost.
            _ if health.lost.is_some() => false,
            Me::Outside | Me::Released if health.me == Me::Outside => false,
            // An old answer that comes late.
            Me::Outside | Me::Released if revision < health.revision => false,
            Me::Outside | Me::Released => {
                health.lost = Some(Loss::Gone);
                true
            }
            _ => {
                if revision >= health.revision {
                    (health.me, health.revision) = (me, revision);
                }
                health.proof = health.proof.max(asked);
                true
            }
        });
    }

    /// We were told that it has got in, but not when.
    pub(crate) fn got_in(&self, me: Me) {
        let Me::Inside { token, .. } = me else { return };
        self.health.send_if_modified(|health| {
            let news = health.me != me;
            (health.me, health.revision) = (me, health.revision.max(token));
            news
        });
    }

    /// Until when it is certain that nobody else has what it has.
    pub(crate) fn valid_until(&self) -> Duration {
        self.health().proof + self.ttl * 9 / 10
    }

    /// For how long it is.
    pub(crate) fn valid_for(&self) -> Duration {
        match self.health().lost {
            Some(_) => Duration::ZERO,
            None => self.valid_until().saturating_sub(self.clock.now()),
        }
    }

    fn lose(&self, loss: Loss) {
        self.health.send_if_modified(|health| {
            let new = health.lost.is_none();
            health.lost.get_or_insert(loss);
            new
        });
    }

    pub(crate) fn tenure(&self) -> Tenure {
        Tenure { id: self.lease, kept: *lock(&self.kept) }
    }

    pub(crate) fn enter_stage(&self, stage: Stage) {
        *lock(&self.stage) = stage;
    }

    fn stage(&self) -> Stage {
        *lock(&self.stage)
    }

    /// Keeps in mind who was first in line while we were in.
    fn remember(&self, view: View) {
        if let Me::Inside { .. } = view.me {
            *lock(&self.hint) = Some(view);
        }
    }

    /// How things were at some moment since we got in, if we know.
    pub(crate) fn hint(&self) -> Option<View> {
        lock(&self.hint).take()
    }

    /// Finds out who is first in line while we are in, so that we need not ask when we leave: once, for
    /// whoever is first mostly stays so.
    pub(crate) async fn scout(self: Arc<Self>, store: Arc<Store>) {
        let Ok(mut view) = store.look_back(self.asker()).await else { return };
        self.remember(view.clone());
        if view.first.is_none() {
            let queue = vec![store.keys.queue()];
            let Ok(mut watch) = store.client.watch(queue).await else { return };
            if watch.since > view.revision {
                // Somebody may have come meanwhile; and not every member may have heard of it.
                let Ok(now) = store.look_after(self.asker()).await else { return };
                view = now;
            }
            while view.first.is_none() {
                let Ok(events) = watch.next().await else { return };
                let arrival = events.iter().find(|event| event.is_put_after(view.revision));
                view.first = arrival.and_then(|event| Waiter::read(&event.kv).ok());
            }
            self.remember(view);
        }
    }

    /// For how long its keeper may do something else.
    fn leisure(&self) -> Duration {
        match self.stage() {
            Stage::Held => self.valid_for(),
            Stage::Wanted | Stage::Done => Duration::MAX,
        }
    }

    /// Keeps the lease alive and looks after the claim, until it is lost.
    pub(crate) async fn keep(self: Arc<Self>, store: Arc<Store>) {
        let every = self.ttl / 5;
        let mut pause = every;
        while self.health().lost.is_none() {
            sleep(pause.min(self.leisure())).await;
            if self.leisure().is_zero() {
                return self.lose(Loss::OutOfTouch);
            }
            let renewed = tokio::select! {
                renewed = self.renew(&store) => renewed,
                () = sleep(self.leisure()) => false,
            };
            // Not at once, but long before it would be too late.
            pause = if renewed { every } else { every / 10 };
        }
    }

    /// Says whether both worked.
    async fn renew(&self, store: &Store) -> bool {
        let asked = self.clock.now();
        let look = async {
            let view = store.look_after(self.asker()).await.ok()?;
            self.seen(asked, &view);
            self.remember(view);
            Some(())
        };
        let (kept, seen) = tokio::join!(store.client.keep_alive(self.lease), look);
        let kept = matches!(kept, Ok(true));
        if kept {
            *lock(&self.kept) = asked;
        }
        seen.is_some() && kept
    }
}
