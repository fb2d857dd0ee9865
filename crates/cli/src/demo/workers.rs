//! The workers of the demo. Each worker is a `hallpass run` in a separate process group.

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

/// The name of the hall.
const HALL: &str = "demo";
/// Time limit for a worker to join the queue on a busy machine.
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

    /// Starts a worker, and returns when it waits or holds a slot. So the workers are numbered in the order
    /// in which they joined the queue.
    pub fn start(&mut self) -> io::Result<()> {
        let number = self.started;
        // Visits have different lengths, so that slots become free at different times.
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
                return Err(io::Error::other(format!("`hallpass run` ended too soon: {status}")));
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

    /// Kills a worker and its command together, with SIGKILL, so that neither of them can clean up.
    pub fn kill(&mut self, number: usize) -> io::Result<()> {
        let worker = self.running.iter_mut().find(|worker| worker.number == number);
        let worker = worker.expect("a visitor's worker runs");
        worker.killed = true;
        Ok(kill_group(&worker.child)?)
    }

    /// Removes the workers that have ended.
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

    /// Returns the number of running workers.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Returns the PID of a worker.
    pub fn pid(&self, number: usize) -> Option<u32> {
        self.running.iter().find(|worker| worker.number == number).map(|worker| worker.child.id())
    }

    /// Returns the waiting workers, in the order in which they get a slot.
    pub fn queue(&self) -> Vec<usize> {
        let number = |pid: u32| {
            let worker = self.running.iter().find(|worker| worker.child.id() == pid)?;
            Some(worker.number)
        };
        self.hall.status().waiters.iter().filter_map(|one| number(one.pid)).collect()
    }
}

impl Drop for Workers {
    /// Kills the remaining workers, however the demo ends.
    fn drop(&mut self) {
        for worker in &mut self.running {
            let _ = kill_group(&worker.child);
            let _ = worker.child.wait();
        }
    }
}

fn kill_group(child: &Child) -> rustix::io::Result<()> {
    // The conversion cannot fail, because a PID is a positive `i32`. The child is not reaped yet, so no other process
    // has its PID.
    let group = Pid::from_raw(child.id() as i32).expect("a child has a PID");
    kill_process_group(group, Signal::KILL)
}
