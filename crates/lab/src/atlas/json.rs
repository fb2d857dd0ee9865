//! The report as JSON.

use serde_json::{Value, json};

use super::run::{AtlasReport, Entry, Status};

impl Status {
    /// Returns the name of the status in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Status::AsExpected => "as-expected",
            Status::Partial => "partial",
            Status::Differs => "differs",
        }
    }
}

impl AtlasReport {
    /// Returns the report as one JSON object.
    pub fn to_json(&self) -> Value {
        json!({
            "status": self.status().name(),
            "models": self.entries.len(),
            "as_expected": self.count(Status::AsExpected),
            "differ": self.count(Status::Differs),
            "partial": self.count(Status::Partial),
            "not_reached": self.unreached,
            "not_selected": self.not_selected,
            "states": self.states(),
            "seconds": self.seconds,
            "differences": self.differences(),
            "unseen": self.unseen(),
            "entries": self.entries.iter().map(Entry::to_json).collect::<Vec<_>>(),
        })
    }
}

impl Entry {
    fn to_json(&self) -> Value {
        let texts = |remarks: &[super::Remark]| -> Vec<String> {
            remarks.iter().map(|remark| remark.text.clone()).collect()
        };
        json!({
            "id": self.model.id(),
            "tier": self.model.tier.name(),
            "status": self.status().name(),
            "differences": texts(&self.comparison.differences),
            "unseen": texts(&self.comparison.unseen),
            "seconds": self.measured.seconds,
            "check": self.measured.check_report().map(|report| report.to_json()),
            "rmr": self.measured.rmr_report().map(|report| report.to_json()),
        })
    }
}
