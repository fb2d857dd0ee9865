//! Retries with a deadline and a random, growing pause.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::time::sleep;

use crate::{
    Error,
    failure::{Failure, StoreError},
    store::Place,
};

const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The connection error that currently affects a hall. It is set when an attempt fails and another attempt may succeed.
/// The next answer clears it.
pub(crate) type CurrentError = Arc<Mutex<Option<Error>>>;

/// A series of attempts at the same request.
pub(crate) struct Retry {
    /// The store that error messages name.
    place: Place,
    /// The time after which no attempt begins; `None` for no limit.
    end: Option<Instant>,
    pause: Duration,
    current_error: CurrentError,
}

impl Retry {
    /// Allows attempts for `limit` from now on.
    pub(crate) fn new(place: Place, limit: Duration) -> Self {
        let end = Instant::now().checked_add(limit);
        Retry { place, end, pause: FIRST_PAUSE, current_error: CurrentError::default() }
    }

    /// Stores connection errors in `current_error` while the attempts go on.
    pub(crate) fn reporting_to(self, current_error: CurrentError) -> Self {
        Retry { current_error, ..self }
    }

    /// Sleeps until the next attempt is due.
    ///
    /// # Errors
    /// Returns the failure as an [`Error`] if there should be no further attempt. A request is tried again, until
    /// the limit, if it got no answer or the store was too busy. Without a limit, it is also tried again if the
    /// store has no space, because an operator will make space.
    pub(crate) async fn after(&mut self, failed: impl Into<StoreError>) -> Result<(), Error> {
        let failure = match failed.into() {
            StoreError::Invalid(error) => return Err(error),
            StoreError::Failed(failure) => failure,
        };
        let may_retry = match failure {
            Failure::Unreachable(_) | Failure::Busy(_) => true,
            Failure::NoSpace(_) => self.end.is_none(),
            _ => false,
        };
        let error = failure.into_error(&self.place);
        if may_retry {
            *lock(&self.current_error) = Some(error.clone());
        }
        if !may_retry || self.end.is_some_and(|end| Instant::now() + self.pause >= end) {
            return Err(error);
        }
        // Sleep for a random time between half of the pause and the whole pause, so that clients that failed at
        // the same moment do not retry at the same moment.
        sleep(self.pause.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}

/// Locks a mutex whose data stays consistent even if a thread panics while it has the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
