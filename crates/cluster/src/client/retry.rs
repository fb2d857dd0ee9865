//! Trying again, not for ever, and not all at the same time.

use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::{Client, Failure};
use crate::Error;

const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Tries that have failed.
pub(crate) struct Retry {
    client: Client,
    /// None: never.
    end: Option<Instant>,
    pause: Duration,
}

impl Retry {
    /// Waits until it is worth another try.
    ///
    /// # Errors
    /// If it is not: only what failed for want of an answer is, until the time is over.
    pub(crate) async fn after(&mut self, failure: Failure) -> Result<(), Error> {
        let unreachable = matches!(failure, Failure::Unreachable(_));
        if !unreachable || self.end.is_some_and(|end| Instant::now() + self.pause >= end) {
            return Err(self.client.error(failure));
        }
        // Between half of it and all, so that those who failed together do not come back together.
        sleep(self.pause.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}

impl Client {
    /// How to go on after failures, for so long.
    pub(crate) fn retry(&self, limit: Duration) -> Retry {
        let end = Instant::now().checked_add(limit);
        Retry { client: self.clone(), end, pause: FIRST_PAUSE }
    }

    /// What a user is told of a failure.
    pub(crate) fn error(&self, failure: Failure) -> Error {
        match failure {
            Failure::Unreachable(why) => {
                Error::Unreachable { endpoints: self.shared.members.names(), why }
            }
            Failure::Denied(why) => Error::Denied { why },
            Failure::Refused(why) => Error::Refused { why },
            Failure::Compacted => Error::Refused { why: "that revision is compacted".into() },
            Failure::LeaseGone => Error::Refused { why: "the lease is gone".into() },
        }
    }
}
