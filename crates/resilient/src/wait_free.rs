//! The construction for those who have names.

use std::{fmt, sync::Mutex};

use crate::{error::BuildError, object::Object};

/// A shared object for at most k participants, each with a [`Handle`]: every operation completes in
/// a bounded number of its own steps, whatever the others do.
pub struct WaitFree<O: Object> {
    object: Mutex<O>,
    names: Mutex<Vec<usize>>,
}

/// A participant of a [`WaitFree`] object. Dropping it lets another take its place.
pub struct Handle<'a, O: Object> {
    shared: &'a WaitFree<O>,
    name: usize,
}

impl<O: Object> WaitFree<O>
where
    O: Object + Send + Sync,
    O::Op: Send + Sync,
    O::Ret: Send,
{
    /// The most participants there can be.
    pub const MOST: usize = 64;

    /// For `k` participants.
    pub fn new(k: usize, object: O) -> Result<Self, BuildError> {
        Ok(WaitFree { object: Mutex::new(object), names: Mutex::new((0..k).rev().collect()) })
    }

    /// A place among the participants, if there is one left.
    pub fn handle(&self) -> Option<Handle<'_, O>> {
        let name = self.names.lock().unwrap().pop()?;
        Some(Handle { shared: self, name })
    }
}

impl<O> Handle<'_, O>
where
    O: Object + Send + Sync,
    O::Op: Send + Sync,
    O::Ret: Send,
{
    /// Applies the operation.
    pub fn apply(&mut self, op: O::Op) -> O::Ret {
        self.shared.object.lock().unwrap().apply(&op)
    }

    /// Looks at the object as it is at one moment of the call.
    pub fn read<R>(&mut self, look: impl FnOnce(&O) -> R) -> R {
        look(&self.shared.object.lock().unwrap())
    }
}

impl<O: Object> Drop for Handle<'_, O> {
    fn drop(&mut self) {
        self.shared.names.lock().unwrap().push(self.name);
    }
}

impl<O: Object> fmt::Debug for WaitFree<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitFree").finish_non_exhaustive()
    }
}
