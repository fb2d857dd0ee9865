//! The command line of the benchmark of clusters.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use clap::{Args, builder::PossibleValuesParser, value_parser};

use hallpass_testbed::postgres_is_installed;

use super::{
    bars,
    measure::Plan,
    report::Part,
    setting::{Engine, Medium, Setting},
};

/// The options of the cluster benchmark.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Fewer rounds: rougher figures
    #[arg(long)]
    pub quick: bool,
    /// Measure only these parts
    #[arg(long, value_name = "PART", num_args = 1.., value_enum)]
    pub part: Vec<Part>,
    /// The stores to measure; races and behaviour are for etcd only [default: etcd, and postgres if it is installed]
    #[arg(long, value_name = "STORE", num_args = 1.., value_enum)]
    pub store: Vec<Engine>,
    /// Number of members of the etcd clusters
    #[arg(long, value_name = "COUNT", num_args = 1.., default_values = ["1", "3"])]
    #[arg(value_parser = PossibleValuesParser::new(["1", "3"]))]
    pub members: Vec<String>,
    /// Where the stores keep their data
    #[arg(long, value_name = "WHERE", num_args = 1.., value_enum)]
    #[arg(default_values = ["disk", "memory"])]
    pub storage: Vec<Medium>,
    /// Number of rounds; the tables show medians over them [default: 20; with --quick 5]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(1..=10_000))]
    pub rounds: Option<u64>,
    /// Numbers of waiters when a slot is released; the part idle measures as many waiting commands as the largest of
    /// these numbers
    #[arg(long, value_name = "COUNT", num_args = 1.., default_values_t = [10, 50, 200])]
    #[arg(value_parser = value_parser!(u64).range(1..=2_000))]
    pub herd: Vec<u64>,
    /// Number of commands in each round
    #[arg(long, value_name = "COUNT", default_value_t = 16)]
    #[arg(value_parser = value_parser!(u64).range(1..=10_000))]
    pub passages: u64,
    /// Measure only what has a bar (a performance goal), and show for each bar whether it is met
    #[arg(long, conflicts_with_all = ["part", "store", "members", "storage", "herd"])]
    pub bars: bool,
    /// Also measure the hand-over to a command that this earlier hallpass program runs, for comparison
    #[arg(long, value_name = "FILE")]
    pub before: Option<PathBuf>,
    /// The hallpass program to measure [default: the one beside this program, or on PATH]
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl Options {
    /// Returns the measurement that these options describe.
    ///
    /// # Errors
    /// Returns a message that says what to install if etcd or PostgreSQL is missing, or how to get a `hallpass` to
    /// measure.
    pub fn plan(&self) -> Result<Plan, String> {
        let missing = hallpass_testbed::missing();
        if !missing.is_empty() && self.uses(Engine::Etcd) {
            return Err(format!(
                "there is no etcd to measure with: apt-get install {}",
                missing.join(" ")
            ));
        }
        if self.store.contains(&Engine::Postgres) && !postgres_is_installed() {
            return Err("there is no PostgreSQL to measure with: apt-get install postgresql".into());
        }
        let mut parts = vec![Part::Handover, Part::Idle, Part::Herd, Part::Race, Part::Behaviour];
        parts.retain(|part| self.part.is_empty() || self.part.contains(part));
        if self.bars {
            parts.retain(|part| bars::PARTS.contains(part));
        }
        let program = self.program();
        if let Some(before) = &self.before {
            check_that_it_runs(before)?;
        }
        if parts.iter().any(|part| *part != Part::Herd) {
            check_that_it_runs(&program)?;
        }
        Ok(Plan {
            parts,
            settings: self.settings(),
            rounds: self.rounds.unwrap_or(if self.quick { 5 } else { 20 }) as usize,
            waiting: if self.bars { bars::WAITING } else { [self.largest_herd(); 2] },
            herds: match self.bars {
                true => bars::HERDS.into(),
                false => self.herd.iter().map(|count| *count as usize).collect(),
            },
            passages: self.passages as usize,
            program,
            before: self.before.clone(),
        })
    }

    /// Returns the `hallpass` of the option `--program`, or the one beside this program, or the one on `PATH`.
    fn program(&self) -> PathBuf {
        let beside = || Some(env::current_exe().ok()?.with_file_name("hallpass"));
        let found = self.program.clone().or_else(|| beside().filter(|path| path.is_file()));
        found.unwrap_or_else(|| PathBuf::from("hallpass"))
    }

    fn largest_herd(&self) -> usize {
        self.herd.iter().copied().max().unwrap_or(1) as usize
    }

    /// Returns whether to measure this store.
    fn uses(&self, engine: Engine) -> bool {
        match engine {
            _ if !self.store.is_empty() => self.store.contains(&engine),
            Engine::Etcd => true,
            Engine::Postgres => postgres_is_installed(),
        }
    }

    fn settings(&self) -> Vec<Setting> {
        let members = self.members.iter().map(|members| if members == "1" { 1 } else { 3 });
        let etcd = members.map(|members| (Engine::Etcd, members));
        let all = etcd.chain([(Engine::Postgres, 1)]).filter(|(engine, _)| self.uses(*engine));
        let storage = if self.bars { &[Medium::Disk][..] } else { &self.storage };
        let settings = all.flat_map(|(engine, members)| {
            storage.iter().map(move |medium| Setting { engine, members, medium: *medium })
        });
        settings.collect()
    }
}

/// Fails if `program` is not a hallpass that runs. The error says what to do.
fn check_that_it_runs(program: &Path) -> Result<(), String> {
    let output = Command::new(program).arg("--version").output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err(format!(
            "cannot run {}: build it with `cargo build --release`, or name one with --program",
            program.display()
        )),
    }
}
