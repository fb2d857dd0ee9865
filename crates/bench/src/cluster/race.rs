//! Measures the passages per second of commands that do nothing, and the time from the end of one command to the start
//! of the next. Several *loops* compete: each of them starts one command after the other.

use std::{
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use hallpass_testbed::EtcdCluster;
use serde::Serialize;

use super::{
    failed,
    setting::Setting,
    wrapper::{LONG_TTL, Wrapper},
};
use crate::common::quartiles::Quartiles;

/// The numbers of competing loops.
pub const CROWDS: [usize; 2] = [1, 8];
/// A command that prints the time at which it begins and at which it is about to end, in nanoseconds. It runs long
/// enough for all other loops to join the queue.
const STAY: [&str; 3] = ["sh", "-c", "date +%s%N; sleep 0.05; date +%s%N"];

/// The passages of both wrappers under one load.
#[derive(Clone, Debug, Serialize)]
pub struct Race {
    /// The store on which this was measured.
    #[serde(flatten)]
    pub setting: Setting,
    /// Number of competing loops.
    pub loops: usize,
    /// Passages a second of `hallpass run`.
    pub ours: Quartiles,
    /// Passages a second of `etcdctl lock`.
    pub theirs: Quartiles,
    /// Passages of `hallpass run`, divided by those of `etcdctl lock` in the same round.
    pub ratio: Quartiles,
}

/// The time from the end of a command to the start of the next, in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Succession {
    /// The store on which this was measured.
    #[serde(flatten)]
    pub setting: Setting,
    /// The wrapper that ran the commands.
    pub wrapper: Wrapper,
    /// Number of competing loops.
    pub loops: usize,
    /// Quartiles of the time between commands.
    pub time: Quartiles,
    /// Number of commands that began before their predecessor had ended.
    pub overlaps: usize,
}

/// Measures the passages per second of this many loops, with this many passages each.
///
/// # Errors
/// Returns the reason if a command fails.
pub fn passages(
    cluster: &EtcdCluster,
    wrapper: &Wrapper,
    loops: usize,
    each: usize,
) -> Result<f64, String> {
    let begun = Instant::now();
    compete(loops, each, || wrapper.command(&cluster.url(), LONG_TTL, "race", &["true"]))?;
    Ok((loops * each) as f64 / begun.elapsed().as_secs_f64())
}

/// Returns the times at which commands began and ended, in the order in which they began.
///
/// # Errors
/// Returns the reason if a command fails, or if its output does not contain exactly two times.
pub fn stays(
    cluster: &EtcdCluster,
    wrapper: &Wrapper,
    loops: usize,
    each: usize,
) -> Result<Vec<(i64, i64)>, String> {
    let command = || wrapper.command(&cluster.url(), LONG_TTL, "stays", &STAY);
    let outputs = compete(loops, each, command)?;
    let stay = |output: &String| {
        // The wrapper may also print something.
        let times: Vec<i64> = output.split_whitespace().flat_map(str::parse).collect();
        match times[..] {
            [begun, ended] => Ok((begun, ended)),
            _ => Err(format!("a command of {} printed {output:?}", wrapper.name())),
        }
    };
    let mut stays = outputs.iter().map(stay).collect::<Result<Vec<_>, _>>()?;
    stays.sort_unstable();
    Ok(stays)
}

/// Runs the command in this many loops, and returns the output of each run.
fn compete(
    loops: usize,
    each: usize,
    command: impl Fn() -> Command + Sync,
) -> Result<Vec<String>, String> {
    let once = || {
        let output = command().stdin(Stdio::null()).output().map_err(failed)?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    };
    let some = || (0..each).map(|_| once()).collect::<Result<Vec<_>, _>>();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..loops).map(|_| scope.spawn(some)).collect();
        let outputs =
            threads.into_iter().map(|thread| thread.join().map_err(|_| "a loop panicked")?);
        Ok(outputs.collect::<Result<Vec<_>, String>>()?.concat())
    })
}

/// Returns the gaps between commands, and the number of overlaps.
pub fn between(stays: &[(i64, i64)]) -> (Vec<f64>, usize) {
    let gaps: Vec<i64> = stays.windows(2).map(|pair| pair[1].0 - pair[0].1).collect();
    let overlaps = gaps.iter().filter(|gap| **gap < 0).count();
    (gaps.into_iter().map(|gap| gap as f64).collect(), overlaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_begins_too_early_counts_as_an_overlap() {
        assert_eq!(between(&[(0, 5), (7, 9), (8, 10)]), (vec![2.0, -1.0], 1));
    }
}
