//! Trying again.

use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout_at};

use super::{Client, Failure};
use crate::Error;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl Client {
    /// Tries until it works, or the time is over; only what failed for want of an answer is tried again.
    pub(crate) async fn retrying<T>(
        &self,
        limit: Duration,
        mut attempt: impl AsyncFnMut() -> Result<T, Failure>,
    ) -> Result<T, Error> {
        let end = Instant::now() + limit;
        let mut pause = FIRST_PAUSE;
        let mut last = format!("no answer within {limit:?}");
        loop {
            match timeout_at(end, attempt()).await {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(Failure::Unreachable(why))) => last = why,
                Ok(Err(failure)) => return Err(self.error(failure)),
                Err(_) => return Err(self.error(Failure::Unreachable(last))),
            }
            // Somewhere from half of it to all, so that those who failed together do not come together.
            let wake = Instant::now() + pause.mul_f64(0.5 + 0.5 * fastrand::f64());
            if wake >= end {
                return Err(self.error(Failure::Unreachable(last)));
            }
            sleep_until(wake).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
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
