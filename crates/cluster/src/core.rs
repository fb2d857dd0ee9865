//! The state that the handles, passages and passes of one hall share.
//!
//! The modules form layers. A module calls only modules of its own layer and of the layers below it. (There are two
//! exceptions: all layers use the helper [`lock`](crate::retry::lock), and the stores ask [`crate::requests`] for the
//! names of keys.)
//!
//! 1. [`hall`](crate::hall), [`cluster`](crate::cluster) and [`pass`](crate::pass);
//! 2. [`passage`](crate::passage) and [`manage`](crate::manage);
//! 3. [`waiting`](crate::waiting);
//! 4. this module;
//! 5. [`claim`](crate::claim), [`leases`](crate::leases), [`expiry`](crate::expiry),
//!    [`high_water`](crate::high_water) and [`retry`](crate::retry);
//! 6. the [requests](crate::requests) of the protocol;
//! 7. the [store](crate::store).

#[cfg(test)]
mod tests;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use hallpass_algorithms::halls::cluster::Picture;
use hallpass_common::command_line;
use tokio::{
    runtime::Handle,
    task::{AbortHandle, spawn_blocking},
    time::timeout,
};

use crate::{
    Clock, ClusterOptions, Error,
    claim::Claim,
    expiry::ExpiryLog,
    high_water::{HighWaterMark, Seen},
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
    /// How long a call tries to get its first answer from the store.
    pub first_contact: Duration,
    pub expiries: ExpiryLog,
    pub leases: Leases,
    /// The number of slots when the hall was last read.
    size: AtomicUsize,
    history: Mutex<History>,
    /// The directory of the [mark](Core::mark); `None` to keep no mark.
    state_dir: Option<PathBuf>,
    /// The largest token that this machine has seen, in a file. Empty until a server has answered, because the name of
    /// the file contains the identity of the cluster.
    mark: OnceLock<Arc<HighWaterMark>>,
    raised: Mutex<Raised>,
    /// The view with which the hall was opened, for the first passage. The view may be old. This does no harm,
    /// because a request takes effect only if the records that it depends on are unchanged.
    opening: Mutex<Option<OpeningView>>,
    current_error: CurrentError,
    command: Mutex<Option<String>>,
    /// The process and the user that new claims name, for display.
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
    /// The number of times that this process has noticed that the store lost history.
    generation: u64,
    /// The largest token that a pass could have in this generation.
    largest: u64,
    /// The smallest [epoch] in which this process may assign slots. In this epoch, new tokens are larger than all
    /// tokens of lost histories and removed halls that this process has seen.
    epoch: u64,
}

/// When the [mark](Core::mark) was last raised, and what is still to be written.
#[derive(Default)]
struct Raised {
    /// The largest token of a pass or of a view that is not in the file yet.
    pending: Option<u64>,
    by_pass: Option<Instant>,
    by_view: Option<Instant>,
}

/// The least time between two writes of the mark for passes of this process.
const PASSES_RAISE_EVERY: Duration = Duration::from_millis(10);
/// The least time between two writes of the mark for views of the hall.
const VIEWS_RAISE_EVERY: Duration = Duration::from_secs(1);
/// The time limit for reading or changing the mark, which may be on a slow file system. A process that does not read the
/// mark may fail to notice a loss, so the limit is longer than the pauses of a busy disk.
const MARK_USED_WITHIN: Duration = Duration::from_secs(5);

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
            state_dir: options.state_dir.clone(),
            mark: OnceLock::new(),
            raised: Mutex::default(),
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

    /// Takes the view with which the hall was opened. Returns `None` if it was taken before.
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

    /// Announces background work, which lasts until the guard is dropped. Dropping the last handle of the connection
    /// waits for this work.
    pub(crate) fn begin_task(&self) -> TaskGuard {
        self.tasks.begin()
    }

    /// Returns a [`Retry`] that allows attempts for `limit`, and reports connection errors to
    /// [`current_error`](Core::current_error).
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
            history.epoch = history.epoch.max(epoch(history.largest) + 1);
        }
        if view.generation == history.generation && view.door.is_some() {
            history.largest = history.largest.max(view.largest_token());
        }
        drop(history);
        if view.door.is_some() {
            self.raise_mark_by_view(view.largest_token());
        }
        view
    }

    /// Returns the smallest [epoch] in which this process may assign slots. In this epoch, new tokens are larger than
    /// all tokens of lost histories and removed halls that this process has seen.
    pub(crate) fn epoch(&self) -> u64 {
        lock(&self.history).epoch
    }

    /// Returns the epoch for a new hall. After the store lost history, this process [must not assign
    /// slots](Core::until_trusted) for some time. During this time, returns the epoch from before the loss. So other
    /// processes find the new hall behind the [mark](Core::mark), and also notice the loss.
    pub(crate) fn epoch_of_new_hall(&self, view: &View) -> u64 {
        match self.until_trusted(view) {
            Some(_) => self.epoch().saturating_sub(1),
            None => self.epoch(),
        }
    }

    /// Finds the [mark](Core::mark) of this machine, and compares the first view of this process with it. Returns the
    /// latest view.
    pub(crate) async fn compare_with_mark(&self, view: View) -> Result<View, Error> {
        if let (Some(dir), Some((cluster, base))) = (&self.state_dir, self.store.identity()) {
            let new = || Arc::new(HighWaterMark::new(dir, cluster, &base, self.clock.clone()));
            self.mark.get_or_init(new);
        }
        self.look_for_loss(view, self.first_contact).await
    }

    /// Looks for a loss of history that the answers so far do not show to this process. Call this before the process
    /// assigns a slot. Tolerates an unreachable cluster for `limit`. Returns the latest view.
    ///
    /// - A renewal may have noticed a loss after the view was read. Then the view is read again, because the records of
    ///   a new hall can have the same revisions as those of the lost hall.
    /// - While the process waited, the store may have lost history, and then reached again the largest revision that
    ///   the process has seen. Then the [mark](Core::mark) of the machine may show the loss: the mark is a larger token
    ///   than the hall has reached.
    pub(crate) async fn look_for_loss(
        &self,
        mut view: View,
        limit: Duration,
    ) -> Result<View, Error> {
        if view.generation != self.store.generation() {
            view = self.look_within(limit).await?;
        }
        let Some(mark) = self.mark.get() else { return Ok(view) };
        let Some(token) = on_file(mark, HighWaterMark::token).await.flatten() else {
            return Ok(view);
        };
        // This process assigns slots in an epoch that is larger than that of the mark, so its tokens are larger too.
        if epoch(token) < self.epoch() {
            return Ok(view);
        }
        if Seen::in_view(&view).is_behind(token) {
            // Other processes may have raised the mark after this view. So compare the mark with a later view.
            view = self.look_within(limit).await?;
        }
        let seen = Seen::in_view(&view);
        if seen.is_behind(token) {
            let ago = on_file(mark, move |mark| mark.note_loss(seen)).await.unwrap_or_default();
            self.store.note_earlier_loss(ago);
            let mut history = lock(&self.history);
            history.largest = history.largest.max(token);
            history.epoch = history.epoch.max(epoch(token) + 1);
        } else if view.door.is_none() {
            // A new hall continues in the epoch of the removed one.
            let mut history = lock(&self.history);
            history.epoch = history.epoch.max(epoch(token));
        }
        Ok(view)
    }

    /// Raises the mark to the token of a pass.
    pub(crate) fn raise_mark(&self, token: u64) {
        let mut raised = lock(&self.raised);
        let recently = |at: Instant| at.elapsed() < PASSES_RAISE_EVERY;
        raised.pending = Some(token.max(raised.pending.unwrap_or(0)));
        if !raised.by_pass.is_some_and(recently) {
            raised.by_pass = Some(Instant::now());
            self.write_mark(&mut raised);
        }
    }

    fn raise_mark_by_view(&self, token: u64) {
        let mut raised = lock(&self.raised);
        // The time counts from the first view. So a process that ends soon writes nothing for its views.
        let last = *raised.by_view.get_or_insert_with(Instant::now);
        if last.elapsed() >= VIEWS_RAISE_EVERY {
            raised.by_view = Some(Instant::now());
            raised.pending = Some(token.max(raised.pending.unwrap_or(0)));
            self.write_mark(&mut raised);
        }
    }

    /// Writes the pending token in the background.
    fn write_mark(&self, raised: &mut Raised) {
        if let (Some(mark), Some(token)) = (self.mark.get().cloned(), raised.pending.take()) {
            let task = self.begin_task();
            let write = move || {
                mark.raise(token);
                drop(task);
            };
            // A new holder does not wait until the thread that writes has started.
            self.handle.spawn(async { drop(spawn_blocking(write)) });
        }
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

/// Uses the file of a mark, without blocking this thread. Returns `None` if this takes too long.
async fn on_file<T: Send + 'static>(
    mark: &Arc<HighWaterMark>,
    act: impl FnOnce(&HighWaterMark) -> T + Send + 'static,
) -> Option<T> {
    let mark = mark.clone();
    let done = spawn_blocking(move || act(&mark));
    timeout(MARK_USED_WITHIN, done).await.ok()?.ok()
}

impl Drop for Core {
    fn drop(&mut self) {
        let mut raised = std::mem::take(&mut *lock(&self.raised));
        self.write_mark(&mut raised);
    }
}
