//! **A test bed** for tests and benchmarks. It starts etcd clusters and PostgreSQL servers on this computer
//! and makes them fail. A [`Witness`] records the commands that run while they hold a slot, and a [judge] checks the
//! records.
//!
//! ```no_run
//! use hallpass_testbed::{EtcdCluster, Proxy, etcd};
//!
//! let Some(()) = etcd() else { return };
//! let cluster = EtcdCluster::start(3);
//! let path = Proxy::before(cluster.member(0));
//! path.cut();
//! cluster.await_leader().kill();
//! println!("{} or {}", cluster.url(), path.address());
//! ```

#![forbid(unsafe_code)]

mod cluster;
pub mod documents;
mod executable;
mod gate;
mod grpc_proxy;
mod http;
pub mod judge;
mod key_recorder;
mod member;
mod nursery;
mod pooler;
mod ports;
mod postgres;
mod postgres_pair;
mod proxy;
mod record;
mod shared;
mod sources;
mod visitor;
mod witness;

pub use cluster::{EtcdCluster, Storage};
pub use executable::{copy_executable, write_executable};
pub use grpc_proxy::GrpcProxy;
pub use key_recorder::{KeyChange, KeyRecorder, KeyState};
pub use member::Member;
pub use nursery::{mortal, spawn};
pub use pooler::{Pooler, Pooling};
pub use ports::free_ports;
pub use postgres::{PostgresServer, postgres, postgres_is_installed};
pub use postgres_pair::PostgresPair;
pub use proxy::Proxy;
pub use record::{Event, Observation, Visit};
pub use visitor::visit;
pub use witness::Witness;

use std::{
    process::{Command, Stdio},
    sync::LazyLock,
};

/// The maximum time that a test waits for something that should happen soon. It is long enough for a
/// very busy computer.
pub const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(120);

/// Returns `Some` if etcd and the tools for its clusters are installed. If not, prints that the test is skipped and
/// what to install. Checks only once per process.
///
/// # Panics
/// Panics if etcd is not installed and `HALLPASS_NEED_ETCD` is set, as in CI.
pub fn etcd() -> Option<()> {
    static MISSING: LazyLock<Vec<&str>> = LazyLock::new(missing);
    let missing = &*MISSING;
    if missing.is_empty() {
        return Some(());
    }
    let advice = format!("apt-get install {}", missing.join(" "));
    assert!(std::env::var_os("HALLPASS_NEED_ETCD").is_none(), "etcd is not installed: {advice}");
    eprintln!("skipped, because etcd is not installed: {advice}");
    None
}

/// Returns the Debian packages that a cluster needs and that are not installed.
pub fn missing() -> Vec<&'static str> {
    let needed = [
        ("etcd", "etcd-server"),
        ("etcdctl", "etcd-client"),
        ("openssl", "openssl"),
        ("setpriv", "util-linux"),
    ];
    let missing = needed.into_iter().filter(|(program, _)| !runs(program));
    missing.map(|(_, package)| package).collect()
}

fn runs(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").env("ETCDCTL_API", "3").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}
