//! Passes: the right to be in, as long as it lasts.

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
    Error,
    claim::{Claim, Health},
    core::Core,
    passage::{Held, Passage},
    runtime::Runtime,
};

/// A slot, held until this is dropped or lost.
#[must_use = "dropping a pass gives the slot back"]
pub struct ClusterPass {
    /// Taken out when it is given back.
    held: Option<Held>,
    claim: Arc<Claim>,
    slot: usize,
    token: u64,
    core: Arc<Core>,
    runtime: Arc<Runtime>,
}

/// Why a pass is no longer valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Loss {
    /// The cluster could not be reached for too long to know that the pass is still ours.
    OutOfTouch,
    /// The claim is gone from the cluster: its lease was ended, or somebody removed it.
    Gone,
    /// It was given back.
    Released,
}

impl ClusterPass {
    pub(crate) fn new(held: Held, core: Arc<Core>, runtime: Arc<Runtime>) -> Self {
        let (claim, slot, token) = (held.claim.clone(), held.slot, held.token.unsigned_abs());
        ClusterPass { held: Some(held), claim, slot, token, core, runtime }
    }

    /// The slot: below the number of slots, and nobody else's meanwhile.
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// A number larger than that of every pass of this hall before. Storage that remembers the largest
    /// it has seen from each slot can refuse whoever comes too late.
    pub fn token(&self) -> u64 {
        self.token
    }

    /// Whether it is certain that nobody else has the slot.
    pub fn is_valid(&self) -> bool {
        !self.valid_for().is_zero()
    }

    /// For how long that is certain, even if the cluster is not heard of again: 0 once the pass is lost.
    pub fn valid_for(&self) -> Duration {
        self.claim.valid_for()
    }

    /// Until when that is certain, by the [clock](crate::Clock) of the [options](crate::Options).
    pub fn valid_until(&self) -> Duration {
        self.claim.valid_until()
    }

    /// Resolves when the pass is lost, in any executor. Whoever goes on then does so without a pass: to
    /// stop in time, look at [`valid_for`](ClusterPass::valid_for), and be [told](ClusterPass::watch) of
    /// renewals.
    pub fn lost(&self) -> Lost {
        let mut health = self.claim.watch();
        let lost = async move { reason(health.wait_for(|health| health.lost.is_some()).await) };
        Lost(Box::pin(lost))
    }

    /// Tells of everything that happens to the pass.
    pub fn watch(&self) -> Renewals {
        let claim = Arc::downgrade(&self.claim);
        Renewals { health: self.claim.watch(), claim, handle: self.core.handle().clone() }
    }

    /// Gives the slot back, and waits until that has happened. Dropping a pass does it in the background.
    ///
    /// # Errors
    /// [`Error::Lost`] if it was not ours any more, [`Error::Unreachable`] if the cluster could not be
    /// told: then the slot is free when the claim has vanished, and a while has passed.
    pub fn release(mut self) -> Result<(), Error> {
        let Some(held) = self.held.take() else { return Err(Error::Lost) };
        let (core, limit) = (self.core.clone(), self.core.first_contact);
        self.runtime.wait(Passage::leave(core, held, limit))
    }
}

impl Drop for ClusterPass {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            let (core, duty) = (self.core.clone(), self.core.duties().begin());
            self.core.handle().spawn(async move {
                let limit = core.ttl;
                let _ = Passage::leave(core, held, limit).await;
                drop(duty);
            });
        }
    }
}

impl fmt::Debug for ClusterPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClusterPass { slot, token, .. } = self;
        let mut shown = f.debug_struct("ClusterPass");
        shown.field("slot", slot).field("token", token).finish_non_exhaustive()
    }
}

/// Resolves when a pass is lost.
#[must_use = "a future does nothing until it is polled"]
pub struct Lost(Pin<Box<dyn Future<Output = Loss> + Send>>);

impl Future for Lost {
    type Output = Loss;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Loss> {
        self.0.as_mut().poll(context)
    }
}

/// Tells of renewals of a pass.
pub struct Renewals {
    health: watch::Receiver<Health>,
    claim: Weak<Claim>,
    handle: Handle,
}

impl Renewals {
    /// The next moment [until which](ClusterPass::valid_until) the pass is valid, or why it no longer is.
    ///
    /// # Errors
    /// [`Loss`], again and again.
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

    /// The same, for a thread that waits.
    ///
    /// # Errors
    /// [`Loss`], again and again.
    ///
    /// # Panics
    /// In a task of tokio's, which must not wait.
    pub fn wait(&mut self) -> Result<Duration, Loss> {
        let handle = self.handle.clone();
        handle.block_on(self.next())
    }
}

/// Why there is nothing more to wait for.
fn reason(health: Result<watch::Ref<'_, Health>, watch::error::RecvError>) -> Loss {
    health.ok().and_then(|health| health.lost).unwrap_or(Loss::Released)
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Loss::OutOfTouch => "etcd could not be reached for too long",
            Loss::Gone => "the claim is gone from etcd",
            Loss::Released => "it was given back",
        })
    }
}
