//! Several slots that were acquired together.

use crate::{ClusterPass, Error};

/// Several slots of a [`ClusterHall`](crate::ClusterHall) that were acquired together. Dropping this value releases all
/// of them.
///
/// The slots belong to one [pass](ClusterPass). They are renewed together and lost together.
///
/// ```no_run
/// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
/// let passes = hall.acquire_many(2)?;
/// assert_eq!((passes.len(), passes.is_empty()), (2, false));
/// if let Some(pass) = passes.pass() {
///     println!("slots {:?}, token {}", pass.slots(), pass.token());
/// }
/// passes.release()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "dropping the passes releases the slots"]
pub struct ClusterPasses {
    /// `None` if the request was for 0 slots.
    pass: Option<ClusterPass>,
}

impl ClusterPasses {
    /// Returns the result of a request for 0 slots.
    pub(crate) fn none() -> Self {
        ClusterPasses { pass: None }
    }

    /// Returns the slots, in ascending order.
    ///
    /// ```no_run
    /// # fn example(hall: hallpass_cluster::ClusterHall) -> Result<(), hallpass_cluster::Error> {
    /// println!("using GPUs {:?}", hall.acquire_many(2)?.slots());
    /// # Ok(())
    /// # }
    /// ```
    pub fn slots(&self) -> &[usize] {
        self.pass.as_ref().map_or(&[], ClusterPass::slots)
    }

    /// Returns the number of slots.
    pub fn len(&self) -> usize {
        self.slots().len()
    }

    /// Returns `true` if the request was for 0 slots.
    pub fn is_empty(&self) -> bool {
        self.slots().is_empty()
    }

    /// Returns the pass that has all these slots, or `None` if the request was for 0 slots. Its
    /// [token](ClusterPass::token) is larger than the tokens of all earlier passes that had one of the slots.
    pub fn pass(&self) -> Option<&ClusterPass> {
        self.pass.as_ref()
    }

    /// Converts this value into the pass that has all these slots. Returns `None` if the request was for 0 slots.
    pub fn into_pass(self) -> Option<ClusterPass> {
        self.pass
    }

    /// Releases the slots, and blocks until the cluster has confirmed the release.
    ///
    /// # Errors
    /// The errors of [`ClusterPass::release`].
    pub fn release(self) -> Result<(), Error> {
        self.pass.map_or(Ok(()), ClusterPass::release)
    }
}

impl From<ClusterPass> for ClusterPasses {
    fn from(pass: ClusterPass) -> Self {
        ClusterPasses { pass: Some(pass) }
    }
}
