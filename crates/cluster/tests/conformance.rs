//! Runs the conformance suite on halls on etcd. All tests share one member of etcd.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use hallpass_cluster::{Cluster, ClusterHall, ClusterOptions, ClusterPass, Error, MAX_SLOTS};
use hallpass_conformance::{Capacity, HallUnderTest, Refusal, TasksUnderTest, conformance};
use hallpass_testbed::{EtcdCluster, TIMEOUT, etcd};

#[derive(Clone)]
struct OnEtcd(ClusterHall);

fn refusal(error: Error) -> Refusal {
    match error {
        Error::NoPermits => Refusal::NoPermits,
        Error::Closed => Refusal::Closed,
        error => panic!("{error}"),
    }
}

/// The connection that all halls of this process share.
fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| {
        let mut options = ClusterOptions::at(&EtcdCluster::shared().url()).expect("a valid URL");
        // Limits that even a busy machine does not exceed. If a slot became free only when its claim expires, this
        // would be after the suite's deadline of a minute, so the slot would count as lost.
        (options.command_timeout, options.ttl) = (TIMEOUT, TIMEOUT);
        Cluster::connect(options).expect("valid options")
    })
}

impl HallUnderTest for OnEtcd {
    type Pass = ClusterPass;

    const CAPACITY: Capacity = Capacity {
        max_slots: MAX_SLOTS,
        sizes: &[1, 2, 5],
        rounds: 10,
        hand_over: Duration::from_millis(5),
    };

    fn is_testable() -> bool {
        etcd().is_some()
    }

    fn open(k: usize) -> Result<Self, String> {
        static HALLS: AtomicUsize = AtomicUsize::new(0);
        let name = format!("hall-{}", HALLS.fetch_add(1, Relaxed));
        cluster().open(&name, k).map(OnEtcd).map_err(|error| error.to_string())
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

impl TasksUnderTest for OnEtcd {
    type Acquiring = Pin<Box<dyn Future<Output = Result<ClusterPass, Refusal>> + Send>>;

    fn acquire_async(&self) -> Self::Acquiring {
        let acquiring = self.0.acquire_async();
        Box::pin(async { acquiring.await.map_err(refusal) })
    }
}

conformance!(OnEtcd: tasks);
