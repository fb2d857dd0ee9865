//! Checks the test bed itself: some of the faults of etcd have the intended effect, and the recorder of keys survives a
//! restart.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use hallpass_testbed::{EtcdCluster, Member, Proxy, Storage, TIMEOUT, etcd};

fn put(cluster: &EtcdCluster, key: &str, value: &str) -> bool {
    let mut command = cluster.etcdctl(&["put", key, value]);
    command.output().expect("it runs").status.success()
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < TIMEOUT, "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Returns whether the member behind this proxy answers within this time.
fn answers(path: &Proxy, within: Duration) -> bool {
    let mut stream = TcpStream::connect(path.address()).expect("the proxy listens");
    stream.set_read_timeout(Some(within)).unwrap();
    let mut answer = String::new();
    stream.write_all(b"GET /health HTTP/1.0\r\n\r\n").is_ok()
        && stream.read_to_string(&mut answer).is_ok()
        && answer.contains("true")
}

#[test]
fn a_restarted_member_has_its_data() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start_on(1, Storage::Disk);
    assert!(put(&cluster, "a", "kept"));
    assert_eq!(cluster.await_leader().index(), 0);
    cluster.member(0).kill();
    assert!(!cluster.member(0).is_healthy());
    cluster.member(0).restart();
    cluster.await_health();
    let got = cluster.etcdctl(&["get", "--print-value-only", "a"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&got.stdout).trim(), "kept");
}

#[test]
fn three_members_survive_the_death_of_their_leader() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(3);
    let leader = cluster.await_leader();
    leader.kill();
    eventually("another member leads", || {
        cluster.leader().is_some_and(|other| other.index() != leader.index())
    });
    eventually("a write works", || put(&cluster, "a", "1"));
    leader.restart();
    cluster.await_health();
}

#[test]
fn a_stopped_or_isolated_leader_is_replaced() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(3);
    for isolated in [true, false] {
        let leader = cluster.await_leader();
        if isolated {
            cluster.isolate(leader)
        } else {
            leader.pause()
        }
        eventually("another member leads", || {
            cluster.leader().is_some_and(|other| other.index() != leader.index())
        });
        assert!(!leader.is_healthy(), "isolated: {isolated}");
        eventually("the others are healthy", || {
            let others = cluster.members().iter().filter(|other| other.index() != leader.index());
            others.into_iter().all(Member::is_healthy)
        });
        if isolated {
            cluster.reunite()
        } else {
            leader.resume()
        }
        cluster.await_health();
    }
}

#[test]
fn a_proxy_can_stall_close_delay_and_heal() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let (path, other) = (Proxy::before(cluster.member(0)), Proxy::before(cluster.member(0)));
    let a_while = Duration::from_millis(300);
    assert!(answers(&path, TIMEOUT));
    path.cut();
    assert!(!answers(&path, a_while));
    assert!(answers(&other, TIMEOUT), "other proxies still work");
    path.refuse();
    let start = Instant::now();
    assert!(!answers(&path, TIMEOUT));
    assert!(start.elapsed() < TIMEOUT, "the connection is closed immediately");
    path.delay(a_while);
    let start = Instant::now();
    assert!(answers(&path, TIMEOUT));
    assert!(start.elapsed() >= 2 * a_while, "both directions are delayed");
    path.heal();
    assert!(answers(&path, TIMEOUT));
}

#[test]
fn data_in_transit_through_a_cut_proxy_arrives_later() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let path = Proxy::before(cluster.member(0));
    let mut stream = TcpStream::connect(path.address()).unwrap();
    path.cut();
    stream.write_all(b"GET /health HTTP/1.0\r\n\r\n").unwrap();
    thread::sleep(Duration::from_millis(100));
    path.heal();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("true"), "{answer}");
}

#[test]
fn a_recorder_continues_after_a_restart() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let recorder = cluster.record_keys("w/");
    assert!(put(&cluster, "w/a", "1"));
    assert!(put(&cluster, "elsewhere", "1"));
    recorder.catch_up(2);
    cluster.member(0).kill();
    cluster.member(0).restart();
    cluster.await_health();
    assert!(cluster.etcdctl(&["del", "w/a"]).output().unwrap().status.success());
    recorder.catch_up(4);
    let changes = recorder.changes();
    assert_eq!(changes.len(), 2);
    assert_eq!(changes[0].now.as_ref().map(|entry| (entry.created, &*entry.value)), Some((2, "1")));
    assert_eq!((changes[1].revision, &*changes[1].key, &changes[1].now), (4, "w/a", &None));
}
