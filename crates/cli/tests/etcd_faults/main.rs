//! The fault suite: fifty competitors for five slots, under all kinds of faults, on a cluster of three members of etcd
//! and on a PostgreSQL server with a standby. A second run on etcd has passwords, and the cluster loses its history. A
//! judge checks the records of witnesses that do not use hallpass.
//!
//! `HALLPASS_FAULT_SECONDS` sets for how long faults happen in each run, and 0 skips the suite. `HALLPASS_FAULT_SEED`
//! sets which faults happen, but not which processes they hit. A failure prints the seed and keeps the records.

mod cluster_faults;
mod crowd;
mod family;
mod faults;
#[cfg(feature = "postgres")]
mod server_faults;

use std::{
    collections::BTreeMap,
    env, fs,
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use cluster_faults::{LOGIN, WITH_LOST_HISTORY};
use crowd::Crowd;
use fastrand::Rng;
use faults::{Fault, Store, TO_CLUSTER, TO_COMPETITORS, Targets};
use hallpass_testbed::{
    EtcdCluster, Event, KeyChange, KeyRecorder, Observation, Proxy, TIMEOUT, Witness, etcd,
    judge::{self, Violation},
    spawn,
};
#[cfg(feature = "postgres")]
use hallpass_testbed::{PostgresServer, postgres};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const SLOTS: usize = 5;
const COMPETITORS: usize = 50;
const GROUPS: usize = 5;
/// The longest time for which a command runs without contact with the store.
const TTL: Duration = Duration::from_secs(3);

/// The command that competitors run, not a test.
#[test]
fn visitor() {
    hallpass_testbed::visit();
}

#[test]
fn no_guarantee_is_broken_under_faults() {
    let Some(()) = etcd() else { return };
    let Some(run) = Run::start(&[]) else { return };
    let cluster = EtcdCluster::start(3);
    let watch = cluster.record_keys("");
    let group = |_| cluster.members().iter().map(Proxy::before).collect();
    let groups: Vec<Vec<_>> = (0..GROUPS).map(group).collect();
    let urls: Vec<_> = (0..COMPETITORS)
        .map(|competitor| EtcdCluster::url_through(&groups[competitor % GROUPS]))
        .collect();
    let store = Store::Etcd(&cluster, &watch);
    let mut result = run.compete_under_faults(store, TO_CLUSTER, &groups, &urls, &cluster.url());

    let changes = all_changes(&cluster, &watch);
    write(&run.folder.path().join("keys.jsonl"), &changes);
    // The upper bits of a token are the epoch of the hall, which is raised only if the store loses history.
    let in_first_epoch = |event: &Event| match &event.what {
        Observation::Enter(visit) => visit.token < 1 << 48,
        _ => true,
    };
    assert!(run.witness.record().iter().all(in_first_epoch), "a command noticed a loss by mistake");
    let hall = changes.iter().find_map(|change| change.key.strip_suffix("door"));
    let hall = hall.expect("the hall has a door");
    result.violations.extend(judge::keys(SLOTS, &changes, hall));
    result.violations.extend(judge::agreement(&run.witness.record(), &changes, hall));
    run.judge(&result);
}

#[test]
fn no_guarantee_is_broken_if_etcd_loses_history_and_changes_passwords() {
    let Some(()) = etcd() else { return };
    let Some(run) = Run::start(LOGIN) else { return };
    let cluster = cluster_faults::cluster();
    let group = |_| cluster.members().iter().map(Proxy::before).collect();
    let groups: Vec<Vec<_>> = (0..GROUPS).map(group).collect();
    let urls: Vec<_> = (0..COMPETITORS)
        .map(|competitor| EtcdCluster::url_through(&groups[competitor % GROUPS]))
        .collect();
    let store = Store::ForgetfulEtcd(&cluster);
    let faults = WITH_LOST_HISTORY;
    let result = run.compete_under_faults(store, faults, &groups, &urls, &cluster.url());
    run.judge(&result);
}

#[cfg(feature = "postgres")]
#[test]
fn no_guarantee_is_broken_under_faults_of_postgresql() {
    let Some(()) = postgres() else { return };
    let Some(run) = Run::start(&[("PGPASSWORD", server_faults::PASSWORD)]) else { return };
    let pair = server_faults::pair();
    let group = |_| pair.addresses().into_iter().map(Proxy::before_address).collect();
    let groups: Vec<Vec<_>> = (0..GROUPS).map(group).collect();
    let url = |servers: &[SocketAddr]| {
        PostgresServer::url_through(servers).replacen("postgres@", "joe@", 1)
    };
    let path = |competitor: usize| {
        let paths: Vec<_> = groups[competitor % GROUPS].iter().map(Proxy::address).collect();
        url(&paths)
    };
    let urls: Vec<_> = (0..COMPETITORS).map(path).collect();
    let store = Store::Postgres(&pair);
    let (faults, url) = (server_faults::TO_SERVERS, url(&pair.addresses()));
    let result = run.compete_under_faults(store, faults, &groups, &urls, &url);
    run.judge(&result);
}

/// At most one run at a time: the competitors of several runs would keep the machine so busy that the members of a
/// cluster elect one leader after the other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A run of the suite on one store.
struct Run {
    _alone: MutexGuard<'static, ()>,
    seed: u64,
    time: Duration,
    folder: TempDir,
    witness: Arc<Witness>,
    login: Login,
}

/// The environment variables with which competitors log in to the store.
type Login = &'static [(&'static str, &'static str)];

/// The result of a run.
struct Outcome {
    violations: Vec<Violation>,
    /// The competitors that did not end in time.
    late: Vec<String>,
    /// Whether all slots can be held at the end.
    all_slots: bool,
    /// The number of commands that got a slot and succeeded.
    passages: usize,
}

impl Run {
    /// Returns `None` if `HALLPASS_FAULT_SECONDS` is 0.
    fn start(login: Login) -> Option<Self> {
        let seconds = setting("HALLPASS_FAULT_SECONDS").unwrap_or(10);
        if seconds == 0 {
            eprintln!("skipped: HALLPASS_FAULT_SECONDS is 0");
            return None;
        }
        // A run that has failed must not make the others fail.
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let seed = setting("HALLPASS_FAULT_SEED").unwrap_or_else(|| fastrand::u64(..1_000_000));
        let time = Duration::from_secs(seconds);
        eprintln!("HALLPASS_FAULT_SEED={seed}");
        let folder = tempfile::Builder::new().prefix("hallpass-faults-").tempdir();
        let folder = folder.expect("a folder");
        let witness = Arc::new(Witness::start(folder.path()));
        Some(Run { _alone: alone, seed, time, folder, witness, login })
    }

    /// Lets competitors compete while faults happen, and repairs everything. Each competitor uses one of `urls`. At the
    /// end, all slots must be free at `url`.
    fn compete_under_faults(
        &self,
        store: Store<'_>,
        faults: &[Fault],
        groups: &[Vec<Proxy>],
        urls: &[String],
        url: &str,
    ) -> Outcome {
        let Run { seed, time, folder, witness, login, .. } = self;
        let mut crowd = Crowd::start(urls, login, witness, folder.path());
        let targets = Targets { store, groups, crowd: &crowd, witness };
        let done = break_things(&targets, faults, *seed, *time);
        targets.heal();
        witness.note("everything is repaired");
        let late = crowd.finish(4 * TTL + TIMEOUT);
        let all_slots = late.is_empty() && all_slots_can_be_held(url, login, witness);
        let verdict = judge::visits(SLOTS, &witness.record());
        let tally = crowd.tally();
        eprintln!(
            "{} visits in {time:?}, {} excused, at most {} at once; {:?} was the longest passage; ends: \
             {:?}; faults: {done:?}",
            verdict.visits, verdict.excused, verdict.max_running, tally.longest, tally.ends
        );
        let passages = tally.ends.get("exit 0").copied().unwrap_or_default();
        Outcome { violations: verdict.violations, late, all_slots, passages }
    }

    /// Fails if a guarantee was broken. Then the records stay.
    fn judge(self, outcome: &Outcome) {
        let Outcome { violations, late, all_slots, passages } = outcome;
        // A run in which hardly any command got a slot would show nothing. Even a busy machine makes some passages.
        let enough = *passages >= SLOTS;
        if !late.is_empty() || !violations.is_empty() || !all_slots || !enough {
            let kept = self.folder.keep();
            violations.iter().for_each(|violation| eprintln!("{violation}"));
            panic!(
                "{} violations; late: {late:?}; all slots can be held: {all_slots}; passages: {passages}; \
                 HALLPASS_FAULT_SEED={}; see {}",
                violations.len(),
                self.seed,
                kept.display()
            );
        }
    }
}

fn setting(name: &str) -> Option<u64> {
    env::var(name).ok().map(|value| value.parse().expect("a number"))
}

/// Applies faults for this time. Returns the number of times that each was applied.
fn break_things(
    targets: &Targets,
    to_store: &[Fault],
    seed: u64,
    time: Duration,
) -> BTreeMap<Fault, usize> {
    let start = Instant::now();
    let done = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for (lane, faults) in (0..).zip([to_store, TO_COMPETITORS]) {
            let mut rng = Rng::with_seed(2 * seed + lane);
            let done = &done;
            scope.spawn(move || {
                while start.elapsed() < time {
                    thread::sleep(Duration::from_millis(rng.u64(200..1500)));
                    let fault = *rng.choice(faults).expect("the list is not empty");
                    if targets.perform(fault, &mut rng) {
                        *done.lock().expect("not poisoned").entry(fault).or_default() += 1;
                    }
                }
            });
        }
    });
    done.into_inner().expect("not poisoned")
}

/// Returns `true` if all slots can be held at the same time, which shows that none was lost.
fn all_slots_can_be_held(url: &str, login: Login, witness: &Witness) -> bool {
    let start = |number| {
        let mut command = crowd::hallpass(url, login);
        witness.introduce(&mut command, &format!("last{number}"), "60000-60000");
        spawn(command).expect("hallpass starts")
    };
    let mut last: Vec<_> = (0..SLOTS).map(start).collect();
    let start = Instant::now();
    while start.elapsed() < TIMEOUT && witness.running().len() < SLOTS {
        thread::sleep(Duration::from_millis(20));
    }
    let all = witness.running().len() == SLOTS;
    for child in &last {
        kill_process(Pid::from_child(child), Signal::TERM).expect("our own child");
    }
    while start.elapsed() < 2 * TIMEOUT && !witness.running().is_empty() {
        thread::sleep(Duration::from_millis(20));
    }
    for child in &mut last {
        // Killing a child that has ended has no effect.
        child.kill().expect("our own child");
        child.wait().expect("our own child");
    }
    all && witness.running().is_empty()
}

/// Returns all changes of keys, up to a key that this function writes.
fn all_changes(cluster: &EtcdCluster, watch: &KeyRecorder) -> Vec<KeyChange> {
    let written = cluster.etcdctl(&["put", "the-end", "", "--write-out", "json"]).output();
    let answer = written.expect("etcdctl runs").stdout;
    let answer: serde_json::Value = serde_json::from_slice(&answer).expect("JSON");
    watch.catch_up(answer["header"]["revision"].as_u64().expect("a revision"));
    watch.changes()
}

fn write(path: &Path, changes: &[KeyChange]) {
    let lines = changes.iter().map(|change| serde_json::to_string(change).expect("plain data"));
    fs::write(path, lines.collect::<Vec<_>>().join("\n")).expect("the disk has room");
}
