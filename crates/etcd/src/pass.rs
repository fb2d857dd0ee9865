//! Passes: the right to be in, as long as it lasts.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use crate::Error;

/// A slot, held until this is dropped or lost.
#[must_use = "dropping a pass gives the slot back"]
pub struct EtcdPass {
    _private: (),
}

/// Why a pass was lost, or is about to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Loss {
    /// The cluster could not be reached for too long to know that the pass is still ours.
    OutOfTouch,
    /// The claim is gone from the cluster: its lease was ended, or somebody removed it.
    Gone,
}

impl EtcdPass {
    /// The slot: below the number of slots, and nobody else's meanwhile.
    pub fn slot(&self) -> usize {
        todo!()
    }

    /// A number larger than that of every pass of this hall before. Storage that remembers the largest
    /// it has seen from each slot can refuse whoever comes too late.
    pub fn token(&self) -> u64 {
        todo!()
    }

    /// Whether it is certain that nobody else has the slot.
    pub fn is_valid(&self) -> bool {
        !self.valid_for().is_zero()
    }

    /// For how long that is certain, even if the cluster is not heard of again: 0 once the pass is lost.
    pub fn valid_for(&self) -> Duration {
        todo!()
    }

    /// Resolves when the pass is lost; whoever goes on then does so without one. In any executor.
    pub fn lost(&self) -> Lost {
        todo!()
    }

    /// Waits until the validity changes: renewed (`Ok`, with the new `valid_for`) or lost.
    pub fn renewed(&self) -> Result<Duration, Loss> {
        todo!()
    }

    /// Gives the slot back, and waits until that has happened. Dropping a pass does it in the background.
    ///
    /// # Errors
    /// [`Error::Lost`] if it was not ours any more, [`Error::Unreachable`] if the cluster could not be
    /// told: then the slot is free when the claim's lease has ended.
    pub fn release(self) -> Result<(), Error> {
        todo!()
    }
}

/// Resolves when a pass is lost.
pub struct Lost {
    _private: (),
}

impl Future for Lost {
    type Output = Loss;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Loss> {
        todo!()
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Loss::OutOfTouch => "etcd could not be reached for too long",
            Loss::Gone => "the claim is gone from etcd",
        })
    }
}
