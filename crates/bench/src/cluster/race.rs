//! Passages a second of commands that do nothing, and the time from the end of one to the next.

use std::{
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use hallpass_testbed::EtcdCluster;
use serde::Serialize;

use super::{failed, setting::Setting, wrapper::Wrapper};
use crate::common::quartiles::Quartiles;

/// Number of competing loops.
pub const CROWDS: [usize; 2] = [1, 8];
/// Tells when it is in and when it is about to leave, in nanoseconds. So long that all others wait.
const STAY: [&str; 3] = ["sh", "-c", "date +%s%N; sleep 0.05; date +%s%N"];

/// Two wrappers under one load.
#[derive(Clone, Debug, Serialize)]
pub struct Race {
    /// On which cluster.
    #[serde(flatten)]
    pub setting: Setting,
    /// Number of competing loops.
    pub loops: usize,
    /// Passages a second of `hallpass run`.
    pub ours: Quartiles,
    /// Those of `etcdctl lock`.
    pub theirs: Quartiles,
    /// Ratio of the two, round by round.
    pub ratio: Quartiles,
}

/// From the end of a command to the start of the next, in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Succession {
    /// On which cluster.
    #[serde(flatten)]
    pub setting: Setting,
    /// Under what.
    pub wrapper: Wrapper,
    /// Number of competing loops.
    pub loops: usize,
    /// The time.
    pub time: Quartiles,
    /// Number of commands that began before their predecessor had ended.
    pub overlaps: usize,
}

/// Passages per second of this many loops, with this many passages each.
pub fn passages(
    cluster: &EtcdCluster,
    wrapper: &Wrapper,
    loops: usize,
    each: usize,
) -> Result<f64, String> {
    let begun = Instant::now();
    compete(loops, each, || wrapper.command(&cluster.url(), "race", &["true"]))?;
    Ok((loops * each) as f64 / begun.elapsed().as_secs_f64())
}

/// When commands began and ended, in the order in which they began.
pub fn stays(
    cluster: &EtcdCluster,
    wrapper: &Wrapper,
    loops: usize,
    each: usize,
) -> Result<Vec<(i64, i64)>, String> {
    let said = compete(loops, each, || wrapper.command(&cluster.url(), "stays", &STAY))?;
    let stay = |said: &String| {
        // Others may say something too.
        let times: Vec<i64> = said.split_whitespace().flat_map(str::parse).collect();
        match times[..] {
            [begun, ended] => Ok((begun, ended)),
            _ => Err(format!("{} let a command say {said:?}", wrapper.name())),
        }
    };
    let mut stays = said.iter().map(stay).collect::<Result<Vec<_>, _>>()?;
    stays.sort_unstable();
    Ok(stays)
}

/// Output of their commands.
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
        let said =
            threads.into_iter().map(|thread| thread.join().map_err(|_| "a loop panicked")?);
        Ok(said.collect::<Result<Vec<_>, String>>()?.concat())
    })
}

/// Gaps between commands, and the number of overlaps.
pub fn between(stays: &[(i64, i64)]) -> (Vec<f64>, usize) {
    let gaps: Vec<i64> = stays.windows(2).map(|pair| pair[1].0 - pair[0].1).collect();
    let overlaps = gaps.iter().filter(|gap| **gap < 0).count();
    (gaps.into_iter().map(|gap| gap as f64).collect(), overlaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_begins_too_early_is_counted() {
        assert_eq!(between(&[(0, 5), (7, 9), (8, 10)]), (vec![2.0, -1.0], 1));
    }
}
