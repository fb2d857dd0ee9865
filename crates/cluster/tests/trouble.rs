//! Tests of clocks, networks and members that fail.

mod common;

use std::{
    task::{Context, Waker},
    thread,
    time::{Duration, Instant},
};

use common::{SHORT_TTL, await_queue, connect, eventually, options, wait, with_short_ttl};
use hallpass_cluster::{Clock, Cluster, ClusterHall, ClusterOptions, Error, Loss};
use hallpass_testbed::{EtcdCluster, Proxy, TIMEOUT, etcd};

/// Returns options with a clock that runs at this rate.
fn skewed(url: &str, rate: f64) -> ClusterOptions {
    let begun = Instant::now();
    let clock = Clock::from_fn(move || Duration::from_secs(1000) + begun.elapsed().mul_f64(rate));
    ClusterOptions { clock, ..with_short_ttl(url) }
}

/// Creates a hall of one slot with this ttl, behind a proxy that can cut the connection.
fn far_hall(cluster: &EtcdCluster, ttl: Duration) -> (Proxy, ClusterHall) {
    let path = Proxy::before(cluster.member(0));
    let url = EtcdCluster::url_through(std::slice::from_ref(&path));
    let options = ClusterOptions { ttl, ..options(&url) };
    let far = Cluster::connect(options).expect("valid options");
    (path, far.open("gpu", 1).expect("new"))
}

#[test]
fn a_holder_with_a_slow_clock_loses_its_pass_before_a_waiter_with_a_fast_clock_gets_the_slot() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let path = Proxy::before(cluster.member(0));
    let slow =
        Cluster::connect(skewed(&EtcdCluster::url_through(std::slice::from_ref(&path)), 0.92));
    let fast = Cluster::connect(skewed(&cluster.url(), 1.08)).expect("valid options");
    let slow = slow.expect("valid options").open("gpu", 1).expect("new");
    let fast = fast.open("gpu", 1).expect("the hall exists");
    let pass = slow.acquire().expect("a slot is free");
    path.cut();
    thread::scope(|scope| {
        let lost = scope.spawn(|| {
            let loss = wait(pass.lost());
            (loss, Instant::now())
        });
        let next = fast.acquire().expect("the slot is free after a while");
        let entered = Instant::now();
        let (loss, lost) = lost.join().expect("the thread does not panic");
        assert_eq!(loss, Loss::OutOfTouch);
        assert!(lost < entered, "both had the slot for {:?}", lost - entered);
        assert!(!pass.is_valid() && next.is_valid());
    });
}

#[test]
fn a_waiter_keeps_its_position_through_a_short_partition() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let ttl = Duration::from_secs(12);
    let (path, far) = far_hall(&cluster, ttl);
    let near = connect(&cluster).open("gpu", 1).expect("the hall exists");
    let first = near.acquire().expect("a slot is free");
    thread::scope(|scope| {
        let second = scope.spawn(|| far.acquire().expect("the waiter gets a slot").token());
        await_queue(&near, 1);
        let third = scope.spawn(|| near.acquire().expect("the waiter gets a slot").token());
        await_queue(&near, 2);
        path.cut();
        thread::sleep(ttl / 4);
        path.heal();
        first.release().expect("the pass is valid");
        let (second, third) = (second.join(), third.join());
        assert!(
            second.expect("the thread does not panic") < third.expect("no panic"),
            "the third waiter has overtaken the second"
        );
    });
}

#[test]
fn a_waiter_joins_again_after_a_partition_that_ends_its_claim() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let (path, far) = far_hall(&cluster, SHORT_TTL);
    let near = connect(&cluster).open("gpu", 1).expect("the hall exists");
    let first = near.acquire().expect("a slot is free");
    thread::scope(|scope| {
        let second = scope.spawn(|| far.acquire());
        await_queue(&near, 1);
        path.cut();
        await_queue(&near, 0);
        path.heal();
        await_queue(&near, 1);
        first.release().expect("the pass is valid");
        second
            .join()
            .expect("the thread does not panic")
            .expect("it recovered on its own")
            .release()
            .expect("the pass is valid");
    });
}

#[test]
fn a_waiter_survives_compaction_and_the_death_of_the_leader() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(3);
    // The ttl is longer than an election with split votes.
    let hall = Cluster::connect(options(&cluster.url()))
        .expect("valid options")
        .open("gpu", 1)
        .expect("new");
    let first = hall.acquire().expect("a slot is free");
    thread::scope(|scope| {
        let second = scope.spawn(|| hall.acquire());
        await_queue(&hall, 1);
        let leader = cluster.await_leader();
        let current = leader.index();
        leader.kill();
        // The other members have to elect a leader.
        let revision = loop {
            match hall.status() {
                Ok(_) => break first.token() + 1,
                Err(error) => assert!(matches!(error, Error::Unreachable { .. }), "{error}"),
            }
        };
        for _ in 0..20 {
            let put = cluster.etcdctl(&["put", "elsewhere", "x"]).output().expect("it runs");
            assert!(put.status.success(), "{put:?}");
        }
        let compacted = cluster.etcdctl(&["compact", &(revision + 10).to_string()]).output();
        assert!(compacted.expect("it runs").status.success());
        cluster.member(current).restart();
        assert!(first.is_valid(), "the pass survives a change of leaders");
        first.release().expect("the pass is valid");
        let second =
            second.join().expect("the thread does not panic").expect("the waiter gets a slot");
        assert_eq!(second.slot(), 0);
    });
}

#[test]
fn a_waiter_that_times_out_while_the_cluster_is_down_reports_that_it_is_unreachable() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    // At the end, the pass is released while the cluster is down. This takes up to one ttl.
    let options = ClusterOptions { ttl: Duration::from_secs(10), ..options(&cluster.url()) };
    let hall = Cluster::connect(options).expect("valid options").open("gpu", 1).expect("new");
    let _pass = hall.acquire().expect("a slot is free");
    let limit = Duration::from_secs(8);
    thread::scope(|scope| {
        let begun = Instant::now();
        let waiter = scope.spawn(|| hall.try_acquire_for(limit));
        await_queue(&hall, 1);
        cluster.member(0).kill();
        let error =
            waiter.join().expect("the thread does not panic").expect_err("no member answers");
        assert!(matches!(error, Error::Unreachable { .. }), "{error}");
        assert!(begun.elapsed() < limit + TIMEOUT, "{:?}", begun.elapsed());
    });
}

#[test]
fn a_caller_that_does_not_wait_eventually_gets_the_slot_of_a_vanished_holder() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let (path, far) = far_hall(&cluster, SHORT_TTL);
    let pass = far.acquire().expect("a slot is free");
    path.cut();
    // The caller tries again and again, each time with a new handle.
    let begun = Instant::now();
    let next = loop {
        match connect(&cluster).open("gpu", 1).expect("the hall exists").try_acquire() {
            Ok(next) => break next,
            Err(Error::NoPermits) => thread::sleep(Duration::from_millis(100)),
            Err(error) => panic!("{error}"),
        }
        assert!(begun.elapsed() < TIMEOUT, "the slot is lost");
    };
    assert!(!pass.is_valid() && next.is_valid());
    assert!(begun.elapsed() > SHORT_TTL, "{:?}", begun.elapsed());
    let left = cluster.etcdctl(&["get", "--prefix", "/hallpass/gpu/gone/"]).output();
    assert_eq!(left.expect("it runs").stdout, b"", "expiry records are removed with the slot");
}

#[test]
fn a_caller_that_gives_up_while_its_request_is_under_way_leaves_no_slot_taken() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    // The slot of a vanished holder would be free only after 1.1 ttl.
    let (path, far) = far_hall(&cluster, 5 * TIMEOUT);
    let near = connect(&cluster).open("gpu", 1).expect("the hall exists");
    let await_free = |free: usize| eventually(|| near.available().expect("reachable") == free);
    let delay = Duration::from_secs(1);
    path.delay(delay);
    let mut acquiring = Box::pin(far.acquire_async());
    assert!(acquiring.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    await_free(0);
    // The slot is assigned, and the answer is on its way. The cut connection loses the answer.
    path.refuse();
    eventually(|| far.trouble().is_some());
    path.delay(delay);
    drop(acquiring);
    await_free(1);
}
