//! The results of the benchmark of processes.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{
    contestants::{POSIX, SYSV},
    death::Successions,
    parked::Parked,
    workloads::Workload,
};
use crate::common::{Order, rounds};

/// The results of one run of the benchmark.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `true` if the measurement was not stopped early.
    pub complete: bool,
    /// Number of requested rounds.
    pub rounds: usize,
    /// Milliseconds for which each contestant ran in each round.
    pub time_ms: u64,
    /// Number of cores.
    pub cores: usize,
    /// Cost of passages.
    pub workloads: Vec<Outcome>,
    /// Time from the death of a holder until its successor has the slot.
    pub successions: Vec<Successions>,
    /// Cost of waiting.
    pub parked: Option<Parked>,
}

/// The results of one workload. The quickest contestant comes first.
pub type Outcome = rounds::Outcome<Workload, Row>;

/// The results of one contestant. All figures are medians over rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The name of the contestant.
    pub contestant: &'static str,
    /// The order in which waiters get a slot.
    pub order: Order,
    /// The fate of a slot whose holder is killed: `freed`, `lost`, or `-` if the contestant limits nothing.
    pub after_death: &'static str,
    /// Wall time for each passage, in nanoseconds.
    pub ns: f64,
    /// Largest distance of a round from the median, as a fraction of the median.
    pub spread: f64,
    /// The smallest number of passages of a process, divided by the mean.
    pub fairness: f64,
}

impl Outcome {
    /// Returns the row of a contestant, if it ran.
    pub fn row(&self, contestant: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.contestant == contestant)
    }

    /// Returns the time of the contestant divided by the time of a POSIX semaphore.
    pub fn to_posix(&self, row: &Row) -> Option<f64> {
        self.row(POSIX).map(|posix| row.ns / posix.ns)
    }

    /// Returns the time of a System V semaphore divided by the time of the contestant.
    pub fn over_sysv(&self, row: &Row) -> Option<f64> {
        self.row(SYSV).map(|sysv| sysv.ns / row.ns)
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = |row: &Row| {
            let mut value = serde_json::to_value(row).unwrap_or(Value::Null);
            value["to_posix"] = json!(self.to_posix(row));
            value["over_sysv"] = json!(self.over_sysv(row));
            value
        };
        let mut value = serde_json::to_value(self.workload).unwrap_or(Value::Null);
        value["workload"] = json!(self.workload.name());
        value["contestants"] = self.rows.iter().map(row).collect();
        value["left_out"] = json!(self.left_out);
        value.serialize(serializer)
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
