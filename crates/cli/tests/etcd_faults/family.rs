//! The processes of one passage: hallpass, its keeper, and the command.

use std::{fs, os::fd::OwnedFd, path::Path, sync::atomic::Ordering::SeqCst};

use hallpass_testbed::{Visit, Witness};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::crowd::Competitor;

/// The processes of one passage. While this exists, no other fault is applied to them.
pub struct Family<'a> {
    competitor: &'a Competitor,
    /// `hallpass run`, the parent of the command.
    pub guardian: Process,
    /// The child of `hallpass run` that talks to the store.
    pub keeper: Option<Process>,
    /// The command, once it has a slot.
    pub command: Option<(Process, Visit)>,
}

impl<'a> Family<'a> {
    /// Returns the family of the passage that this competitor makes. Returns `None` if the competitor makes no passage,
    /// or if a fault is being applied to it.
    pub fn of(competitor: &'a Competitor, witness: &Witness) -> Option<Family<'a>> {
        if competitor.busy.swap(true, SeqCst) {
            return None;
        }
        let family = Family::find(competitor, witness);
        if family.is_none() {
            competitor.busy.store(false, SeqCst);
        }
        family
    }

    fn find(competitor: &'a Competitor, witness: &Witness) -> Option<Family<'a>> {
        let now = competitor.now();
        let running = now.as_ref()?;
        let (pid, name) = (running.child.id(), &running.name);
        let guardian = Process::open(pid)?;
        let visit = || witness.running().into_iter().find(|visit| visit.name == *name);
        let command = visit().and_then(|visit| Some((Process::open(visit.pid)?, visit)));
        // The keeper is the child that runs the same program as the guardian.
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        let find_keeper = || children(pid).into_iter().find(|child| is_running(*child, &program));
        let keeper_pid = find_keeper();
        let keeper = keeper_pid.and_then(Process::open);
        // If both are still found with the same ids, the ids were not reused before the processes were opened.
        if visit() != command.as_ref().map(|(_, visit)| visit.clone())
            || find_keeper() != keeper_pid
        {
            return None;
        }
        Some(Family { competitor, guardian, keeper, command })
    }

    pub fn name(&self) -> String {
        match &self.command {
            Some((_, visit)) => format!("{} in slot {}", visit.name, visit.slot),
            None => "a waiter".to_string(),
        }
    }
}

impl Drop for Family<'_> {
    fn drop(&mut self) {
        self.competitor.busy.store(false, SeqCst);
    }
}

/// A process. This value never refers to another process, even if the process id is reused.
pub struct Process(OwnedFd);

impl Process {
    fn open(pid: u32) -> Option<Process> {
        let pid = Pid::from_raw(pid.try_into().ok()?)?;
        pidfd_open(pid, PidfdFlags::empty()).ok().map(Process)
    }

    pub fn send(&self, signal: Signal) {
        // The process may have ended.
        let _ = pidfd_send_signal(&self.0, signal);
    }
}

fn children(pid: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    list.unwrap_or_default().split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn is_running(pid: u32, program: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program)
}
