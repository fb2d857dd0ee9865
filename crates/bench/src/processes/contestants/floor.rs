//! A lower bound on the cost: one atomic step to enter and one to leave, in shared memory. It limits nothing: any
//! number of processes may enter.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use super::ProcessSemaphore;
use crate::{
    common::{Padded, Semaphore},
    processes::memory::Shared,
};

pub struct Floor(Arc<Shared<Padded<AtomicUsize>>>);

pub struct Guard<'a>(&'a AtomicUsize);

impl ProcessSemaphore for Floor {
    type Handle = Floor;

    fn make(_: usize, _: &Path) -> Result<Self, String> {
        let word = Shared::new(Padded::default()).map_err(|error| error.to_string())?;
        Ok(Floor(Arc::new(word)))
    }

    fn join(&self) -> Floor {
        Floor(Arc::clone(&self.0))
    }
}

impl Semaphore for Floor {
    type Guard<'a> = Guard<'a>;

    #[inline]
    fn enter(&self, _: usize) -> Guard<'_> {
        self.0.0.fetch_add(1, SeqCst);
        Guard(&self.0.0)
    }
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}
