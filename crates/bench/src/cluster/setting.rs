//! The clusters: number of members, and where they write.

use std::{
    fmt,
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
};

use clap::ValueEnum;
use hallpass_cluster::{Cluster, ClusterOptions};
use hallpass_testbed::{EtcdCluster, Storage};
use serde::Serialize;

use super::{PATIENCE, failed};

/// Where members write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Medium {
    /// In the directory for temporary files
    Disk,
    /// In memory, where a write takes no time
    Memory,
}

/// A cluster to measure on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Setting {
    /// Number of members.
    pub members: usize,
    /// Where the members write.
    pub medium: Medium,
}

impl Setting {
    /// Starts a cluster with this setting.
    pub fn start(self) -> EtcdCluster {
        EtcdCluster::start_on(
            self.members,
            match self.medium {
                Medium::Disk => Storage::Disk,
                Medium::Memory => Storage::Memory,
            },
        )
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = if self.members == 1 { "1 member" } else { "3 members" };
        let medium = match self.medium {
            Medium::Disk => "on disk",
            Medium::Memory => "in memory",
        };
        write!(f, "{members} {medium}")
    }
}

/// Creates a new connection.
pub(super) fn connect(cluster: &EtcdCluster) -> Result<Cluster, String> {
    Cluster::connect(ClusterOptions::at(&cluster.url()).map_err(failed)?).map_err(failed)
}

/// Returns the number of watch events that the members have sent, by their own count.
pub(super) fn events_sent(cluster: &EtcdCluster) -> Result<u64, String> {
    const COUNTER: &str = "etcd_debugging_mvcc_events_total ";
    let mut sum = 0;
    for member in cluster.members() {
        let metrics = metrics(member.client_address()).map_err(failed)?;
        let count = metrics.lines().find_map(|line| line.strip_prefix(COUNTER));
        let count = count.and_then(|count| count.trim().parse::<f64>().ok());
        sum += count.ok_or("etcd does not say how many events it has sent")? as u64;
    }
    Ok(sum)
}

fn metrics(at: SocketAddr) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&at, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
