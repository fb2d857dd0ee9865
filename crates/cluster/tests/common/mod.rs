//! What the tests share.
#![allow(dead_code, reason = "no test needs all of it")]

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use hallpass_cluster::{Cluster, ClusterHall, ClusterOptions};
use hallpass_testbed::{EtcdCluster, PATIENCE};

/// A short ttl, so that tests are short, too.
pub const TTL: Duration = Duration::from_secs(3);

pub fn options(url: &str) -> ClusterOptions {
    let mut options = ClusterOptions::at(url).expect("a good address");
    options.ttl = TTL;
    options
}

pub fn connect(cluster: &EtcdCluster) -> Cluster {
    Cluster::connect(options(&cluster.url())).expect("good options")
}

/// Waits until `length` callers wait.
pub fn await_queue(hall: &ClusterHall, length: usize) {
    let begun = Instant::now();
    while hall.waiting().expect("reachable") != length {
        assert!(begun.elapsed() < PATIENCE, "there never were {length} waiters");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for a future, without a runtime.
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
