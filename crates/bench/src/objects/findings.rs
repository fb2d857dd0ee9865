//! Conclusions from the figures.

use std::fmt;

use serde::Serialize;

use super::{
    contestants::{Kind, WAIT_FREE},
    report::{Curve, Figure, Kept, Part, Report},
};
use crate::common::text::{duration, short};

/// The conclusions from a report.
#[derive(Clone, Debug, Serialize)]
pub struct Findings {
    /// For each figure, the resilient object that is fastest with the most threads. If its k is 1, also the fastest
    /// resilient object with k > 1, in which a thread may stop.
    pub best: Vec<Best>,
    /// The influence of the number of threads, for each figure and resilient object.
    pub ranges: Vec<Range>,
    /// Contestants that are so fast that threads rarely compete, for each figure.
    pub brief: Vec<Brief>,
    /// Remaining throughput with one thread stopped.
    pub one_stopped: Vec<Left>,
    /// Remaining throughput with as many threads stopped as the contestant tolerates, if it tolerates more than one.
    pub most_stopped: Vec<Left>,
    /// Growth of the memory in use after the first tenth of the operations.
    pub growth: Vec<Growth>,
}

/// The fastest resilient object.
#[derive(Clone, Debug, Serialize)]
pub struct Best {
    /// The part: with or without pauses.
    pub part: Part,
    /// Number of threads.
    pub threads: usize,
    /// Only resilient objects with this k or a larger one were compared.
    pub from: usize,
    /// Number of threads that work on the object at once.
    pub k: usize,
    /// Total time in milliseconds.
    pub ms: f64,
    /// Total time of the wait-free object, if it finished.
    pub wait_free_ms: Option<f64>,
    /// The fastest contestant that is neither resilient nor wait-free, with its total time.
    pub quickest_other: Option<(&'static str, f64)>,
}

/// The longest total time of a resilient object, compared with its shortest total time. Each number of threads has one
/// total time. With pauses, the time of a single thread does not count.
#[derive(Clone, Debug, Serialize)]
pub struct Range {
    /// The part: with or without pauses.
    pub part: Part,
    /// The name of the contestant.
    pub contestant: &'static str,
    /// The longest total time as a multiple of the shortest; `None` if a measurement did not finish.
    pub worst_to_best: Option<f64>,
}

/// Contestants whose threads rarely compete: each thread finishes its share before the next thread runs.
#[derive(Clone, Debug, Serialize)]
pub struct Brief {
    /// The part: with or without pauses.
    pub part: Part,
    /// Number of threads.
    pub threads: usize,
    /// The names of the contestants whose threads rarely compete.
    pub contestants: Vec<&'static str>,
}

/// Roughly how long a thread keeps its core while other threads wait for a core.
const SLICE_MS: f64 = 3.0;

/// Remaining throughput while threads are stopped.
#[derive(Clone, Debug, Serialize)]
pub struct Left {
    /// The name of the contestant.
    pub contestant: &'static str,
    /// Number of stopped threads.
    pub stopped: usize,
    /// Throughput as a fraction of the throughput with no thread stopped.
    pub part: f64,
}

/// Growth of the memory in use.
#[derive(Clone, Debug, Serialize)]
pub struct Growth {
    /// The name of the contestant.
    pub contestant: &'static str,
    /// Growth in KiB; `None` if the measurement did not finish.
    pub kib: Option<i64>,
}

impl Findings {
    /// Draws the conclusions from `report`.
    pub fn of(report: &Report) -> Self {
        let left = |kept: &Kept, stopped: Option<usize>, part: Option<f64>| {
            Some(Left { contestant: kept.contestant, stopped: stopped?, part: part? })
        };
        let one = |kept: &Kept| left(kept, Some(1), kept.part_with_one());
        let most = |kept: &Kept| left(kept, kept.most_stopped, kept.part_with_most());
        let growth = |memory: &super::memory::Memory| Growth {
            contestant: memory.contestant,
            kib: memory.growth_kib().filter(|_| memory.finished),
        };
        Findings {
            best: report.figures.iter().flat_map(bests).collect(),
            ranges: report.figures.iter().flat_map(ranges).collect(),
            brief: report.figures.iter().filter_map(|figure| brief(figure, report.cores)).collect(),
            one_stopped: report.stopped.iter().filter_map(one).collect(),
            most_stopped: report.stopped.iter().filter_map(most).collect(),
            growth: report.memory.iter().map(growth).collect(),
        }
    }
}

fn k_of(curve: &Curve) -> Option<usize> {
    match curve.kind {
        Kind::Resilient { k } => Some(k),
        _ => None,
    }
}

fn bests(figure: &Figure) -> Vec<Best> {
    let mut bests: Vec<Best> = [1, 2].into_iter().filter_map(|from| best(figure, from)).collect();
    bests.dedup_by_key(|best| best.k);
    bests
}

fn best(figure: &Figure, from: usize) -> Option<Best> {
    let threads = figure.threads().into_iter().max()?;
    let quickest = |among: &dyn Fn(&Curve) -> bool| {
        let timed = |curve| Some((curve, Curve::ms(curve, threads)?));
        let times = figure.curves.iter().filter(|curve| among(curve)).filter_map(timed);
        times.min_by(|one, other| one.1.total_cmp(&other.1))
    };
    let (curve, ms) = quickest(&|curve| k_of(curve).is_some_and(|k| k >= from))?;
    let other =
        |curve: &Curve| !matches!(curve.kind, Kind::Resilient { .. } | Kind::WaitFree { .. });
    let wait_free = figure.curves.iter().find(|curve| curve.contestant == WAIT_FREE);
    Some(Best {
        part: figure.part,
        threads,
        from,
        k: k_of(curve)?,
        ms,
        wait_free_ms: wait_free.and_then(|curve| curve.ms(threads)),
        quickest_other: quickest(&other).map(|(curve, ms)| (curve.contestant, ms)),
    })
}

fn brief(figure: &Figure, cores: usize) -> Option<Brief> {
    let threads = figure.threads().into_iter().max().filter(|threads| *threads > cores)?;
    let is_brief = |curve: &&Curve| {
        let share = curve.ms(threads).map(|ms| ms * cores as f64 / threads as f64);
        share.is_some_and(|share| share < SLICE_MS)
    };
    let names = figure.curves.iter().filter(is_brief).map(|curve| curve.contestant);
    let contestants: Vec<_> = names.collect();
    (!contestants.is_empty()).then_some(Brief { part: figure.part, threads, contestants })
}

/// Returns whether measurements with this many threads count. With pauses, a single thread does not count: it only
/// loses the time of its pauses.
fn counts(part: Part, threads: usize) -> bool {
    part != Part::Paused || threads > 1
}

fn ranges(figure: &Figure) -> Vec<Range> {
    let range = |curve: &Curve| {
        let points = curve.points.iter().filter(|point| counts(figure.part, point.threads));
        let times: Option<Vec<f64>> = points.map(|point| point.ms).collect();
        let ratio = |times: Vec<f64>| {
            let least = times.iter().copied().fold(f64::INFINITY, f64::min);
            times.into_iter().fold(0.0, f64::max) / least
        };
        let worst_to_best = times.filter(|times| !times.is_empty()).map(ratio);
        Range { part: figure.part, contestant: curve.contestant, worst_to_best }
    };
    figure.curves.iter().filter(|curve| k_of(curve).is_some()).map(range).collect()
}

fn ms(ms: f64) -> String {
    duration(ms * 1e6)
}

impl fmt::Display for Best {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Best { part, threads, k, ms: time, .. } = self;
        let from = if self.from > 1 { format!(" from {} on", self.from) } else { String::new() };
        write!(f, "{}, {threads} threads: best k{from} is {k}, with {}", part.name(), ms(*time))?;
        if let Some(other) = self.wait_free_ms {
            let (times, other_ms) = (short(other / time), ms(other));
            write!(f, ", {times} times as fast as {WAIT_FREE} ({other_ms})")?;
        }
        if let Some((name, other)) = self.quickest_other {
            let (times, other) = (short(time / other), ms(other));
            write!(f, "; it takes {times} times as long as {name} ({other})")?;
        }
        Ok(())
    }
}

/// Writes one line for each conclusion.
impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for best in &self.best {
            writeln!(f, "{best}")?;
        }
        for part in [Part::Plain, Part::Paused] {
            let of = self.ranges.iter().filter(|range| range.part == part);
            let text = |range: &Range| match range.worst_to_best {
                Some(ratio) => format!("{} {}", range.contestant, short(ratio)),
                None => format!("{} did not always finish", range.contestant),
            };
            let from = if counts(part, 1) { "" } else { ", from 2 threads on" };
            let what = format!("{}, longest total time / shortest total time{from}", part.name());
            line(f, &what, of.map(text))?;
        }
        for Brief { part, threads, contestants } in &self.brief {
            let what = format!(
                "{}, {threads} threads: each thread needs a core for less than {SLICE_MS} ms in total, so \
                 threads rarely compete",
                part.name()
            );
            line(f, &what, contestants.iter().map(|name| name.to_string()))?;
        }
        let kept = |left: &Left| match left.part {
            0.0 => format!("{} stops", left.contestant),
            part => format!("{} keeps {:.0} %", left.contestant, part * 100.0),
        };
        line(f, "one thread stopped", self.one_stopped.iter().map(kept))?;
        let kept = |left: &Left| format!("{} ({} stopped)", kept(left), left.stopped);
        line(f, "k - 1 threads stopped", self.most_stopped.iter().map(kept))?;
        let growth = |growth: &Growth| match growth.kib {
            Some(kib) => format!("{} {:+.1} MiB", growth.contestant, kib as f64 / 1024.0),
            None => format!("{} stops", growth.contestant),
        };
        line(f, "memory after the first tenth", self.growth.iter().map(growth))
    }
}

/// Writes the parts in one line, if there are any.
fn line(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    parts: impl Iterator<Item = String>,
) -> fmt::Result {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { Ok(()) } else { writeln!(f, "{what}: {}", parts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::report::Point;

    fn curve(contestant: &'static str, kind: Kind, times: &[Option<f64>]) -> Curve {
        let point = |(threads, ms): (usize, &Option<f64>)| Point {
            longest_ms: None,
            threads: 1 << threads,
            ms: *ms,
            spread: None,
            done: None,
            why: None,
        };
        Curve { contestant, kind, points: times.iter().enumerate().map(point).collect() }
    }

    #[test]
    fn the_best_object_is_the_fastest_with_the_most_threads() {
        let resilient = |name, k, times| curve(name, Kind::Resilient { k }, times);
        let figure = Figure {
            part: Part::Plain,
            curves: vec![
                resilient("resilient-1", 1, &[Some(10.0), Some(40.0)]),
                resilient("resilient-2", 2, &[Some(30.0), Some(20.0)]),
                resilient("resilient-4", 4, &[Some(30.0), None]),
                curve(WAIT_FREE, Kind::WaitFree { max_threads: 64 }, &[Some(50.0), Some(60.0)]),
                curve("std-mutex", Kind::Lock, &[Some(5.0), Some(8.0)]),
                curve("quick", Kind::Lock, &[Some(5.0), Some(4.0)]),
            ],
        };
        let all = bests(&figure);
        assert_eq!(all.iter().map(|best| best.k).collect::<Vec<_>>(), [2]);
        assert_eq!(
            all[0].to_string(),
            "plain, 2 threads: best k is 2, with 20.0 ms, 3.00 times as fast as wait-free-64 \
             (60.0 ms); it takes 5.00 times as long as quick (4.00 ms)"
        );
        let mut quick = figure.clone();
        quick.curves[0].points[1].ms = Some(10.0);
        let all: Vec<_> = bests(&quick).iter().map(|best| (best.from, best.k)).collect();
        assert_eq!(all, [(1, 1), (2, 2)]);
        let ratios = |figure: &Figure| -> Vec<_> {
            ranges(figure).iter().map(|range| range.worst_to_best).collect()
        };
        assert_eq!(ratios(&figure), [Some(4.0), Some(1.5), None]);
        let brief = brief(&figure, 1).expect("a share of the mutex is 4 ms, of the other 2 ms");
        assert_eq!((brief.threads, brief.contestants), (2, vec!["quick"]));
        let paused = Figure { part: Part::Paused, ..figure };
        assert_eq!(ratios(&paused), [Some(1.0), Some(1.0), None]);
    }
}
