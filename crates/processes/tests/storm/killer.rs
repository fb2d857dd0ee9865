//! Keeps a number of processes running, and kills them.

use std::{
    fs,
    path::Path,
    sync::atomic::Ordering::SeqCst,
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid};

use crate::{
    board::{Board, State, WORKERS, violations_file},
    cases::Case,
    mapped::Mapped,
    observer, process,
    tally::Tally,
    worker::{self, Job},
};

/// The longest time without a new holder. A working hall assigns slots far more often.
const LONGEST_LULL: Duration = Duration::from_secs(10);

/// A process. While it is suspended by SIGSTOP, `stopped` is the time at which it has to continue.
struct Worker {
    pid: Pid,
    stopped: Option<Instant>,
}

pub struct Storm<'a> {
    case: &'static Case,
    folder: &'a Path,
    board: Mapped<Board>,
    random: Rng,
    observer: Pid,
    workers: Vec<Worker>,
    youngest: usize,
    pub tally: Tally,
}

impl<'a> Storm<'a> {
    pub fn new(case: &'static Case, folder: &'a Path, seed: u64) -> Self {
        let board = Mapped::open(&folder.join("board"));
        let random = Rng::with_seed(seed);
        let (workers, youngest, tally) = (Vec::new(), 0, Tally::default());
        let observer = process::fork(|| observer::observe(case, folder));
        let mut storm = Storm { case, folder, board, random, observer, workers, youngest, tally };
        for index in 0..WORKERS {
            let pid = storm.spawn(index);
            storm.workers.push(Worker { pid, stopped: None });
        }
        storm
    }

    fn spawn(&mut self, index: usize) -> Pid {
        self.youngest = index;
        let folder = self.folder.to_path_buf();
        let job = Job { case: self.case, folder, index, seed: self.random.u64(..) };
        process::fork(|| worker::work(job))
    }

    /// Kills and suspends processes for some time.
    pub fn kill_and_stop(&mut self, time: Duration) -> Result<(), String> {
        let end = Instant::now() + time;
        let (mut entries, mut since) = (0, Instant::now());
        while Instant::now() < end {
            match self.random.u8(0..10) {
                0 => self.stop(),
                1..4 => self.kill_holder_then_waiters(),
                4..6 => self.kill_youngest(),
                _ => {
                    let victims = self.random.usize(1..=3);
                    let victims: Vec<usize> = (0..victims).map(|_| self.victim()).collect();
                    self.kill(&victims);
                }
            }
            self.continue_stopped(Instant::now());
            self.reap(WaitOptions::NOHANG)?;
            let seen = self.board.entries.load(SeqCst);
            if seen != entries {
                (entries, since) = (seen, Instant::now());
            } else if since.elapsed() > LONGEST_LULL {
                return Err(format!(
                    "no process got a slot for {LONGEST_LULL:?}, after {entries} passages"
                ));
            }
            self.violations()?;
            thread::sleep(Duration::from_micros(self.random.u64(0..4000)));
        }
        Ok(())
    }

    /// Kills all processes. Some workers leave their slot to a child process. Waits for these children, which end by
    /// themselves.
    pub fn finish(&mut self) -> Result<(), String> {
        let workers = self.workers.drain(..).map(|worker| worker.pid);
        for pid in workers.chain([self.observer]) {
            let _ = kill_process(pid, Signal::KILL);
        }
        self.reap(WaitOptions::empty())?;
        self.violations()
    }

    /// Returns the violations that workers have recorded, as an error.
    fn violations(&self) -> Result<(), String> {
        match self.board.violations.load(SeqCst) {
            0 => Ok(()),
            count => {
                let text = fs::read_to_string(violations_file(self.folder)).unwrap_or_default();
                Err(format!("{count} violations:\n{text}"))
            }
        }
    }

    /// Returns a random process in this state, if there is one.
    fn in_state(&mut self, wanted: State) -> Option<usize> {
        let is = |index: &usize| self.board.notes[*index].iter().any(|note| note.state() == wanted);
        let found: Vec<usize> = (0..WORKERS).filter(is).collect();
        self.random.choice(found)
    }

    fn victim(&mut self) -> usize {
        let wanted = match self.random.u8(0..10) {
            0..2 => Some(State::Inside),
            2 => Some(State::Trying),
            3 => Some(State::Reaping),
            4 => Some(State::Leaving),
            5 => Some(State::Resizing),
            _ => None,
        };
        let any = self.random.usize(0..WORKERS);
        wanted.and_then(|wanted| self.in_state(wanted)).unwrap_or(any)
    }

    /// Kills the youngest process, which may not even have opened the hall.
    fn kill_youngest(&mut self) {
        spin(Duration::from_micros(self.random.u64(0..1000)));
        self.kill(&[self.youngest]);
    }

    /// Kills a holder, and then the first waiters, which are about to free its slot.
    fn kill_holder_then_waiters(&mut self) {
        let Some(holder) = self.in_state(State::Inside) else { return };
        let asked = |index: &usize| {
            let notes = self.board.notes[*index].iter();
            notes.filter(|note| note.state() == State::Asking).map(|note| note.asked()).min()
        };
        let mut waiters: Vec<(u64, usize)> =
            (0..WORKERS).filter_map(|index| Some((asked(&index)?, index))).collect();
        waiters.sort_unstable();
        let count = self.random.usize(1..=3);
        let pause = Duration::from_micros(self.random.u64(0..300));
        let _ = kill_process(self.workers[holder].pid, Signal::KILL);
        self.tally.holder_killed = Some(Instant::now());
        spin(pause);
        let mut victims = vec![holder];
        victims.extend(waiters.iter().map(|(_, index)| *index).take(count));
        self.kill(&victims);
    }

    /// Kills processes and starts others instead. Kills all of them before it waits for the first one.
    fn kill(&mut self, victims: &[usize]) {
        let mut victims = victims.to_vec();
        victims.sort_unstable();
        victims.dedup();
        let moment = Instant::now();
        for &index in &victims {
            // A process that ended by itself is still a zombie, so its pid is valid.
            let _ = kill_process(self.workers[index].pid, Signal::KILL);
        }
        for &index in &victims {
            let status = process::wait(self.workers[index].pid);
            if status.terminating_signal() == Some(Signal::KILL.as_raw()) {
                let notes = &self.board.notes[index];
                self.tally.killed(notes, self.workers[index].stopped.is_some(), moment);
                for note in notes.iter().filter(|note| note.state() == State::Asking) {
                    self.board.check_order(note);
                }
            }
            self.replace(index);
        }
    }

    fn replace(&mut self, index: usize) {
        let pid = self.spawn(index);
        self.workers[index] = Worker { pid, stopped: None };
    }

    /// Suspends a process with SIGSTOP for a while. The hall must not treat it as dead.
    fn stop(&mut self) {
        let index = self.victim();
        if self.workers[index].stopped.is_none() {
            let time = Duration::from_micros(self.random.u64(100..30_000));
            let _ = kill_process(self.workers[index].pid, Signal::STOP);
            self.workers[index].stopped = Some(Instant::now() + time);
            self.tally.stops += 1;
        }
    }

    fn continue_stopped(&mut self, now: Instant) {
        for worker in &mut self.workers {
            if worker.stopped.is_some_and(|until| until <= now) {
                let _ = kill_process(worker.pid, Signal::CONT);
                worker.stopped = None;
            }
        }
    }

    /// Waits for workers that ended by themselves, and for the children of dead workers, which are children of this process
    /// now.
    fn reap(&mut self, options: WaitOptions) -> Result<(), String> {
        while let Ok(Some((pid, status))) = waitpid(None, options) {
            let index = self.workers.iter().position(|worker| worker.pid == pid);
            if let Some(index) = index {
                self.replace(index);
            }
            let killed = status.terminating_signal() == Some(Signal::KILL.as_raw());
            if status.exit_status() != Some(0) && !killed {
                self.violations()?;
                return Err(format!("a process ended by itself: {}", words(status)));
            }
        }
        Ok(())
    }
}

/// Spins for a time that is too short for a sleep.
fn spin(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Describes how a process ended.
pub fn words(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(process::PANICKED), _) => "it panicked".into(),
        (Some(code), _) => format!("exit status {code}"),
        (_, Some(signal)) => format!("signal {signal}"),
        _ => format!("{status:?}"),
    }
}
