//! A process that uses the hall until it is killed.

use std::{
    env, os::unix::process::CommandExt, path::PathBuf, process::Command,
    sync::atomic::Ordering::SeqCst, thread, time::Duration,
};

use fastrand::Rng;
use hallpass_processes::{Error, HallDir, SharedHall, SharedPass};

use crate::{
    board::{Board, Note, State},
    cases::Case,
    life::Life,
    mapped::Mapped,
    process,
    witness::{Stay, Witness},
};

/// The environment variable with the job of a process that replaced itself with exec.
const JOB: &str = "HALLPASS_STORM_WORKER";

/// The job of a worker.
#[derive(Clone)]
pub struct Job {
    pub case: &'static Case,
    pub folder: PathBuf,
    pub index: usize,
    pub seed: u64,
}

impl Job {
    /// Returns the job that the process before the exec has left in the environment.
    pub fn of_environment() -> Option<Job> {
        let text = env::var(JOB).ok()?;
        let fields: Vec<&str> = text.splitn(4, ' ').collect();
        let [case, index, seed, folder] = fields[..] else { panic!("{JOB}={text}") };
        Some(Job {
            case: Case::named(case),
            folder: folder.into(),
            index: index.parse().unwrap(),
            seed: seed.parse().unwrap(),
        })
    }

    fn to_text(&self) -> String {
        format!("{} {} {} {}", self.case.name, self.index, self.seed, self.folder.display())
    }
}

/// The kind of a worker.
#[derive(Clone, Copy)]
enum Kind {
    /// Waits, works and leaves.
    Plain,
    /// Gives up soon.
    Impatient,
    /// Tries all the time, without waiting.
    Busy,
    /// Has two threads.
    Pair,
    /// Frees the slots of dead processes.
    Rescuer,
    /// Calls exec while it holds a slot.
    Execs,
    /// Leaves its slot to a child.
    LeavesToChild,
    /// Resizes the hall, if the case allows it.
    Resizer,
}

fn kind(random: &mut Rng) -> Kind {
    match random.u8(0..100) {
        0..50 => Kind::Plain,
        50..68 => Kind::Impatient,
        68..72 => Kind::Busy,
        72..82 => Kind::Pair,
        82..88 => Kind::Rescuer,
        88..92 => Kind::Execs,
        92..95 => Kind::LeavesToChild,
        _ => Kind::Resizer,
    }
}

/// How a thread acquires a slot.
#[derive(Clone, Copy)]
enum How {
    Waits,
    WaitsFor(Duration),
    Tries,
}

struct Worker {
    job: Job,
    hall: SharedHall,
    witness: Witness,
}

/// Works until the process is killed or ends by itself.
pub fn work(mut job: Job) -> i32 {
    // A low priority, so that the killer gets its time on a core.
    let _ = rustix::process::nice(10);
    let mut random = Rng::with_seed(job.seed);
    job.seed = random.u64(..);
    let board = Mapped::<Board>::open(&job.folder.join("board"));
    board.notes[job.index].iter().for_each(|note| note.set(State::Outside));
    board.pids[job.index].store(0, SeqCst);
    let note = &board.notes[job.index][0];
    note.set(State::Opening);
    let witness = Witness { board, folder: job.folder.clone(), me: Life::own() };
    let hall = match HallDir::at(job.folder.join("halls")).open_existing(job.case.name) {
        Ok(hall) => hall,
        Err(error) => {
            board.record_violation(&job.folder, &format!("open_existing: {error}"));
            return 1;
        }
    };
    note.set(State::Outside);
    let worker = Worker { job, hall, witness };
    let kind = kind(&mut random);
    if !matches!(kind, Kind::Pair) {
        board.pids[worker.job.index].store(std::process::id().into(), SeqCst);
    }
    match worker.run(kind, &mut random) {
        Ok(()) => 0,
        Err(what) => {
            board.record_violation(&worker.job.folder, &what);
            1
        }
    }
}

impl Worker {
    fn board(&self) -> &Board {
        &self.witness.board
    }

    fn run(&self, kind: Kind, random: &mut Rng) -> Result<(), String> {
        match kind {
            Kind::Pair => thread::scope(|scope| {
                let mut other = random.fork();
                let other = scope.spawn(move || self.visits(1, Kind::Impatient, &mut other));
                self.visits(0, Kind::Plain, random)?;
                other.join().map_err(|_| "a thread panicked".to_string())?
            }),
            Kind::Resizer if self.job.case.min == self.job.case.max => {
                self.visits(0, Kind::Plain, random)
            }
            _ => self.visits(0, kind, random),
        }
    }

    /// Makes passages until an error occurs.
    fn visits(&self, thread: usize, kind: Kind, random: &mut Rng) -> Result<(), String> {
        let note = &self.board().notes[self.job.index][thread];
        let short = |random: &mut Rng| Duration::from_micros(random.u64(0..5000));
        loop {
            match kind {
                Kind::Plain | Kind::Pair => self.visit(note, How::Waits, random)?,
                Kind::Impatient => self.visit(note, How::WaitsFor(short(random)), random)?,
                Kind::Busy => {
                    for _ in 0..200 {
                        self.visit(note, How::Tries, random)?;
                    }
                    thread::sleep(Duration::from_micros(300));
                }
                Kind::Rescuer => {
                    note.set(State::Reaping);
                    self.hall.reap().map_err(|error| format!("reap: {error}"))?;
                    note.set(State::Outside);
                    thread::sleep(short(random) / 10);
                }
                Kind::Resizer => {
                    let case = self.job.case;
                    note.set(State::Resizing);
                    let slots = random.usize(case.min..=case.max);
                    self.hall.resize(slots).map_err(|error| format!("resize: {error}"))?;
                    note.set(State::Outside);
                    thread::sleep(short(random));
                }
                Kind::Execs => return self.exec(note, random),
                Kind::LeavesToChild => return self.leave_to_child(note, random),
            }
            if random.u8(0..4) == 0 {
                thread::sleep(short(random) / 3);
            }
        }
    }

    /// Makes one passage, or gives up.
    fn visit(&self, note: &Note, how: How, random: &mut Rng) -> Result<(), String> {
        if let Some((pass, stay)) = self.enter(note, how)? {
            match how {
                How::Tries => {}
                _ => self.work(random),
            }
            note.set(State::Leaving);
            self.witness.leave(stay);
            drop(pass);
            note.set(State::Outside);
        }
        Ok(())
    }

    fn enter(&self, note: &Note, how: How) -> Result<Option<(SharedPass<'_>, Stay)>, String> {
        let board = self.board();
        let tries = matches!(how, How::Tries);
        board.asks(note, if tries { State::Trying } else { State::Asking });
        let asked = match how {
            How::Waits => self.hall.acquire(),
            How::WaitsFor(time) => self.hall.try_acquire_for(time),
            How::Tries => self.hall.try_acquire(),
        };
        match asked {
            Ok(pass) => {
                board.enters(note);
                if !tries {
                    board.check_order(note);
                }
                let stay = self.witness.enter(pass.slot(), self.job.case.max)?;
                Ok(Some((pass, stay)))
            }
            Err(Error::NoPermits) if !matches!(how, How::Waits) => {
                if !tries {
                    board.check_order(note);
                }
                note.set(State::Outside);
                board.gave_up.fetch_add(1, SeqCst);
                Ok(None)
            }
            Err(error) => Err(format!("acquire: {error}")),
        }
    }

    /// Works, sleeps or does nothing, for up to two milliseconds.
    fn work(&self, random: &mut Rng) {
        match random.u8(0..3) {
            0 => {}
            1 => (0..random.u32(0..20_000)).for_each(|_| std::hint::spin_loop()),
            _ => thread::sleep(Duration::from_micros(random.u64(0..2000))),
        }
    }

    /// Replaces this process with another worker while it holds a slot. The exec frees the slot.
    fn exec(&self, note: &Note, random: &mut Rng) -> Result<(), String> {
        let Some((_pass, stay)) = self.enter(note, How::Waits)? else { return Ok(()) };
        self.work(random);
        self.board().execs.fetch_add(1, SeqCst);
        self.witness.closes(&stay);
        let error = Command::new("/proc/self/exe").env(JOB, self.job.to_text()).exec();
        Err(format!("exec: {error}"))
    }

    /// Leaves the slot to a child that ends soon after.
    fn leave_to_child(&self, note: &Note, random: &mut Rng) -> Result<(), String> {
        let Some((pass, stay)) = self.enter(note, How::Waits)? else { return Ok(()) };
        self.board().left_to_child.fetch_add(1, SeqCst);
        let time = Duration::from_micros(random.u64(0..5000));
        process::fork_free(|| {
            self.witness.inherit(&stay);
            thread::sleep(time);
            self.witness.closes(&stay);
            0
        });
        pass.leave_to_lifeline();
        // The witness needs no record of this, because the child keeps the lock as it keeps the slot.
        process::exit(0)
    }
}
