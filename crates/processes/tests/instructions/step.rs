//! A process that runs one instruction at a time.

use std::{fs, ptr, thread, time::Duration};

use rustix::{
    process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid},
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

use crate::process;

/// The number of looks in a row that must find the process asleep before it counts as blocked. These looks take longer
/// than any sleep of the process. A process that is ready to run, but has no core on a busy machine, is not blocked.
const LOOKS: u32 = 4_000;
const PAUSE: Duration = Duration::from_micros(50);
/// The number of looks before the tracer pauses for the first time. A pause takes longer than most instructions.
const QUICK_LOOKS: u32 = 100;

/// A child that this process, the *tracer*, runs one instruction at a time by ptrace.
pub struct Traced(Pid);

/// Binds this process and its children to one core, because processes that take turns are faster on one core.
pub fn stay_on_one_core() {
    let mut core = CpuSet::new();
    let first = (0..CpuSet::MAX_CPU).find(|cpu| sched_getaffinity(None).unwrap().is_set(*cpu));
    core.set(first.expect("this process runs on a core"));
    sched_setaffinity(None, &core).unwrap();
}

/// Result of running a victim.
#[derive(Debug)]
pub enum Reached {
    /// The victim ran the requested number of instructions.
    Asked,
    /// The victim reached the second mark after this many instructions.
    End(usize),
    /// The victim is blocked.
    Blocked,
}

/// Makes a ptrace request that has no arguments besides the process.
fn ptrace(request: libc::c_uint, pid: i32) -> bool {
    // SAFETY: these requests access no memory of this process.
    unsafe { libc::ptrace(request, pid, ptr::null_mut::<u8>(), ptr::null_mut::<u8>()) == 0 }
}

impl Traced {
    /// Starts a child that runs `f`, which marks where the instructions that count begin and end.
    pub fn new(f: impl FnOnce(&dyn Fn())) -> Traced {
        let mark = || kill_process(rustix::process::getpid(), Signal::STOP).unwrap();
        Traced(process::fork(|| {
            assert!(ptrace(libc::PTRACE_TRACEME, 0), "a process cannot be traced here");
            f(&mark);
            0
        }))
    }

    /// Runs `steps` instructions from the first mark on. Afterwards, the child is stopped by the tracer.
    pub fn run(&self, steps: usize) -> Reached {
        let first = (0..25).find_map(|_| self.stopped_by());
        assert_eq!(first, Some(libc::SIGSTOP), "the process does not reach the first mark");
        let reached = (0..steps).find_map(|done| {
            assert!(ptrace(libc::PTRACE_SINGLESTEP, self.0.as_raw_pid()));
            match self.stopped_by() {
                // SIGTRAP reports the end of the instruction. The process never gets a SIGCONT, because each request
                // to step discards the signal that stopped the process.
                Some(libc::SIGTRAP | libc::SIGCONT) => None,
                Some(libc::SIGSTOP) => Some(Reached::End(done)),
                None => Some(Reached::Blocked),
                Some(signal) => panic!("signal {signal} after {done} instructions"),
            }
        });
        reached.unwrap_or(Reached::Asked)
    }

    pub fn kill(self) {
        kill_process(self.0, Signal::KILL).unwrap();
        process::wait(self.0);
    }

    /// Waits until the child is stopped by the tracer. Returns the signal that stopped it, or `None` if the child is
    /// blocked.
    fn stopped_by(&self) -> Option<i32> {
        let mut looks = 0;
        while looks < LOOKS {
            match waitpid(Some(self.0), WaitOptions::NOHANG).unwrap() {
                Some((_, status)) => return Some(signal(status)),
                None if looks < QUICK_LOOKS => {
                    looks += 1;
                    thread::yield_now();
                }
                None => {
                    looks = if self.is_asleep() { looks + 1 } else { QUICK_LOOKS };
                    thread::sleep(PAUSE);
                }
            }
        }
        None
    }

    fn is_asleep(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0)).unwrap();
        stat.rsplit(") ").next().unwrap().starts_with(['S', 'D'])
    }
}

fn signal(status: WaitStatus) -> i32 {
    status.stopping_signal().unwrap_or_else(|| panic!("the process ended by itself: {status:?}"))
}
