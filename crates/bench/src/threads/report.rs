//! The report of the benchmark of threads.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{
    contestants::{Camp, FLOOR, TOKIO},
    workloads::Workload,
};
use crate::common::{Order, rounds};

/// The percentiles of waits that tables and plots show.
pub const PERCENTILES: [(&str, f64); 5] =
    [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p99.9", 99.9), ("max", 100.0)];

/// The index of the 99th percentile.
pub const P99: usize = 2;

/// The result of one run of the benchmark.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `true` if all rounds were made.
    pub complete: bool,
    /// Number of requested rounds.
    pub rounds: usize,
    /// Milliseconds for which each contestant ran in each round.
    pub time_ms: u64,
    /// Number of cores.
    pub cores: usize,
    /// The results, one entry for each workload.
    pub workloads: Vec<Outcome>,
}

/// The results of one workload. The best contestant comes first. The order is by time, or by the 99th percentile of
/// waits if these were measured.
pub type Outcome = rounds::Outcome<Workload, Row>;

/// The results of one contestant. All figures are medians over rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The name of the contestant.
    pub contestant: &'static str,
    /// Where the contestant comes from.
    pub camp: Camp,
    /// The order in which the contestant admits threads.
    pub order: Order,
    /// Wall time for each passage, in nanoseconds.
    pub ns: f64,
    /// Largest distance of a round from the median, as a fraction of the median.
    pub spread: f64,
    /// The smallest number of passages of a thread, divided by the mean.
    pub fairness: f64,
    /// Waits in nanoseconds at each of [`PERCENTILES`], if they were measured.
    #[serde(rename = "waits_ns", serialize_with = "by_percentile")]
    pub waits: Option<[f64; PERCENTILES.len()]>,
}

fn by_percentile<S: Serializer>(
    waits: &Option<[f64; PERCENTILES.len()]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let named = |waits: &[f64; PERCENTILES.len()]| {
        PERCENTILES.iter().zip(waits).map(|((name, _), ns)| (*name, *ns)).collect::<Vec<_>>()
    };
    match waits {
        Some(waits) => serializer.collect_map(named(waits)),
        None => serializer.serialize_none(),
    }
}

impl Outcome {
    /// Returns the results of the contestant with this name, if it ran.
    pub fn row(&self, contestant: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.contestant == contestant)
    }

    /// Returns the time of the contestant divided by the time of the floor.
    pub fn to_floor(&self, row: &Row) -> Option<f64> {
        self.row(FLOOR).map(|floor| row.ns / floor.ns)
    }

    /// Returns the time of the contestant divided by the time of tokio.
    pub fn to_tokio(&self, row: &Row) -> Option<f64> {
        self.row(TOKIO).map(|tokio| row.ns / tokio.ns)
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Workload { group, threads, k, inside, outside } = self.workload;
        let row = |row: &Row| {
            let mut value = serde_json::to_value(row).unwrap_or(Value::Null);
            value["to_floor"] = json!(self.to_floor(row));
            value["to_tokio"] = json!(self.to_tokio(row));
            value
        };
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        json!({
            "workload": self.workload.name(),
            "group": group,
            "threads": threads,
            "k": k,
            "inside_ns": inside,
            "outside_ns": outside,
            "contestants": rows,
            "left_out": self.left_out,
        })
        .serialize(serializer)
    }
}

impl Report {
    /// Returns the report as one JSON object.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// Returns `true` if nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.workloads.iter().all(|outcome| outcome.rows.is_empty())
    }
}
