//! The time from a release until the successor has the slot, as a multiple of the time of one write of the store.
//!
//! A holder has the only slot, and a successor waits. The time starts with the call of `release`. It ends when
//! the successor's `acquire` returns, or when the successor's command has written a word to a pipe. Between
//! these measurements, the benchmark measures a write, and the start of the same command without a hall.
//!
//! Nothing happens for 40 ms before each hand-over and before each write. After such a pause, idle processors
//! have to wake up, so a request takes longer than right after another one.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use hallpass_cluster::ClusterHall;
use serde::Serialize;

use super::{
    MOMENT, await_queue, failed,
    setting::{Setting, connect},
    wrapper::{LONG_TTL, Wrapper},
};
use crate::common::quartiles::Quartiles;

/// The limit on the time of a hand-over to another connection, in writes.
pub const BAR: f64 = 3.0;

const NAME: &str = "handover";

/// The result, in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Handover {
    /// The store on which this was measured.
    #[serde(flatten)]
    pub setting: Setting,
    /// The time of one write.
    pub write: Quartiles,
    /// The time of a hand-over to another connection.
    pub connection: Quartiles,
    /// The time of a hand-over to the command of another process.
    pub command: Quartiles,
    /// The time of a hand-over to a command of an earlier version of hallpass, if there is one to compare with.
    pub before: Option<Quartiles>,
    /// The time to start the command without a hall.
    pub start: Quartiles,
}

impl Handover {
    /// Returns the time of a hand-over to another connection, in writes.
    pub fn in_writes(&self) -> f64 {
        self.connection.median / self.write.median
    }

    /// Returns the time of a hand-over to a command, minus the time to start the command, in writes.
    pub fn command_in_writes(&self) -> f64 {
        (self.command.median - self.start.median) / self.write.median
    }

    /// Returns the time of a hand-over to a command, as a multiple of that with the earlier version.
    pub fn to_before(&self) -> Option<f64> {
        Some(self.command.median / self.before?.median)
    }

    /// Returns `true` if the hand-over to another connection took at most [`BAR`] writes.
    pub fn holds(&self) -> bool {
        self.in_writes() <= BAR
    }
}

/// Measures `rounds` hand-overs of each kind, with `program` and, if it is given, with the earlier version `before`.
///
/// # Errors
/// Returns the reason if a hand-over fails.
pub fn measure(
    setting: Setting,
    rounds: usize,
    program: &Path,
    before: Option<&Path>,
) -> Result<Handover, String> {
    let store = setting.start_store();
    let url = store.url();
    let (mine, other) = (connect(&url)?, connect(&url)?);
    let halls = [&mine, &other].map(|cluster| cluster.open(NAME, 1));
    let [mine_hall, other_hall] = halls.map(|hall| hall.map_err(failed));
    let (hall, other_hall) = (mine_hall?, other_hall?);
    let to_command_of = |program: &Path| {
        let wrapper = Wrapper::Hallpass(program.to_path_buf());
        to_command(&hall, wrapper.command(&url, LONG_TTL, NAME, &["echo", "in"]))
    };
    let mut samples = [const { Vec::new() }; 5];
    // The first round only sets up the connections.
    for round in 0..=rounds {
        thread::sleep(MOMENT);
        let write = mine.write_time().map_err(failed)?.as_nanos() as f64;
        let connection = to_connection(&hall, &other_hall)?;
        let command = to_command_of(program)?;
        let earlier = before.map(to_command_of).transpose()?.unwrap_or(f64::NAN);
        let mut alone = Command::new("echo");
        alone.arg("in");
        let start = until_printed(alone, Ok)?;
        if round > 0 {
            for (samples, one) in
                samples.iter_mut().zip([write, connection, command, start, earlier])
            {
                samples.push(one);
            }
        }
    }
    let nothing = || "no rounds".to_string();
    let [write, connection, command, start, earlier] =
        samples.map(|samples| Quartiles::of(samples).ok_or_else(nothing));
    Ok(Handover {
        setting,
        write: write?,
        connection: connection?,
        command: command?,
        before: before.and(earlier.ok()),
        start: start?,
    })
}

fn to_connection(mine: &ClusterHall, other: &ClusterHall) -> Result<f64, String> {
    let pass = mine.acquire().map_err(failed)?;
    thread::scope(|scope| {
        let successor = scope.spawn(|| {
            let pass = other.acquire().map_err(failed)?;
            let entered = Instant::now();
            pass.release().map_err(failed)?;
            Ok::<_, String>(entered)
        });
        await_queue(mine, 1)?;
        let released = Instant::now();
        pass.release().map_err(failed)?;
        let entered = successor.join().map_err(|_| "the successor panicked")??;
        Ok((entered - released).as_nanos() as f64)
    })
}

fn to_command(hall: &ClusterHall, command: Command) -> Result<f64, String> {
    let pass = hall.acquire().map_err(failed)?;
    until_printed(command, |_| {
        await_queue(hall, 1)?;
        let released = Instant::now();
        pass.release().map_err(failed)?;
        Ok(released)
    })
}

/// Starts the command, and calls `let_in` with the time of the start. `let_in` returns the moment from which to
/// measure. Returns the time from this moment until the command has printed its line.
fn until_printed(
    mut command: Command,
    let_in: impl FnOnce(Instant) -> Result<Instant, String>,
) -> Result<f64, String> {
    let started = Instant::now();
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let stdout = child.stdout.take().ok_or("there is no pipe")?;
    let let_in = let_in(started);
    if let_in.is_err() {
        // Otherwise the command would wait forever.
        let _ = child.kill();
    }
    let mut line = String::new();
    let printed = BufReader::new(stdout).read_line(&mut line).map(|_| Instant::now());
    let ended = child.wait().map_err(failed)?;
    let time = printed.map_err(failed)? - let_in?;
    match line.trim() {
        "in" => Ok(time.as_nanos() as f64),
        _ => Err(format!("a command did not get its slot: {ended}")),
    }
}
