//! A claim of this process: the lease to which its record in the store is bound, and the time at which the record was
//! last seen.

#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{sync::watch, time::sleep};

use crate::{
    Clock,
    failure::{Failure, StoreError},
    leases::Lease,
    records::ClaimRecord,
    requests::HallStore,
    retry::lock,
    slot_set::SlotSet,
    view::{ClaimRef, LeaseId, OwnClaim, Revision, View},
};

/// Why a pass is no longer valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Loss {
    /// The cluster could not be reached for so long that another process may soon get the slot.
    OutOfTouch,
    /// The claim is gone from the cluster: its lease ended, or the claim or the hall was removed.
    Gone,
    /// The cluster has lost the history in which the claim was created, for example by a restore from a backup. Or
    /// another cluster answered.
    HistoryLost,
    /// The pass was released.
    Released,
}

/// The state that this process keeps for one of its claims. A claim is the record in the store by which a waiter or
/// holder exists.
pub(crate) struct Claim {
    pub record: ClaimRecord,
    /// The id of the lease to which the claim is bound. If the lease ends early, the claim gets a new one.
    lease: AtomicI64,
    /// How many losses of history this process had noticed when it created the claim.
    generation: u64,
    /// The time at which the last request that renewed the lease was sent. Unless the store ends the lease early, the
    /// lease lasts at least a ttl from this time on.
    renewed: Mutex<Duration>,
    /// The ttl of the lease. The holder continues for nine tenths of this time after it last saw the claim.
    ttl: Duration,
    clock: Clock,
    health: watch::Sender<Health>,
    /// A view of the hall from some moment since this claim got its slot. With it, the holder can leave without reading
    /// the hall first.
    exit_hint: Mutex<Option<View>>,
    stage: watch::Sender<Stage>,
    /// Whether a request for this claim got no answer. Such a request may take effect later.
    pub uncertain: AtomicBool,
    /// Whether the last renewal found the claim, but not its lease. If only one renewal finds this, the lease may have
    /// ended between the two requests of the renewal.
    lacks_lease: AtomicBool,
}

/// What the owner of a claim uses it for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// The owner waits for a slot. The claim is not lost, however long the owner has no contact with the store.
    Entering,
    /// The owner has entered: it has a slot.
    Held,
    /// The owner no longer needs the claim, and is about to remove it.
    Done,
}

/// The last known state of a claim.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Health {
    /// The time at which the owner sent the last request whose answer showed the claim. Before the first such answer:
    /// the time at which the owner created the claim.
    pub proof: Duration,
    /// The newest state in which an answer or a watch has shown the claim. At first, [`OwnClaim::Outside`].
    pub own: OwnClaim,
    /// The newest revision in which the claim was seen.
    revision: Revision,
    /// The revision that [identifies the hall](View::hall) in which the claim had a slot.
    hall: Option<Revision>,
    /// The reason why the claim is lost; `None` while it is not. A lost claim stays lost.
    pub lost: Option<Loss>,
}

impl Claim {
    /// Creates a claim that is not in the store yet.
    pub(crate) fn new(
        lease: Lease,
        generation: u64,
        ttl: Duration,
        clock: Clock,
        owner: (u32, String),
        command: &str,
        take: usize,
    ) -> Self {
        // No other process has this lease, and COUNT distinguishes the claims of this process on it.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let id = format!("{:x}-{}", lease.id, COUNT.fetch_add(1, Relaxed));
        let (proof, own) = (clock.now(), OwnClaim::Outside);
        let health = Health { proof, own, revision: 0, hall: None, lost: None };
        Claim {
            record: ClaimRecord { take, ..ClaimRecord::of(owner, command, id, ttl) },
            lease: AtomicI64::new(lease.id),
            generation,
            renewed: Mutex::new(lease.renewed),
            ttl,
            clock,
            health: watch::Sender::new(health),
            exit_hint: Mutex::default(),
            stage: watch::Sender::new(Stage::Entering),
            uncertain: AtomicBool::new(false),
            lacks_lease: AtomicBool::new(false),
        }
    }

    /// Returns the data of the claim that requests need: its record, its lease and its slots.
    pub(crate) fn reference(&self) -> ClaimRef<'_> {
        let slots = match self.health().own {
            OwnClaim::Inside { slots, .. } => slots,
            _ => SlotSet::default(),
        };
        ClaimRef { record: &self.record, lease: self.lease_id(), slots }
    }

    pub(crate) fn health(&self) -> Health {
        *self.health.borrow()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    /// Notes a view that is the answer to a request sent at the time `asked`.
    pub(crate) fn note(&self, asked: Duration, view: &View) {
        let (own, revision) = (view.own, view.revision);
        let held = match self.stage() {
            Stage::Done => return, // the owner itself is removing the claim
            Stage::Held => true,
            Stage::Entering => false,
        };
        self.health.send_if_modified(|health| match own {
            // A lost claim stays lost.
            _ if health.lost.is_some() => false,
            _ if view.generation != self.generation => {
                health.lost = Some(Loss::HistoryLost);
                true
            }
            OwnClaim::Outside | OwnClaim::Released | OwnClaim::Detached { .. }
                if health.own == OwnClaim::Outside =>
            {
                false
            }
            // This is an old answer that arrives late.
            OwnClaim::Outside | OwnClaim::Released | OwnClaim::Detached { .. }
                if revision < health.revision =>
            {
                false
            }
            // The holder creates its claim again, unless the hall was removed.
            OwnClaim::Detached { .. } if held && view.hall() == health.hall => false,
            OwnClaim::Outside | OwnClaim::Released | OwnClaim::Detached { .. } => {
                health.lost = Some(Loss::Gone);
                true
            }
            // A claim that has a slot never waits again. So the claim was removed, and a request that arrived late has
            // created it again.
            OwnClaim::Waiting { .. } if health.own.is_inside() && revision >= health.revision => {
                health.lost = Some(Loss::Gone);
                true
            }
            _ => {
                if revision >= health.revision {
                    (health.own, health.revision) = (own, revision);
                    health.hall = view.hall().or(health.hall);
                }
                health.proof = health.proof.max(asked);
                true
            }
        });
    }

    /// Notes that a watch has reported that the claim has a slot in this hall. The report does not renew the proof,
    /// because it does not show when the claim existed.
    pub(crate) fn note_entry(&self, own: OwnClaim, hall: Option<Revision>) {
        let OwnClaim::Inside { version, .. } = own else { return };
        self.health.send_if_modified(|health| {
            let changed = health.own != own;
            (health.own, health.revision) = (own, health.revision.max(version));
            health.hall = health.hall.or(hall);
            changed
        });
    }

    /// Returns the time, by the clock, until which no other claim can have the slot of this claim.
    pub(crate) fn valid_until(&self) -> Duration {
        self.health().proof + self.ttl * 9 / 10
    }

    /// Returns how long the claim is still valid. Returns 0 once the claim is lost.
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

    pub(crate) fn lease(&self) -> Lease {
        Lease { id: self.lease_id(), renewed: *lock(&self.renewed) }
    }

    fn lease_id(&self) -> LeaseId {
        // ORDERING: Relaxed, because a request that names the old lease has no effect.
        self.lease.load(Relaxed)
    }

    pub(crate) fn enter_stage(&self, stage: Stage) {
        self.stage.send_replace(stage);
    }

    fn stage(&self) -> Stage {
        *self.stage.borrow()
    }

    /// Keeps a view in which this claim has its slot. The view names the head of the queue.
    pub(crate) fn set_exit_hint(&self, view: View) {
        if view.own.is_inside() {
            *lock(&self.exit_hint) = Some(view);
        }
    }

    /// Returns a view of the hall from some moment since this claim got its slot, if there is one.
    pub(crate) fn take_exit_hint(&self) -> Option<View> {
        lock(&self.exit_hint).take()
    }

    /// Returns how long the task [`keep`](Claim::keep) may sleep and still notice in time that the claim is lost.
    fn slack(&self) -> Duration {
        match self.stage() {
            Stage::Held => self.valid_for(),
            Stage::Entering | Stage::Done => Duration::MAX,
        }
    }

    /// Returns the time between two renewals. Without renewals, a holder loses its pass. A waiter has no pass, and
    /// there may be hundreds of waiters. So waiters renew less often. But they must renew, because a waiter that gets a
    /// slot needs a recent proof.
    fn renewal_interval(&self) -> Duration {
        match self.stage() {
            Stage::Held => self.ttl / 10,
            // The time is random, so that waiters that arrived together do not renew their leases together.
            Stage::Entering | Stage::Done => (self.ttl / 3).mul_f64(1.0 + fastrand::f64() / 10.0),
        }
    }

    /// Renews the lease, and the proof that the claim exists, until the claim is lost.
    pub(crate) async fn keep(self: Arc<Self>, store: Arc<HallStore>) {
        let mut stage = self.stage.subscribe();
        let mut last = self.clock.now();
        let mut failed = false;
        while self.health().lost.is_none() {
            let pause = match failed {
                // Try again long before the claim is lost, but not immediately, and not all holders at the same time.
                true => (self.renewal_interval() / 5).mul_f64(0.5 + fastrand::f64()),
                false => (last + self.renewal_interval()).saturating_sub(self.clock.now()),
            };
            tokio::select! {
                () = sleep(pause.min(self.slack())) => {}
                // In the new stage, the next renewal may be due earlier.
                Ok(()) = stage.changed(), if !failed => continue,
                () = store.await_loss(self.generation) => return self.lose(Loss::HistoryLost),
            }
            if self.slack().is_zero() {
                return self.lose(Loss::OutOfTouch);
            }
            last = self.clock.now();
            failed = !tokio::select! {
                renewed = self.renew(&store) => renewed,
                () = sleep(self.slack()) => false,
            };
        }
    }

    /// Renews the lease and the proof once. Returns whether both succeeded.
    async fn renew(&self, store: &HallStore) -> bool {
        let asked = self.clock.now();
        let (kept, view) = tokio::join!(
            store.keep_lease_alive(self.lease_id()),
            store.exit_view(self.reference())
        );
        let lease_is_gone = matches!(kept, Ok(false));
        let kept = matches!(kept, Ok(true));
        if kept {
            *lock(&self.renewed) = asked;
        }
        let view = match view {
            Err(StoreError::Failed(Failure::OtherCluster(_))) => {
                self.lose(Loss::HistoryLost);
                return false;
            }
            Err(_) => return false,
            Ok(view) => view,
        };
        self.note(asked, &view);
        let exists = matches!(view.own, OwnClaim::Inside { .. } | OwnClaim::Waiting { .. });
        // ORDERING: Relaxed, because only this task uses the flag.
        if self.lacks_lease.swap(lease_is_gone && exists, Relaxed) && lease_is_gone && exists {
            // The claim has outlived its lease, because an operator has deleted the lease alone. Nobody could give a
            // slot to such a waiter, because the record of a holder needs a lease. So end the claim: a holder then
            // creates its claim again, and a waiter joins the queue again.
            store.revoke_lease(self.lease_id()).await;
            return false;
        }
        if let (OwnClaim::Detached { .. }, Stage::Held) = (view.own, self.stage()) {
            return self.attach(store, view.own).await;
        }
        self.set_exit_hint(view);
        kept
    }

    /// Creates the claim again, with a new lease. The old lease has ended, because the store sometimes ends leases
    /// early, but the slot is still assigned to the claim. Returns whether the claim exists again.
    async fn attach(&self, store: &HallStore, was: OwnClaim) -> bool {
        let Health { hall: Some(hall), lost: None, .. } = self.health() else { return false };
        let renewed = self.clock.now();
        let Ok(lease) = store.grant_lease(self.ttl).await else { return false };
        // ORDERING: Relaxed, for the reason given in `lease_id`.
        self.lease.store(lease, Relaxed);
        *lock(&self.renewed) = renewed;
        let asked = self.clock.now();
        let Ok(view) = store.attach(self.reference(), hall, was).await else { return false };
        self.note(asked, &view);
        view.own.is_inside()
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Loss::OutOfTouch => "the store could not be reached for too long",
            Loss::Gone => "the claim is gone from the store",
            Loss::HistoryLost => "the store lost its history, as after a restore from a backup",
            Loss::Released => "the pass was released",
        })
    }
}
