//! Tests of a database that someone changes by hand: rights, rows, tables and settings.
#![cfg(feature = "postgres")]

mod common;

use std::{sync::mpsc, thread, time::Duration};

use common::{await_queue, eventually, options, with_short_ttl};
use hallpass_cluster::{Cluster, ClusterOptions, Error};
use hallpass_testbed::{PostgresServer, TIMEOUT, postgres};

/// The records of the waiters (their *claims*) are bound to leases that are deleted, so nobody can give these waiters a
/// slot.
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
        // Both the holder and a newcomer use the table that is missing.
        let _ = pass.release();
        eventually(|| open().is_ok());
    }
    hall.acquire().expect("the waiter gets the slot").release().expect("the pass is valid");
}

/// The lease of a holder is over, and nobody has changed the hall since.
#[test]
fn a_user_who_may_only_read_sees_a_vanished_holder() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    let connect = |url: &str| Cluster::connect(options(url)).expect("valid options");
    let hall = connect(&server.url()).open("gpu", 1).expect("reachable");
    let pass = hall.acquire().expect("a slot is free");
    server.psql(
        "CREATE ROLE eve LOGIN;
         GRANT USAGE ON SCHEMA hallpass TO eve;
         GRANT SELECT ON ALL TABLES IN SCHEMA hallpass TO eve",
    );
    let reader = connect(&server.url().replacen("postgres@", "eve@", 1));
    let seen = reader.open_existing("gpu").expect("eve may read");
    assert!(seen.status().expect("reachable").holders[0].alive);
    server.psql("UPDATE hallpass.leases SET ends = clock_timestamp() - interval '1 s'");
    for _ in 0..2 {
        assert!(!seen.status().expect("eve may read").holders[0].alive);
    }
    drop(pass);
}

/// While a server waits for its standby, another server may have taken over. So the server must not even answer a request
/// that only reads.
#[test]
fn a_server_that_waits_for_a_standby_answers_no_step_that_reads() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    let options =
        ClusterOptions { command_timeout: Duration::from_secs(5), ..options(&server.url()) };
    let connected = Cluster::connect(options).expect("valid options");
    let hall = connected.open("gpu", 1).expect("a new hall can be created");
    hall.status().expect("reachable");
    let set_standby = |name: &str| {
        server.psql(&format!("ALTER SYSTEM SET synchronous_standby_names = '{name}'"));
        server.psql("SELECT pg_reload_conf()");
        eventually(|| server.psql("SHOW synchronous_standby_names") == name);
    };
    set_standby("nobody");
    let error = hall.status().expect_err("no standby confirms the commit");
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    set_standby("");
    eventually(|| hall.status().is_ok());
}
