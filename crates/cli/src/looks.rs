//! Repeated looks at halls, for commands that wait until halls are in some state.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    location::{Error, Halls},
    output::say,
    snapshot::printable,
};

/// Exit status: the time of `-w` is over. `timeout(1)` exits with the same status.
pub const TIMED_OUT: u8 = 124;

/// Time between the first two looks at a hall. It doubles after each look.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// The longest time between two looks at a hall of this machine.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
/// The longest time between two looks at a hall on a cluster, where a look takes several requests.
const LONGEST_PAUSE_ON_CLUSTER: Duration = Duration::from_secs(2);

/// The pauses between looks.
pub struct Looks {
    pause: Duration,
    longest: Duration,
    /// `None` if the user waits as long as necessary.
    deadline: Option<Instant>,
    /// Whether the user was told that the cluster cannot be reached.
    told: bool,
}

impl Looks {
    /// Returns pauses for looks at `halls`, for at most `limit`.
    pub fn new(halls: &Halls, limit: Option<Duration>) -> Self {
        let longest = match halls {
            Halls::OnMachine(_) => LONGEST_PAUSE,
            Halls::OnCluster(_) => LONGEST_PAUSE_ON_CLUSTER,
        };
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        Looks { pause: FIRST_PAUSE, longest, deadline, told: false }
    }

    /// Waits until the next look is due. Returns `false` if the time is over.
    pub fn wait(&mut self) -> bool {
        let left = self.deadline.map(|at| at.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return false;
        }
        thread::sleep(self.pause.min(left.unwrap_or(self.pause)));
        self.pause = self.longest.min(self.pause * 2);
        true
    }

    /// Decides whether the command continues after a look has failed. If the cluster does not answer or is too busy,
    /// the command continues: returns `Ok`. Tells the user only about the first of several such failures in a row.
    /// Returns every other error.
    pub fn tolerate(&mut self, error: Error) -> Result<(), Error> {
        if !error.is_unreachable() {
            return Err(error);
        }
        if !self.told {
            say(format_args!("still waiting: {}", printable(&error.to_string())));
            self.told = true;
        }
        Ok(())
    }

    /// Notes that a look has succeeded.
    pub fn succeeded(&mut self) {
        self.told = false;
    }
}
