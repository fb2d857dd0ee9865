//! The pass: a slot that its owner holds until the pass is released or lost.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll},
    time::Duration,
};

use tokio::{runtime::Handle, sync::watch};

use crate::{
    Error, Loss,
    claim::{Claim, Health},
    core::Core,
    passage::{Held, Passage},
    runtime::Runtime,
};

/// A slot of a [`ClusterHall`](crate::ClusterHall), held until the pass is dropped or lost.
///
/// hallpass renews the pass in the background, every `ttl / 10`. If the renewals fail, the pass is lost, *before* any
/// other process can get the slot. So check [`is_valid`](ClusterPass::is_valid) between steps, or stop when
/// [`lost`](ClusterPass::lost) resolves.
///
/// # Clusters that lose history
///
/// A cluster that is restored from a backup, or wiped, forgets passes and repeats revisions. Every process that has
/// seen a larger revision than the cluster now has notices this with the next answer. A holder then loses its pass
/// immediately ([`Loss::HistoryLost`](crate::Loss::HistoryLost)). A waiter does not take a slot for 1.1 ttl, because
/// the slot may have a holder that the cluster does not show. Before the waiter takes a slot, it raises the epoch of
/// the hall. The epoch is the upper part of every token, so tokens keep growing. These rules assume that all processes
/// of a hall use the same ttl.
///
/// A process that starts after the restore notices it only if the [state directory](crate::ClusterOptions::state_dir)
/// of its machine has recorded a larger token. To be safe in any case, restore with `etcdutl snapshot restore
/// --bump-revision` and `--mark-compacted`, or stop all holders before the restore.
///
/// ```no_run
/// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
/// let pass = hall.acquire()?;
/// while pass.is_valid() {
///     // one more step
/// #   break;
/// }
/// pass.release()?;
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping a pass releases the slot"]
pub struct ClusterPass {
    /// `None` once the pass is released.
    held: Option<Held>,
    claim: Arc<Claim>,
    /// The slots, in ascending order. There is at least one.
    slots: Box<[usize]>,
    token: u64,
    core: Arc<Core>,
    runtime: Arc<Runtime>,
}

impl ClusterPass {
    pub(crate) fn new(held: Held, core: Arc<Core>, runtime: Arc<Runtime>) -> Self {
        let (claim, token) = (held.claim.clone(), held.token);
        let slots = held.slots.iter().collect();
        ClusterPass { held: Some(held), claim, slots, token, core, runtime }
    }

    /// Returns the slot: a number from 0 to k-1 that no other valid pass has. If the pass has
    /// [several](ClusterPass::slots), this is the smallest.
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// println!("using GPU {}", hall.acquire()?.slot());
    /// # Ok(())
    /// # }
    /// ```
    pub fn slot(&self) -> usize {
        self.slots[0]
    }

    /// Returns all slots of the pass, in ascending order. A pass has one slot, unless it is from
    /// [`acquire_many`](crate::ClusterHall::acquire_many).
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// assert_eq!(hall.acquire()?.slots().len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn slots(&self) -> &[usize] {
        &self.slots
    }

    /// Returns the token: a number that is larger than the tokens of all earlier passes in the same slot. A pass with
    /// several slots has one token, which is larger than those of all earlier passes that had one of these slots.
    ///
    /// If the storage remembers the largest token that it has seen for each slot, it can refuse the writes of a
    /// holder that was paused for too long.
    ///
    /// ```no_run
    /// # fn write_unless_newer(_slot: usize, _token: u64) {}
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// let pass = hall.acquire()?;
    /// write_unless_newer(pass.slot(), pass.token());
    /// # Ok(())
    /// # }
    /// ```
    pub fn token(&self) -> u64 {
        self.token
    }

    /// Returns whether it is certain that no other process has the slot.
    ///
    /// ```no_run
    /// # fn example(pass: hallpass_cluster::ClusterPass) {
    /// while pass.is_valid() {
    ///     // one more step
    /// #   break;
    /// }
    /// # }
    /// ```
    pub fn is_valid(&self) -> bool {
        !self.valid_for().is_zero()
    }

    /// Returns how long the pass stays valid even if the cluster does not answer again. Returns 0 once the pass is
    /// lost.
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// # fn example(pass: hallpass_cluster::ClusterPass) {
    /// if pass.valid_for() > Duration::from_secs(2) {
    ///     // a step that takes less than 2 s
    /// }
    /// # }
    /// ```
    pub fn valid_for(&self) -> Duration {
        self.claim.valid_for()
    }

    /// Returns the time until which the pass is valid, by the [clock](crate::Clock) of the
    /// [options](crate::ClusterOptions).
    ///
    /// Unlike [`valid_for`](ClusterPass::valid_for), this time does not become 0 when the pass is lost.
    ///
    /// ```no_run
    /// use hallpass_cluster::Clock;
    ///
    /// # fn example(pass: hallpass_cluster::ClusterPass) {
    /// let clock = Clock::default();
    /// println!("{:?} left", pass.valid_until().saturating_sub(clock.now()));
    /// # }
    /// ```
    pub fn valid_until(&self) -> Duration {
        self.claim.valid_until()
    }

    /// Returns a future that resolves when the pass is lost. Works with any executor.
    ///
    /// From then on, the caller no longer has the slot. To stop *before* that, check
    /// [`valid_for`](ClusterPass::valid_for) and follow the renewals with [`watch`](ClusterPass::watch).
    ///
    /// ```no_run
    /// # async fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// let pass = hall.acquire_async().await?;
    /// let loss = pass.lost().await;
    /// eprintln!("stopping: {loss}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn lost(&self) -> Lost {
        let mut health = self.claim.watch();
        let lost = async move { reason(health.wait_for(|health| health.lost.is_some()).await) };
        Lost(Box::pin(lost))
    }

    /// Returns a value that reports the renewals of the pass, and its loss.
    ///
    /// ```no_run
    /// # fn example(pass: hallpass_cluster::ClusterPass) {
    /// let mut renewals = pass.watch();
    /// while let Ok(valid_until) = renewals.wait() {
    ///     println!("valid until {valid_until:?}");
    /// }
    /// # }
    /// ```
    pub fn watch(&self) -> Renewals {
        let claim = Arc::downgrade(&self.claim);
        Renewals { health: self.claim.watch(), claim, handle: self.core.handle().clone() }
    }

    /// Releases the slot, and blocks until the cluster has confirmed the release. Dropping a pass releases the
    /// slot in the background.
    ///
    /// # Errors
    /// - [`Error::Lost`] if the pass was lost before.
    /// - The errors of [`Cluster::names`](crate::Cluster::names) if the cluster does not confirm the release. The slot
    ///   then becomes free after the lease of the claim has ended, at most about twice the
    ///   [ttl](crate::ClusterOptions::ttl) later.
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// hall.acquire()?.release()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn release(mut self) -> Result<(), Error> {
        let Some(held) = self.held.take() else { return Err(Error::Lost) };
        let (core, limit) = (self.core.clone(), self.core.first_contact);
        self.runtime.wait(Passage::leave(core, held, limit))
    }
}

impl Drop for ClusterPass {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            let (core, task) = (self.core.clone(), self.core.begin_task());
            self.core.spawn(async move {
                let limit = core.ttl;
                let _ = Passage::leave(core, held, limit).await;
                drop(task);
            });
        }
    }
}

impl fmt::Debug for ClusterPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClusterPass { slots, token, .. } = self;
        let mut shown = f.debug_struct("ClusterPass");
        shown.field("slots", slots).field("token", token).finish_non_exhaustive()
    }
}

/// Resolves when a pass is lost. Returned by [`ClusterPass::lost`].
#[must_use = "a future does nothing until it is polled"]
pub struct Lost(Pin<Box<dyn Future<Output = Loss> + Send>>);

impl Future for Lost {
    type Output = Loss;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Loss> {
        self.0.as_mut().poll(context)
    }
}

/// Reports the renewals of a pass. Returned by [`ClusterPass::watch`].
pub struct Renewals {
    health: watch::Receiver<Health>,
    claim: Weak<Claim>,
    handle: Handle,
}

impl Renewals {
    /// Waits for the next renewal, and returns the new time [until which](ClusterPass::valid_until) the pass is
    /// valid.
    ///
    /// # Errors
    /// [`Loss`], the reason why the pass is no longer valid. From then on, every call returns it.
    ///
    /// ```no_run
    /// # async fn example(pass: hallpass_cluster::ClusterPass) {
    /// let mut renewals = pass.watch();
    /// while let Ok(valid_until) = renewals.next().await {
    ///     println!("valid until {valid_until:?}");
    /// }
    /// # }
    /// ```
    pub async fn next(&mut self) -> Result<Duration, Loss> {
        if self.health.borrow().lost.is_none() && self.health.changed().await.is_err() {
            return Err(Loss::Released);
        }
        match (self.health.borrow_and_update().lost, self.claim.upgrade()) {
            (Some(loss), _) => Err(loss),
            (None, Some(claim)) => Ok(claim.valid_until()),
            (None, None) => Err(Loss::Released),
        }
    }

    /// Blocks until the next renewal, and returns what [`next`](Renewals::next) returns.
    ///
    /// # Errors
    /// [`Loss`], the reason why the pass is no longer valid. From then on, every call returns it.
    ///
    /// # Panics
    /// Panics if the caller is in a tokio runtime, where blocking is not allowed.
    ///
    /// ```no_run
    /// # fn example(pass: hallpass_cluster::ClusterPass) {
    /// match pass.watch().wait() {
    ///     Ok(valid_until) => println!("valid until {valid_until:?}"),
    ///     Err(loss) => println!("lost: {loss}"),
    /// }
    /// # }
    /// ```
    pub fn wait(&mut self) -> Result<Duration, Loss> {
        let handle = self.handle.clone();
        handle.block_on(self.next())
    }
}

/// Returns the loss that a claim's health reports. Once the pass is released, there are no more reports.
fn reason(health: Result<watch::Ref<'_, Health>, watch::error::RecvError>) -> Loss {
    health.ok().and_then(|health| health.lost).unwrap_or(Loss::Released)
}
