//! The manifest: models with their expected results.
//!
//! Every folder of algorithms has its part of the manifest, `atlas.toml`. `hallpass-lab atlas` checks and
//! counts every model of its tier and compares all listed results, including the number of states.
//! `--bless` rewrites the figures with the measured results. In the file, `[[model]]` begins a model:
//!
//! | key | meaning |
//! |---|---|
//! | `algorithm`, `n`, `k` | the algorithm and its size |
//! | `tier` | `quick`: continuous integration runs it; `full`: minutes; `huge` |
//! | `contention` | at most this many processes outside their remainder at once; left out: n |
//! | `initial` | where a paper leaves initial values open: `all` (left out) or `smallest` |
//! | `memory` | `sc` (left out) or `tso` |
//! | `crashes` | starvation counts as a violation while at most this many processes have stopped; left out: what the paper promises |
//! | `states` | the number of states |
//! | `[model.check]` | the expected verdict on each property: `"holds"`, `"violated"`, or `"?"` for a verdict that is not measured yet, which is never as expected |
//! | `resilience` | the smallest number of stopped processes that starve another (`deadlock`: all others) |
//! | `bound` | the most steps of a process's own that an exit or a doorway takes |
//! | `[model.rmr]` | remote memory references of the worst passage: `worst`; `claim`: what the paper allows; `tier`, if counting takes longer than checking |
//!
//! `[[run]]` with the key `replay` is a run, as a replay string, that shows what is wrong with a variant
//! at a size that is too large to explore.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
};

use hallpass_algorithms::registry;
use serde::Deserialize;

use super::{
    expected::{Expected, Figure},
    files::ManifestFile,
    wrong::{KnownRun, violation},
};
use crate::{
    catalogue,
    check::{self, Property},
    rmr,
    schedule::{Conventions, MemoryModel},
    space::Initial,
};

/// The duration class of a model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Seconds: continuous integration runs these.
    Quick,
    /// Minutes each.
    Full,
    /// Longer, or more memory than most machines have.
    Huge,
}

impl Tier {
    /// Returns the usual tier of a model with this many states.
    pub(super) fn of(states: u64) -> Self {
        match states {
            0..1_000_000 => Tier::Quick,
            1_000_000..100_000_000 => Tier::Full,
            _ => Tier::Huge,
        }
    }

    /// Returns the name used in the manifest and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Quick => "quick",
            Tier::Full => "full",
            Tier::Huge => "huge",
        }
    }
}

/// A property that can be listed under `[model.check]`. `range` says that variables keep to their
/// declared ranges; it is checked whether or not it is listed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Listed {
    Exclusion,
    Names,
    Deadlock,
    Starvation,
    Exit,
    Doorway,
    Fife,
    FifeStrong,
    Invariants,
    Range,
}

impl Listed {
    /// All properties.
    pub const ALL: [Listed; 10] = [
        Listed::Exclusion,
        Listed::Names,
        Listed::Deadlock,
        Listed::Starvation,
        Listed::Exit,
        Listed::Doorway,
        Listed::Fife,
        Listed::FifeStrong,
        Listed::Invariants,
        Listed::Range,
    ];

    /// Returns the property that a check can be asked for; `None` if there is none.
    pub fn property(self) -> Option<Property> {
        Property::ALL.get(self as usize).copied()
    }

    /// Returns the name used in the manifest and in reports.
    pub fn name(self) -> &'static str {
        self.property().map_or("range", Property::name)
    }
}

/// Expected figures of remote references.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rmr {
    /// The tier of the figures, if counting takes longer than checking.
    pub tier: Option<Tier>,
    /// On a cache-coherent machine.
    pub cc: Option<Figure>,
    /// With distributed shared memory.
    pub dsm: Option<Figure>,
}

/// One algorithm at one size, with its expected results.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtlasModel {
    /// The algorithm's identifier.
    pub algorithm: String,
    /// The number of processes.
    pub n: usize,
    /// The largest number of processes in the critical section at once.
    pub k: usize,
    /// The largest number of processes outside their remainder at once; left out: n.
    pub contention: Option<usize>,
    /// Starvation counts as a violation while at most this many processes have stopped; left out:
    /// what the paper promises.
    pub crashes: Option<usize>,
    /// The initial states.
    #[serde(default, with = "InitialName")]
    pub initial: Initial,
    /// The memory model.
    #[serde(default, with = "MemoryName")]
    pub memory: MemoryModel,
    /// The duration class.
    pub tier: Tier,
    /// The number of states; left out: not known yet.
    pub states: Option<u64>,
    /// The expected verdicts; a property that is left out is not checked.
    #[serde(default)]
    pub check: BTreeMap<Listed, Expected>,
    /// The expected costs of the worst passages.
    #[serde(default)]
    pub rmr: Rmr,
}

#[derive(Deserialize)]
#[serde(remote = "Initial", rename_all = "lowercase")]
enum InitialName {
    All,
    Smallest,
}

#[derive(Deserialize)]
#[serde(remote = "MemoryModel")]
enum MemoryName {
    #[serde(rename = "sc")]
    Sequential,
    #[serde(rename = "tso")]
    StoreBuffers,
}

impl AtlasModel {
    /// Returns the model's name, by which it is selected: `am-fig3-nested n=3 k=1 c=2`.
    pub fn id(&self) -> String {
        let AtlasModel { algorithm, n, k, .. } = self;
        let mut id = format!("{algorithm} n={n} k={k}");
        for part in self.particulars() {
            id.push(' ');
            id.push_str(&part);
        }
        id
    }

    /// Returns how the model differs from the usual question.
    pub fn particulars(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if self.contention() != self.n {
            parts.push(format!("c={}", self.contention()));
        }
        if self.crashes() != self.promised_crashes() {
            parts.push(format!("crashes={}", self.crashes()));
        }
        if self.initial == Initial::Smallest {
            parts.push("initial=smallest".into());
        }
        if self.memory != MemoryModel::Sequential {
            parts.push(self.memory.name().into());
        }
        parts
    }

    /// Returns the largest number of processes outside their remainder at once.
    pub fn contention(&self) -> usize {
        self.contention.unwrap_or(self.n)
    }

    fn crashes(&self) -> usize {
        self.crashes.unwrap_or_else(|| self.promised_crashes())
    }

    fn promised_crashes(&self) -> usize {
        check::Question::everything(&self.algorithm, self.n, self.k).crashes
    }

    /// Returns whether properties are checked.
    pub fn has_check(&self) -> bool {
        !self.check.is_empty()
    }

    /// Returns whether remote references are counted.
    pub fn has_rmr(&self) -> bool {
        self.rmr.cc.is_some() || self.rmr.dsm.is_some()
    }

    /// Returns the tier of its figures.
    pub fn rmr_tier(&self) -> Tier {
        self.rmr.tier.unwrap_or(self.tier)
    }

    /// Returns the question for the checker.
    pub fn check_question(&self) -> check::Question {
        check::Question {
            contention: self.contention(),
            properties: self.check.keys().filter_map(|listed| listed.property()).collect(),
            crashes: self.crashes(),
            memory: self.memory,
            initial: self.initial,
            ..check::Question::everything(&self.algorithm, self.n, self.k)
        }
    }

    /// Returns the question for the counter of remote references.
    pub fn rmr_question(&self) -> rmr::Question {
        rmr::Question {
            algorithm: self.algorithm.clone(),
            n: self.n,
            k: self.k,
            contention: self.contention(),
            conventions: Conventions::default(),
            initial: self.initial,
        }
    }

    /// Returns the mistake in the model, if it has one.
    fn fault(&self) -> Option<String> {
        let exists = match catalogue::find(&self.algorithm) {
            Some(subject) => subject.build(self.n, self.k).map(|_| ()),
            None => registry::entry_for(&self.algorithm, self.n, self.k).map(|_| ()),
        };
        if let Err(error) = exists {
            return Some(error.to_string());
        }
        if self.contention() == 0 || self.contention() > self.n {
            return Some(format!("contention must be from 1 to n = {}", self.n));
        }
        if !self.has_check() && !self.has_rmr() {
            return Some("nothing is expected of it: list properties under [model.check]".into());
        }
        if self.has_rmr() && self.memory != MemoryModel::Sequential {
            return Some(
                "remote references are counted under memory = \"sc\" only: leave [model.rmr] out"
                    .into(),
            );
        }
        None
    }
}

/// Error: a text is not a manifest. The message names the line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error(String);

impl Error {
    pub(super) fn new(text: String) -> Self {
        Error(text.trim_end().to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// A list of models.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The models.
    #[serde(default, rename = "model")]
    pub models: Vec<AtlasModel>,
    /// Runs that show what is wrong with variants at sizes that are too large to explore.
    #[serde(default, rename = "run")]
    pub runs: Vec<KnownRun>,
}

impl Manifest {
    /// Returns the manifest that is built into the lab: the models of all folders.
    pub fn standard() -> Result<Self, Error> {
        Self::of(&ManifestFile::built_in())
    }

    /// Reads several files as one manifest, in their order.
    pub fn of(files: &[ManifestFile]) -> Result<Self, Error> {
        let mut all = Manifest::default();
        for file in files {
            let part = Self::parse(&file.text).map_err(|error| file.error(&error))?;
            all.models.extend(part.models);
            all.runs.extend(part.runs);
        }
        let mut seen = HashSet::new();
        match all.models.iter().map(AtlasModel::id).find(|id| !seen.insert(id.clone())) {
            Some(id) => Err(Error(format!("{id} is listed in two files"))),
            None => Ok(all),
        }
    }

    /// Reads a manifest.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let manifest: Manifest =
            toml_edit::de::from_str(text).map_err(|error| Error::new(error.to_string()))?;
        let lines = lines(text);
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (index, model) in manifest.models.iter().enumerate() {
            // Models that are not written as [[model]] have no line of their own.
            let line = lines.get(index).copied().unwrap_or(1);
            let id = model.id();
            if let Some(fault) = model.fault() {
                return Err(Error(format!("line {line}: {id}: {fault}")));
            }
            if let Some(first) = seen.insert(id, line) {
                let id = model.id();
                return Err(Error(format!(
                    "line {line}: {id} is listed twice, first in line {first}"
                )));
            }
        }
        match manifest.runs.iter().find_map(|run| violation(&run.replay).err()) {
            Some(why) => Err(Error(why)),
            None => Ok(manifest),
        }
    }
}

/// Returns the first line of each model, counted from 1.
fn lines(text: &str) -> Vec<usize> {
    let Ok(document) = toml_edit::Document::parse(text) else { return Vec::new() };
    let models = document.as_table().get("model").and_then(|item| item.as_array_of_tables());
    models
        .into_iter()
        .flat_map(|models| models.iter())
        .map(|model| {
            let start = model.span().map_or(0, |span| span.start);
            text.bytes().take(start).filter(|&byte| byte == b'\n').count() + 1
        })
        .collect()
}
