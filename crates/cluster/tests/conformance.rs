//! Runs the conformance suite on every store. All tests of a store share one connection.

use std::{
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use hallpass_cluster::{
    Cluster, ClusterHall, ClusterOptions, ClusterPass, ClusterPasses, Error, MAX_SLOTS,
};
use hallpass_conformance::{
    Capacity, HallUnderTest, ManyUnderTest, Refusal, TasksUnderTest, conformance,
};
use hallpass_testbed::{EtcdCluster, TIMEOUT, etcd};

/// A store that the suite tests.
trait Store: Clone + Send + Sync + 'static {
    /// How long a hand-over takes on this store.
    const HAND_OVER: Duration;

    /// Returns whether the store is installed.
    fn is_testable() -> bool;

    /// Returns the connection that all halls of this process share.
    fn cluster() -> &'static Cluster;
}

/// A hall on the store `S`.
#[derive(Clone)]
struct On<S>(ClusterHall, PhantomData<S>);

/// etcd. All tests share one member.
#[derive(Clone)]
struct Etcd;

/// The memory of this process.
#[derive(Clone)]
struct Memory;

impl Store for Etcd {
    const HAND_OVER: Duration = Duration::from_millis(5);

    fn is_testable() -> bool {
        etcd().is_some()
    }

    fn cluster() -> &'static Cluster {
        static CLUSTER: OnceLock<Cluster> = OnceLock::new();
        CLUSTER.get_or_init(|| connect(&EtcdCluster::shared().url()))
    }
}

impl Store for Memory {
    const HAND_OVER: Duration = Duration::from_millis(1);

    fn is_testable() -> bool {
        true
    }

    fn cluster() -> &'static Cluster {
        static CLUSTER: OnceLock<Cluster> = OnceLock::new();
        CLUSTER.get_or_init(|| connect("memory://conformance"))
    }
}

/// PostgreSQL. All tests share one server.
#[cfg(feature = "postgres")]
#[derive(Clone)]
struct Postgres;

#[cfg(feature = "postgres")]
impl Store for Postgres {
    const HAND_OVER: Duration = Duration::from_millis(5);

    fn is_testable() -> bool {
        hallpass_testbed::postgres().is_some()
    }

    fn cluster() -> &'static Cluster {
        static CLUSTER: OnceLock<Cluster> = OnceLock::new();
        CLUSTER.get_or_init(|| connect(&hallpass_testbed::PostgresServer::shared().url()))
    }
}

/// Connects with limits that even a busy machine does not exceed. If a slot became free only when its claim expires,
/// this would be after the suite's deadline of a minute, so the slot would count as lost.
fn connect(url: &str) -> Cluster {
    let mut options = ClusterOptions::at(url).expect("a valid URL");
    (options.command_timeout, options.ttl) = (TIMEOUT, TIMEOUT);
    Cluster::connect(options).expect("valid options")
}

fn refusal(error: Error) -> Refusal {
    match error {
        Error::NoPermits => Refusal::NoPermits,
        Error::Closed => Refusal::Closed,
        Error::TooMany { .. } => Refusal::TooMany,
        error => panic!("{error}"),
    }
}

impl<S: Store> HallUnderTest for On<S> {
    type Pass = ClusterPass;

    const CAPACITY: Capacity =
        Capacity { max_slots: MAX_SLOTS, sizes: &[1, 2, 5], rounds: 10, hand_over: S::HAND_OVER };

    fn is_testable() -> bool {
        S::is_testable()
    }

    fn open(k: usize) -> Result<Self, String> {
        static HALLS: AtomicUsize = AtomicUsize::new(0);
        let name = format!("hall-{}", HALLS.fetch_add(1, Relaxed));
        let hall = S::cluster().open(&name, k).map_err(|error| error.to_string())?;
        Ok(On(hall, PhantomData))
    }

    fn acquire(&self) -> Result<ClusterPass, Refusal> {
        self.0.acquire().map_err(refusal)
    }

    fn try_acquire(&self) -> Result<ClusterPass, Refusal> {
        self.0.try_acquire().map_err(refusal)
    }

    fn acquire_for(&self, time: Duration) -> Result<ClusterPass, Refusal> {
        self.0.try_acquire_for(time).map_err(refusal)
    }

    fn acquire_until(&self, deadline: Instant) -> Result<ClusterPass, Refusal> {
        self.0.try_acquire_until(deadline).map_err(refusal)
    }

    fn slot(pass: &ClusterPass) -> usize {
        pass.slot()
    }

    fn release(pass: ClusterPass) {
        pass.release().expect("the pass is valid");
    }

    fn slots(&self) -> usize {
        self.0.slots()
    }

    fn available(&self) -> usize {
        self.0.available().expect("reachable")
    }

    fn waiting(&self) -> usize {
        self.0.waiting().expect("reachable")
    }

    fn resize(&self, k: usize) -> Result<(), String> {
        self.0.resize(k).map_err(|error| error.to_string())
    }

    fn close(&self) {
        self.0.close().expect("reachable");
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed().expect("reachable")
    }
}

impl<S: Store> ManyUnderTest for On<S> {
    type Passes = ClusterPasses;

    fn acquire_many(&self, m: usize) -> Result<ClusterPasses, Refusal> {
        self.0.acquire_many(m).map_err(refusal)
    }

    fn try_acquire_many(&self, m: usize) -> Result<ClusterPasses, Refusal> {
        self.0.try_acquire_many(m).map_err(refusal)
    }

    fn acquire_many_for(&self, m: usize, time: Duration) -> Result<ClusterPasses, Refusal> {
        self.0.try_acquire_many_for(m, time).map_err(refusal)
    }

    fn slots_of(passes: &ClusterPasses) -> Vec<usize> {
        passes.slots().to_vec()
    }
}

impl<S: Store> TasksUnderTest for On<S> {
    type Acquiring = Pin<Box<dyn Future<Output = Result<ClusterPass, Refusal>> + Send>>;

    fn acquire_async(&self) -> Self::Acquiring {
        let acquiring = self.0.acquire_async();
        Box::pin(async { acquiring.await.map_err(refusal) })
    }
}

mod etcd_halls {
    use super::*;

    conformance!(On<Etcd>: many, tasks);
}

#[cfg(feature = "postgres")]
mod postgres_halls {
    use super::*;

    conformance!(On<Postgres>: many, tasks);
}

mod memory_halls {
    use super::*;

    conformance!(On<Memory>: many, tasks);
}
