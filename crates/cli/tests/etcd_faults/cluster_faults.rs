//! The faults of an etcd cluster as a whole: a rolling restart, loss of history, and changes of users and passwords.

use std::{
    process::Command,
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use hallpass_testbed::{EtcdCluster, Storage, TIMEOUT};

use crate::{
    SLOTS, TTL,
    faults::{Fault, Targets, a_while, longer_than_claims},
};

/// The variables with which the competitors log in.
pub const LOGIN: &[(&str, &str)] = &[("ETCDCTL_USER", "joe"), ("ETCDCTL_PASSWORD", "a-secret")];

/// The faults of this cluster and of the paths to it. They happen one after the other.
pub const WITH_LOST_HISTORY: &[Fault] = &[
    Fault::Restore,
    Fault::Wipe,
    Fault::ChangeRole,
    Fault::RollingRestart,
    Fault::KillMember,
    Fault::KillLeader,
    Fault::PauseLeader,
    Fault::SlowLeader,
    Fault::IsolateLeader,
    Fault::CutGroup,
    Fault::CutGroupBriefly,
    Fault::RefuseGroup,
    Fault::DelayGroup,
    Fault::HoldRequests,
    Fault::DelayMembers,
    Fault::Compact,
];

/// Starts a cluster in which the competitors' user may only use halls.
pub fn cluster() -> EtcdCluster {
    // Logins must be quick, because the competitors log in again and again.
    let cluster = EtcdCluster::start_with(3, Storage::Memory, &["--bcrypt-cost", "4"]);
    require_passwords(&cluster);
    cluster
}

/// Creates the users, and makes the cluster ask for passwords.
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
        eventually_succeeds(cluster.etcdctl(words), &["already", "is already enabled"]);
    }
}

/// Runs a command again and again until it succeeds. A failure with one of the texts in `done` shows that an earlier
/// attempt has taken effect.
fn eventually_succeeds(mut command: Command, done: &[&str]) {
    let start = Instant::now();
    loop {
        let output = command.output().expect("the command runs");
        let error = String::from_utf8_lossy(&output.stderr);
        if output.status.success() || done.iter().any(|text| error.contains(text)) {
            return;
        }
        assert!(start.elapsed() < 5 * TIMEOUT, "{command:?}: {output:?}");
        thread::sleep(Duration::from_millis(100));
    }
}

impl Targets<'_> {
    /// Applies a fault to the data or the users of a cluster, and repairs it.
    pub fn to_cluster(&self, cluster: &EtcdCluster, fault: Fault, rng: &mut Rng) {
        self.note(fault, "");
        let time = a_while(rng);
        match fault {
            // Newcomers notice that history was lost, because this machine records the largest token that it has seen.
            Fault::Restore => {
                cluster.back_up();
                await_health(cluster);
                // A loss is noticed only if a process has seen a part of the lost history.
                let visits = self.witness.visits();
                let start = Instant::now();
                while self.witness.visits() < visits + 3 * SLOTS && start.elapsed() < 10 * TTL {
                    thread::sleep(time / 4);
                }
                cluster.restore();
                self.witness.note("the store has lost history");
                await_health(cluster);
            }
            Fault::Wipe => {
                cluster.wipe();
                self.witness.note("the store has lost history");
                await_health(cluster);
                require_passwords(cluster);
            }
            _ => {
                let time = if rng.bool() { time } else { longer_than_claims(rng) };
                let (change, repair) = match rng.bool() {
                    true => (["passwd", "joe", "another"], ["passwd", "joe", "a-secret"]),
                    false => (["revoke-role", "joe", "halls"], ["grant-role", "joe", "halls"]),
                };
                change_user(cluster, change);
                thread::sleep(time);
                change_user(cluster, repair);
            }
        }
    }

    /// Compacts all revisions of a cluster that asks for passwords. Returns `false` if the cluster does not answer.
    pub fn compact_all(&self, cluster: &EtcdCluster) -> bool {
        self.note(Fault::Compact, "");
        let Some(revision) = cluster.member(0).revision() else { return false };
        let mut compact = cluster.etcdctl(&["compact", &revision.to_string()]);
        compact.env("ETCDCTL_USER", "root:secret");
        compact.output().is_ok_and(|done| done.status.success())
    }

    /// Restarts all members, one after the other.
    pub fn restart_all(&self, cluster: &EtcdCluster, rng: &mut Rng) {
        self.note(Fault::RollingRestart, "");
        for member in cluster.members() {
            member.kill();
            thread::sleep(a_while(rng) / 4);
            member.restart();
            await_health(cluster);
        }
    }
}

/// Waits until each member has been healthy, for at most [`TIMEOUT`] each. On a very busy machine, the members may
/// elect one leader after the other for minutes. Then the next fault happens before they are healthy.
fn await_health(cluster: &EtcdCluster) {
    for member in cluster.members() {
        member.becomes_healthy(TIMEOUT);
    }
}

/// Runs `etcdctl user`. A password is passed on its standard input.
fn change_user(cluster: &EtcdCluster, [command, user, value]: [&str; 3]) {
    let mut etcdctl = match command {
        "passwd" => {
            let mut shell = Command::new("sh");
            let line = format!("echo '{value}' | etcdctl user passwd {user} --interactive=false");
            let plain = cluster.etcdctl(&[]);
            shell.args(["-c", &line]);
            shell.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
            shell
        }
        _ => cluster.etcdctl(&["user", command, user, value]),
    };
    etcdctl.env("ETCDCTL_USER", "root:secret");
    eventually_succeeds(etcdctl, &["role is not granted to the user"]);
}
