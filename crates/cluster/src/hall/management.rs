//! Changing a hall: resize, close, reap and evict.

use hallpass_common::check_slots;

use super::ClusterHall;
use crate::{Error, manage};

impl ClusterHall {
    /// Changes the number of slots while the hall is in use.
    ///
    /// Holders of removed slots keep them until they leave. The remaining slots are assigned as soon as they are free,
    /// even while removed slots are held.
    ///
    /// # Errors
    /// [`Error::BadSlots`] if `k` is not from 1 to [`MAX_SLOTS`](crate::MAX_SLOTS), [`Error::Closed`] if the hall is
    /// closed or was removed, and the errors of [`status`](ClusterHall::status).
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// hall.resize(16)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn resize(&self, k: usize) -> Result<(), Error> {
        check_slots(k)?;
        let core = self.core.clone();
        self.runtime.wait(async move { manage::resize(&core, k).await })
    }

    /// Closes the hall: waiters and newcomers get [`Error::Closed`]. Holders keep their slots until they leave.
    ///
    /// # Errors
    /// The errors of [`status`](ClusterHall::status), except [`Error::Closed`].
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// hall.close()?;
    /// assert!(hall.is_closed()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn close(&self) -> Result<(), Error> {
        let core = self.core.clone();
        self.runtime.wait(async move { manage::close(&core).await })
    }

    /// Releases the slots of vanished holders. Returns the number of slots that this call released.
    ///
    /// Waiters do this by themselves. Call this function to clean up a hall without waiters. It blocks as long as
    /// these holders may still use their slots: up to 1.1 times their ttl.
    ///
    /// # Errors
    /// The errors of [`status`](ClusterHall::status), except [`Error::Closed`].
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// println!("released {} slots", hall.reap()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reap(&self) -> Result<usize, Error> {
        let core = self.core.clone();
        self.runtime.wait(async move { manage::reap(&core).await })
    }

    /// Takes a slot away from its holder immediately. The next waiter gets the slot. A holder of
    /// [several slots](ClusterHall::acquire_many) loses all of them.
    ///
    /// Call this only if the holder has certainly ended, for example because its machine is switched off. A holder
    /// that still runs loses its pass at its next renewal. Until then, **two processes may have the slot**.
    /// Without this call, the slot of a vanished holder becomes free after at most about twice its
    /// [ttl](crate::ClusterOptions::ttl).
    ///
    /// # Errors
    /// [`Error::Vacant`] if no holder has the slot, and the errors of [`status`](ClusterHall::status), except
    /// [`Error::Closed`].
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// hall.evict(3)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn evict(&self, slot: usize) -> Result<(), Error> {
        let core = self.core.clone();
        self.runtime.wait(async move { manage::evict(&core, slot).await })
    }
}
