//! Processes queue up one by one; then it is known who is next.
//!
//! Each holder in its turn leaves or is killed, and the first of those who wait and live must be in,
//! and nobody else. Meanwhile some who wait are killed, which takes them out of the queue, or stopped,
//! which does not: whoever is stopped at the front keeps the slot free for itself.

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
const MOST: usize = 3;
const NAME: &str = "line";
/// How long nobody may come in while the one at the front is stopped.
const STANDSTILL: Duration = Duration::from_millis(30);
/// Nothing here takes a tenth of that. It is less than the ten seconds after which a waiter looks by
/// itself, so a wake-up that got lost is noticed.
const PATIENCE: Duration = Duration::from_secs(9);

/// What the processes and the one who directs them tell each other.
#[repr(C)]
struct Signs {
    /// How many may queue up.
    called: AtomicU64,
    /// Whether each is in: its slot and one.
    inside: [AtomicU64; MOST + QUEUE],
    /// Whether each is told to leave.
    leaves: [AtomicU64; MOST + QUEUE],
}

// SAFETY: it is atomics throughout, for which any value will do.
unsafe impl Shareable for Signs {}

pub fn order() {
    let seed = seed();
    for round in 0..6 {
        let folder = tempfile::tempdir().unwrap();
        let slots = 1 + round % MOST;
        let mut line = Line::new(slots, folder.path(), Rng::with_seed(seed + round as u64));
        if let Err(what) = line.run() {
            let status = line.hall.status();
            line.kill_all();
            panic!("k = {slots}: {what}\n{status:#?}\nrepeat with HALLPASS_STORM_SEED={seed}");
        }
        line.kill_all();
    }
}

struct Line {
    slots: usize,
    random: Rng,
    signs: Mapped<Signs>,
    hall: SharedHall,
    pids: Vec<Pid>,
    /// Who is in.
    inside: Vec<usize>,
    /// Who waits, the first first.
    queue: Vec<usize>,
    stopped: Vec<usize>,
}

/// One who waits its turn.
fn visit(index: usize, slots: usize, folder: &Path, signs: &Signs) -> i32 {
    let told = |word: &AtomicU64, least: usize| {
        while word.load(SeqCst) < least as u64 {
            thread::sleep(Duration::from_micros(200));
        }
    };
    told(&signs.called, index + 1);
    let hall = HallDir::at(folder).open(NAME, slots).unwrap();
    let pass = hall.acquire().unwrap();
    signs.inside[index].store(pass.slot() as u64 + 1, SeqCst);
    told(&signs.leaves[index], 1);
    drop(pass);
    0
}

impl Line {
    /// All processes are made before this one opens the hall: they inherit nothing of it.
    fn new(slots: usize, folder: &Path, random: Rng) -> Line {
        let signs = Mapped::<Signs>::open(&folder.join("signs"));
        let halls = folder.join("halls");
        let pids = (0..slots + QUEUE)
            .map(|index| process::fork(|| visit(index, slots, &halls, &signs)))
            .collect();
        let hall = HallDir::at(&halls).open(NAME, slots).unwrap();
        let (inside, queue, stopped) = (Vec::new(), Vec::new(), Vec::new());
        Line { slots, random, signs, hall, pids, inside, queue, stopped }
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
            self.signs.called.store(index as u64 + 1, SeqCst);
            if index < self.slots {
                self.until("a slot is had", || self.signs.inside[index].load(SeqCst) != 0)?;
                self.inside.push(index);
            } else {
                let pid = self.pids[index].as_raw_pid() as u32;
                let last = || self.hall.status().waiters.last().map(|one| one.pid);
                self.until("the last in the queue is who came last", || last() == Some(pid))?;
                self.queue.push(index);
            }
        }
        Ok(())
    }

    /// One of those in leaves, or is killed.
    fn one_goes(&mut self) {
        let index = self.inside.swap_remove(self.random.usize(0..self.inside.len()));
        if self.random.bool() {
            self.signs.leaves[index].store(1, SeqCst);
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

    /// The first in the queue is in, and nobody else.
    fn next_comes(&mut self) -> Result<(), String> {
        if self.queue.is_empty() {
            return Ok(());
        }
        let next = self.queue.remove(0);
        if let Some(place) = self.stopped.iter().position(|one| *one == next) {
            thread::sleep(STANDSTILL);
            self.nobody_else_is_in()?;
            self.stopped.swap_remove(place);
            self.send(next, Signal::CONT);
        }
        let is_in = |index: usize| self.signs.inside[index].load(SeqCst) != 0;
        self.until(&format!("{next} is in"), || {
            is_in(next) || self.queue.iter().any(|other| is_in(*other))
        })?;
        self.inside.push(next);
        self.nobody_else_is_in()
    }

    fn nobody_else_is_in(&self) -> Result<(), String> {
        let is_in = |index: &&usize| self.signs.inside[**index].load(SeqCst) != 0;
        match self.queue.iter().find(is_in) {
            None => Ok(()),
            Some(other) => Err(format!("{other} is in, but {:?} were to wait", self.queue)),
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
