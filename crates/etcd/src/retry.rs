//! Trying again, not for ever, and not all at the same time.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use tokio::time::sleep;

use crate::{
    Error,
    client::{Client, Failure},
    core::lock,
    store::Trouble,
};

/// What is wrong at the moment, if anything is.
pub(crate) type State = Arc<Mutex<Option<Error>>>;

/// Tries that have failed.
pub(crate) struct Retry {
    client: Client,
    state: State,
    /// None: never.
    end: Option<Instant>,
    pause: Duration,
}

const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl Retry {
    pub(crate) fn new(client: Client, state: State, limit: Duration) -> Self {
        Retry { client, state, end: Instant::now().checked_add(limit), pause: FIRST_PAUSE }
    }

    /// Waits until it is worth another try.
    ///
    /// # Errors
    /// If it is not.
    pub(crate) async fn after(&mut self, trouble: impl Into<Trouble>) -> Result<(), Error> {
        let error = match trouble.into() {
            Trouble::Wrong(error) => return Err(error),
            Trouble::Failed(failure @ Failure::Unreachable(_)) => self.client.error(failure),
            Trouble::Failed(failure) => return Err(self.client.error(failure)),
        };
        if self.end.is_some_and(|end| Instant::now() + self.pause >= end) {
            return Err(error);
        }
        *lock(&self.state) = Some(error);
        // Between half of it and all, so that those who failed together do not come back together.
        sleep(self.pause.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}
