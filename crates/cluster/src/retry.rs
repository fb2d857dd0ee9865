//! Trying again, with an eye on what is wrong meanwhile.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use crate::{
    Error,
    client::{self, Client, Failure},
    core::lock,
    store::Trouble,
};

/// What is wrong at the moment, if anything is.
pub(crate) type State = Arc<Mutex<Option<Error>>>;

/// Tries that have failed.
pub(crate) struct Retry {
    client: Client,
    tries: client::Retry,
    state: State,
}

impl Retry {
    pub(crate) fn new(client: Client, state: State, limit: Duration) -> Self {
        Retry { tries: client.retry(limit), client, state }
    }

    /// Waits until it is worth another try.
    ///
    /// # Errors
    /// If it is not.
    pub(crate) async fn after(&mut self, trouble: impl Into<Trouble>) -> Result<(), Error> {
        match trouble.into() {
            Trouble::Wrong(error) => Err(error),
            Trouble::Failed(failure) => {
                if let Failure::Unreachable(_) = failure {
                    *lock(&self.state) = Some(self.client.error(failure.clone()));
                }
                self.tries.after(failure).await
            }
        }
    }
}
