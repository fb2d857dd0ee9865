//! What was measured.

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    behaviour::Behaviour,
    handover::Handover,
    herd::{self, Herd},
    race::{Race, Succession},
};

/// What can be measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Part {
    /// From a release to the successor being in, in writes of etcd
    Handover,
    /// How many are told of a release
    Herd,
    /// Passages a second, next to those of etcdctl lock
    Race,
    /// What becomes of a command when things go wrong, next to etcdctl lock
    Behaviour,
}

/// A run of the benchmark among machines.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Whether all was measured.
    pub complete: bool,
    /// How many threads the machine runs at once.
    pub cores: usize,
    /// The load of the machine before and after each part.
    pub load: Vec<f64>,
    /// How many rounds were asked for.
    pub rounds: usize,
    /// How long it takes to hand over.
    pub handovers: Vec<Handover>,
    /// How many are told.
    pub herds: Vec<Herd>,
    /// How many passages a second.
    pub races: Vec<Race>,
    /// How soon commands follow each other.
    pub successions: Vec<Succession>,
    /// What was seen when things went wrong.
    pub behaviours: Vec<Behaviour>,
}

impl Report {
    /// As one JSON object.
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

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.handovers.is_empty()
            && self.herds.is_empty()
            && self.races.is_empty()
            && self.behaviours.is_empty()
    }
}
