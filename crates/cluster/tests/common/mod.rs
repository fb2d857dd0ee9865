//! Helpers for the tests.
#![allow(dead_code, reason = "no test file uses all of them")]

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use hallpass_cluster::{Cluster, ClusterHall, ClusterOptions, EtcdOptions, StoreOptions};
use hallpass_testbed::{EtcdCluster, TIMEOUT};

/// The ttl of passes and waiters that have to expire. It is short, so that the tests are short.
pub const SHORT_TTL: Duration = Duration::from_secs(3);

/// Returns options with timeouts that even a busy machine does not exceed.
pub fn options(url: &str) -> ClusterOptions {
    let mut options = ClusterOptions::at(url).expect("a valid URL");
    options.command_timeout = TIMEOUT;
    options.ttl = Duration::from_secs(60);
    options.state_dir = None;
    options
}

pub fn with_short_ttl(url: &str) -> ClusterOptions {
    ClusterOptions { ttl: SHORT_TTL, ..options(url) }
}

/// Returns the options of etcd, to change them.
pub fn etcd_options(options: &mut ClusterOptions) -> &mut EtcdOptions {
    match &mut options.store {
        StoreOptions::Etcd(etcd) => etcd,
        other => panic!("{other:?}"),
    }
}

/// Connects with a ttl that even a busy machine does not exceed.
pub fn connect(cluster: &EtcdCluster) -> Cluster {
    Cluster::connect(options(&cluster.url())).expect("valid options")
}

/// Connects with a ttl that a test can wait for.
pub fn connect_with_short_ttl(cluster: &EtcdCluster) -> Cluster {
    Cluster::connect(with_short_ttl(&cluster.url())).expect("valid options")
}

/// Waits until the queue has this length.
#[track_caller]
pub fn await_queue(hall: &ClusterHall, length: usize) {
    eventually(|| hall.waiting().expect("reachable") == length);
}

/// Waits until a condition holds.
#[track_caller]
pub fn eventually(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < TIMEOUT, "the condition still does not hold");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Polls a future to its end, without a runtime.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}
