//! Tests of halls on an etcd cluster that requires passwords. In these tests, the cluster loses its data, or the
//! passwords and rights of its users change.

mod common;

use std::{fs, io::Write, process::Stdio, thread, time::Duration};

use common::{SHORT_TTL, await_queue, etcd_options, eventually, options, wait};
use hallpass_cluster::{Cluster, ClusterOptions, Error, Loss};
use hallpass_testbed::{EtcdCluster, Storage, TIMEOUT, etcd};

/// Starts a cluster of one member, which requires passwords.
fn cluster_with_passwords() -> EtcdCluster {
    let cluster = EtcdCluster::start_with(1, Storage::Memory, &["--bcrypt-cost", "4"]);
    require_passwords(&cluster);
    cluster
}

fn require_passwords(cluster: &EtcdCluster) {
    for words in [
        &["user", "add", "root:secret"][..],
        &["user", "grant-role", "root", "root"],
        &["role", "add", "halls"],
        &["role", "grant-permission", "halls", "--prefix=true", "readwrite", "/hallpass/"],
        &["user", "add", "joe:a-secret"],
        &["user", "grant-role", "joe", "halls"],
        &["auth", "enable"],
    ] {
        etcdctl(cluster, words);
    }
}

/// Runs an `etcdctl` command, which must succeed.
fn etcdctl(cluster: &EtcdCluster, words: &[&str]) {
    let output = cluster.etcdctl(words).output().expect("it runs");
    assert!(output.status.success(), "{words:?}: {output:?}");
}

fn as_root(cluster: &EtcdCluster, words: &[&str]) {
    etcdctl(cluster, &[&["--user", "root:secret"], words].concat());
}

fn set_password(cluster: &EtcdCluster, password: &str) {
    let words = ["--user", "root:secret", "user", "passwd", "joe", "--interactive=false"];
    let mut command = cluster.etcdctl(&words);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it runs");
    writeln!(child.stdin.take().expect("a pipe"), "{password}").expect("it reads");
    assert!(child.wait().expect("it ends").success());
}

/// Writes so often that the log of the cluster gets much longer. Each authentication token of the cluster contains an
/// index of this log, so tokens that etcd issues later contain large indices.
fn lengthen_log(cluster: &EtcdCluster) {
    let mut writes = cluster.etcdctl(&["--user", "root:secret", "txn"]);
    let mut puts = String::from("\n");
    (0..100).for_each(|number| puts.push_str(&format!("put elsewhere{number} x\n")));
    writes.stdin(Stdio::piped()).stdout(Stdio::null());
    for _ in 0..50 {
        let mut child = writes.spawn().expect("it runs");
        let stdin = child.stdin.take().expect("a pipe");
        (&stdin).write_all(format!("{puts}\n\n").as_bytes()).expect("it reads");
        drop(stdin);
        assert!(child.wait().expect("it ends").success());
    }
}

fn joe(cluster: &EtcdCluster, ttl: Duration) -> Cluster {
    let mut options = ClusterOptions { ttl, ..options(&cluster.url()) };
    etcd_options(&mut options).user = Some(("joe".into(), "a-secret".into()));
    Cluster::connect(options).expect("valid options")
}

#[test]
fn a_waiter_gets_a_slot_after_a_cluster_with_passwords_was_restored() {
    let Some(()) = etcd() else { return };
    let cluster = cluster_with_passwords();
    joe(&cluster, SHORT_TTL).open("gpu", 1).expect("a new hall can be created");
    cluster.back_up();
    cluster.await_health();
    lengthen_log(&cluster);
    let hall = joe(&cluster, SHORT_TTL).open("gpu", 1).expect("the hall exists");
    let other = joe(&cluster, SHORT_TTL).open("gpu", 1).expect("the hall exists");
    let pass = hall.acquire().expect("a slot is free");
    thread::scope(|scope| {
        let waiter = scope.spawn(|| other.try_acquire_for(TIMEOUT));
        await_queue(&hall, 1);
        cluster.restore();
        cluster.await_health();
        let next = waiter.join().expect("no panic").expect("the waiter gets a slot");
        assert!(!pass.is_valid(), "both holders have the slot");
        assert!(next.token() > pass.token(), "{} after {}", next.token(), pass.token());
    });
}

#[test]
fn a_hall_can_be_created_again_after_a_cluster_with_passwords_was_wiped() {
    let Some(()) = etcd() else { return };
    let cluster = cluster_with_passwords();
    lengthen_log(&cluster);
    let connected = joe(&cluster, SHORT_TTL);
    let hall = connected.open("gpu", 1).expect("a new hall can be created");
    let pass = hall.acquire().expect("a slot is free");
    cluster.wipe();
    cluster.await_health();
    require_passwords(&cluster);
    assert_ne!(wait(pass.lost()), Loss::Released);
    let mut next = None;
    eventually(|| {
        let open = connected.open("gpu", 1);
        next = open.and_then(|hall| hall.try_acquire_for(4 * SHORT_TTL)).ok();
        next.is_some()
    });
    assert!(next.is_some_and(|next| next.token() > pass.token()), "tokens shrink");
}

#[test]
fn a_holder_keeps_its_pass_while_password_rights_and_authentication_change_briefly() {
    let Some(()) = etcd() else { return };
    let cluster = cluster_with_passwords();
    let hall = joe(&cluster, Duration::from_secs(20)).open("gpu", 1).expect("a new hall");
    let pass = hall.acquire().expect("a slot is free");
    let changes: [&dyn Fn(); 3] = [
        &|| {
            set_password(&cluster, "another");
            thread::sleep(Duration::from_secs(3));
            set_password(&cluster, "a-secret");
        },
        &|| {
            as_root(&cluster, &["user", "revoke-role", "joe", "halls"]);
            thread::sleep(Duration::from_secs(3));
            as_root(&cluster, &["user", "grant-role", "joe", "halls"]);
        },
        &|| {
            as_root(&cluster, &["auth", "disable"]);
            thread::sleep(Duration::from_secs(3));
            etcdctl(&cluster, &["auth", "enable"]);
        },
    ];
    for change in changes {
        change();
        // A renewal after the change shows that the holder has logged in again.
        let changed = pass.valid_until();
        eventually(|| pass.valid_until() > changed);
        assert!(pass.is_valid());
        assert!(matches!(hall.try_acquire(), Err(Error::NoPermits)));
    }
    pass.release().expect("the pass is valid");
}

#[test]
fn holders_and_waiters_log_in_with_the_password_that_their_file_contains_now() {
    let Some(()) = etcd() else { return };
    let cluster = cluster_with_passwords();
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(&file, "a-secret\n").expect("writable");
    let connect = || {
        let mut options = ClusterOptions { ttl: SHORT_TTL, ..options(&cluster.url()) };
        let etcd = etcd_options(&mut options);
        // This password is valid only at first: the test changes it below. Then only the file has the valid password.
        etcd.user = Some(("joe".into(), "a-secret".into()));
        etcd.password_file = Some(file.path().into());
        Cluster::connect(options).expect("valid options").open("gpu", 1).expect("it can be opened")
    };
    let (hall, other) = (connect(), connect());
    let pass = hall.acquire().expect("a slot is free");
    thread::scope(|scope| {
        let waiter = scope.spawn(|| other.try_acquire_for(TIMEOUT));
        await_queue(&hall, 1);
        fs::write(&file, "another\n").expect("writable");
        set_password(&cluster, "another");
        let changed = pass.valid_until();
        eventually(|| pass.valid_until() > changed);
        pass.release().expect("the pass is valid");
        drop(waiter.join().expect("no panic").expect("the waiter gets a slot"));
    });
}
