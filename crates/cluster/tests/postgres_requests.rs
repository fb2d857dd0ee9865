//! Tests of how many requests PostgreSQL gets.
#![cfg(feature = "postgres")]

mod common;

use std::{thread, time::Duration};

use common::{await_queue, options};
use hallpass_cluster::Cluster;
use hallpass_testbed::{PostgresServer, postgres};

/// A hand-over takes two requests: the holder writes, and its successor reads its own record. The statement that reads
/// a hall also reads the control file of the server. So if users lose the right to read this file, a hand-over still
/// works only if it does not use this statement.
#[test]
fn a_holder_that_leaves_only_writes() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    server.psql("CREATE ROLE joe LOGIN; GRANT CREATE ON DATABASE postgres TO joe");
    let joe = server.url().replacen("postgres@", "joe@", 1);
    let open = || {
        let connected = Cluster::connect(options(&joe)).expect("valid options");
        connected.open("gpu", 1).expect("reachable")
    };
    let (near, far) = (open(), open());
    let pass = near.acquire().expect("a slot is free");
    thread::scope(|scope| {
        let successor = scope.spawn(|| far.acquire().expect("the holder gives its slot away"));
        // The holder must read the hall on its own. So the test watches the queue through the other process.
        await_queue(&far, 1);
        // Time for the holder to notice that its queue is no longer empty.
        thread::sleep(Duration::from_millis(500));
        server.psql("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC");
        near.status().expect_err("the hall cannot be read");
        pass.release().expect("the holder has read the hall before");
        let pass = successor.join().expect("no panic");
        assert_eq!(pass.slot(), 0);
        server.psql("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC");
        pass.release().expect("the pass is valid");
    });
}
