//! The demo's workers: each is a `hallpass run` in a process group of its own.

use std::{
    env, io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use hallpass_processes::{HallDir, SharedHall};
use rustix::process::{Pid, Signal, kill_process_group};

use super::{visit, witness};

/// The hall's name.
const HALL: &str = "demo";
/// How long a worker may take to join the queue on a busy machine.
const JOINING: Duration = Duration::from_secs(20);

struct Worker {
    number: usize,
    child: Child,
    killed: bool,
}

/// The workers that run, numbered in the order in which they joined the queue.
pub struct Workers {
    program: PathBuf,
    directory: PathBuf,
    hall: SharedHall,
    running: Vec<Worker>,
    started: usize,
}

impl Workers {
    pub fn new(directory: &Path, slots: usize) -> io::Result<Self> {
        let hall = HallDir::at(directory).open(HALL, slots).map_err(io::Error::other)?;
        let program = env::current_exe()?;
        Ok(Workers { program, directory: directory.into(), hall, running: Vec::new(), started: 0 })
    }

    /// Starts a worker, and returns when it is in the queue or holds a slot: so the numbers of the
    /// workers are the order in which they came.
    pub fn start(&mut self) -> io::Result<()> {
        let number = self.started;
        // Visits of different lengths, so that slots come free at different times.
        let stay = 350 + number * 137 % 400;
        let mut child = Command::new(&self.program)
            .arg("run")
            .arg("--dir")
            .arg(&self.directory)
            .args([HALL, "--"])
            .arg(&self.program)
            .arg(visit::SUBCOMMAND)
            .env(visit::WORKER, number.to_string())
            .env(visit::SOCKET, witness::socket(&self.directory))
            .env(visit::STAY, stay.to_string())
            .env_remove("HALLPASS_ON")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()?;
        let pid = child.id();
        let limit = Instant::now() + JOINING;
        while !self.has_joined(pid) {
            if let Some(status) = child.try_wait()? {
                return Err(io::Error::other(format!("`hallpass run` ended at once: {status}")));
            }
            if Instant::now() > limit {
                let _ = child.kill();
                return Err(io::Error::other("a process did not join the queue in time"));
            }
            thread::sleep(Duration::from_millis(1));
        }
        self.started += 1;
        self.running.push(Worker { number, child, killed: false });
        Ok(())
    }

    fn has_joined(&self, pid: u32) -> bool {
        let status = self.hall.status();
        status.waiters.iter().chain(&status.holders).any(|one| one.pid == pid)
    }

    /// Kills a worker and its command with SIGKILL, both at once: nobody is left to clean up.
    pub fn kill(&mut self, number: usize) -> io::Result<()> {
        let worker = self.running.iter_mut().find(|worker| worker.number == number);
        let worker = worker.expect("a visitor's worker runs");
        worker.killed = true;
        Ok(kill_group(&worker.child)?)
    }

    /// Forgets the workers that have ended.
    pub fn reap(&mut self) -> io::Result<()> {
        let mut failure = None;
        self.running.retain_mut(|worker| match worker.child.try_wait() {
            Ok(None) => true,
            Ok(Some(status)) => {
                if !worker.killed && !status.success() {
                    failure = Some(format!("worker {} failed: {status}", worker.number));
                }
                false
            }
            Err(error) => {
                failure = Some(error.to_string());
                false
            }
        });
        failure.map_or(Ok(()), |why| Err(io::Error::other(why)))
    }

    /// How many workers run.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// The process of a worker.
    pub fn pid(&self, number: usize) -> Option<u32> {
        self.running.iter().find(|worker| worker.number == number).map(|worker| worker.child.id())
    }

    /// The processes in the queue, the first in line first.
    pub fn queue(&self) -> Vec<u32> {
        self.hall.status().waiters.iter().map(|one| one.pid).collect()
    }
}

impl Drop for Workers {
    /// Leaves no process behind, however the demo ends.
    fn drop(&mut self) {
        for worker in &mut self.running {
            let _ = kill_group(&worker.child);
            let _ = worker.child.wait();
        }
    }
}

fn kill_group(child: &Child) -> rustix::io::Result<()> {
    // It fits: it came from the system as this type. The child is not reaped yet, so nobody else has
    // its number.
    let group = Pid::from_raw(child.id() as i32).expect("a child has a PID");
    kill_process_group(group, Signal::KILL)
}
