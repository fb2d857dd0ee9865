//! `hallpass demo`: shows for about ten seconds what a hall does, with real processes.
//!
//! The demo uses hallpass itself. Every worker is a separate `hallpass run` on a hall in a temporary directory. The
//! command of a worker is [`visit`]. A [`Witness`] that does not use the hall observes the visits and judges them.

mod picture;
mod visit;
mod witness;
mod workers;

use std::{
    io::{self, ErrorKind},
    process::ExitCode,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use clap::Args as ClapArgs;

use self::{
    picture::Picture,
    witness::{Event, Witness},
    workers::Workers,
};
use crate::{
    output::{CLOSED_PIPE, say},
    signals::catch_termination,
};

pub use visit::SUBCOMMAND as VISIT;
pub use visit::run as visit;

/// Number of slots of the hall.
const SLOTS: usize = 3;
/// Number of workers that compete at any time. With this number, there is a queue, and it fits on one line.
const WORKERS: usize = 8;
/// A holder is killed this long after the start, and again after each further interval.
const KILL_EVERY: Duration = Duration::from_millis(2_500);
/// The longest sleep of the main loop, which sets the pace of the live picture.
const TICK: Duration = Duration::from_millis(50);
/// Time limit for the last workers to finish on a busy machine.
const LAST_WORKERS: Duration = Duration::from_secs(30);

#[derive(ClapArgs)]
pub struct Args {
    /// How long the demo starts new processes, in seconds; it ends one or two seconds later
    #[arg(long, value_name = "SECONDS", default_value_t = 9)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
}

pub fn run(args: Args) -> ExitCode {
    match show(Duration::from_secs(args.seconds)) {
        Ok(code) => code,
        // The reader has closed the pipe, as `head` does when it has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::from(CLOSED_PIPE),
        Err(error) => {
            say(format_args!("the demo cannot run here: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn show(time: Duration) -> io::Result<ExitCode> {
    let ended_by = catch_termination()?;
    let directory = tempfile::Builder::new().prefix("hallpass-demo-").tempdir()?;
    let mut witness = Witness::listen(directory.path(), SLOTS)?;
    let mut workers = Workers::new(directory.path(), SLOTS)?;
    let start = Instant::now();
    // Kill no holder near the end, because a successor must be waiting for the slot.
    let may_kill = |now: Duration| now + KILL_EVERY / 2 < time;
    let kill_every = may_kill(KILL_EVERY).then_some(KILL_EVERY);
    let mut picture = Picture::new(start, SLOTS, WORKERS, kill_every)?;
    let mut next_kill = KILL_EVERY;
    loop {
        let now = start.elapsed();
        let signal = ended_by.load(Ordering::Relaxed);
        if signal != 0 {
            picture.finish();
            say(format_args!("demo interrupted"));
            // Dropping `workers` kills the remaining workers.
            return Ok(ExitCode::from(128 + signal as u8));
        }
        if now < time {
            while workers.running() < WORKERS {
                workers.start()?;
            }
        } else if workers.running() == 0 {
            break;
        } else if now > time + LAST_WORKERS {
            return Err(io::Error::other("the last processes did not finish in time"));
        }
        if now >= next_kill && may_kill(now) {
            next_kill += KILL_EVERY;
            if let Some(holder) = witness.longest_visitor() {
                workers.kill(holder)?;
                picture.show(&witness.killed(holder))?;
            }
        }
        for event in witness.wait(TICK)? {
            picture.show(&event)?;
            if let Event::Conflict { .. } = event {
                picture.finish();
            }
        }
        workers.reap()?;
        picture.draw(&witness, &workers);
    }
    picture.erase()?;
    picture::summary(&witness.verdict(), start.elapsed())
}
