//! The state that the handles, passages and passes of one hall share.
//!
//! The modules form layers. Each layer calls only the layers below it:
//!
//! 1. [`hall`](crate::hall), [`cluster`](crate::cluster) and [`pass`](crate::pass);
//! 2. [`passage`](crate::passage) and [`manage`](crate::manage);
//! 3. [`waiting`](crate::waiting);
//! 4. this module;
//! 5. [`claim`](crate::claim), [`leases`](crate::leases), [`expiry`](crate::expiry) and [`retry`](crate::retry);
//! 6. the [requests](crate::requests) of the protocol;
//! 7. the [store](crate::store).

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use hallpass_algorithms::halls::cluster::Picture;
use hallpass_common::command_line;
use tokio::{runtime::Handle, task::AbortHandle};

use crate::{
    Clock, ClusterOptions, Error,
    claim::Claim,
    expiry::ExpiryLog,
    leases::Leases,
    records,
    requests::HallStore,
    retry::{CurrentError, Retry, lock},
    runtime::{TaskGuard, Tasks},
    slot_set::SlotSet,
    view::{OwnClaim, View, Waiter, epoch},
};

/// The state that the handles, passages and passes of one hall share.
pub(crate) struct Core {
    pub store: Arc<HallStore>,
    pub clock: Clock,
    pub ttl: Duration,
    /// How long a caller tries until the first answer arrives.
    pub first_contact: Duration,
    pub expiries: ExpiryLog,
    pub leases: Leases,
    /// The number of slots when the hall was last read.
    size: AtomicUsize,
    history: Mutex<History>,
    /// The view with which the hall was opened, for the first passage. The view may be old. This does no harm,
    /// because a request takes effect only if the records that it depends on are unchanged.
    opening: Mutex<Option<OpeningView>>,
    current_error: CurrentError,
    command: Mutex<Option<String>>,
    /// The process and the user that claims contain, for display.
    owner: Mutex<(u32, String)>,
    handle: Handle,
    tasks: Tasks,
}

/// The view with which a hall was opened.
pub(crate) struct OpeningView {
    pub view: View,
    /// When the hall was opened.
    pub at: Instant,
}

/// The history of the hall, as far as its views have shown it.
#[derive(Default)]
struct History {
    generation: u64,
    /// The largest token that a pass could have in this generation.
    largest: u64,
    /// The smallest epoch in which tokens are larger than those of earlier generations.
    epoch: u64,
}

impl Core {
    pub(crate) fn new(
        store: HallStore,
        options: &ClusterOptions,
        handle: Handle,
        tasks: Tasks,
    ) -> Self {
        let (store, clock, ttl) = (Arc::new(store), options.clock.clone(), options.ttl);
        let leases = Leases::new(store.clone(), clock.clone(), ttl, handle.clone(), tasks.clone());
        Core {
            store,
            expiries: ExpiryLog::new(clock.clone()),
            clock,
            ttl,
            first_contact: options.command_timeout,
            leases,
            size: AtomicUsize::new(0),
            history: Mutex::default(),
            opening: Mutex::default(),
            current_error: CurrentError::default(),
            command: Mutex::default(),
            owner: Mutex::new((std::process::id(), records::user())),
            handle,
            tasks,
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.size.load(SeqCst)
    }

    /// Keeps the view with which the hall was opened.
    pub(crate) fn set_opening_view(&self, view: View) {
        *lock(&self.opening) = Some(OpeningView { view, at: Instant::now() });
    }

    /// Returns the view with which the hall was opened, once.
    pub(crate) fn take_opening_view(&self) -> Option<OpeningView> {
        lock(&self.opening).take()
    }

    pub(crate) fn describe_as(&self, command: &str) {
        *lock(&self.command) = Some(command.into());
    }

    pub(crate) fn act_for(&self, pid: u32, user: &str) {
        *lock(&self.owner) = (pid, user.into());
    }

    /// Starts a task on the thread that talks to the store.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        self.handle.spawn(task).abort_handle()
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Announces background work. Dropping the last handle waits for it.
    pub(crate) fn begin_task(&self) -> TaskGuard {
        self.tasks.begin()
    }

    /// Allows attempts for `limit`, and reports connection errors to [`current_error`](Core::current_error).
    pub(crate) fn retry(&self, limit: Duration) -> Retry {
        Retry::new(self.store.place(), limit).reporting_to(self.current_error.clone())
    }

    /// Returns the connection error that currently affects the hall.
    pub(crate) fn current_error(&self) -> Option<Error> {
        lock(&self.current_error).clone()
    }

    /// Reads the hall, without a claim.
    pub(crate) async fn look(&self) -> Result<View, Error> {
        self.look_within(self.first_contact).await
    }

    /// Reads the hall, without a claim. Tolerates an unreachable cluster for `limit`.
    pub(crate) async fn look_within(&self, limit: Duration) -> Result<View, Error> {
        let mut retry = self.retry(limit);
        loop {
            match self.store.view(None).await {
                Ok(view) => return Ok(self.note(view)),
                Err(error) => retry.after(error).await?,
            }
        }
    }

    /// Updates the shared state from a view that has just arrived, and returns the view.
    pub(crate) fn note(&self, view: View) -> View {
        *lock(&self.current_error) = None;
        self.size.store(view.size(), SeqCst);
        self.expiries.update(&view);
        let mut history = lock(&self.history);
        if view.generation > history.generation {
            history.generation = view.generation;
            history.epoch = epoch(history.largest) + 1;
        }
        if view.generation == history.generation && view.door.is_some() {
            history.largest = history.largest.max(view.largest_token());
        }
        drop(history);
        view
    }

    /// Returns the smallest epoch in which tokens are larger than all tokens that this process has seen.
    pub(crate) fn epoch(&self) -> u64 {
        lock(&self.history).epoch
    }

    /// Returns how much longer this process must not assign any slot, because the store lost history. During this time,
    /// there may be a holder that the store does not show and that has not noticed the loss yet. Returns `None` if this
    /// process may assign slots.
    pub(crate) fn until_trusted(&self, view: &View) -> Option<Duration> {
        let since = self.store.since_loss()?;
        let longest =
            view.slots.values().map(|owner| Duration::from_millis(owner.record.ttl)).max();
        let longest = longest.unwrap_or_default().max(self.ttl);
        (longest.saturating_mul(11) / 10).checked_sub(since).filter(|time| !time.is_zero())
    }

    /// Reduces a view to the parts that the step machine needs, for a claim that takes `take` slots.
    pub(crate) fn picture(&self, view: &View, take: usize) -> Picture<Waiter> {
        let size = view.size();
        let needed = view.first.as_ref().map_or(take, |first| first.record.take);
        let trusted = self.until_trusted(view).is_none();
        Picture {
            open: size > 0,
            me: view.own.state(),
            first: view.first.clone(),
            free: view.free_slots(needed).and_then(SlotSet::first).filter(|_| trusted),
            stale: self.expiries.reclaimable(view).filter(|_| trusted),
            beyond: matches!(view.own, OwnClaim::Inside { slots, .. } if slots.iter().any(|slot| slot >= size)),
            hands_over: take == 1 && needed == 1,
        }
    }

    /// Creates a claim for `take` slots, with a lease. The claim is not in the store yet.
    pub(crate) async fn new_claim(
        &self,
        take: usize,
        limit: Duration,
    ) -> Result<Arc<Claim>, Error> {
        let lease = self.leases.take(self.retry(limit)).await?;
        let own = lock(&self.command).clone();
        let command = own.as_deref().unwrap_or(command_line());
        let owner = lock(&self.owner).clone();
        let generation = self.store.generation();
        let clock = self.clock.clone();
        Ok(Arc::new(Claim::new(lease, generation, self.ttl, clock, owner, command, take)))
    }

    /// Starts the task that renews a claim.
    pub(crate) fn keep(&self, claim: &Arc<Claim>) -> AbortHandle {
        self.spawn(claim.clone().keep(self.store.clone()))
    }
}
