//! Connects to a server that accepts writes, and checks it.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use tokio::{sync::Semaphore, time::timeout};
use tokio_postgres::{Config, config::TargetSessionAttrs};

use super::{
    super::{activities::Need, line::Line, sql},
    Database,
};
use crate::{failure::Failure, options::current_password, retry::lock};

/// The text with which the client library reports a server that accepts no writes.
const STANDBY: &str = "does not allow writes";

impl Database {
    /// Connects to a server that accepts writes, within `limit`, and checks it.
    pub(super) async fn connect_to_server(&self, limit: Duration) -> Result<Line, Failure> {
        let line = self.find_server(limit).await?;
        let tables = async {
            let begun = Instant::now();
            let checked = line.check_tables().await;
            // The statements that follow probably take about as long. In a slow network, the first of them must not
            // fail.
            self.patience.expect_answers_within(begun.elapsed());
            checked
        };
        let (tables, other) = tokio::join!(tables, self.second_connection(limit / 2));
        tables?;
        // ORDERING: Relaxed, because a second check does no harm.
        if self.is_holding() && self.checked.load(Relaxed) {
            // The check takes three round trips. A holder has no time for a second check.
            line.allow_prepared_statements();
            return Ok(line);
        }
        line.check_notifications(other.as_ref().unwrap_or(&line)).await?;
        if self.checked.fetch_or(other.is_some(), Relaxed) || other.is_some() {
            line.allow_prepared_statements();
        }
        Ok(line)
    }

    /// Returns the time limit for connecting and logging in. A holder must be able to try again before its pass is
    /// lost.
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

    /// Connects to the first server that accepts writes, beginning with the server of the last connection. A server
    /// that accepts a connection and then says nothing must not use up the time of the other servers. So each server
    /// gets an equal share of the remaining time.
    async fn find_server(&self, limit: Duration) -> Result<Line, Failure> {
        let end = Instant::now() + limit;
        // ORDERING: Relaxed, because the number is only a hint.
        let latest = self.latest.load(Relaxed);
        let mut failure: Option<Failure> = None;
        let mut left = self.servers.len();
        let servers = self.servers.iter().enumerate();
        for (at, server) in servers.clone().skip(latest).chain(servers.take(latest)) {
            let limit = end.saturating_duration_since(Instant::now()) / left.max(1) as u32;
            left -= 1;
            let late = || Failure::Unreachable(format!("no connection within {limit:.1?}"));
            match timeout(limit, self.connect_to(server)).await.unwrap_or_else(|_| Err(late())) {
                Ok(line) => {
                    self.latest.store(at, Relaxed);
                    return Ok(line);
                }
                Err(other) if failure.as_ref().is_some_and(|it| weight(it) > weight(&other)) => {}
                Err(other) => failure = Some(other),
            }
        }
        Err(failure.unwrap_or_else(|| Failure::Unreachable("there is no server".into())))
    }

    /// Until a check has succeeded, returns a second connection to the current server, to check that notifications of
    /// other connections arrive.
    ///
    /// A pooler may run each transaction on any of its connections. While no other client needs a connection, it often
    /// uses the same one again. So a notification that a process sends to itself arrives, although those of other
    /// processes do not. If there is no second connection, because the number of connections is limited, the caller can
    /// only check that its own notifications arrive.
    async fn second_connection(&self, limit: Duration) -> Option<Line> {
        // ORDERING: Relaxed, because a second check does no harm.
        if self.checked.load(Relaxed) || self.permits.available_permits() == 0 {
            return None;
        }
        let server = self.servers.get(self.latest.load(Relaxed))?;
        timeout(limit, self.connect_to(server)).await.ok()?.ok()
    }

    /// Returns the identities of the servers that this process is not connected to, as far as they answer. Connects to
    /// each of them for a moment, also to standbys.
    pub(in super::super) async fn other_systems(&self) -> Result<Vec<u64>, Failure> {
        if self.servers.len() == 1 || self.line().await?.is_shared() {
            return Ok(Vec::new());
        }
        // ORDERING: Relaxed, because a server that is asked without need does no harm.
        let latest = self.latest.load(Relaxed);
        let mut systems = Vec::new();
        for (_, server) in self.servers.iter().enumerate().filter(|(at, _)| *at != latest) {
            let mut server = server.clone();
            server.target_session_attrs(TargetSessionAttrs::Any);
            let ask = async {
                // This connection does not count towards the connections to the primary server.
                let line = self.connect_with(&server, Arc::new(Semaphore::new(1))).await?;
                line.query(sql::SYSTEM, &[]).await
            };
            // A server that cannot be reached or is full says nothing about its identity.
            let Ok(Ok(rows)) = timeout(self.login_timeout, ask).await else { continue };
            let system = rows.first().map(|row| row.text(0)).transpose()?;
            systems.extend(system.and_then(|text| text.parse::<u64>().ok()));
        }
        Ok(systems)
    }

    async fn connect_to(&self, server: &Config) -> Result<Line, Failure> {
        self.connect_with(server, self.permits.clone()).await
    }

    async fn connect_with(
        &self,
        server: &Config,
        permits: Arc<Semaphore>,
    ) -> Result<Line, Failure> {
        let permit = permits.acquire_owned().await;
        let permit = permit.map_err(|closed| Failure::Unreachable(closed.to_string()))?;
        let mut server = server.clone();
        if let Some(password) =
            current_password(&self.password_file, self.password.as_deref()).await
        {
            server.password(password);
        }
        Line::connect(&server, self.ending.clone(), permit).await
    }
}

/// Returns how important a failure is. If all servers fail, hallpass reports the most important failure; among equally
/// important failures, it reports the last one.
fn weight(failure: &Failure) -> u8 {
    match failure {
        // A standby works as intended, and is not the server to wait for.
        Failure::Unreachable(why) if why.contains(STANDBY) => 0,
        // This server may be a standby, so its failure must not hide the failure of another server, which may be the
        // primary.
        Failure::Busy(_) => 1,
        // Waiting does not help this server, but another server may be the primary and come back.
        Failure::Certificate(_) => 2,
        Failure::Unreachable(_) => 3,
        // Waiting does not help.
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_failures_the_one_that_the_user_has_to_fix_counts_most() {
        let standby = Failure::Unreachable(format!("error connecting to server: {STANDBY}"));
        let failures = [
            standby,
            Failure::Busy("sorry, too many clients already".into()),
            Failure::Certificate("certificate has expired".into()),
            Failure::Unreachable("connection refused".into()),
            Failure::Denied("password authentication failed".into()),
        ];
        assert!(failures.is_sorted_by(|one, next| weight(one) < weight(next)));
    }
}
