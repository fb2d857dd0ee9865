//! Tests of halls on PostgreSQL: servers that die, failovers with and without lost commits, rights, and connections.
#![cfg(feature = "postgres")]

mod common;

use std::{
    fs,
    net::TcpListener,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use common::{await_queue, eventually, options, wait};
use hallpass_cluster::{Cluster, ClusterHall, ClusterOptions, Error, Loss, StoreOptions};
use hallpass_testbed::{PostgresServer, Proxy, TIMEOUT, postgres};

fn connect(url: &str) -> Cluster {
    Cluster::connect(options(url)).expect("valid options")
}

/// Waits for a slot in another thread. Returns a channel that gets the token.
fn token_of_next(hall: &ClusterHall) -> mpsc::Receiver<Result<u64, Error>> {
    let (done, token) = mpsc::channel();
    let hall = hall.clone();
    thread::spawn(move || {
        let pass = hall.acquire();
        let _ = done.send(pass.map(|pass| pass.token()));
    });
    token
}

#[test]
fn holders_and_waiters_outlive_a_server_that_is_killed_and_started_again() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    let cluster = connect(&server.url());
    let hall = cluster.open("migrate", 1).expect("reachable");
    let pass = hall.acquire().expect("reachable");
    let next = token_of_next(&hall);
    await_queue(&hall, 1);
    server.kill();
    server.start_again();
    assert!(pass.is_valid());
    let token = pass.token();
    pass.release().expect("reachable again");
    let next = next.recv_timeout(TIMEOUT).expect("the waiter still waits").expect("reachable");
    assert!(next > token, "{next} {token}");
}

/// Two servers, and a hall on them.
struct Pair {
    primary: PostgresServer,
    standby: PostgresServer,
    cluster: Cluster,
    hall: ClusterHall,
}

impl Pair {
    /// Starts a server and a standby that has the hall.
    fn start() -> Pair {
        let primary = PostgresServer::start();
        let standby = primary.standby();
        let url = PostgresServer::url_through(&[primary.address(), standby.address()]);
        let cluster = connect(&url);
        let hall = cluster.open("migrate", 1).expect("reachable");
        Pair { primary, standby, cluster, hall }
    }

    /// Waits until the standby has everything that was committed.
    fn catch_up(&self) {
        let at = self.primary.psql("SELECT pg_current_wal_insert_lsn()");
        let behind = format!("SELECT pg_last_wal_replay_lsn() < '{at}'");
        eventually(|| self.standby.psql(&behind) == "f");
    }

    /// Replaces the primary server with the standby.
    fn fail_over(&self) {
        self.primary.kill();
        self.standby.promote();
    }
}

#[test]
fn a_pass_outlives_a_failover_that_loses_nothing() {
    let Some(()) = postgres() else { return };
    let pair = Pair::start();
    let pass = pair.hall.acquire().expect("reachable");
    let next = token_of_next(&pair.hall);
    await_queue(&pair.hall, 1);
    pair.catch_up();
    pair.fail_over();
    await_queue(&pair.hall, 1);
    assert!(pass.is_valid());
    let token = pass.token();
    pass.release().expect("the new server knows the pass");
    let next = next.recv_timeout(TIMEOUT).expect("the waiter still waits").expect("reachable");
    assert!(next > token, "{next} {token}");
}

#[test]
fn a_failover_that_loses_a_pass_is_noticed_even_if_revisions_go_on() {
    let Some(()) = postgres() else { return };
    let pair = Pair::start();
    pair.catch_up();
    // From here on, the standby gets nothing.
    pair.standby.psql("ALTER SYSTEM SET primary_conninfo = ''; ");
    pair.standby.psql("SELECT pg_reload_conf()");
    eventually(|| pair.standby.psql("SELECT count(*) FROM pg_stat_wal_receiver") == "0");
    let pass = pair.hall.acquire().expect("reachable");
    let lost = pass.token();
    pair.fail_over();
    // Another process uses the new server first. So the revisions of this server are not smaller than those that the
    // holder has seen.
    let other = connect(&pair.standby.url());
    let hall = other.open("migrate", 1).expect("reachable");
    hall.resize(2).expect("reachable");
    assert_eq!(wait(pass.lost()), Loss::HistoryLost);
    hall.resize(1).expect("reachable");
    let token = hall.acquire().expect("reachable").token();
    assert!(token > lost, "tokens never shrink: {token} {lost}");
    drop(pair.cluster);
}

#[test]
fn a_server_that_waits_for_its_standby_confirms_nothing() {
    let Some(()) = postgres() else { return };
    let Pair { primary, standby, .. } = Pair::start();
    require_standby(&primary, "*");
    let count = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    eventually(|| primary.psql(count) == "1");
    let ttl = Duration::from_secs(10);
    let options = ClusterOptions { ttl, ..options(&primary.url()) };
    let cluster = Cluster::connect(options).expect("valid options");
    let pass = cluster.open("sync", 1).expect("reachable").acquire().expect("reachable");
    // Another server may have taken over from here on.
    standby.kill();
    assert_eq!(wait(pass.lost()), Loss::OutOfTouch);
    require_standby(&primary, "");
}

/// Makes every commit wait until this standby has it; with an empty name, no commit waits.
fn require_standby(server: &PostgresServer, name: &str) {
    server.psql(&format!("ALTER SYSTEM SET synchronous_standby_names = '{name}'"));
    server.psql("SELECT pg_reload_conf()");
    eventually(|| server.psql("SHOW synchronous_standby_names") == name);
}

#[test]
fn commits_that_hang_do_not_use_up_the_connections() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    // The shorter the ttl, the sooner hallpass gives up on a statement.
    let ttl = Duration::from_secs(2);
    let options = ClusterOptions { ttl, ..options(&server.url()) };
    let cluster = Cluster::connect(options).expect("valid options");
    let hall = cluster.open("hang", 1).expect("reachable");
    require_standby(&server, "absent");
    let token = token_of_next(&hall);
    let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hallpass'";
    let hanging = "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    for _ in 0..20 {
        eventually(|| server.psql(hanging) == "t");
        thread::sleep(Duration::from_millis(200));
        // The server process of a connection that was just closed may not have ended yet.
        let count: usize = server.psql(count).parse().expect("a number");
        assert!(count <= 3, "{count} connections");
    }
    require_standby(&server, "");
    token.recv_timeout(TIMEOUT).expect("commits succeed again").expect("reachable");
}

#[test]
fn a_commit_cancelled_while_it_waits_for_the_standby_confirms_nothing() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    let cluster = connect(&server.url());
    let hall = cluster.open("cancelled", 1).expect("reachable");
    require_standby(&server, "absent");
    let token = token_of_next(&hall);
    // A cancelled commit succeeds on this server, and is lost if the standby takes over.
    let cancel = "SELECT count(pg_cancel_backend(pid)) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    for _ in 0..10 {
        eventually(|| {
            assert!(token.try_recv().is_err(), "confirmed without the standby");
            server.psql(cancel) == "t"
        });
    }
    require_standby(&server, "");
    token.recv_timeout(TIMEOUT).expect("commits succeed again").expect("reachable");
}

#[test]
fn a_server_behind_a_cut_network_is_reported_and_found_again() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::shared();
    let path = Proxy::before_address(server.address());
    let url = PostgresServer::url_through(&[path.address()]);
    let ttl = Duration::from_secs(10);
    let cluster = Cluster::connect(ClusterOptions { ttl, ..options(&url) }).expect("valid options");
    let hall = cluster.open("cut", 1).expect("reachable");
    let pass = hall.acquire().expect("reachable");
    let next = token_of_next(&hall);
    await_queue(&hall, 1);
    path.cut();
    assert_eq!(wait(pass.lost()), Loss::OutOfTouch);
    path.heal();
    drop(pass);
    next.recv_timeout(TIMEOUT).expect("the waiter still waits").expect("reachable");
}

/// A connection takes several round trips, and one round trip takes longer than a tenth of the ttl.
#[test]
fn a_holder_in_a_slow_network_keeps_its_pass_even_with_a_short_ttl() {
    let Some(()) = postgres() else { return };
    let path = Proxy::before_address(PostgresServer::shared().address());
    path.delay(Duration::from_millis(375));
    let url = PostgresServer::url_through(&[path.address()]);
    let ttl = Duration::from_secs(5);
    let cluster = Cluster::connect(ClusterOptions { ttl, ..options(&url) }).expect("valid options");
    let hall = cluster.open("slow", 1).expect("reachable");
    let pass = hall.acquire().expect("reachable");
    // The waiter is in a quick network. Otherwise it might not connect in time on a busy machine.
    let direct = options(&PostgresServer::shared().url());
    let direct = Cluster::connect(ClusterOptions { ttl, ..direct }).expect("valid options");
    let direct = direct.open("slow", 1).expect("reachable");
    let next = token_of_next(&direct);
    await_queue(&direct, 1);
    let begun = Instant::now();
    while begun.elapsed() < ttl + ttl / 2 {
        assert!(pass.is_valid(), "lost after {:?}", begun.elapsed());
        thread::sleep(Duration::from_millis(20));
    }
    pass.release().expect("the pass is valid");
    next.recv_timeout(TIMEOUT).expect("the waiter still waits").expect("reachable");
}

/// With the shortest ttl, 2 s, this is the longest round trip for which the documentation promises that halls work.
#[test]
fn a_short_ttl_works_in_a_network_with_a_round_trip_of_300_ms() {
    let Some(()) = postgres() else { return };
    let path = Proxy::before_address(PostgresServer::shared().address());
    path.delay(Duration::from_millis(150));
    let url = PostgresServer::url_through(&[path.address()]);
    let ttl = Duration::from_secs(2);
    let far = || Cluster::connect(ClusterOptions { ttl, ..options(&url) }).expect("valid options");
    let hall = far().open("far", 1).expect("reachable");
    let pass = hall.acquire().expect("reachable");
    let other = far().open("far", 1).expect("reachable");
    let next = token_of_next(&other);
    await_queue(&hall, 1);
    let begun = Instant::now();
    while begun.elapsed() < 4 * ttl {
        assert!(pass.is_valid(), "lost after {:?}", begun.elapsed());
        thread::sleep(Duration::from_millis(20));
    }
    let token = pass.token();
    pass.release().expect("the pass is valid");
    let next = next.recv_timeout(TIMEOUT).expect("the waiter still waits").expect("reachable");
    assert!(next > token, "{next} {token}");
}

#[test]
fn a_server_without_a_free_connection_is_busy() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    connect(&server.url()).names().expect("reachable");
    server.psql("CREATE ROLE joe LOGIN CONNECTION LIMIT 0");
    let url = server.url().replacen("postgres@", "joe@", 1);
    let options = ClusterOptions { command_timeout: Duration::from_secs(1), ..options(&url) };
    let error =
        Cluster::connect(options).expect("valid options").names().expect_err("no connection");
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    assert!(error.to_string().contains("too many connections"), "{error}");
}

/// The server may be a standby. Then only the other server can help, and the user has to start it.
#[test]
fn a_server_without_a_free_connection_does_not_hide_that_another_one_is_down() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    connect(&server.url()).names().expect("reachable");
    server.psql("CREATE ROLE joe LOGIN CONNECTION LIMIT 0");
    let down = Proxy::before_address(server.address());
    down.refuse();
    for addresses in [[server.address(), down.address()], [down.address(), server.address()]] {
        let url = PostgresServer::url_through(&addresses).replacen("postgres@", "joe@", 1);
        let options = ClusterOptions { command_timeout: Duration::from_secs(1), ..options(&url) };
        let error = Cluster::connect(options).expect("valid").names().expect_err("no connection");
        assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    }
}

#[test]
fn a_server_that_accepts_connections_and_says_nothing_does_not_hide_the_next_one() {
    let Some(()) = postgres() else { return };
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let first = silent.local_addr().expect("it has an address");
    let url = PostgresServer::url_through(&[first, PostgresServer::shared().address()]);
    let ttl = Duration::from_secs(10);
    let cluster = Cluster::connect(ClusterOptions { ttl, ..options(&url) }).expect("valid options");
    let hall = cluster.open("silent", 1).expect("the second server answers");
    hall.acquire().expect("reachable").release().expect("reachable");
}

#[test]
fn settings_of_a_user_do_not_weaken_commits() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    connect(&server.url()).names().expect("reachable");
    server.psql("ALTER ROLE postgres SET synchronous_commit = off");
    server.psql("ALTER ROLE postgres SET default_transaction_isolation = serializable");
    // A trigger records the settings of each step.
    server.psql("CREATE TABLE public.seen (setting text)");
    server.psql(
        "CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         INSERT INTO public.seen VALUES (current_setting('synchronous_commit')), \
         (current_setting('transaction_isolation')); RETURN NULL; END $$",
    );
    server.psql(
        "CREATE TRIGGER note AFTER UPDATE ON hallpass.halls \
         FOR EACH ROW EXECUTE FUNCTION public.note()",
    );
    let hall = connect(&server.url()).open("settings", 1).expect("reachable");
    hall.acquire().expect("reachable").release().expect("reachable");
    let seen = "SELECT string_agg(DISTINCT setting, ', ' ORDER BY setting) FROM public.seen";
    assert_eq!(server.psql(seen), "on, read committed");
}

#[test]
fn a_caller_that_gives_up_on_a_hall_that_changes_all_the_time_does_not_try_for_long() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    let ttl = Duration::from_secs(2);
    let cluster = Cluster::connect(ClusterOptions { ttl, ..options(&server.url()) });
    let hall = cluster.expect("valid options").open("wild", 1).expect("reachable");
    // A trigger prevents each change of the hall, as if another process were faster. A sequence counts the attempts.
    server.psql("CREATE SEQUENCE public.attempts");
    server.psql(
        "CREATE FUNCTION public.prevent() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         PERFORM nextval('public.attempts'), pg_sleep(0.02); RETURN NULL; END $$",
    );
    server.psql(
        "CREATE TRIGGER prevent BEFORE UPDATE ON hallpass.halls \
         FOR EACH ROW EXECUTE FUNCTION public.prevent()",
    );
    let error = hall.try_acquire_for(Duration::from_millis(1500)).expect_err("no step succeeds");
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    let attempts: u32 =
        server.psql("SELECT last_value FROM public.attempts").parse().expect("a number");
    // A step that did not give up would make 100 attempts.
    assert!((1..60).contains(&attempts), "{attempts}");
}

#[test]
fn a_revision_that_leaves_no_room_for_another_is_refused() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    let cluster = connect(&server.url());
    cluster.open("damaged", 1).expect("reachable");
    for revision in [i64::MAX, -1] {
        server.psql(&format!("UPDATE hallpass.halls SET revision = {revision}"));
        let error = connect(&server.url()).open("damaged", 1).expect_err("a damaged row");
        assert!(error.to_string().contains("hallpass.halls"), "{error}");
    }
}

#[test]
fn a_user_needs_only_the_documented_rights() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    server.psql("CREATE ROLE joe LOGIN");
    let url = server.url().replacen("postgres@", "joe@", 1);
    let denied = connect(&url).open("migrate", 1).expect_err("joe may not create the tables");
    assert!(matches!(denied, Error::Denied { .. }), "{denied}");
    assert!(denied.to_string().contains("Rights in PostgreSQL"), "{denied}");
    // The superuser creates the tables, and gives joe the rights of docs/cluster.md.
    connect(&server.url()).names().expect("reachable");
    server.psql("GRANT USAGE ON SCHEMA hallpass TO joe");
    server.psql("GRANT SELECT ON hallpass.format TO joe");
    for table in ["halls", "records", "leases"] {
        server.psql(&format!("GRANT SELECT, INSERT, UPDATE, DELETE ON hallpass.{table} TO joe"));
    }
    let hall = connect(&url).open("migrate", 1).expect("joe has the rights");
    hall.acquire().expect("reachable").release().expect("reachable");
    server.psql("UPDATE hallpass.format SET version = 2");
    let other = connect(&url).open("migrate", 1).expect_err("another version of the tables");
    assert!(other.to_string().contains("version 2"), "{other}");
}

#[test]
fn holders_and_waiters_connect_with_the_password_that_their_file_contains_now() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    server.psql("CREATE ROLE joe LOGIN PASSWORD 'a-secret'");
    server.psql("GRANT CREATE ON DATABASE postgres TO joe");
    server.require_password("joe");
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(&file, "a-secret\n").expect("writable");
    let mut options = options(&server.url().replacen("postgres@", "joe@", 1));
    let StoreOptions::Postgres(postgres) = &mut options.store else { panic!("{options:?}") };
    // This password is valid only at first: the test changes it below. Then only the file has the valid password.
    postgres.password = Some("a-secret".into());
    postgres.password_file = Some(file.path().into());
    let open = || {
        let connected = Cluster::connect(options.clone()).expect("valid options");
        connected.open("gpu", 1).expect("it can be opened")
    };
    let (hall, other) = (open(), open());
    let pass = hall.acquire().expect("a slot is free");
    let next = token_of_next(&other);
    await_queue(&hall, 1);
    fs::write(&file, "another\n").expect("writable");
    server.psql("ALTER ROLE joe PASSWORD 'another'");
    server.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'joe'");
    pass.release().expect("the holder connects again");
    next.recv_timeout(TIMEOUT).expect("the wait ends").expect("the waiter connects again");
}

#[test]
fn many_waiters_of_a_process_share_one_connection() {
    let Some(()) = postgres() else { return };
    let server = PostgresServer::start();
    let cluster = connect(&server.url());
    let hall = cluster.open("crowd", 1).expect("reachable");
    let pass = hall.acquire().expect("reachable");
    let waiters: Vec<_> = (0..50).map(|_| token_of_next(&hall)).collect();
    await_queue(&hall, waiters.len());
    let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hallpass'";
    // At first, a second connection checks that notifications arrive.
    eventually(|| server.psql(count) == "1");
    let open = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";
    assert_eq!(server.psql(open), "0", "no transaction is open while a caller waits");
    pass.release().expect("reachable");
    let tokens: Vec<_> = waiters
        .into_iter()
        .map(|waiter| waiter.recv_timeout(TIMEOUT).expect("each gets the slot").expect("reachable"))
        .collect();
    assert_eq!(tokens.len(), 50);
}
