//! Tests of busy halls, of a handle that is dropped while its task waits, and of a hall that is removed by force.

mod common;

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Waker},
    thread,
    time::{Duration, Instant},
};

use common::{await_queue, connect, connect_with_short_ttl};
use hallpass_testbed::{EtcdCluster, TIMEOUT, etcd};

#[test]
fn a_waiting_task_may_be_the_last_handle() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let near = connect(&cluster).open("gpu", 1).expect("new");
    let _pass = near.acquire().expect("a slot is free");
    let mut waiting =
        Box::pin(connect(&cluster).open("gpu", 1).expect("the hall exists").acquire_async());
    assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    await_queue(&near, 1);
    let begun = Instant::now();
    drop(waiting);
    // If the task did not leave the queue, the drop would wait for the command timeout.
    assert!(begun.elapsed() < TIMEOUT / 2, "it took {:?}", begun.elapsed());
    assert_eq!(near.waiting().expect("reachable"), 0);
}

#[test]
fn waiters_of_a_busy_hall_get_the_slot_of_a_vanished_holder() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let hall = connect(&cluster).open("gpu", 2).expect("new");
    let dead = r#"{"claim":"dead","slot":1,"ttl":3000,"host":"x","pid":1,"user":"u","command":"c","since":0}"#;
    let put = cluster.etcdctl(&["put", "/hallpass/gpu/slots/0001", dead]).output();
    assert!(put.expect("it runs").status.success());
    let seen = Mutex::new(Vec::new());
    let begun = Instant::now();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !seen.lock().expect("the thread does not panic").contains(&1)
                    && begun.elapsed() < TIMEOUT
                {
                    let pass = hall.acquire().expect("the waiter gets a slot");
                    seen.lock().expect("the thread does not panic").push(pass.slot());
                    thread::sleep(Duration::from_millis(50));
                    pass.release().expect("the pass is valid");
                }
            });
        }
    });
    let seen = seen.into_inner().expect("the thread does not panic");
    assert!(seen.contains(&1), "slot 1 was not used in {} passages", seen.len());
}

#[test]
fn a_hall_removed_by_force_and_created_again_waits_for_the_old_holder() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let client = connect_with_short_ttl(&cluster);
    let pass = client.open("gpu", 1).expect("new").acquire().expect("a slot is free");
    client.remove("gpu", true).expect("by force");
    assert_eq!(client.names().expect("reachable"), Vec::<String>::new());
    let next = client
        .open("gpu", 1)
        .expect("the hall can be created again")
        .acquire()
        .expect("the waiter gets a slot");
    assert!(!pass.is_valid() && next.is_valid() && next.token() > pass.token());
}

/// All halls of a cluster share the revisions. If another hall changes after a waiter has read its hall and before it
/// watches its hall, the waiter reads its hall again.
#[test]
fn waiters_keep_their_order_on_a_busy_cluster() {
    const WAITERS: usize = 8;
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let hall = connect(&cluster).open("gpu", 1).expect("new");
    let elsewhere = connect(&cluster).open("elsewhere", 1).expect("new");
    let (order, over) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(SeqCst) {
                elsewhere.acquire().expect("a slot is free").release().expect("the pass is valid");
            }
        });
        let first = hall.acquire().expect("a slot is free");
        let (hall, order) = (&hall, &order);
        let waiters = (0..WAITERS).map(|number| {
            let waiter = scope.spawn(move || {
                let pass = hall.acquire().expect("the waiter gets a slot");
                order.lock().expect("the thread does not panic").push(number);
                pass.release().expect("the pass is valid");
            });
            await_queue(hall, number + 1);
            waiter
        });
        let waiters: Vec<_> = waiters.collect();
        first.release().expect("the pass is valid");
        for waiter in waiters {
            waiter.join().expect("the thread does not panic");
        }
        over.store(true, SeqCst);
    });
    assert_eq!(order.into_inner().expect("the thread does not panic"), Vec::from_iter(0..WAITERS));
}
