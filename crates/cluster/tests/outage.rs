//! Tests of holders and waiters during restarts and outages, in slow networks, behind proxies, and on a cluster without
//! space; and of the connections and requests that they cause.

mod common;

use std::{
    env,
    process::{Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::{await_queue, connect, etcd_options, eventually, options};
use hallpass_cluster::{Cluster, ClusterHall, ClusterOptions, ClusterPass};
use hallpass_testbed::{EtcdCluster, Proxy, Storage, TIMEOUT, etcd};

/// Runs an `etcdctl` command, which must succeed.
fn etcdctl(cluster: &EtcdCluster, words: &[&str]) {
    let output = cluster.etcdctl(words).output().expect("it runs");
    assert!(output.status.success(), "{words:?}: {output:?}");
}

/// Waits for this time, and checks again and again that the passes are valid.
#[track_caller]
fn stay(passes: &[ClusterPass], time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        let lost = passes.iter().filter(|pass| !pass.is_valid()).count();
        assert_eq!(lost, 0, "passes lost after {:?}", begun.elapsed());
        thread::sleep(Duration::from_millis(20));
    }
}

/// A restart of a member makes the authentication tokens of its clients invalid, so all its clients log in again at
/// the same time. Each login keeps the member busy for a tenth of a second.
#[test]
fn holders_outlive_a_rolling_restart_of_a_cluster_with_passwords() {
    const HOLDERS: usize = 40;
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(3);
    for words in [
        &["user", "add", "root:secret"][..],
        &["user", "grant-role", "root", "root"],
        &["auth", "enable"],
    ] {
        etcdctl(&cluster, words);
    }
    let hall = |_| -> ClusterHall {
        let mut options = ClusterOptions::at(&cluster.url()).expect("a valid URL");
        options.command_timeout = TIMEOUT;
        etcd_options(&mut options).user = Some(("root".into(), "secret".into()));
        Cluster::connect(options)
            .expect("valid options")
            .open("gpu", HOLDERS)
            .expect("the hall exists")
    };
    let halls: Vec<_> = (0..HOLDERS).map(hall).collect();
    let passes: Vec<_> = halls.iter().map(|hall| hall.acquire().expect("a slot is free")).collect();
    for member in cluster.members() {
        member.kill();
        stay(&passes, Duration::from_secs(1));
        member.restart();
        let begun = Instant::now();
        while !member.is_healthy() {
            assert!(begun.elapsed() < TIMEOUT, "the member does not recover");
            stay(&passes, Duration::from_millis(20));
        }
        stay(&passes, Duration::from_secs(1));
    }
    stay(&passes, Duration::from_secs(4));
}

#[test]
fn clients_are_spread_over_the_members() {
    const CLIENTS: usize = 30;
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(3);
    let paths: Vec<_> = cluster.members().iter().map(Proxy::before).collect();
    let url = EtcdCluster::url_through(&paths);
    let connect = |_| Cluster::connect(options(&url)).expect("valid options");
    let clients: Vec<_> = (0..CLIENTS).map(connect).collect();
    for client in &clients {
        client.names().expect("reachable");
    }
    let counts: Vec<_> = paths.iter().map(Proxy::connections).collect();
    assert!(counts.iter().sum::<usize>() >= CLIENTS, "{counts:?}");
    // The probability that a member gets no client is one in 60,000.
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}

#[test]
fn waiters_cause_few_requests() {
    const WAITERS: usize = 60;
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let connected =
        Cluster::connect(ClusterOptions::at(&cluster.url()).expect("a valid URL")).expect("valid");
    let hall = connected.open("gpu", 1).expect("a new hall can be created");
    let pass = hall.acquire().expect("a slot is free");
    let mut waiters: Vec<_> = (0..WAITERS).map(|_| Box::pin(hall.acquire_async())).collect();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for waiter in &mut waiters {
        assert!(waiter.as_mut().poll(&mut context).is_pending());
    }
    await_queue(&connect(&cluster).open("gpu", 1).expect("the hall exists"), WAITERS);
    thread::sleep(Duration::from_secs(1));
    let (begun, before) = (Instant::now(), cluster.requests());
    thread::sleep(Duration::from_secs(14));
    let rate = (cluster.requests() - before) as f64 / begun.elapsed().as_secs_f64();
    // 300 waiters may cause 100 requests a second.
    assert!(rate <= WAITERS as f64 / 3.0, "{rate} requests a second");
    drop(waiters);
    drop(pass);
}

#[test]
fn a_holder_behind_a_grpc_proxy_keeps_its_pass() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let proxy = cluster.grpc_proxy();
    let ttl = Duration::from_secs(6);
    let options = ClusterOptions { ttl, ..options(&proxy.url()) };
    let hall = Cluster::connect(options)
        .expect("valid options")
        .open("gpu", 1)
        .expect("a new hall can be created");
    let pass = hall.acquire().expect("a slot is free");
    let near = connect(&cluster).open("gpu", 1).expect("the hall exists");
    stay(std::slice::from_ref(&pass), 2 * ttl);
    // The lease of the holder also lasts.
    assert!(near.status().expect("reachable").holders[0].alive);
    pass.release().expect("the pass is valid");
}

/// In this network a connection takes longer than a tenth of the ttl, and so does each answer.
#[test]
fn a_holder_in_a_slow_network_keeps_its_pass() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let path = Proxy::before(cluster.member(0));
    let ttl = Duration::from_secs(10);
    path.delay(ttl.mul_f64(0.075));
    let url = EtcdCluster::url_through(std::slice::from_ref(&path));
    let options = ClusterOptions { ttl, ..options(&url) };
    let hall = Cluster::connect(options)
        .expect("valid options")
        .open("gpu", 1)
        .expect("a new hall can be created");
    let pass = hall.acquire().expect("a slot is free");
    stay(std::slice::from_ref(&pass), ttl.mul_f64(1.2));
    pass.release().expect("the pass is valid");
}

/// A waiter needs several round trips until it is in the queue. A holder with the shortest ttl, 2 s, has to renew its
/// claim within 1.8 s.
#[test]
fn a_short_ttl_works_in_a_network_with_a_round_trip_of_300_ms() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let path = Proxy::before(cluster.member(0));
    path.delay(Duration::from_millis(150));
    let url = EtcdCluster::url_through(std::slice::from_ref(&path));
    let ttl = Duration::from_secs(2);
    let far = || Cluster::connect(ClusterOptions { ttl, ..options(&url) }).expect("valid options");
    let hall = far().open("gpu", 1).expect("a new hall can be created");
    let pass = hall.acquire().expect("a slot is free");
    let token = pass.token();
    let other = far().open("gpu", 1).expect("the hall exists");
    thread::scope(|scope| {
        let waiter = scope.spawn(|| other.try_acquire_for(TIMEOUT));
        await_queue(&hall, 1);
        stay(std::slice::from_ref(&pass), 4 * ttl);
        pass.release().expect("the pass is valid");
        let next = waiter.join().expect("no panic").expect("the waiter gets a slot");
        assert!(next.token() > token, "{} after {token}", next.token());
        stay(std::slice::from_ref(&next), 2 * ttl);
        next.release().expect("the pass is valid");
    });
}

/// The outage lasts for `HALLPASS_OUTAGE_SECONDS`. CI sets more than a minute.
#[test]
fn a_waiter_waits_until_its_time_limit_even_during_an_outage() {
    let Some(()) = etcd() else { return };
    let seconds =
        env::var("HALLPASS_OUTAGE_SECONDS").map_or(3, |text| text.parse().expect("a number"));
    let cluster = EtcdCluster::start(1);
    let path = Proxy::before(cluster.member(0));
    let url = EtcdCluster::url_through(std::slice::from_ref(&path));
    let options = ClusterOptions { ttl: common::SHORT_TTL, ..options(&url) };
    let far = Cluster::connect(options)
        .expect("valid options")
        .open("gpu", 1)
        .expect("a new hall can be created");
    let near = connect(&cluster).open("gpu", 1).expect("the hall exists");
    let pass = near.acquire().expect("a slot is free");
    thread::scope(|scope| {
        let waiter = scope.spawn(|| far.try_acquire_for(10 * TIMEOUT));
        await_queue(&near, 1);
        path.refuse();
        thread::sleep(Duration::from_secs(seconds));
        assert!(!waiter.is_finished(), "the waiter has given up");
        path.heal();
        pass.release().expect("the pass is valid");
        waiter
            .join()
            .expect("the thread does not panic")
            .expect("the waiter gets a slot")
            .release()
            .expect("the pass is valid");
    });
}

/// The store answers when the hall is opened, and cannot be reached when the waiter joins the queue.
#[test]
fn a_waiter_whose_first_request_fails_waits_until_its_time_limit() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let path = Proxy::before(cluster.member(0));
    let url = EtcdCluster::url_through(std::slice::from_ref(&path));
    let far = Cluster::connect(options(&url)).expect("valid options");
    far.open("gpu", 1).expect("a new hall can be created");
    let command_timeout = Duration::from_secs(5);
    let far = Cluster::connect(ClusterOptions { command_timeout, ..options(&url) });
    let far = far.expect("valid options").open("gpu", 1).expect("the hall exists");
    path.refuse();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| far.try_acquire_for(10 * TIMEOUT));
        let begun = Instant::now();
        while !waiter.is_finished() && begun.elapsed() < command_timeout * 2 {
            thread::sleep(Duration::from_millis(20));
        }
        path.heal();
        let pass = waiter.join().expect("the thread does not panic").expect("it gets the slot");
        pass.release().expect("the pass is valid");
    });
    // A caller that does not wait gets the error soon.
    path.refuse();
    far.try_acquire().expect_err("the store cannot be reached");
}

/// A member that has no space left refuses every request that might write.
#[test]
fn a_holder_outlives_a_cluster_without_space() {
    let Some(()) = etcd() else { return };
    let flags = ["--quota-backend-bytes=1000000"];
    let cluster = EtcdCluster::start_with(1, Storage::Memory, &flags);
    let ttl = Duration::from_secs(6);
    let options = ClusterOptions { ttl, ..options(&cluster.url()) };
    let hall = Cluster::connect(options)
        .expect("valid options")
        .open("gpu", 1)
        .expect("a new hall can be created");
    let pass = hall.acquire().expect("a slot is free");
    thread::scope(|scope| {
        let waiter = scope.spawn(|| hall.acquire());
        await_queue(&hall, 1);
        fill(&cluster);
        stay(std::slice::from_ref(&pass), 2 * ttl);
        assert!(!waiter.is_finished(), "the waiter has given up");
        make_space(&cluster);
        pass.release().expect("the pass is valid");
        waiter
            .join()
            .expect("the thread does not panic")
            .expect("the waiter gets a slot")
            .release()
            .expect("the pass is valid");
    });
}

/// A waiter whose claim is gone needs a new lease, which a member without space refuses.
#[test]
fn a_waiter_that_needs_a_new_claim_gives_up_in_time_without_space() {
    let Some(()) = etcd() else { return };
    let flags = ["--quota-backend-bytes=1000000"];
    let cluster = EtcdCluster::start_with(1, Storage::Memory, &flags);
    let hall = connect(&cluster).open("gpu", 1).expect("a new hall can be created");
    let pass = hall.acquire().expect("a slot is free");
    thread::scope(|scope| {
        let waiter = scope.spawn(|| hall.try_acquire_for(Duration::from_secs(8)));
        await_queue(&hall, 1);
        fill(&cluster);
        let lease = first_lease(&cluster, "queue").expect("the waiter has a claim");
        etcdctl(&cluster, &["lease", "revoke", &lease]);
        let begun = Instant::now();
        while !waiter.is_finished() && begun.elapsed() < Duration::from_secs(40) {
            thread::sleep(Duration::from_millis(5));
        }
        let in_time = waiter.is_finished();
        make_space(&cluster);
        pass.release().expect("the pass is valid");
        let result = waiter.join().expect("the thread does not panic");
        assert!(in_time && result.is_err(), "the waiter does not give up: {result:?}");
    });
}

/// Writes more than the cluster has space for. This needs several writes at the same time, because a member compares
/// the quota with an older size of its data.
fn fill(cluster: &EtcdCluster) {
    let large = "x".repeat(100_000);
    let is_refused = || {
        let put = |_| {
            let key = format!("fill/{}", fastrand::u64(..));
            let mut put = cluster.etcdctl(&["put", &key, &large]);
            put.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it runs")
        };
        let puts: Vec<_> = (0..16).map(put).collect();
        let ends = puts.into_iter().map(|put| put.wait_with_output().expect("it ends"));
        let refused =
            |end: &Output| String::from_utf8_lossy(&end.stderr).contains("space exceeded");
        ends.filter(refused).count() == 16
    };
    eventually(is_refused);
}

/// Frees the space that the keys below `fill/` take, as an operator would.
fn make_space(cluster: &EtcdCluster) {
    etcdctl(cluster, &["del", "--prefix", "fill/"]);
    let shown = cluster.etcdctl(&["get", "fill/", "--write-out", "json"]).output();
    let shown: serde_json::Value =
        serde_json::from_slice(&shown.expect("it runs").stdout).expect("JSON");
    let revision = shown["header"]["revision"].as_u64().expect("a revision").to_string();
    etcdctl(cluster, &["compact", "--physical", &revision]);
    etcdctl(cluster, &["defrag"]);
    etcdctl(cluster, &["alarm", "disarm"]);
}

#[test]
fn a_holder_whose_lease_ended_keeps_its_slot() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let ttl = Duration::from_secs(6);
    let options = ClusterOptions { ttl, ..options(&cluster.url()) };
    let hall = Cluster::connect(options)
        .expect("valid options")
        .open("gpu", 1)
        .expect("a new hall can be created");
    let near = connect(&cluster).open("gpu", 1).expect("the hall exists");
    let pass = hall.acquire().expect("a slot is free");
    let mut revoked = String::new();
    // Do this twice. The time that other processes counted after the first revocation must not count for the second.
    for _ in 0..2 {
        eventually(|| first_lease(&cluster, "inside").is_some_and(|lease| lease != revoked));
        revoked = first_lease(&cluster, "inside").expect("the holder has a claim");
        etcdctl(&cluster, &["lease", "revoke", &revoked]);
    }
    eventually(|| first_lease(&cluster, "inside").is_some_and(|lease| lease != revoked));
    let token = near.status().expect("reachable").holders[0].token;
    assert_eq!(token, Some(pass.token()), "it is still the same pass");
    stay(std::slice::from_ref(&pass), ttl.mul_f64(1.5));
    pass.release().expect("the pass is valid");
    assert_eq!(near.available().expect("reachable"), 1);
}

/// Returns the lease of the first claim in this part of the hall; `None` if there is no claim.
fn first_lease(cluster: &EtcdCluster, part: &str) -> Option<String> {
    let prefix = format!("/hallpass/gpu/{part}/");
    let words = ["get", "--prefix", &prefix, "--write-out", "json"];
    let found = cluster.etcdctl(&words).output().expect("it runs").stdout;
    let found: serde_json::Value = serde_json::from_slice(&found).expect("JSON");
    Some(format!("{:x}", found["kvs"][0]["lease"].as_i64()?))
}
