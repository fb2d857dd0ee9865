//! Two PostgreSQL servers: a primary server and a standby that confirms every commit.

use std::{
    fs,
    net::SocketAddr,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use crate::{PostgresServer, TIMEOUT};

/// A primary server and its synchronous standby. They change their roles when the primary server fails.
pub struct PostgresPair {
    servers: [PostgresServer; 2],
    /// The index of the primary server.
    primary: AtomicUsize,
}

impl PostgresPair {
    /// Starts both servers.
    ///
    /// # Panics
    /// Panics if a server does not start.
    pub fn start() -> PostgresPair {
        let primary = PostgresServer::start();
        let standby = primary.standby();
        let pair = PostgresPair { servers: [primary, standby], primary: AtomicUsize::new(0) };
        pair.require_standby();
        pair
    }

    /// Returns the addresses of both servers.
    pub fn addresses(&self) -> [SocketAddr; 2] {
        [self.servers[0].address(), self.servers[1].address()]
    }

    /// Returns the present primary server.
    pub fn primary(&self) -> &PostgresServer {
        &self.servers[self.primary.load(SeqCst)]
    }

    /// Returns the present standby.
    pub fn standby(&self) -> &PostgresServer {
        &self.servers[1 - self.primary.load(SeqCst)]
    }

    /// Kills the primary server and replaces it with the standby, which has all commits that were confirmed. The killed
    /// server becomes the new standby.
    pub fn fail_over(&self) {
        self.primary().kill();
        self.replace_primary();
    }

    /// Stops the standby, waits for `time`, and then replaces the primary server with the standby, which lacks the
    /// commits of this time.
    pub fn fail_over_with_loss(&self, time: Duration) {
        self.require("");
        self.standby().kill();
        thread::sleep(time);
        self.primary().kill();
        self.standby().start_again();
        self.replace_primary();
    }

    /// Makes a backup of the primary server, waits for `time`, and restores the backup. The commits of this time are
    /// lost.
    pub fn restore(&self, time: Duration) {
        let primary = self.primary();
        let backup = primary.back_up();
        thread::sleep(time);
        self.require("");
        self.standby().kill();
        primary.kill();
        primary.restore(&backup);
        fs::remove_dir_all(&backup).expect("the backup can be removed");
        self.standby().follow(primary);
        self.require_standby();
    }

    /// Starts each server that is dead, and waits until the standby confirms commits.
    pub fn heal(&self) {
        self.primary().start_again();
        self.standby().start_again();
        self.require_standby();
    }

    /// Promotes the standby, and makes a new standby of the old primary server, which is dead.
    fn replace_primary(&self) {
        let standby = self.standby();
        // The new primary server has no standby yet. Commits must not wait for one.
        standby.psql("ALTER SYSTEM SET synchronous_standby_names = ''");
        standby.psql("SELECT pg_reload_conf()");
        standby.promote();
        self.primary.fetch_xor(1, SeqCst);
        self.standby().follow(self.primary());
        self.require_standby();
    }

    fn require_standby(&self) {
        self.require("*");
        let count = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        let start = Instant::now();
        while self.primary().psql(count) != "1" {
            assert!(start.elapsed() < TIMEOUT, "the standby does not follow");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Makes every commit wait for a standby of this name; `*` means any standby. With an empty name, no commit waits.
    fn require(&self, name: &str) {
        let primary = self.primary();
        primary.psql(&format!("ALTER SYSTEM SET synchronous_standby_names = '{name}'"));
        primary.psql("SELECT pg_reload_conf()");
    }
}
