//! Tests of cluster halls, for example of their tokens, validity, status and names. The tests that need etcd use a
//! cluster of one member. The crate `hallpass-conformance` tests the guarantees of all halls; `tests/conformance.rs`
//! runs it.

mod common;

use std::{
    array,
    sync::{
        Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Waker},
    thread,
    time::{Duration, Instant},
};

use common::{
    await_queue, connect, connect_with_short_ttl, etcd_options, options, wait, with_short_ttl,
};
use hallpass_cluster::{Cluster, ClusterOptions, ClusterPass, Error, Loss};
use hallpass_testbed::{EtcdCluster, Proxy, TIMEOUT, etcd};

#[test]
fn every_pass_has_a_larger_token_than_all_earlier_passes() {
    let Some(()) = etcd() else { return };
    let hall = connect(EtcdCluster::shared()).open("tokens", 3).expect("a new hall can be created");
    let mut passes: Vec<ClusterPass> =
        (0..3).map(|_| hall.try_acquire().expect("a slot is free")).collect();
    assert!(passes.is_sorted_by(|a, b| a.token() < b.token()));
    assert!(passes.iter().all(ClusterPass::is_valid));
    let before = passes[2].token();
    passes.remove(1).release().expect("the pass is valid");
    let again = hall.try_acquire().expect("a slot is free");
    assert!(again.token() > before);
    // A waiter that gets the slot of a released pass also gets a new token.
    thread::scope(|scope| {
        let waiter = scope.spawn(|| hall.acquire().expect("the waiter gets a slot"));
        await_queue(&hall, 1);
        let before = again.token();
        again.release().expect("the pass is valid");
        assert!(waiter.join().expect("the thread does not panic").token() > before);
    });
}

/// Unlike a hall of threads or processes, a cluster hall does not count the holders of removed slots.
#[test]
fn a_shrunk_hall_assigns_its_free_slots_while_removed_slots_are_held() {
    let Some(()) = etcd() else { return };
    let hall =
        connect(EtcdCluster::shared()).open("removed-slots", 2).expect("a new hall can be created");
    let [first, _second] = array::from_fn(|_| hall.try_acquire().expect("a slot is free"));
    hall.resize(1).expect("1 slot is allowed");
    assert_eq!(hall.available().expect("etcd answers"), 0);
    first.release().expect("the pass is valid");
    assert_eq!(hall.available().expect("etcd answers"), 1);
    assert_eq!(hall.try_acquire().expect("slot 0 is free").slot(), 0);
}

#[test]
fn threads_with_separate_handles_have_distinct_slots() {
    let Some(()) = etcd() else { return };
    let holders = AtomicUsize::new(0);
    let slots: [AtomicBool; 3] = array::from_fn(|_| AtomicBool::new(false));
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let hall =
                    connect(EtcdCluster::shared()).open("crowd", 3).expect("the hall exists");
                start.wait();
                for _ in 0..25 {
                    let pass = hall.acquire().expect("the waiter gets a slot");
                    assert!(holders.fetch_add(1, SeqCst) < 3);
                    assert!(!slots[pass.slot()].swap(true, SeqCst));
                    thread::yield_now();
                    slots[pass.slot()].store(false, SeqCst);
                    holders.fetch_sub(1, SeqCst);
                    pass.release().expect("the pass is valid");
                }
            });
        }
    });
    let hall = connect(EtcdCluster::shared()).open_existing("crowd").expect("the hall exists");
    let status = hall.status().expect("reachable");
    assert!(status.holders.is_empty() && status.waiters.is_empty(), "{status:?}");
}

#[test]
fn lost_returns_released_after_a_release() {
    let Some(()) = etcd() else { return };
    let hall =
        connect(EtcdCluster::shared()).open("released", 1).expect("a new hall can be created");
    let pass = hall.acquire().expect("a slot is free");
    let lost = pass.lost();
    pass.release().expect("the pass is valid");
    assert_eq!(wait(lost), Loss::Released);
}

#[test]
fn a_pass_with_a_removed_slot_stays_valid() {
    let Some(()) = etcd() else { return };
    let hall = connect(EtcdCluster::shared()).open("shrunk", 2).expect("a new hall can be created");
    let (first, second) =
        (hall.acquire().expect("a slot is free"), hall.acquire().expect("a slot is free"));
    hall.resize(1).expect("open");
    assert!(first.is_valid() && second.is_valid());
    second.release().expect("the pass is valid");
}

#[test]
fn a_hall_is_removed_when_nobody_holds_a_slot() {
    let Some(()) = etcd() else { return };
    let cluster = connect(EtcdCluster::shared());
    let hall = cluster.open("removed", 1).expect("a new hall can be created");
    let pass = hall.acquire().expect("a slot is free");
    hall.close().expect("reachable");
    assert!(matches!(cluster.remove("removed", false), Err(Error::InUse { holders: 1, .. })));
    pass.release().expect("the pass is valid");
    cluster.remove("removed", false).expect("nobody holds a slot");
    assert!(matches!(cluster.remove("removed", false), Err(Error::Missing { .. })));
    assert!(!cluster.names().expect("reachable").contains(&"removed".into()));
}

#[test]
fn opening_a_hall_with_another_size_names_both_sizes() {
    let Some(()) = etcd() else { return };
    let mut options = options(&EtcdCluster::shared().url());
    etcd_options(&mut options).prefix = "/elsewhere".into();
    let cluster = Cluster::connect(options).expect("valid options");
    cluster.open("gpu", 3).expect("a new hall can be created");
    let error = cluster.open("gpu", 4).expect_err("the hall has three slots");
    assert!(matches!(error, Error::Slots { asked: 4, found: 3, .. }), "{error}");
    assert_eq!(cluster.names().expect("reachable"), ["gpu"]);
    assert!(matches!(cluster.open_existing("cpu"), Err(Error::Missing { .. })));
    assert!(matches!(cluster.open("gpu", 0), Err(Error::BadSlots { asked: 0 })));
}

#[test]
fn the_status_lists_holders_waiters_and_vanished_holders() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::shared();
    let path = Proxy::before(cluster.member(0));
    let far = EtcdCluster::url_through(std::slice::from_ref(&path));
    let [hall, far] = [cluster.url(), far].map(|url| {
        let options = ClusterOptions { ttl: Duration::from_secs(6), ..options(&url) };
        Cluster::connect(options)
            .expect("valid options")
            .open("status", 2)
            .expect("the hall exists")
    });
    hall.describe_as("python train.py");
    let (first, second) = (far.acquire().expect("a slot is free"), far.acquire().expect("free"));
    let mut third = Box::pin(hall.acquire_async());
    assert!(third.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    await_queue(&hall, 1);
    let status = hall.status().expect("reachable");
    let tokens: Vec<_> = status.holders.iter().map(|one| one.token).collect();
    assert_eq!(tokens, [Some(first.token()), Some(second.token())]);
    let [waiting] = &status.waiters[..] else { panic!("{status:?}") };
    assert_eq!((waiting.pid, waiting.slot), (std::process::id(), None));
    assert_eq!(waiting.command, "python train.py");
    assert!(status.holders.iter().all(|one| one.alive && one.host == waiting.host));
    drop(third);
    await_queue(&hall, 0);
    // Without a connection, the holders cannot create their claims again after the deletion.
    path.cut();
    let removed = cluster.etcdctl(&["del", "--prefix", "/hallpass/status/inside/"]).status();
    assert!(removed.expect("it runs").success());
    let status = hall.status().expect("reachable");
    assert!(status.holders.len() == 2 && status.holders.iter().all(|one| !one.alive));
    assert!(
        matches!(hall.try_acquire(), Err(Error::NoPermits)),
        "the holders may still use their slots"
    );
    assert_eq!(hall.reap().expect("reachable"), 2);
    assert!(!first.is_valid() && !second.is_valid(), "`reap` waits until both are invalid");
    assert_eq!(hall.available().expect("reachable"), 2);
}

#[test]
fn a_pass_whose_member_stops_answering_is_lost_before_the_slot_can_be_reclaimed() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let ttl = Duration::from_secs(6);
    let options = ClusterOptions { ttl, ..options(&cluster.url()) };
    let hall = Cluster::connect(options)
        .expect("valid options")
        .open("gpu", 1)
        .expect("a new hall can be created");
    let pass = hall.acquire().expect("a slot is free");
    thread::sleep(ttl + Duration::from_secs(1));
    assert!(pass.is_valid(), "the pass is renewed beyond the ttl of a lease");
    cluster.member(0).pause();
    let begun = Instant::now();
    let loss = wait(pass.lost());
    assert_eq!(loss, Loss::OutOfTouch);
    // The lease ends at least 0.8 ttl after the pause. Other processes reclaim the slot 1.1 ttl after that.
    assert!(begun.elapsed() < ttl.mul_f64(1.9), "{:?}", begun.elapsed());
    assert!(!pass.is_valid());
    cluster.member(0).resume();
}

#[test]
fn a_pass_whose_claim_is_deleted_is_lost_and_its_slot_stays_taken_for_its_ttl() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::shared();
    let path = Proxy::before(cluster.member(0));
    let far = with_short_ttl(&EtcdCluster::url_through(std::slice::from_ref(&path)));
    let far = Cluster::connect(far)
        .expect("valid options")
        .open("deleted", 1)
        .expect("a new hall can be created");
    let hall = connect_with_short_ttl(cluster).open("deleted", 1).expect("the hall exists");
    let pass = far.acquire().expect("a slot is free");
    // Without a connection, the holder cannot create its claim again after the deletion.
    path.cut();
    let begun = Instant::now();
    let removed = cluster.etcdctl(&["del", "--prefix", "/hallpass/deleted/inside/"]).status();
    assert!(removed.expect("it runs").success());
    assert_eq!(wait(pass.lost()), Loss::OutOfTouch);
    let next = hall.acquire().expect("the slot is free again after a while");
    // The ttl is 3 s. The holder may have continued for 0.9 ttl.
    assert!(begun.elapsed() > Duration::from_millis(2700), "{:?}", begun.elapsed());
    assert!(next.token() > pass.token());
    path.heal();
    assert!(matches!(pass.release(), Err(Error::Lost)));
    assert!(next.is_valid());
}

#[test]
fn opening_a_hall_on_a_cluster_that_is_down_fails_within_the_timeout() {
    let mut options = ClusterOptions::at("etcd://127.0.0.1:1,127.0.0.1:2").expect("a valid URL");
    options.command_timeout = Duration::from_secs(1);
    let begun = Instant::now();
    let error = Cluster::connect(options).expect("valid options").open("gpu", 1);
    let error = error.expect_err("no member answers").to_string();
    assert!(error.contains("127.0.0.1:1,127.0.0.1:2"), "{error}");
    assert!(begun.elapsed() < TIMEOUT, "{:?}", begun.elapsed());
}
