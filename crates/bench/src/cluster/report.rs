//! The report of the benchmark of clusters.

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    behaviour::Behaviour,
    handover::Handover,
    herd::{self, Herd},
    idle::Idle,
    race::{Race, Succession},
};

/// A part of the benchmark.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Part {
    /// Time from a release until the successor has the slot, as a multiple of one write of the store
    Handover,
    /// Requests, connections and CPU time of commands that wait
    Idle,
    /// Number of clients that are notified of a release
    Herd,
    /// Passages a second, compared with etcdctl lock
    Race,
    /// How the command is treated when something goes wrong, compared with etcdctl lock
    Behaviour,
}

/// A run of the benchmark of the cluster.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// `true` if the measurement was not stopped early.
    pub complete: bool,
    /// Number of cores.
    pub cores: usize,
    /// The load of the machine before and after each part.
    pub load: Vec<f64>,
    /// Number of requested rounds.
    pub rounds: usize,
    /// Hand-over times.
    pub handovers: Vec<Handover>,
    /// The cost of waiting commands.
    pub idle: Vec<Idle>,
    /// Numbers of notified clients.
    pub herds: Vec<Herd>,
    /// Passages per second.
    pub races: Vec<Race>,
    /// Gaps between commands.
    pub successions: Vec<Succession>,
    /// Behaviour when things go wrong.
    pub behaviours: Vec<Behaviour>,
}

impl Report {
    /// Returns the report as one JSON object.
    pub fn to_json(&self) -> Value {
        let mut value = serde_json::to_value(self).unwrap_or(Value::Null);
        for (shown, handover) in
            value["handovers"].as_array_mut().into_iter().flatten().zip(&self.handovers)
        {
            shown["in_writes"] = json!(handover.in_writes());
            shown["command_in_writes"] = json!(handover.command_in_writes());
        }
        value["herds_are_flat"] = json!(herd::is_flat(&self.herds));
        value["herds_are_steady"] = json!(herd::is_steady(&self.herds));
        value
    }

    /// Returns `true` if nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.handovers.is_empty()
            && self.idle.is_empty()
            && self.herds.is_empty()
            && self.races.is_empty()
            && self.behaviours.is_empty()
    }
}
