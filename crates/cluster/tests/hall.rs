//! A hall on one member, as programs use it.

mod common;

use std::{
    array,
    sync::{
        Barrier, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Waker},
    thread,
    time::{Duration, Instant},
};

use common::{await_queue, connect, wait};
use hallpass_cluster::{Cluster, ClusterOptions, ClusterPass, Error, Loss};
use hallpass_testbed::{EtcdCluster, etcd};

#[test]
fn slots_are_distinct_and_the_smallest_first() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let hall = connect(&cluster).open("gpu", 3).expect("new");
    let mut passes: Vec<ClusterPass> = (0..3).map(|_| hall.try_acquire().expect("free")).collect();
    let slots: Vec<_> = passes.iter().map(ClusterPass::slot).collect();
    assert_eq!(slots, [0, 1, 2]);
    assert!(passes.is_sorted_by(|a, b| a.token() < b.token()));
    assert!(passes.iter().all(ClusterPass::is_valid));
    assert!(matches!(hall.try_acquire(), Err(Error::NoPermits)));
    let before = passes[2].token();
    passes.remove(1).release().expect("ours");
    assert_eq!(hall.available().expect("reachable"), 1);
    let again = hall.try_acquire().expect("one is free");
    assert_eq!(again.slot(), 1);
    assert!(again.token() > before);
}

#[test]
fn who_waits_gets_in_in_turn() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let hall = connect(&cluster).open("gpu", 1).expect("new");
    let first = hall.acquire().expect("free");
    let order = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for number in 0..5 {
            let (hall, order) = (&hall, &order);
            scope.spawn(move || {
                let pass = hall.acquire().expect("its turn comes");
                order.lock().expect("no panic").push((number, pass.token()));
                pass.release().expect("ours");
            });
            await_queue(hall, number + 1);
        }
        drop(first);
    });
    let order = order.into_inner().expect("no panic");
    let numbers: Vec<_> = order.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    assert!(order.is_sorted_by(|a, b| a.1 < b.1), "{order:?}");
}

#[test]
fn nobody_is_left_waiting_when_many_come_and_go() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let etcd = connect(&cluster);
    let inside = AtomicUsize::new(0);
    let slots: [AtomicBool; 3] = array::from_fn(|_| AtomicBool::new(false));
    let start = Barrier::new(16);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let hall = etcd.open("gpu", 3).expect("there");
                start.wait();
                for _ in 0..25 {
                    let pass = hall.acquire().expect("its turn comes");
                    assert!(inside.fetch_add(1, SeqCst) < 3);
                    assert!(!slots[pass.slot()].swap(true, SeqCst));
                    thread::yield_now();
                    slots[pass.slot()].store(false, SeqCst);
                    inside.fetch_sub(1, SeqCst);
                    pass.release().expect("ours");
                }
            });
        }
    });
    let status = etcd.open_existing("gpu").expect("there").status().expect("reachable");
    assert!(status.holders.is_empty() && status.waiters.is_empty(), "{status:?}");
}

#[test]
fn another_number_of_slots_is_an_error_that_names_both() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let etcd = connect(&cluster);
    etcd.open("gpu", 3).expect("new");
    let error = etcd.open("gpu", 4).expect_err("it has three");
    assert!(matches!(error, Error::Slots { asked: 4, found: 3, .. }), "{error}");
    assert_eq!(etcd.names().expect("reachable"), ["gpu"]);
    assert!(matches!(etcd.open_existing("cpu"), Err(Error::Missing { .. })));
    assert!(matches!(etcd.open("gpu", 0), Err(Error::BadSlots { asked: 0 })));
}

#[test]
fn who_gives_up_leaves_the_queue() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let hall = connect(&cluster).open("gpu", 1).expect("new");
    let pass = hall.acquire().expect("free");
    let begun = Instant::now();
    let late = hall.try_acquire_for(Duration::from_millis(300));
    assert!(matches!(late, Err(Error::NoPermits)), "{late:?}");
    assert!(begun.elapsed() >= Duration::from_millis(300));
    assert_eq!(hall.waiting().expect("reachable"), 0);
    pass.release().expect("ours");
    hall.try_acquire().expect("free, and nobody waits").release().expect("ours");
}

#[test]
fn a_task_waits_in_any_executor_and_gives_up_when_it_is_dropped() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let hall = connect(&cluster).open("gpu", 1).expect("new");
    let pass = wait(hall.acquire_async()).expect("free");
    let mut waiting = Box::pin(hall.acquire_async());
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    await_queue(&hall, 1);
    drop(waiting);
    await_queue(&hall, 0);
    let lost = pass.lost();
    pass.release().expect("ours");
    assert_eq!(wait(lost), Loss::Released);
    drop(wait(hall.acquire_async()).expect("free again"));
}

#[test]
fn the_status_tells_who_is_in_who_waits_and_who_has_vanished() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let hall = connect(&cluster).open("gpu", 2).expect("new");
    hall.describe_as("python train.py");
    let (first, second) = (hall.acquire().expect("free"), hall.acquire().expect("free"));
    thread::scope(|scope| {
        let third = scope.spawn(|| hall.try_acquire_for(Duration::from_secs(3)));
        await_queue(&hall, 1);
        let status = hall.status().expect("reachable");
        let tokens: Vec<_> = status.holders.iter().map(|one| one.token).collect();
        assert_eq!(tokens, [Some(first.token()), Some(second.token())]);
        let [waiting] = &status.waiters[..] else { panic!("{status:?}") };
        assert_eq!((waiting.pid, waiting.slot), (std::process::id(), None));
        assert_eq!(waiting.command, "python train.py");
        assert!(status.holders.iter().all(|one| one.alive && one.host == waiting.host));
        assert!(third.join().expect("no panic").is_err());
    });
    let removed = cluster.etcdctl(&["del", "--prefix", "/hallpass/gpu/inside/"]).status();
    assert!(removed.expect("it runs").success());
    let status = hall.status().expect("reachable");
    assert!(status.holders.len() == 2 && status.holders.iter().all(|one| !one.alive));
    assert!(matches!(hall.try_acquire(), Err(Error::NoPermits)), "they may still be in");
    assert_eq!(hall.reap().expect("reachable"), 2);
    assert!(!first.is_valid() && !second.is_valid(), "reaping waits for that");
    assert_eq!(hall.available().expect("reachable"), 2);
}

#[test]
fn a_hall_grows_shrinks_closes_and_goes() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let etcd = connect(&cluster);
    let hall = etcd.open("gpu", 1).expect("new");
    let first = hall.acquire().expect("free");
    thread::scope(|scope| {
        let second = scope.spawn(|| hall.acquire().expect("the hall grows"));
        await_queue(&hall, 1);
        hall.resize(2).expect("open");
        let second = second.join().expect("no panic");
        assert_eq!(second.slot(), 1);
        hall.resize(1).expect("open");
        assert!(second.is_valid(), "it keeps a slot that is no more");
        let third = scope.spawn(|| hall.acquire());
        await_queue(&hall, 1);
        second.release().expect("ours");
        await_queue(&hall, 1);
        hall.close().expect("reachable");
        let third = third.join().expect("no panic");
        assert!(matches!(third, Err(Error::Closed)), "{third:?}");
    });
    assert!(matches!(hall.acquire(), Err(Error::Closed)));
    assert!(matches!(etcd.remove("gpu", false), Err(Error::InUse { holders: 1, .. })));
    first.release().expect("ours");
    etcd.remove("gpu", false).expect("nobody is in");
    assert!(matches!(etcd.remove("gpu", false), Err(Error::Missing { .. })));
    assert_eq!(etcd.names().expect("reachable"), Vec::<String>::new());
}

#[test]
fn a_pass_that_is_out_of_touch_is_lost_in_time() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let hall = connect(&cluster).open("gpu", 1).expect("new");
    let pass = hall.acquire().expect("free");
    thread::sleep(Duration::from_secs(4));
    assert!(pass.is_valid(), "it is kept for longer than a lease lasts");
    cluster.member(0).pause();
    let begun = Instant::now();
    let loss = wait(pass.lost());
    assert_eq!(loss, Loss::OutOfTouch);
    // Nobody else could be in before the lease ends, in 2.4 seconds or more, and 3.3 seconds after that.
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(!pass.is_valid());
    cluster.member(0).resume();
}

#[test]
fn a_claim_that_somebody_removes_is_lost_and_its_slot_stays_taken_for_a_while() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let hall = connect(&cluster).open("gpu", 1).expect("new");
    let pass = hall.acquire().expect("free");
    let removed = cluster.etcdctl(&["del", "--prefix", "/hallpass/gpu/inside/"]).status();
    assert!(removed.expect("it runs").success());
    let begun = Instant::now();
    assert_eq!(wait(pass.lost()), Loss::Gone);
    let next = hall.acquire().expect("the slot is free again after a while");
    // It may have gone on for nine tenths of three seconds.
    assert!(begun.elapsed() > Duration::from_millis(2700), "{:?}", begun.elapsed());
    assert!(next.token() > pass.token());
    assert!(matches!(pass.release(), Err(Error::Lost)));
    assert!(next.is_valid());
}

#[test]
fn a_cluster_that_is_down_is_an_error_within_the_time() {
    let mut options = ClusterOptions::at("etcd://127.0.0.1:1,127.0.0.1:2").expect("a good address");
    options.command_timeout = Duration::from_secs(1);
    let begun = Instant::now();
    let error = Cluster::connect(options).expect("good options").open("gpu", 1);
    let error = error.expect_err("nobody is there").to_string();
    assert!(error.contains("127.0.0.1:1,127.0.0.1:2"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}
