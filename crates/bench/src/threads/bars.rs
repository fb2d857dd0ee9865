//! The performance goals of `Hall` (*bars*), in one table.

use hallpass_threads::Hall;

use super::{
    contestants::{ASYNC_LOCK, BARGING, BYPASS, FLOOR, HALL, TOKIO},
    report::{Outcome, Report, Row},
    table::footnote,
    workloads::{Group, Workload},
};
use crate::common::text::{columns, duration, short, with_heading};

/// The contestants that the table needs.
pub const CONTESTANTS: [&str; 6] = [FLOOR, HALL, BYPASS, BARGING, TOKIO, ASYNC_LOCK];

/// The bar for the size of a hall: at most this many bytes.
const LARGEST: usize = 128;

/// Returns whether the table needs a workload.
pub fn needs(workload: &Workload) -> bool {
    workload.group != Group::Contended
}

/// The figures of one contestant in one workload.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    to_tokio: Option<f64>,
    to_async_lock: Option<f64>,
    to_floor: Option<f64>,
    fairness: Option<f64>,
}

/// A bar: an upper or lower limit for the figures.
#[derive(Clone, Copy, Debug)]
enum Bar {
    ToTokio(f64),
    ToAsyncLock(f64),
    ToFloor(f64),
    Fairness(f64),
}

impl Bar {
    /// Returns whether the figures meet the bar, or `None` if the figure that the bar limits was not measured.
    fn is_met(self, figures: &Figures) -> Option<bool> {
        match self {
            Bar::ToTokio(most) => figures.to_tokio.map(|ratio| ratio <= most),
            Bar::ToAsyncLock(most) => figures.to_async_lock.map(|ratio| ratio <= most),
            Bar::ToFloor(most) => figures.to_floor.map(|ratio| ratio <= most),
            Bar::Fairness(least) => figures.fairness.map(|share| share >= least),
        }
    }

    fn words(self) -> String {
        match self {
            Bar::ToTokio(most) => format!("at most {most} x tokio"),
            Bar::ToAsyncLock(most) => format!("at most {most} x async-lock"),
            Bar::ToFloor(most) => format!("at most {most} x floor"),
            Bar::Fairness(least) => format!("min/mean at least {least}"),
        }
    }
}

/// Returns the contestants of a workload that have bars, each with its bars.
fn bars(workload: &Workload) -> Vec<(&'static str, Vec<Bar>)> {
    match workload.group {
        Group::Alone => {
            vec![(HALL, vec![Bar::ToFloor(if workload.k <= 32 { 1.3 } else { 1.7 })])]
        }
        Group::Oversubscribed => vec![
            (HALL, vec![Bar::ToTokio(0.75), Bar::Fairness(0.9)]),
            (BYPASS, vec![Bar::ToFloor(2.0), Bar::Fairness(0.6)]),
        ],
        Group::Ready => vec![(HALL, vec![Bar::ToAsyncLock(1.2)])],
        Group::Many | Group::Cancel | Group::HandOver | Group::Crowd => {
            vec![(HALL, vec![Bar::ToTokio(1.0)])]
        }
        Group::Contended | Group::Latency => Vec::new(),
    }
}

fn figures(outcome: &Outcome, row: &Row) -> Figures {
    Figures {
        to_tokio: outcome.to_tokio(row),
        to_async_lock: outcome.row(ASYNC_LOCK).map(|other| row.ns / other.ns),
        to_floor: outcome.to_floor(row),
        fairness: outcome.workload.has_rivalry().then_some(row.fairness),
    }
}

/// Returns the table: for each workload and contestant with bars, one line with these bars and the figures. Below it
/// are the longest waits and the size of a hall.
pub fn table(report: &Report) -> String {
    let heading =
        ["work", "contestant", "bar", "met", "x tokio", "x async-lock", "x floor", "min/mean"];
    let lines = report.workloads.iter().flat_map(|outcome| {
        bars(&outcome.workload).into_iter().filter_map(|(name, bars)| {
            let figures = figures(outcome, outcome.row(name)?);
            Some(line(outcome.workload.name(), name, &bars, &figures))
        })
    });
    let mut text = columns(&with_heading(heading, lines), 4);
    for outcome in report.workloads.iter().filter(|outcome| outcome.workload.measures_waits()) {
        let longest = |name: &str| {
            let waits = outcome.row(name).and_then(|row| row.waits)?;
            waits.last().map(|&longest| format!("{name} {}", duration(longest)))
        };
        let waits: Vec<String> = [HALL, BYPASS, BARGING].into_iter().filter_map(longest).collect();
        text += &format!("longest wait, {}: {}\n", outcome.workload.name(), waits.join(", "));
    }
    let size = size_of::<Hall>();
    text += &format!("size of a hall: {size} bytes, the bar is at most {LARGEST}\n");
    text + &footnote(report)
}

fn line(work: String, contestant: &str, bars: &[Bar], figures: &Figures) -> [String; 8] {
    let met: Vec<_> = bars.iter().map(|bar| bar.is_met(figures)).collect();
    let met = if met.contains(&Some(false)) {
        "NO"
    } else if met.contains(&None) {
        "-"
    } else {
        "yes"
    };
    let number = |number: Option<f64>| number.map_or("-".into(), short);
    let words = bars.iter().map(|bar| bar.words()).collect::<Vec<_>>().join(", ");
    [
        work,
        contestant.into(),
        words,
        met.into(),
        number(figures.to_tokio),
        number(figures.to_async_lock),
        number(figures.to_floor),
        number(figures.fairness),
    ]
}
