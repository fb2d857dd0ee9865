//! Processes join the queue one by one, so the test knows which one is next.
//!
//! One holder after another leaves or is killed. Each time, the first live waiter must get the slot, and no other
//! process. In the meantime, some waiters are killed and some are suspended with SIGSTOP. A killed waiter leaves the
//! queue. A suspended waiter does not: at the front of the queue, it keeps the slot for itself.

use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use hallpass_processes::{HallDir, SharedHall};
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    mapped::{Mapped, Shareable},
    process, seed,
};

const QUEUE: usize = 20;
const MAX_SLOTS: usize = 3;
const NAME: &str = "queue";
/// How long the test checks that no process gets a slot while the first waiter is suspended.
const STANDSTILL: Duration = Duration::from_millis(30);
/// The time limit for every wait of the test. Such a wait takes less than a tenth of it. A waiter that is not woken
/// checks the hall again after ten seconds. The limit is shorter, so that a lost wake-up fails the test.
const PATIENCE: Duration = Duration::from_secs(9);

/// The signals between the processes and the test.
#[repr(C)]
struct Signals {
    /// The number of processes that may join the queue.
    called: AtomicU64,
    /// For each process its slot plus one, or 0 while it has none.
    held: [AtomicU64; MAX_SLOTS + QUEUE],
    /// For each process, whether it must leave.
    leaves: [AtomicU64; MAX_SLOTS + QUEUE],
}

// SAFETY: all fields are atomics, for which any value is valid.
unsafe impl Shareable for Signals {}

pub fn order() {
    let seed = seed();
    for round in 0..6 {
        let folder = tempfile::tempdir().unwrap();
        let slots = 1 + round % MAX_SLOTS;
        let mut line = Line::new(slots, folder.path(), Rng::with_seed(seed + round as u64));
        if let Err(what) = line.run() {
            let status = line.hall.status();
            line.kill_all();
            panic!("k = {slots}: {what}\n{status:#?}\nrepeat with HALLPASS_STORM_SEED={seed}");
        }
        line.kill_all();
    }
}

/// The processes of one round, and what the test expects of them.
struct Line {
    slots: usize,
    random: Rng,
    signals: Mapped<Signals>,
    hall: SharedHall,
    pids: Vec<Pid>,
    /// The processes that hold a slot.
    holders: Vec<usize>,
    /// The waiters, the first one first.
    queue: Vec<usize>,
    /// The suspended waiters.
    stopped: Vec<usize>,
}

/// Runs one process. It joins the queue when `called` allows it, and leaves when its flag in `leaves` is set.
fn visit(index: usize, slots: usize, folder: &Path, signals: &Signals) -> i32 {
    let await_at_least = |word: &AtomicU64, least: usize| {
        while word.load(SeqCst) < least as u64 {
            thread::sleep(Duration::from_micros(200));
        }
    };
    await_at_least(&signals.called, index + 1);
    let hall = HallDir::at(folder).open(NAME, slots).unwrap();
    let pass = hall.acquire().unwrap();
    signals.held[index].store(pass.slot() as u64 + 1, SeqCst);
    await_at_least(&signals.leaves[index], 1);
    drop(pass);
    0
}

impl Line {
    /// Starts all processes before this process opens the hall, so that they inherit no descriptors of the hall.
    fn new(slots: usize, folder: &Path, random: Rng) -> Line {
        let signals = Mapped::<Signals>::open(&folder.join("signals"));
        let halls = folder.join("halls");
        let pids = (0..slots + QUEUE)
            .map(|index| process::fork(|| visit(index, slots, &halls, &signals)))
            .collect();
        let hall = HallDir::at(&halls).open(NAME, slots).unwrap();
        let (holders, queue, stopped) = (Vec::new(), Vec::new(), Vec::new());
        Line { slots, random, signals, hall, pids, holders, queue, stopped }
    }

    fn run(&mut self) -> Result<(), String> {
        self.line_up()?;
        for _ in 0..4 {
            self.kill_one_waiting();
        }
        for _ in 0..3 {
            let index = self.queue[self.random.usize(0..self.queue.len())];
            if !self.stopped.contains(&index) {
                process::stop(self.pids[index]);
                self.stopped.push(index);
            }
        }
        while !self.queue.is_empty() {
            self.one_goes();
            if self.random.u8(0..5) == 0 {
                self.kill_one_waiting();
            }
            self.next_comes()?;
        }
        Ok(())
    }

    fn line_up(&mut self) -> Result<(), String> {
        for index in 0..self.slots + QUEUE {
            self.signals.called.store(index as u64 + 1, SeqCst);
            if index < self.slots {
                self.until("the process has a slot", || {
                    self.signals.held[index].load(SeqCst) != 0
                })?;
                self.holders.push(index);
            } else {
                let pid = self.pids[index].as_raw_pid() as u32;
                let last = || self.hall.status().waiters.last().map(|one| one.pid);
                self.until("the process is last in the queue", || last() == Some(pid))?;
                self.queue.push(index);
            }
        }
        Ok(())
    }

    /// Lets a random holder leave, or kills it.
    fn one_goes(&mut self) {
        let index = self.holders.swap_remove(self.random.usize(0..self.holders.len()));
        if self.random.bool() {
            self.signals.leaves[index].store(1, SeqCst);
        } else {
            self.send(index, Signal::KILL);
        }
    }

    fn kill_one_waiting(&mut self) {
        if !self.queue.is_empty() {
            let index = self.queue.remove(self.random.usize(0..self.queue.len()));
            self.send(index, Signal::KILL);
        }
    }

    /// Checks that the first waiter gets a slot, and no other process.
    fn next_comes(&mut self) -> Result<(), String> {
        if self.queue.is_empty() {
            return Ok(());
        }
        let next = self.queue.remove(0);
        if let Some(index) = self.stopped.iter().position(|one| *one == next) {
            thread::sleep(STANDSTILL);
            self.no_other_waiter_has_a_slot()?;
            self.stopped.swap_remove(index);
            self.send(next, Signal::CONT);
        }
        let is_in = |index: usize| self.signals.held[index].load(SeqCst) != 0;
        self.until(&format!("process {next} has a slot"), || {
            is_in(next) || self.queue.iter().any(|other| is_in(*other))
        })?;
        self.holders.push(next);
        self.no_other_waiter_has_a_slot()
    }

    fn no_other_waiter_has_a_slot(&self) -> Result<(), String> {
        let is_in = |index: &&usize| self.signals.held[**index].load(SeqCst) != 0;
        match self.queue.iter().find(is_in) {
            None => Ok(()),
            Some(other) => {
                Err(format!("process {other} has a slot, but {:?} must wait", self.queue))
            }
        }
    }

    fn send(&self, index: usize, signal: Signal) {
        kill_process(self.pids[index], signal).unwrap();
    }

    fn until(&self, what: &str, f: impl Fn() -> bool) -> Result<(), String> {
        let end = Instant::now() + PATIENCE;
        while !f() {
            if Instant::now() > end {
                return Err(format!("waited {PATIENCE:?} until {what}"));
            }
            thread::sleep(Duration::from_micros(100));
        }
        Ok(())
    }

    fn kill_all(&self) {
        for &pid in &self.pids {
            let _ = kill_process(pid, Signal::KILL);
            process::wait(pid);
        }
    }
}
