//! Tests of clusters that lose their history, and of halls whose keys could mix.
//!
//! The *epoch* of a hall is the upper part of its tokens. After a loss, a process raises it. The *mark* of a machine is
//! the largest token of a hall that the processes of this machine have recorded.

mod common;

use std::{path::Path, sync::mpsc, thread, time::Instant};

use common::{SHORT_TTL, connect, etcd_options, eventually, options, wait, with_short_ttl};
use hallpass_cluster::{Cluster, ClusterHall, ClusterOptions, Error, Loss};
use hallpass_testbed::{EtcdCluster, Proxy, TIMEOUT, etcd};

/// Connects with this prefix.
fn below(cluster: &EtcdCluster, prefix: &str) -> Cluster {
    let mut options = options(&cluster.url());
    etcd_options(&mut options).prefix = prefix.into();
    Cluster::connect(options).expect("valid options")
}

#[test]
fn a_holder_stops_immediately_if_the_cluster_is_restored_from_a_backup() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    // The claim would be valid for 0.9 ttl without an answer, which is longer than the test may take.
    let options = ClusterOptions { ttl: 2 * TIMEOUT, ..options(&cluster.url()) };
    let hall = Cluster::connect(options)
        .expect("valid options")
        .open("gpu", 1)
        .expect("a new hall can be created");
    cluster.member(0).back_up();
    cluster.await_health();
    let pass = hall.acquire().expect("a slot is free");
    cluster.member(0).restore();
    cluster.await_health();
    // Any answer shows the loss, not only the answer to the next renewal.
    hall.status().expect("reachable");
    let (sender, lost) = mpsc::channel();
    let waiting = pass.lost();
    thread::spawn(move || sender.send(wait(waiting)));
    let loss = lost.recv_timeout(TIMEOUT).expect("the holder notices");
    assert_ne!(loss, Loss::OutOfTouch);
    assert!(!pass.is_valid());
}

#[test]
fn a_waiter_that_has_seen_the_lost_history_waits_for_holders_that_it_cannot_see() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let path = Proxy::before(cluster.member(0));
    let far = with_short_ttl(&EtcdCluster::url_through(std::slice::from_ref(&path)));
    let far = Cluster::connect(far)
        .expect("valid options")
        .open("gpu", 1)
        .expect("a new hall can be created");
    let near = Cluster::connect(with_short_ttl(&cluster.url())).expect("valid options");
    let near = near.open("gpu", 1).expect("the hall exists");
    cluster.member(0).back_up();
    cluster.await_health();
    let pass = far.acquire().expect("a slot is free");
    assert_eq!(near.available().expect("reachable"), 0);
    // The holder is cut off, so it does not notice the restored cluster, in which its slot is free.
    path.cut();
    cluster.member(0).restore();
    cluster.await_health();
    let next = near.acquire().expect("the waiter gets a slot");
    assert!(!pass.is_valid(), "both holders have the slot");
    assert!(next.token() > pass.token(), "{} after {}", next.token(), pass.token());
    assert!(matches!(near.try_acquire(), Err(Error::NoPermits)));
}

/// Starts a cluster with an empty hall of one slot, and makes a backup.
fn backed_up_hall() -> (EtcdCluster, ClusterHall) {
    let cluster = EtcdCluster::start(1);
    let connected = Cluster::connect(with_short_ttl(&cluster.url())).expect("valid options");
    let hall = connected.open("gpu", 1).expect("a new hall can be created");
    cluster.member(0).back_up();
    cluster.await_health();
    (cluster, hall)
}

#[test]
fn tokens_grow_even_if_the_cluster_was_restored_from_a_backup() {
    let Some(()) = etcd() else { return };
    let (cluster, hall) = backed_up_hall();
    let mut largest = 0;
    for _ in 0..10 {
        largest = hall.acquire().expect("a slot is free").token();
    }
    cluster.member(0).restore();
    cluster.await_health();
    let pass = hall.acquire().expect("the waiter gets a slot");
    assert!(pass.token() > largest, "{} after {largest}", pass.token());
    // Processes that did not see the lost history also get larger tokens.
    let fresh = connect(&cluster).open("gpu", 1).expect("the hall exists");
    let shown = fresh.status().expect("reachable").holders[0].token;
    assert_eq!(shown, Some(pass.token()));
    let token = pass.token();
    pass.release().expect("the pass is valid");
    assert!(fresh.acquire().expect("a slot is free").token() > token);
}

/// Options of a process on a machine that records the largest tokens in `state`.
fn on_machine(url: &str, state: &Path) -> ClusterOptions {
    ClusterOptions { state_dir: Some(state.into()), ..with_short_ttl(url) }
}

#[test]
fn a_newcomer_notices_that_history_was_lost_since_its_machine_last_used_the_hall() {
    let Some(()) = etcd() else { return };
    let state = tempfile::tempdir().expect("a directory");
    let (cluster, hall) = backed_up_hall();
    drop(hall);
    let newcomer = || {
        let connected = Cluster::connect(on_machine(&cluster.url(), state.path()));
        connected.expect("valid options").open("gpu", 1).expect("the hall exists")
    };
    // The pass of another machine, which does not notice the restore.
    let path = Proxy::before(cluster.member(0));
    let far = with_short_ttl(&EtcdCluster::url_through(std::slice::from_ref(&path)));
    let far = Cluster::connect(far).expect("valid options").open("gpu", 1).expect("it exists");
    newcomer().acquire().expect("a slot is free").release().expect("valid");
    let pass = far.acquire().expect("a slot is free");
    assert!(matches!(newcomer().try_acquire(), Err(Error::NoPermits)));
    path.cut();
    cluster.member(0).restore();
    cluster.await_health();
    // A process of this machine notices the loss, waits, and makes tokens grow.
    let next = newcomer().acquire().expect("the waiter gets a slot");
    assert!(!pass.is_valid(), "both holders have the slot");
    assert!(next.token() > pass.token(), "{} after {}", next.token(), pass.token());
    let token = next.token();
    next.release().expect("the pass is valid");
    // Later processes do not wait again, on this machine and on others.
    let later = newcomer().try_acquire().expect("a slot is free");
    assert!(later.token() > token);
    let token = later.token();
    later.release().expect("the pass is valid");
    let fresh = connect(&cluster).open("gpu", 1).expect("the hall exists");
    assert!(fresh.try_acquire().expect("a slot is free").token() > token);
}

#[test]
fn newcomers_that_do_not_wait_eventually_get_a_slot_after_history_was_lost() {
    let Some(()) = etcd() else { return };
    let state = tempfile::tempdir().expect("a directory");
    let (cluster, hall) = backed_up_hall();
    drop(hall);
    let attempt = || {
        let connected = Cluster::connect(on_machine(&cluster.url(), state.path()));
        connected.expect("valid options").open("gpu", 1).expect("it exists").try_acquire()
    };
    let token = attempt().expect("a slot is free").token();
    cluster.member(0).restore();
    cluster.await_health();
    let begun = Instant::now();
    let mut next = None;
    eventually(|| {
        next = attempt().ok();
        next.is_some()
    });
    assert!(begun.elapsed() > SHORT_TTL, "{:?}", begun.elapsed());
    let next = next.expect("set above").token();
    assert!(next > token, "{next} after {token}");
}

#[test]
fn tokens_grow_after_a_wipe_even_if_the_hall_has_to_be_created_again() {
    let Some(()) = etcd() else { return };
    let state = tempfile::tempdir().expect("a directory");
    let cluster = EtcdCluster::start(1);
    let newcomer = || {
        let connected = Cluster::connect(on_machine(&cluster.url(), state.path()));
        connected.expect("valid options")
    };
    let enter = || newcomer().open("gpu", 1)?.try_acquire_for(TIMEOUT).map(|pass| pass.token());
    let mut largest = 0;
    for _ in 0..5 {
        largest = enter().expect("a slot is free");
    }
    cluster.wipe();
    cluster.await_health();
    let after_wipe = enter().expect("the waiter gets a slot");
    assert!(after_wipe > largest, "{after_wipe} after {largest}");
    // A hall that is removed and created again does not begin with epoch 0.
    newcomer().remove("gpu", false).expect("not in use");
    let begun = Instant::now();
    let after_removal = enter().expect("a slot is free");
    assert!(after_removal > after_wipe, "{after_removal} after {after_wipe}");
    assert!(begun.elapsed() < SHORT_TTL * 10, "{:?}", begun.elapsed());
}

/// A process notices a loss and waits. Meanwhile, other processes of its machine use the epoch to which it is about to
/// raise the hall, and history is lost once more. The revisions do not show this to the process, but the mark does.
#[test]
fn tokens_grow_if_history_is_lost_again_while_a_newcomer_waits_for_lost_holders() {
    let Some(()) = etcd() else { return };
    let state = tempfile::tempdir().expect("a directory");
    let (cluster, hall) = backed_up_hall();
    drop(hall);
    let open = || {
        let connected = Cluster::connect(on_machine(&cluster.url(), state.path()));
        connected.expect("valid options").open("gpu", 1).expect("the hall exists")
    };
    open().acquire().expect("a slot is free").release().expect("valid");
    cluster.member(0).restore();
    cluster.await_health();
    let newcomer = open(); // notices the loss
    // What other processes would leave behind: a token of the next epoch.
    let used = (1 << 48) + 1_000_000;
    set_mark(state.path(), used);
    let token = newcomer.acquire().expect("the waiter gets a slot").token();
    assert!(token > used, "{token} after {used}");
}

/// Replaces the token in the only mark of a machine.
fn set_mark(state: &Path, token: u64) {
    let files = std::fs::read_dir(state).expect("a directory");
    let file = files.map(|file| file.expect("readable").path()).next().expect("there is a mark");
    let mark = std::fs::read_to_string(&file).expect("readable");
    let (start, _) = mark.split_once("\"token\":").expect("a token");
    std::fs::write(&file, format!("{start}\"token\":{token}}}")).expect("writable");
}

/// History is lost after a process has opened the hall. The process has seen no larger revision, so only the mark of
/// its machine shows the loss.
#[test]
fn tokens_grow_if_only_the_mark_shows_that_history_was_lost() {
    let Some(()) = etcd() else { return };
    let state = tempfile::tempdir().expect("a directory");
    let options = on_machine(&EtcdCluster::shared().url(), state.path());
    let open = || {
        let connected = Cluster::connect(options.clone()).expect("valid options");
        connected.open("only-mark", 1).expect("the hall can be opened")
    };
    open().acquire().expect("a slot is free").release().expect("valid");
    let newcomer = open(); // notices nothing
    // What another process would have left behind before the loss: a later token of the same epoch.
    let used = (1 << 47) + 1_000_000;
    set_mark(state.path(), used);
    let token = newcomer.acquire().expect("the waiter gets a slot").token();
    assert!(token > used, "{token} after {used}");
}

/// Processes raise the mark of the machine while others compare it with an earlier view.
#[test]
fn a_busy_hall_does_not_look_like_lost_history() {
    const NEWCOMERS: usize = 4;
    let Some(()) = etcd() else { return };
    let state = tempfile::tempdir().expect("a directory");
    let cluster = EtcdCluster::shared();
    let options =
        ClusterOptions { state_dir: Some(state.path().into()), ..options(&cluster.url()) };
    let enter = || {
        let connected = Cluster::connect(options.clone()).expect("valid options");
        let hall = connected.open("busy-mark", NEWCOMERS).expect("it can be created");
        hall.acquire().expect("the waiter gets a slot").token()
    };
    let tokens: Vec<_> = thread::scope(|scope| {
        let several = || (0..25).map(|_| enter()).max();
        let threads: Vec<_> = (0..NEWCOMERS).map(|_| scope.spawn(several)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    // The upper bits of a token are the epoch.
    assert!(tokens.iter().all(|token| token.is_some_and(|token| token < 1 << 48)), "{tokens:?}");
}

#[test]
fn a_holder_whose_slot_record_was_deleted_loses_the_pass() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::shared();
    let hall = connect(cluster).open("record", 1).expect("a new hall can be created");
    let pass = hall.acquire().expect("a slot is free");
    let removed = cluster.etcdctl(&["del", "/hallpass/record/slots/0000"]).status();
    assert!(removed.expect("it runs").success());
    let (sender, released) = mpsc::channel();
    thread::spawn(move || sender.send(pass.release()));
    let released = released.recv_timeout(TIMEOUT).expect("the release ends");
    assert!(matches!(released, Err(Error::Lost)), "{released:?}");
}

#[test]
fn removing_a_hall_does_not_remove_halls_whose_prefix_is_its_path() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::shared();
    let (builds, linux) = (below(cluster, "/builds"), below(cluster, "/builds/linux"));
    builds.open("linux", 1).expect("a new hall can be created");
    let arm = linux.open("arm", 1).expect("a new hall can be created");
    let pass = arm.acquire().expect("a slot is free");
    builds.remove("linux", false).expect("not in use");
    assert_eq!(arm.status().expect("it is still there").holders.len(), 1);
    pass.release().expect("the pass is valid");
}

#[test]
fn names_and_prefixes_that_would_mix_halls_are_refused() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::shared();
    for name in ["door", "queue", "inside", "slots", "gone"] {
        let error = below(cluster, "/mixed/hall").open(name, 1).expect_err("a reserved name");
        assert!(matches!(error, Error::BadName { .. }), "{error}");
        let mut options = options(&cluster.url());
        etcd_options(&mut options).prefix = format!("/mixed/hall/{name}");
        let error = Cluster::connect(options).expect_err("a reserved part");
        assert!(matches!(error, Error::BadOption { .. }), "{error}");
    }
    assert!(below(cluster, "/slots/inside").open("hall", 1).is_ok(), "no keys can mix there");
}

#[test]
fn once_a_waiter_has_waited_for_lost_holders_a_caller_that_does_not_wait_gets_a_slot() {
    let Some(()) = etcd() else { return };
    let (cluster, hall) = backed_up_hall();
    drop(hall.acquire().expect("a slot is free"));
    cluster.member(0).restore();
    cluster.await_health();
    hall.acquire().expect("the waiter gets a slot").release().expect("the pass is valid");
    hall.try_acquire().expect("a slot is free").release().expect("the pass is valid");
}

#[test]
fn a_token_stays_the_same_when_the_epoch_of_the_hall_is_raised() {
    let Some(()) = etcd() else { return };
    let cluster = EtcdCluster::start(1);
    let connected = Cluster::connect(with_short_ttl(&cluster.url())).expect("valid options");
    let hall = connected.open("gpu", 2).expect("a new hall can be created");
    cluster.member(0).back_up();
    cluster.await_health();
    for _ in 0..10 {
        drop(hall.acquire().expect("a slot is free"));
        connected.settle();
    }
    cluster.member(0).restore();
    cluster.await_health();
    // `fresh` has not seen the lost history. `hall` has, and raises the epoch.
    let fresh = Cluster::connect(with_short_ttl(&cluster.url())).expect("valid options");
    let fresh = fresh.open("gpu", 2).expect("the hall exists");
    let first = fresh.acquire().expect("a slot is free");
    let second = hall.acquire().expect("the waiter gets a slot");
    assert!(second.token() > first.token());
    let shown: Vec<_> =
        fresh.status().expect("reachable").holders.iter().map(|one| one.token).collect();
    assert_eq!(shown, [Some(first.token()), Some(second.token())]);
}
