//! Connects to a server that accepts writes, and checks it.

use std::{
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use tokio::time::timeout;
use tokio_postgres::Config;

use super::{
    super::{activities::Need, line::Line},
    Database,
};
use crate::{failure::Failure, retry::lock};

impl Database {
    pub(super) async fn connect_to_server(&self) -> Result<Line, Failure> {
        let line = self.find_server().await?;
        let tables = async {
            let begun = Instant::now();
            let checked = line.check_tables().await;
            // The statements that follow probably take about as long. In a slow network, the first of them must not fail.
            self.patience.expect_answers_within(begun.elapsed());
            checked
        };
        let (tables, other) = tokio::join!(tables, self.second_connection());
        tables?;
        // ORDERING: Relaxed, because a second check does no harm.
        if self.is_holding() && self.checked.load(Relaxed) {
            // The check takes three round trips. A holder has no time for a second one.
            return Ok(line);
        }
        line.check_notifications(other.as_ref().unwrap_or(&line)).await?;
        self.checked.fetch_or(other.is_some(), Relaxed);
        Ok(line)
    }

    /// Returns how long it may take to connect and log in. A holder must be able to try again before its pass is lost.
    pub(super) fn login_limit(&self) -> Duration {
        let activities = lock(&self.activities);
        match activities.need {
            _ if activities.is_holding() => self.holder_login_timeout,
            Need::Resting => self.login_patience.limit(),
            Need::Entering | Need::Holding => self.login_timeout,
        }
    }

    fn is_holding(&self) -> bool {
        lock(&self.activities).is_holding()
    }

    /// Connects to the first server that accepts writes, beginning with the one that was connected last. A server that
    /// accepts a connection and then says nothing must not use up the time of the others, so each has its share.
    async fn find_server(&self) -> Result<Line, Failure> {
        let end = Instant::now() + self.login_limit();
        // ORDERING: Relaxed, because the number is only a hint.
        let latest = self.latest.load(Relaxed);
        let mut failure = Failure::Unreachable("there is no server".into());
        let mut left = self.servers.len();
        let servers = self.servers.iter().enumerate();
        for (at, server) in servers.clone().skip(latest).chain(servers.take(latest)) {
            let limit = end.saturating_duration_since(Instant::now()) / left.max(1) as u32;
            left -= 1;
            let late = || Failure::Unreachable(format!("no connection within {limit:?}"));
            match timeout(limit, self.connect_to(server)).await.unwrap_or_else(|_| Err(late())) {
                Ok(line) => {
                    self.latest.store(at, Relaxed);
                    return Ok(line);
                }
                // A server without a free connection is the one to wait for.
                Err(_) if matches!(failure, Failure::Busy(_)) => {}
                Err(other) => failure = other,
            }
        }
        Err(failure)
    }

    /// Until a check has succeeded, returns a second connection to the current server, to check that notifications of
    /// other connections arrive.
    ///
    /// A pooler may run each transaction on any of its connections. While no other client needs a connection, it often
    /// uses the same one again. So a notification that a process sends to itself arrives, although those of other
    /// processes do not. If there is no second connection, because the number of connections is limited, there is no
    /// such check.
    async fn second_connection(&self) -> Option<Line> {
        // ORDERING: Relaxed, because a second check does no harm.
        if self.checked.load(Relaxed) || self.permits.available_permits() == 0 {
            return None;
        }
        let server = self.servers.get(self.latest.load(Relaxed))?;
        timeout(self.login_limit() / 2, self.connect_to(server)).await.ok()?.ok()
    }

    async fn connect_to(&self, server: &Config) -> Result<Line, Failure> {
        let permit = self.permits.clone().acquire_owned().await;
        let permit = permit.map_err(|closed| Failure::Unreachable(closed.to_string()))?;
        Line::connect(server, self.ending.clone(), permit).await
    }
}
