//! Tests of processes that share a connection to PostgreSQL. The process whose connection the others use is the
//! *relay*; the others are its *borrowers*. Each [`Cluster`] stands for a process: it has its own thread and its own
//! options, and is independent of the others.
#![cfg(feature = "postgres")]

mod common;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        LazyLock,
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

use common::{await_queue, eventually, options};
use hallpass_cluster::{Cluster, ClusterOptions, ClusterPass, Error, StoreOptions};
use hallpass_testbed::{PostgresServer, TIMEOUT, postgres};
use tempfile::TempDir;

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
    /// Keeps the connection until the process ends.
    _cluster: Cluster,
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
        Waiter { _cluster: cluster, pass }
    }

    fn pass(&self) -> ClusterPass {
        self.pass.recv_timeout(TIMEOUT).expect("it gets the slot").expect("reachable")
    }
}

/// Returns the PIDs of the server processes for hallpass, in ascending order.
fn connections(server: &PostgresServer) -> Vec<u32> {
    let list = "SELECT pid FROM pg_stat_activity WHERE application_name = 'hallpass' ORDER BY pid";
    server.psql(list).lines().map(|pid| pid.parse().expect("a number")).collect()
}

/// The directory of the sockets.
static RUNTIME: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    // SAFETY: every test does this first, and waits until it is done. So no other thread uses the environment.
    unsafe { env::set_var("XDG_RUNTIME_DIR", folder.path()) };
    folder
});

/// Makes the tests use a separate directory for sockets. Returns `None` if PostgreSQL is not installed.
fn start() -> Option<()> {
    LazyLock::force(&RUNTIME);
    postgres()
}

/// Returns the sockets of the relays of all tests.
fn sockets() -> Vec<PathBuf> {
    let files = fs::read_dir(RUNTIME.path().join("hallpass-sockets")).into_iter().flatten();
    let paths = files.map(|file| file.expect("readable").path());
    paths.filter(|path| path.extension().is_some_and(|number| number == "0")).collect()
}

/// Starts a process that connects to a socket. Returns the first line that the relay sends to this process; `None` if
/// the process cannot connect. The command line of the process begins with `wrapper`.
fn first_line(socket: &Path, wrapper: &[&str]) -> Option<String> {
    // A relay that has just ended has no socket.
    let script = "my $relay = IO::Socket::UNIX->new(Peer => $ARGV[0]) or exit 3; \
                  my $first = <$relay>; print $first // ''";
    let words = [wrapper, &["perl", "-MIO::Socket::UNIX", "-e"]].concat();
    let output = Command::new(words[0]).args(&words[1..]).arg(script).arg(socket).output();
    let output = output.expect("it runs");
    if output.status.code() == Some(3) {
        return None;
    }
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).expect("text"))
}

/// Starts a server, a holder with its own connection, and waiters that join the queue one after another.
fn crowd(count: usize) -> (PostgresServer, ClusterPass, Vec<Waiter>) {
    let server = PostgresServer::start();
    let (pass, waiters) = crowd_at(&server.url(), count);
    (server, pass, waiters)
}

/// Starts a holder and waiters as [`crowd`] does, on a server that runs already.
fn crowd_at(url: &str, count: usize) -> (ClusterPass, Vec<Waiter>) {
    let cluster = Cluster::connect(options(url)).expect("valid options");
    let hall = cluster.open("crowd", 1).expect("reachable");
    let pass = hall.acquire().expect("reachable");
    let mut waiters = Vec::new();
    for number in 0..count {
        waiters.push(Waiter::start(url, "crowd"));
        await_queue(&hall, number + 1);
        if number == 0 {
            // The first waiter becomes the relay after a quarter of a second.
            thread::sleep(Duration::from_secs(1));
        }
    }
    (pass, waiters)
}

#[test]
fn waiting_processes_share_one_connection_and_get_the_slot_in_their_order() {
    let Some(()) = start() else { return };
    let (server, pass, waiters) = crowd(20);
    eventually(|| connections(&server).len() <= 2);
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
        eventually(|| connections(&server).len() <= 4);
    }
}

#[test]
fn a_holder_soon_has_its_own_connection() {
    let Some(()) = start() else { return };
    let (server, pass, mut waiters) = crowd(3);
    pass.release().expect("reachable");
    // The first process to wait shares its connection.
    let relay = waiters.remove(0);
    let relay_pass = relay.pass();
    eventually(|| connections(&server).len() == 1);
    let shared = connections(&server);
    relay_pass.release().expect("reachable");
    let holder = waiters.remove(0);
    let pass = holder.pass();
    eventually(|| connections(&server).len() == 2);
    let own: Vec<_> =
        connections(&server).into_iter().filter(|pid| !shared.contains(pid)).collect();
    // The holder does not need the relay: it keeps the same connection.
    drop(relay);
    eventually(|| !connections(&server).contains(&shared[0]));
    assert!(own.iter().all(|pid| connections(&server).contains(pid)));
    assert!(pass.is_valid());
    pass.release().expect("reachable");
    waiters.remove(0).pass().release().expect("reachable");
}

#[test]
fn a_holder_that_cannot_connect_uses_the_relay_and_tries_again() {
    let Some(()) = start() else { return };
    let server = PostgresServer::start();
    server.psql("CREATE DATABASE crowds");
    let url = server.url();
    let (before, _) = url.rsplit_once('/').expect("a URL with a database");
    let (pass, mut waiters) = crowd_at(&format!("{before}/crowds"), 2);
    pass.release().expect("reachable");
    let relay = waiters.remove(0);
    let relay_pass = relay.pass();
    eventually(|| connections(&server).len() == 1);
    server.psql("ALTER DATABASE crowds ALLOW_CONNECTIONS false");
    relay_pass.release().expect("reachable");
    let pass = waiters[0].pass();
    // The holder tries to connect after a second, and then every two seconds.
    thread::sleep(Duration::from_secs(2));
    assert_eq!(connections(&server).len(), 1);
    server.psql("ALTER DATABASE crowds ALLOW_CONNECTIONS true");
    eventually(|| connections(&server).len() == 2);
    pass.release().expect("reachable");
}

#[test]
fn a_process_that_waits_for_a_second_pass_keeps_its_own_connection() {
    let Some(()) = start() else { return };
    let (server, pass, waiters) = crowd(1);
    let cluster = Cluster::connect(sharing(&server.url())).expect("valid options");
    let other = cluster.open("other", 1).expect("reachable");
    let other_pass = other.acquire().expect("reachable");
    // The connections of the first holder, of the relay, and of this process.
    eventually(|| connections(&server).len() == 3);
    let before = connections(&server);
    let hall = cluster.open("crowd", 1).expect("reachable");
    // A waiter without a pass uses the relay after a quarter of a second.
    assert!(hall.try_acquire_for(Duration::from_secs(2)).is_err());
    assert_eq!(connections(&server), before);
    other_pass.release().expect("reachable");
    pass.release().expect("reachable");
    waiters[0].pass().release().expect("reachable");
}

#[test]
fn a_relay_that_ends_cancels_the_statements_of_its_borrowers() {
    let Some(()) = start() else { return };
    let (server, pass, mut waiters) = crowd(1);
    pass.release().expect("reachable");
    let relay = waiters.remove(0);
    relay.pass().release().expect("reachable");
    eventually(|| connections(&server).len() == 1);
    let pid = connections(&server).remove(0);
    let lock = "DO $$ BEGIN LOCK TABLE hallpass.halls, hallpass.records, hallpass.leases; PERFORM pg_sleep(300); \
                EXCEPTION WHEN query_canceled THEN NULL; END $$";
    let locked = "FROM pg_stat_activity WHERE query LIKE 'DO %' AND wait_event = 'PgSleep'";
    let count = |rest: &str| server.psql(&format!("SELECT count(*) {rest}"));
    thread::scope(|scope| {
        scope.spawn(|| server.psql(lock));
        eventually(|| count(locked) == "1");
        let borrower = Cluster::connect(sharing(&server.url())).expect("valid options");
        let asked = scope.spawn(move || borrower.names());
        let hangs = format!("FROM pg_stat_activity WHERE pid = {pid} AND wait_event_type = 'Lock'");
        eventually(|| count(&hangs) == "1");
        drop(relay);
        eventually(|| !connections(&server).contains(&pid));
        assert_eq!(count(locked), "1");
        server.psql(&format!("SELECT pg_cancel_backend(pid) {locked}"));
        // The borrower connects to the server.
        asked.join().expect("no panic").expect("reachable");
    });
}

#[test]
fn a_relay_answers_no_process_of_another_user() {
    let Some(()) = start() else { return };
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped, because only root can start a process of another user");
    }
    let (_server, pass, waiters) = crowd(1);
    // The directory is closed to other users. But the user `nobody` gets the right to ignore that.
    let capability = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override", "--"];
    let nobody = [&["setpriv", "--reuid=65534", "--clear-groups"][..], &capability].concat();
    let answers =
        |socket: &PathBuf| first_line(socket, &[]).is_some_and(|line| line.contains("Hello"));
    eventually(|| {
        // The relays of other tests may end at any time.
        let Some(socket) = sockets().into_iter().find(answers) else { return false };
        let said = first_line(&socket, &nobody);
        assert!(said.as_deref().unwrap_or_default().is_empty(), "{socket:?}: {said:?}");
        said.is_some()
    });
    pass.release().expect("reachable");
    waiters[0].pass().release().expect("reachable");
}
