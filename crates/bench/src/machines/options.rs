//! What to measure, as one asks for it on a command line.

use std::{env, path::PathBuf};

use clap::{Args, builder::PossibleValuesParser, value_parser};

use super::{
    measure::Plan,
    report::Part,
    setting::{Medium, Setting},
};

/// The options of the benchmark among machines.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Fewer rounds: rougher figures
    #[arg(long)]
    pub quick: bool,
    /// Measure only these parts
    #[arg(long, value_name = "PART", num_args = 1.., value_enum)]
    pub part: Vec<Part>,
    /// How many members the clusters have
    #[arg(long, value_name = "COUNT", num_args = 1.., default_values = ["1", "3"])]
    #[arg(value_parser = PossibleValuesParser::new(["1", "3"]))]
    pub members: Vec<String>,
    /// Where their members write
    #[arg(long, value_name = "WHERE", num_args = 1.., value_enum)]
    #[arg(default_values = ["disk", "memory"])]
    pub storage: Vec<Medium>,
    /// How many rounds; medians over them are shown [default: 20, or 5]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(1..=10_000))]
    pub rounds: Option<u64>,
    /// How many wait for a release
    #[arg(long, value_name = "COUNT", num_args = 1.., default_values_t = [10, 50, 200])]
    #[arg(value_parser = value_parser!(u64).range(1..=2_000))]
    pub herd: Vec<u64>,
    /// How many commands are run in each round
    #[arg(long, value_name = "COUNT", default_value_t = 16)]
    #[arg(value_parser = value_parser!(u64).range(1..=10_000))]
    pub passages: u64,
    /// The hallpass whose `run` is measured [default: this one]
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl Options {
    /// What is to be measured; an error if there is no etcd.
    pub fn plan(&self) -> Result<Plan, String> {
        let missing = hallpass_testbed::missing();
        if !missing.is_empty() {
            return Err(format!(
                "there is no etcd to measure with: apt-get install {}",
                missing.join(" ")
            ));
        }
        let mut parts = vec![Part::Handover, Part::Herd, Part::Race, Part::Behaviour];
        parts.retain(|part| self.part.is_empty() || self.part.contains(part));
        Ok(Plan {
            parts,
            settings: self.settings(),
            rounds: self.rounds.unwrap_or(if self.quick { 5 } else { 20 }) as usize,
            herds: self.herd.iter().map(|count| *count as usize).collect(),
            passages: self.passages as usize,
            program: self.program()?,
        })
    }

    fn program(&self) -> Result<PathBuf, String> {
        let this = || env::current_exe().map_err(|error| format!("which program is this: {error}"));
        self.program.clone().map_or_else(this, Ok)
    }

    fn settings(&self) -> Vec<Setting> {
        let settings = self.members.iter().flat_map(|members| {
            let members = if members == "1" { 1 } else { 3 };
            self.storage.iter().map(move |medium| Setting { members, medium: *medium })
        });
        settings.collect()
    }
}
