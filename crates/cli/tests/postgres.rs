//! Tests of `hallpass` with halls on PostgreSQL.
#![cfg(feature = "postgres")]

mod common;

use std::fs;

use common::{Halls, cluster::stderr_of, eventually, send, text};
use hallpass_testbed::{PostgresServer, postgres};
use rustix::process::Signal;

/// Returns the halls on the server that all tests share. Each test has its own names.
fn halls() -> Option<Halls> {
    postgres().map(|()| Halls::on(&PostgresServer::shared().url()))
}

#[test]
fn a_command_gets_its_slot_and_a_growing_token_in_its_environment() {
    let Some(halls) = halls() else { return };
    let show = "echo $HALLPASS_SLOT $HALLPASS_SLOTS $HALLPASS_TOKEN";
    let run = |options: &[&str]| {
        let printed = halls.prints("run", &[options, &["gpu", "sh", "-c", show]].concat());
        let words: Vec<u64> =
            printed.split_whitespace().map(|word| word.parse().expect("a number")).collect();
        (words[0], words[1], words[2])
    };
    let (slot, slots, first) = run(&["-k", "2"]);
    assert_eq!((slot, slots), (0, 2));
    let holder = halls.hold(&[], "gpu");
    let (slot, _, second) = run(&[]);
    assert_eq!(slot, 1);
    assert!(first < second);
    assert_eq!(holder.leave().0, Some(0));
}

#[test]
fn a_waiting_command_starts_when_the_slot_is_free() {
    let Some(halls) = halls() else { return };
    let holder = halls.hold(&[], "queue");
    assert!(!halls.is_free("queue"));
    let waiter = halls.start(&["queue", "echo", "my turn"]);
    eventually("it waits", || halls.status("queue")["waiting"] == 1);
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(waiter.leave(), (Some(0), "my turn\n".into()));
    assert!(halls.prints("list", &[]).contains("queue"));
    halls.prints("rm", &["queue"]);
    assert!(!halls.prints("list", &[]).contains("queue"));
}

/// Returns how many waiting commands there are in the test of connections.
fn crowd_size() -> usize {
    std::env::var("HALLPASS_WAITERS").map_or(12, |text| text.parse().expect("a number"))
}

#[test]
fn waiting_commands_share_a_connection_and_outlive_the_command_that_has_it() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    let halls = Halls::on(&server.url());
    let connections = || {
        let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hallpass'";
        server.psql(count).parse::<usize>().expect("a number")
    };
    // If a waiter gets no processor time for a whole ttl, it loses its position. Many waiters start slowly, so the ttl
    // must not be short.
    let ttl = "10s";
    let holder = halls.hold(&["--ttl", ttl], "crowd");
    let waiter = |_| halls.start(&["--ttl", ttl, "crowd", "echo", "my turn"]);
    let mut waiters: Vec<_> = (0..1).map(waiter).collect();
    eventually("the first one waits", || halls.status("crowd")["waiting"] == 1);
    waiters.extend((1..crowd_size()).map(waiter));
    eventually("all wait", || halls.status("crowd")["waiting"] == crowd_size());
    eventually("they share a connection", || connections() <= 3);
    // The first waiter has waited for the longest time, so the others use its connection. The first waiter hangs from
    // now on.
    let first = waiters.remove(0);
    let keeper = first.keeper();
    send(keeper, Signal::STOP);
    assert_eq!(holder.leave().0, Some(0));
    let mut most = 0;
    for waiter in waiters {
        assert_eq!(waiter.leave(), (Some(0), "my turn\n".into()));
        most = most.max(connections());
    }
    // Two or three of these connections are shared. The others belong to commands that are just starting or ending.
    assert!(most <= 8, "{most} connections");
    send(keeper, Signal::CONT);
    assert_eq!(first.leave(), (Some(0), "my turn\n".into()));
}

#[test]
fn if_the_command_that_shares_its_connection_is_killed_another_one_takes_its_place() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    let halls = Halls::on(&server.url());
    let holder = halls.hold(&["--ttl", "4s"], "crowd");
    let start = || halls.start(&["--ttl", "4s", "crowd", "echo", "my turn"]);
    let mut first = start();
    eventually("the first one waits", || halls.status("crowd")["waiting"] == 1);
    let socket = || {
        let files = fs::read_dir(halls.path().join("hallpass-sockets")).into_iter().flatten();
        let mut names = files.map(|file| file.expect("readable").file_name());
        names.any(|name| name.to_string_lossy().ends_with(".0"))
    };
    eventually("it shares its connection", socket);
    let waiters: Vec<_> = (0..5).map(|_| start()).collect();
    eventually("all wait", || halls.status("crowd")["waiting"] == 6);
    // The keeper has the connection.
    send(first.keeper(), Signal::KILL);
    first.kill_hallpass();
    assert_eq!(holder.leave().0, Some(0));
    for waiter in waiters {
        assert_eq!(waiter.leave(), (Some(0), "my turn\n".into()));
    }
}

/// Many commands may start at the same time, and the server may have fewer connections.
#[test]
fn a_command_that_is_willing_to_wait_waits_for_a_connection() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    assert_eq!(Halls::on(&server.url()).run(&["-k", "1", "full", "true"]), Some(0));
    server.psql("CREATE ROLE joe LOGIN CONNECTION LIMIT 0");
    server.psql("GRANT ALL ON SCHEMA hallpass TO joe");
    server.psql("GRANT ALL ON ALL TABLES IN SCHEMA hallpass TO joe");
    let halls = Halls::on(&server.url().replacen("postgres@", "joe@", 1));
    let mut patient = halls.start(&["full", "echo", "my turn"]);
    let impatient = halls.output("run", &["-n", "full", "true"]);
    assert_eq!(impatient.status.code(), Some(125));
    assert!(
        stderr_of(&impatient).contains("is busy: too many connections"),
        "{}",
        stderr_of(&impatient)
    );
    // By now, the first command has tried for longer than the time limit for the first answer.
    assert_eq!(patient.process.try_wait().expect("it is a child"), None);
    server.psql("ALTER ROLE joe CONNECTION LIMIT 10");
    assert_eq!(patient.leave(), (Some(0), "my turn\n".into()));
}

#[test]
fn bad_urls_and_unreachable_servers_are_explained() {
    let refused = |url: &str| {
        let output = Halls::on(url).output("run", &["x", "true"]);
        assert_eq!(output.status.code(), Some(125), "{output:?}");
        text(&output.stderr)
    };
    let secret = refused("postgres://joe:topsecret@localhost/x");
    assert!(secret.contains("PGPASSWORD") && !secret.contains("topsecret"), "{secret}");
    let dead = refused("postgres://joe@127.0.0.1:1/x");
    assert!(dead.contains("PostgreSQL cannot be reached at 127.0.0.1:1"), "{dead}");
    let memory = refused("memory://x");
    assert!(memory.contains("outlives"), "{memory}");
    let Some(halls) = halls() else { return };
    let missing = halls.output("status", &["no-such-hall"]);
    assert!(
        stderr_of(&missing).contains("there is no hall `no-such-hall`"),
        "{}",
        stderr_of(&missing)
    );
}
