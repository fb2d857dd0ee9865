//! Tests of processes that share a connection to PostgreSQL. Each connection to the cluster stands for a process: it has
//! its own thread and its own options, and knows nothing of the others.
#![cfg(feature = "postgres")]

mod common;

use std::{
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use common::{await_queue, eventually, options};
use hallpass_cluster::{Cluster, ClusterOptions, ClusterPass, Error, StoreOptions};
use hallpass_testbed::{PostgresServer, TIMEOUT, postgres};

/// Returns the options of a process that shares its connection.
fn sharing(url: &str) -> ClusterOptions {
    let mut options = ClusterOptions { ttl: Duration::from_secs(20), ..options(url) };
    match &mut options.store {
        StoreOptions::Postgres(postgres) => postgres.share_connection = true,
        other => panic!("{other:?}"),
    }
    options
}

/// A process that waits for a slot.
struct Waiter {
    cluster: Cluster,
    pass: Receiver<Result<ClusterPass, Error>>,
}

impl Waiter {
    fn start(url: &str, hall: &str) -> Waiter {
        let cluster = Cluster::connect(sharing(url)).expect("valid options");
        let hall = cluster.open(hall, 1).expect("reachable");
        let (done, pass) = mpsc::channel();
        thread::spawn(move || {
            let _ = done.send(hall.acquire());
        });
        Waiter { cluster, pass }
    }

    fn pass(&self) -> ClusterPass {
        self.pass.recv_timeout(TIMEOUT).expect("it gets the slot").expect("reachable")
    }
}

fn connections(server: &PostgresServer) -> usize {
    let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hallpass'";
    server.psql(count).parse().expect("a number")
}

/// A server with a holder, which has a connection of its own, and waiters in the order of their arrival.
fn crowd(count: usize) -> (PostgresServer, ClusterPass, Vec<Waiter>) {
    let server = PostgresServer::start();
    let cluster = Cluster::connect(options(&server.url())).expect("valid options");
    let hall = cluster.open("crowd", 1).expect("reachable");
    let pass = hall.acquire().expect("reachable");
    let mut waiters = Vec::new();
    for number in 0..count {
        waiters.push(Waiter::start(&server.url(), "crowd"));
        await_queue(&hall, number + 1);
    }
    (server, pass, waiters)
}

#[test]
fn waiting_processes_share_one_connection_and_get_the_slot_in_their_order() {
    let Some(()) = postgres() else { return };
    let (server, pass, waiters) = crowd(20);
    eventually(|| connections(&server) <= 2);
    let mut token = pass.token();
    pass.release().expect("reachable");
    for waiter in waiters {
        let pass = waiter.pass();
        assert!(pass.token() > token, "{} {token}", pass.token());
        token = pass.token();
        pass.release().expect("reachable");
        // The process ends. It may be the one whose connection the others use.
        drop(waiter);
        // The connection of a process that has just ended may still be there.
        eventually(|| connections(&server) <= 4);
    }
}

#[test]
fn if_the_sharing_process_ends_without_a_word_another_one_takes_its_place() {
    let Some(()) = postgres() else { return };
    let (server, pass, mut waiters) = crowd(10);
    eventually(|| connections(&server) <= 2);
    // The first waiter was the first to wait for long, so it is the one with the connection. Nobody uses its pass.
    let first = waiters.remove(0);
    let close = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'hallpass'";
    server.psql(close);
    drop(first.cluster);
    pass.release().expect("reachable again");
    drop(first.pass);
    for waiter in waiters {
        waiter.pass().release().expect("reachable");
    }
}

#[test]
fn a_holder_soon_has_a_connection_of_its_own() {
    let Some(()) = postgres() else { return };
    let (server, pass, mut waiters) = crowd(3);
    eventually(|| connections(&server) <= 2);
    // The first process to wait for long shares its connection. It gets the slot first, and stays.
    pass.release().expect("reachable");
    let relay = waiters.remove(0);
    relay.pass().release().expect("reachable");
    let holder = waiters.remove(0);
    let pass = holder.pass();
    eventually(|| connections(&server) >= 2);
    // So the holder does not need the relay.
    drop(relay);
    assert!(pass.is_valid());
    pass.release().expect("reachable");
    waiters.remove(0).pass().release().expect("reachable");
}
