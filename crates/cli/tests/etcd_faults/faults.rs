//! The faults.
//!
//! A *claim* is the record in the store by which a waiter or holder exists. If it is not renewed, it lives for a ttl.
//! The *guardian* is `hallpass run`. It starts the *keeper*, the process that talks to the store.

use std::{
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
#[cfg(feature = "postgres")]
use hallpass_testbed::PostgresPair;
use hallpass_testbed::{EtcdCluster, KeyRecorder, Member, Proxy, TIMEOUT, Visit, Witness};
use rustix::process::Signal;

use crate::{
    TTL,
    crowd::{Crowd, LONG_SUFFIX},
    family::Family,
};

/// A fault. Most of them are repaired after a while.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fault {
    /// Kills the primary server, and starts it again.
    KillServer,
    /// Kills the standby, and starts it again after a time that is longer than claims live. Meanwhile, no commit
    /// succeeds.
    KillStandby,
    /// Replaces the primary server with the standby, which has all commits that were confirmed.
    FailOver,
    /// Replaces the primary server with a standby that lacks the last commits.
    LoseCommits,
    /// Restores the store from a backup.
    Restore,
    /// Drops the tables, or deletes the data of all members.
    Wipe,
    /// Changes the password of the competitors' user, or takes its rights away.
    ChangeRole,
    KillMember,
    /// Restarts all members, one after the other.
    RollingRestart,
    KillLeader,
    /// Suspends the leader for longer than claims live. When it continues, it does not know that there is another
    /// leader.
    PauseLeader,
    /// Suspends the leader again and again for a moment, as if its disk were slow.
    SlowLeader,
    /// Cuts the leader off from the other members for longer than claims live. Clients still reach it.
    IsolateLeader,
    /// Cuts one group of competitors off from all members, for longer than claims live.
    CutGroup,
    /// Cuts one group of competitors off for a shorter time than claims live.
    CutGroupBriefly,
    RefuseGroup,
    DelayGroup,
    /// Delays the requests of one group of competitors for longer than claims live. The competitors can make new
    /// connections. Eventually, the requests reach the store.
    HoldRequests,
    DelayMembers,
    Compact,
    KillGuardian,
    KillKeeper,
    KillBoth,
    KillCommand,
    /// Suspends a keeper for longer than claims live: the command must end before another one gets its slot.
    StopKeeper,
    /// Suspends the keeper of a waiter. If the waiter gets a slot in this time, the command must not start, because it
    /// is too late.
    StopWaiter,
    /// Suspends `hallpass run`. If `hallpass run` loses the slot in this time, the command must still end.
    StopGuardian,
    StopCommand,
    /// Suspends guardian, keeper and command for longer than claims live, like a machine that sleeps. The witness
    /// excuses the visit.
    StopAll,
}
use Fault::*;

/// The faults of the cluster and of the paths to it. They happen one after the other.
pub const TO_CLUSTER: &[Fault] = &[
    KillMember,
    RollingRestart,
    KillLeader,
    PauseLeader,
    SlowLeader,
    IsolateLeader,
    CutGroup,
    CutGroupBriefly,
    RefuseGroup,
    DelayGroup,
    HoldRequests,
    DelayMembers,
    Compact,
];

/// The faults of the competitors. They happen at the same time as those of the cluster.
pub const TO_COMPETITORS: &[Fault] = &[
    KillGuardian,
    KillKeeper,
    KillBoth,
    KillCommand,
    StopKeeper,
    StopWaiter,
    StopGuardian,
    StopCommand,
    StopAll,
];

/// The parts that faults can break.
pub struct Targets<'a> {
    pub store: Store<'a>,
    /// The paths of each group of competitors, one to each server.
    pub groups: &'a [Vec<Proxy>],
    pub crowd: &'a Crowd,
    pub witness: &'a Witness,
}

/// The store that the competitors use.
#[derive(Clone, Copy)]
pub enum Store<'a> {
    Etcd(&'a EtcdCluster, &'a KeyRecorder),
    /// A cluster that may lose its history.
    ForgetfulEtcd(&'a EtcdCluster),
    #[cfg(feature = "postgres")]
    Postgres(&'a PostgresPair),
}

impl Targets<'_> {
    /// Applies a fault, and repairs it after a while. Returns `false` if the fault could not be applied.
    pub fn perform(&self, fault: Fault, rng: &mut Rng) -> bool {
        match (fault, self.store) {
            #[cfg(feature = "postgres")]
            (
                KillServer | KillStandby | FailOver | LoseCommits | Restore | Wipe | ChangeRole,
                Store::Postgres(pair),
            ) => {
                self.to_pair(pair, fault, rng);
                true
            }
            (Restore | Wipe | ChangeRole, Store::ForgetfulEtcd(cluster)) => {
                self.to_cluster(cluster, fault, rng);
                true
            }
            (RollingRestart, Store::Etcd(cluster, _) | Store::ForgetfulEtcd(cluster)) => {
                self.restart_all(cluster, rng);
                true
            }
            (
                KillMember | KillLeader | PauseLeader | SlowLeader | IsolateLeader,
                Store::Etcd(cluster, _) | Store::ForgetfulEtcd(cluster),
            ) => self.to_member(cluster, fault, rng),
            (CutGroup | CutGroupBriefly | RefuseGroup | DelayGroup | HoldRequests, _) => {
                self.to_group(fault, rng)
            }
            (DelayMembers, Store::Etcd(cluster, _) | Store::ForgetfulEtcd(cluster)) => {
                let delay = Duration::from_millis(rng.u64(5..50));
                self.note(fault, &format!("{delay:?}"));
                cluster.delay_peers(delay);
                thread::sleep(a_while(rng));
                cluster.reunite();
                true
            }
            (Compact, Store::Etcd(cluster, watch)) => self.compact(cluster, watch),
            (Compact, Store::ForgetfulEtcd(cluster)) => self.compact_all(cluster),
            _ => self.to_family(fault, rng),
        }
    }

    pub fn note(&self, fault: Fault, what: &str) {
        self.witness.note(&format!("{fault:?} {what}"));
    }

    fn to_member(&self, cluster: &EtcdCluster, fault: Fault, rng: &mut Rng) -> bool {
        let chosen = match fault {
            KillMember => Some(rng.choice(cluster.members()).expect("a cluster has members")),
            _ => cluster.leader(),
        };
        let Some(member) = chosen else { return false };
        self.note(fault, &format!("m{}", member.index()));
        match fault {
            PauseLeader => {
                member.pause();
                thread::sleep(longer_than_claims(rng));
                member.resume();
            }
            SlowLeader => {
                for _ in 0..10 {
                    member.pause();
                    thread::sleep(a_while(rng) / 4);
                    member.resume();
                    thread::sleep(Duration::from_millis(20));
                }
            }
            IsolateLeader => {
                cluster.isolate(member);
                thread::sleep(longer_than_claims(rng));
                cluster.reunite();
            }
            _ => {
                member.kill();
                thread::sleep(a_while(rng));
                member.restart();
            }
        }
        true
    }

    fn to_group(&self, fault: Fault, rng: &mut Rng) -> bool {
        let group = rng.usize(..self.groups.len());
        let paths = &self.groups[group];
        let long = matches!(fault, CutGroup | HoldRequests);
        let time = if long { longer_than_claims(rng) } else { a_while(rng) };
        let delay = Duration::from_millis(rng.u64(10..300));
        self.note(fault, &format!("group {group}"));
        paths.iter().for_each(|path| match fault {
            RefuseGroup => path.refuse(),
            DelayGroup => path.delay(delay),
            HoldRequests => path.hold_requests(),
            _ => path.cut(),
        });
        thread::sleep(time);
        paths.iter().for_each(Proxy::heal);
        true
    }

    /// Compacts the revisions that the recorder has seen.
    fn compact(&self, cluster: &EtcdCluster, watch: &KeyRecorder) -> bool {
        let revision = watch.revision().to_string();
        self.note(Compact, &revision);
        let done = cluster.etcdctl(&["compact", &revision]).output();
        done.is_ok_and(|done| done.status.success())
    }

    fn to_family(&self, fault: Fault, rng: &mut Rng) -> bool {
        let suspends = !matches!(fault, KillGuardian | KillKeeper | KillBoth | KillCommand);
        let wanted = |visit: Option<&Visit>| match fault {
            KillGuardian | KillKeeper | KillBoth => true,
            StopWaiter => visit.is_none(),
            _ => visit.is_some_and(|visit| visit.name.ends_with(LONG_SUFFIX)),
        };
        // The time to find a family is random, so the search has its own generator: later faults must depend only on
        // the seed.
        let found = self.choose(&mut rng.fork(), wanted);
        let time = until_a_successor_has_the_slot(rng);
        let Some(family) = found else { return false };
        let command = family.command.as_ref().map(|(process, _)| process);
        let (keeper, guardian) = (family.keeper.as_ref(), Some(&family.guardian));
        let targets = match fault {
            KillGuardian | StopGuardian => vec![guardian],
            KillKeeper | StopKeeper | StopWaiter => vec![keeper],
            KillBoth => vec![keeper, guardian],
            KillCommand | StopCommand => vec![command],
            _ => vec![guardian, keeper, command],
        };
        let Some(targets) = targets.into_iter().collect::<Option<Vec<_>>>() else { return false };
        self.note(fault, &family.name());
        if !suspends {
            targets.iter().for_each(|process| process.send(Signal::KILL));
            return true;
        }
        targets.iter().for_each(|process| process.send(Signal::STOP));
        if let (StopAll, Some((_, visit))) = (fault, &family.command) {
            self.witness.excuse(visit.visit);
        }
        thread::sleep(time);
        targets.into_iter().for_each(|process| process.send(Signal::CONT));
        true
    }

    /// Makes the store lose its latest history. A process notices the loss only if it saw a part of this history, or if
    /// its machine has a record of a token from it. A new process may have neither. So no command starts at that time
    /// and for twice the ttl, as docs/cluster.md advises.
    pub fn lose_history(&self, lose: impl FnOnce()) {
        self.crowd.hold_newcomers_back(true);
        // After this time, every process that was started before has read the hall.
        thread::sleep(TTL);
        lose();
        self.witness.note("the store has lost history");
        thread::sleep(2 * TTL + TTL / 5);
        self.crowd.hold_newcomers_back(false);
    }

    /// Makes the store lose history, possibly also what it knows about tokens.
    pub fn wipe(&self, wipe: impl FnOnce()) {
        self.lose_history(|| {
            wipe();
            // A command that was started before the wipe may create the hall again immediately. So note the wipe both
            // here and after the pause.
            self.witness.note_wipe();
        });
        self.witness.note_wipe();
    }

    /// Returns a family whose visit satisfies `wanted`. A waiter has no visit yet. Returns `None` if no such family
    /// appears within a ttl.
    fn choose(&self, rng: &mut Rng, wanted: impl Fn(Option<&Visit>) -> bool) -> Option<Family<'_>> {
        let start = Instant::now();
        while start.elapsed() < TTL {
            let competitor = rng.choice(&self.crowd.competitors).expect("the list is not empty");
            let found = Family::of(competitor, self.witness)
                .filter(|family| wanted(family.command.as_ref().map(|(_, visit)| visit)));
            if found.is_some() {
                return found;
            }
            thread::sleep(Duration::from_millis(2));
        }
        None
    }

    /// Repairs everything, and waits until the store is healthy.
    pub fn heal(&self) {
        self.groups.iter().flatten().for_each(Proxy::heal);
        match self.store {
            Store::Etcd(cluster, _) | Store::ForgetfulEtcd(cluster) => {
                cluster.members().iter().for_each(Member::resume);
                cluster.members().iter().for_each(Member::restart);
                cluster.reunite();
                cluster.await_health_within(5 * TIMEOUT);
            }
            #[cfg(feature = "postgres")]
            Store::Postgres(pair) => pair.heal(),
        }
    }
}

/// A time that is shorter than claims live.
pub fn a_while(rng: &mut Rng) -> Duration {
    Duration::from_millis(rng.u64(200..1500))
}

/// A time that is longer than claims live.
pub fn longer_than_claims(rng: &mut Rng) -> Duration {
    TTL + TTL.mul_f64(2.0 * rng.f64())
}

/// A time after which a successor has the slot. A claim vanishes after a ttl, and its successor waits for 1.1 ttl
/// more.
fn until_a_successor_has_the_slot(rng: &mut Rng) -> Duration {
    TTL.mul_f64(2.2 + rng.f64())
}
