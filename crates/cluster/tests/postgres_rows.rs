//! Tests of operators who delete rows of the tables, or whole tables, by hand.
#![cfg(feature = "postgres")]

mod common;

use std::{sync::mpsc, thread};

use common::{await_queue, eventually, with_short_ttl};
use hallpass_cluster::Cluster;
use hallpass_testbed::{PostgresServer, TIMEOUT, postgres};

/// The claims in the tables have no leases any more, so nobody can give them a slot.
#[test]
fn a_hall_recovers_after_its_leases_were_deleted() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    let open = || {
        let connected = Cluster::connect(with_short_ttl(&server.url())).expect("valid options");
        connected.open("gpu", 1).expect("reachable")
    };
    let (near, far) = (open(), open());
    let pass = near.acquire().expect("a slot is free");
    let (done, next) = mpsc::channel();
    thread::spawn(move || done.send(far.acquire().map(|pass| (pass.slot(), far))));
    await_queue(&near, 1);
    // Another waiter has died since, and it was the first in the queue.
    server.psql(
        "DELETE FROM hallpass.leases;
         INSERT INTO hallpass.records SELECT hall, hall || '/queue/1-dead', value, 2, 2, 1
         FROM hallpass.records WHERE key LIKE '%/queue/%'",
    );
    await_queue(&near, 2);
    let leases = || server.psql("SELECT count(*) FROM hallpass.leases WHERE id <> 1");
    eventually(|| leases().trim() == "2");
    assert!(pass.is_valid(), "the holder keeps its slot");
    pass.release().expect("the pass is valid");
    let next = next.recv_timeout(TIMEOUT).expect("the waiter gets the slot");
    next.expect("reachable");
    eventually(|| near.waiting().expect("reachable") == 0);
}

#[test]
fn a_table_that_was_dropped_is_created_again() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    let open = || {
        let connected = Cluster::connect(with_short_ttl(&server.url())).expect("valid options");
        connected.open("gpu", 1)
    };
    let hall = open().expect("reachable");
    for table in ["leases", "records", "halls"] {
        let pass = hall.acquire().expect("the waiter gets the slot");
        server.psql(&format!("DROP TABLE hallpass.{table}"));
        // A holder and a newcomer.
        let _ = pass.release();
        eventually(|| open().is_ok());
    }
    hall.acquire().expect("the waiter gets the slot").release().expect("the pass is valid");
}
