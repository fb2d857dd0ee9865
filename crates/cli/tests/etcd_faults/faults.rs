//! What can go wrong.

use std::{
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use hallpass_testbed::{EtcdCluster, KeyRecorder, Member, Proxy, Visit, Witness};
use rustix::process::Signal;

use crate::{
    TTL,
    crowd::{Crowd, MARK_OF_LONG},
    family::Family,
};

/// Something that goes wrong, for a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fault {
    KillMember,
    KillLeader,
    /// For longer than claims live: a leader that knows nothing of its successor.
    PauseLeader,
    /// Again and again for a moment, as if its disk were slow.
    SlowLeader,
    /// For longer than claims live, but it goes on talking to clients.
    IsolateLeader,
    /// One group of holders reaches nobody, for longer than claims live.
    CutGroup,
    /// For a shorter time.
    CutGroupBriefly,
    RefuseGroup,
    DelayGroup,
    DelayMembers,
    Compact,
    KillGuardian,
    KillKeeper,
    KillBoth,
    KillCommand,
    /// For longer than claims live: the command must be gone before somebody else gets its slot.
    StopKeeper,
    /// Of one that waits: what it is given meanwhile, it is too late for.
    StopWaiter,
    /// Should the slot be lost meanwhile, the command must be gone as well.
    StopGuardian,
    StopCommand,
    /// A machine that sleeps: all three, for longer than claims live. It is excused.
    StopAll,
}
use Fault::*;

/// What happens to the cluster and the paths to it, one after the other.
pub const TO_CLUSTER: &[Fault] = &[
    KillMember,
    KillLeader,
    PauseLeader,
    SlowLeader,
    IsolateLeader,
    CutGroup,
    CutGroupBriefly,
    RefuseGroup,
    DelayGroup,
    DelayMembers,
    Compact,
];

/// What happens meanwhile to those who compete.
pub const TO_HOLDERS: &[Fault] = &[
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

/// What there is to break.
pub struct Scene<'a> {
    pub cluster: &'a EtcdCluster,
    /// The paths of each group of holders, one to each member.
    pub groups: &'a [Vec<Proxy>],
    pub crowd: &'a Crowd,
    pub witness: &'a Witness,
    pub watch: &'a KeyRecorder,
}

impl Scene<'_> {
    /// Breaks something, and repairs it after a while. Says whether there was something to break.
    pub fn perform(&self, fault: Fault, rng: &mut Rng) -> bool {
        match fault {
            KillMember | KillLeader | PauseLeader | SlowLeader | IsolateLeader => {
                self.to_member(fault, rng)
            }
            CutGroup | CutGroupBriefly | RefuseGroup | DelayGroup => self.to_group(fault, rng),
            DelayMembers => {
                let delay = Duration::from_millis(rng.u64(5..50));
                self.note(fault, &format!("{delay:?}"));
                self.cluster.delay_peers(delay);
                thread::sleep(a_while(rng));
                self.cluster.reunite();
                true
            }
            Compact => self.compact(),
            _ => self.to_family(fault, rng),
        }
    }

    fn note(&self, fault: Fault, what: &str) {
        self.witness.note(&format!("{fault:?} {what}"));
    }

    fn to_member(&self, fault: Fault, rng: &mut Rng) -> bool {
        let chosen = match fault {
            KillMember => Some(rng.choice(self.cluster.members()).expect("there are members")),
            _ => self.cluster.leader(),
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
                self.cluster.isolate(member);
                thread::sleep(longer_than_claims(rng));
                self.cluster.reunite();
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
        let time = if fault == CutGroup { longer_than_claims(rng) } else { a_while(rng) };
        let delay = Duration::from_millis(rng.u64(10..300));
        self.note(fault, &format!("group {group}"));
        paths.iter().for_each(|path| match fault {
            RefuseGroup => path.refuse(),
            DelayGroup => path.delay(delay),
            _ => path.cut(),
        });
        thread::sleep(time);
        paths.iter().for_each(Proxy::heal);
        true
    }

    /// Not what the watch has yet to see.
    fn compact(&self) -> bool {
        let revision = self.watch.revision().to_string();
        self.note(Compact, &revision);
        let done = self.cluster.etcdctl(&["compact", &revision]).output();
        done.is_ok_and(|done| done.status.success())
    }

    fn to_family(&self, fault: Fault, rng: &mut Rng) -> bool {
        let stops = !matches!(fault, KillGuardian | KillKeeper | KillBoth | KillCommand);
        let wanted = |visit: Option<&Visit>| match fault {
            KillGuardian | KillKeeper | KillBoth => true,
            StopWaiter => visit.is_none(),
            _ => visit.is_some_and(|visit| visit.name.ends_with(MARK_OF_LONG)),
        };
        // How long it takes to find one is chance: what comes later is not to depend on it.
        let found = self.choose(&mut rng.fork(), wanted);
        let time = until_somebody_follows(rng);
        let Some(family) = found else { return false };
        let command = family.command.as_ref().map(|(process, _)| process);
        let (keeper, guardian) = (family.keeper.as_ref(), Some(&family.guardian));
        let whom = match fault {
            KillGuardian | StopGuardian => vec![guardian],
            KillKeeper | StopKeeper | StopWaiter => vec![keeper],
            KillBoth => vec![keeper, guardian],
            KillCommand | StopCommand => vec![command],
            _ => vec![guardian, keeper, command],
        };
        let Some(whom) = whom.into_iter().collect::<Option<Vec<_>>>() else { return false };
        self.note(fault, &family.name());
        if !stops {
            whom.iter().for_each(|process| process.send(Signal::KILL));
            return true;
        }
        whom.iter().for_each(|process| process.send(Signal::STOP));
        if let (StopAll, Some((_, visit))) = (fault, &family.command) {
            self.witness.excuse(visit.visit);
        }
        thread::sleep(time);
        // Hallpass stops when its command does, and a shell continues both.
        whom.into_iter().chain(guardian).for_each(|process| process.send(Signal::CONT));
        true
    }

    /// Somebody whose visit, or that it has none yet, is as wanted.
    fn choose(&self, rng: &mut Rng, wanted: impl Fn(Option<&Visit>) -> bool) -> Option<Family<'_>> {
        let start = Instant::now();
        while start.elapsed() < TTL {
            let holder = rng.choice(&self.crowd.holders).expect("there are some");
            let found = Family::of(holder, self.witness)
                .filter(|family| wanted(family.command.as_ref().map(|(_, visit)| visit)));
            if found.is_some() {
                return found;
            }
            thread::sleep(Duration::from_millis(2));
        }
        None
    }

    /// Everything is well again.
    pub fn heal(&self) {
        self.cluster.members().iter().for_each(Member::resume);
        self.cluster.members().iter().for_each(Member::restart);
        self.cluster.reunite();
        self.groups.iter().flatten().for_each(Proxy::heal);
        self.cluster.await_health();
    }
}

/// Less than claims live.
fn a_while(rng: &mut Rng) -> Duration {
    Duration::from_millis(rng.u64(200..1500))
}

fn longer_than_claims(rng: &mut Rng) -> Duration {
    TTL + TTL.mul_f64(2.0 * rng.f64())
}

/// Claims vanish after a TTL, and whoever follows waits for a tenth more than another.
fn until_somebody_follows(rng: &mut Rng) -> Duration {
    TTL.mul_f64(2.2 + rng.f64())
}
