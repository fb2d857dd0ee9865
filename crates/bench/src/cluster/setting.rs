//! The stores: the engine, the number of members, and where they write.

use std::{
    fmt,
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
};

use clap::ValueEnum;
use hallpass_cluster::{Cluster, ClusterOptions};
use hallpass_testbed::{EtcdCluster, PostgresServer, Storage};
use serde::Serialize;

use super::{PATIENCE, failed};

/// The medium to which the servers of a store write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Medium {
    /// In the directory for temporary files
    Disk,
    /// In memory, where a write does not wait for a disk
    Memory,
}

/// The engine that keeps the halls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// etcd
    Etcd,
    /// PostgreSQL
    Postgres,
}

/// A store to measure on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Setting {
    /// The engine of the store.
    pub engine: Engine,
    /// Number of members. PostgreSQL has one.
    pub members: usize,
    /// Where the members write.
    pub medium: Medium,
}

impl Setting {
    /// Starts an etcd cluster with this setting.
    pub fn start(self) -> EtcdCluster {
        EtcdCluster::start_on(self.members, self.storage())
    }

    /// Starts a store with this setting.
    pub fn start_store(self) -> Store {
        match self.engine {
            Engine::Etcd => Store::Etcd(self.start()),
            Engine::Postgres => Store::Postgres(PostgresServer::start_on(self.storage())),
        }
    }

    fn storage(self) -> Storage {
        match self.medium {
            Medium::Disk => Storage::Disk,
            Medium::Memory => Storage::Memory,
        }
    }
}

/// A store that runs. Dropping this value stops it.
pub enum Store {
    /// An etcd cluster.
    Etcd(EtcdCluster),
    /// A PostgreSQL server.
    Postgres(PostgresServer),
}

impl Store {
    /// Returns the URL of the store.
    pub fn url(&self) -> String {
        match self {
            Store::Etcd(cluster) => cluster.url(),
            Store::Postgres(server) => server.url(),
        }
    }

    /// Returns the ports to which clients connect.
    pub fn ports(&self) -> Vec<u16> {
        match self {
            Store::Etcd(cluster) => {
                cluster.members().iter().map(|member| member.client_address().port()).collect()
            }
            Store::Postgres(server) => vec![server.address().port()],
        }
    }

    /// Returns a count that grows with each client that the store notifies of a change. For etcd, this is the number of
    /// watch events that its members have sent, by their own count. For PostgreSQL, it is the number of transactions
    /// with an id: each notified waiter reads the hall in such a transaction, and each change is such a transaction.
    ///
    /// # Errors
    /// Returns the reason if the store does not report the count.
    pub fn wake_ups(&self) -> Result<u64, String> {
        match self {
            Store::Etcd(cluster) => sum_of(cluster, "etcd_debugging_mvcc_events_total "),
            Store::Postgres(server) => {
                let next = "SELECT pg_snapshot_xmax(pg_current_snapshot())";
                server.psql(next).parse().map_err(failed)
            }
        }
    }

    /// Returns the number of requests that the store has received.
    ///
    /// # Errors
    /// Returns the reason if the store does not report the number.
    pub fn requests(&self) -> Result<u64, String> {
        match self {
            Store::Etcd(cluster) => sum_of(cluster, "grpc_server_started_total{"),
            // hallpass runs each statement in its own transaction.
            Store::Postgres(server) => {
                let count = "SELECT sum(xact_commit + xact_rollback)::bigint FROM pg_stat_database";
                server.psql(count).parse().map_err(failed)
            }
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = match (self.engine, self.members) {
            (Engine::Postgres, _) => "PostgreSQL",
            (Engine::Etcd, 1) => "1 member",
            (Engine::Etcd, _) => "3 members",
        };
        let medium = match self.medium {
            Medium::Disk => "on disk",
            Medium::Memory => "in memory",
        };
        write!(f, "{members} {medium}")
    }
}

/// Creates a new connection.
pub(super) fn connect(url: &str) -> Result<Cluster, String> {
    Cluster::connect(ClusterOptions::at(url).map_err(failed)?).map_err(failed)
}

/// Returns the sum of the counters whose lines begin with `counter`, over all members.
fn sum_of(cluster: &EtcdCluster, counter: &str) -> Result<u64, String> {
    let mut sum = 0.0;
    for member in cluster.members() {
        let metrics = metrics(member.client_address()).map_err(failed)?;
        let lines = metrics.lines().filter(|line| line.starts_with(counter));
        let counts = lines.map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        let counts: Option<Vec<_>> = counts.collect();
        let counts = counts.filter(|counts| !counts.is_empty());
        sum += counts.ok_or_else(|| format!("etcd has no {counter}"))?.iter().sum::<f64>();
    }
    Ok(sum as u64)
}

fn metrics(at: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&at, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
