//! The manifest: a list of models with their expected results.
//!
//! Every folder of algorithms has its own part of the manifest, `atlas.toml`. `hallpass-lab atlas`
//! checks every model of the selected tier and of quicker tiers, and counts remote memory references. It
//! compares the measured results with the listed ones, including the number of states. `--bless` replaces
//! the listed results with the measured ones. In the file, `[[model]]` begins a model:
//!
//! | key | meaning |
//! |---|---|
//! | `algorithm`, `n`, `k` | the algorithm and its size |
//! | `tier` | `quick`: continuous integration runs the model; `full`: takes minutes; `huge`: takes hours, or needs more memory than most computers have |
//! | `contention` | the maximum number of processes outside their remainder at once; default: n |
//! | `initial` | the initial values that a paper leaves open: `all` (the default) or `smallest` |
//! | `memory` | `sc` (sequential consistency, the default) or `tso` (store buffers) |
//! | `forget`, `symmetry`, `compact` | `true`: check with the option of this name. `forget` and `symmetry` merge states, so there are fewer; `compact` takes less memory. Default: `false` |
//! | `crashes` | starvation counts as a violation while at most this many processes have stopped; default: the number that the paper promises to survive |
//! | `states` | the number of states |
//! | `[model.check]` | the expected verdict on each property: `"holds"`, `"violated"`, or `"?"` if it is not measured yet (a model with a `"?"` never counts as expected) |
//! | `resilience` | the smallest number of stopped processes that can starve another process or, under `deadlock`, block all others |
//! | `bound` | under `exit` and `doorway`: the maximum number of the process's own steps; under `bypass`: the maximum number of times that a process is overtaken |
//! | `[model.ask]` | the expected answer to each question of `hallpass-lab ask`: `"holds"`, `"vacuous"` (the statement holds, but its condition is never true), `"violated"`, a number as text, or `"?"` if it is not measured yet |
//! | `[model.rmr]` | remote memory references: `worst`: the number in the worst passage; `claim`: the paper's bound; `tier`: the tier of these numbers, if counting takes longer than checking |
//!
//! `[[run]]` records a run as a replay string, under the key `replay`. The run shows that a variant of an algorithm is
//! wrong at a size that is too large to explore.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
};

use hallpass_algorithms::registry;
use serde::Deserialize;

use super::{
    expected::{Expected, Figure},
    files::ManifestFile,
    listed::{Listed, Tier},
    wrong::{KnownRun, violation},
};
use crate::{
    catalogue, check, questions, rmr,
    schedule::{Conventions, MemoryModel},
    space::Initial,
};

/// The expected numbers of remote references.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rmr {
    /// The tier of these numbers, if counting takes longer than checking.
    pub tier: Option<Tier>,
    /// The figure for cache-coherent memory.
    pub cc: Option<Figure>,
    /// The figure for distributed shared memory.
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
    /// The maximum number of processes in the critical section at once.
    pub k: usize,
    /// The maximum number of processes outside their remainder at once, or `None` for n.
    pub contention: Option<usize>,
    /// Starvation counts as a violation while at most this many processes have stopped. `None` stands
    /// for the number that the paper promises to survive.
    pub crashes: Option<usize>,
    /// The initial states.
    #[serde(default, with = "InitialName")]
    pub initial: Initial,
    /// Whether stores take effect immediately or go through buffers.
    #[serde(default, with = "MemoryName")]
    pub memory: MemoryModel,
    /// Whether the check merges states that differ only in stale values: values that no process can read before
    /// a process overwrites them.
    #[serde(default)]
    pub forget: bool,
    /// Whether the check merges states that differ only by a renaming of processes.
    #[serde(default)]
    pub symmetry: bool,
    /// Whether the check decides properties of whole runs without a stored graph.
    #[serde(default)]
    pub compact: bool,
    /// The duration class.
    pub tier: Tier,
    /// The number of states, or `None` if it is not known yet.
    pub states: Option<u64>,
    /// The expected verdicts. A property that is not listed is not checked, except `range`.
    #[serde(default)]
    pub check: BTreeMap<Listed, Expected>,
    /// The expected answers to questions about whole runs, by the names of the questions.
    #[serde(default)]
    pub ask: BTreeMap<String, String>,
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
    /// Returns the name that selects the model: `am-fig3-nested n=3 k=1 c=2`.
    pub fn id(&self) -> String {
        let AtlasModel { algorithm, n, k, .. } = self;
        let mut id = format!("{algorithm} n={n} k={k}");
        for part in self.particulars() {
            id.push(' ');
            id.push_str(&part);
        }
        id
    }

    /// Returns the settings in which the model differs from the defaults. Leaves out `compact`.
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
        if self.forget {
            parts.push("forget".into());
        }
        if self.symmetry {
            parts.push("symmetry".into());
        }
        parts
    }

    /// Returns the maximum number of processes outside their remainder at once.
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

    /// Returns whether questions about whole runs are asked.
    pub fn has_ask(&self) -> bool {
        !self.ask.is_empty()
    }

    /// Returns whether remote references are counted.
    pub fn has_rmr(&self) -> bool {
        self.rmr.cc.is_some() || self.rmr.dsm.is_some()
    }

    /// Returns the tier of the numbers of remote references.
    pub fn rmr_tier(&self) -> Tier {
        self.rmr.tier.unwrap_or(self.tier)
    }

    /// Returns the question that the checker must answer for this model.
    pub fn check_question(&self) -> check::Question {
        check::Question {
            contention: self.contention(),
            properties: self.check.keys().filter_map(|listed| listed.property()).collect(),
            crashes: self.crashes(),
            memory: self.memory,
            initial: self.initial,
            forget: self.forget,
            symmetry: self.symmetry,
            compact: self.compact,
            ..check::Question::everything(&self.algorithm, self.n, self.k)
        }
    }

    /// Returns the questions about whole runs.
    pub fn questions(&self) -> questions::Questions {
        questions::Questions {
            algorithm: self.algorithm.clone(),
            n: self.n,
            k: self.k,
            contention: self.contention(),
            initial: self.initial,
            crashes: self.crashes(),
            conventions: Conventions::default(),
            asked: self.ask.keys().map(|name| questions::Asked::from_name(name)).collect(),
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
    fn problem(&self) -> Option<String> {
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
        if !self.has_check() && !self.has_rmr() && !self.has_ask() {
            return Some(
                "it lists no expected results: list properties under [model.check]".into(),
            );
        }
        if self.has_rmr() && self.memory != MemoryModel::Sequential {
            return Some(
                "remote references are counted under memory = \"sc\" only: leave [model.rmr] out"
                    .into(),
            );
        }
        let merges = [("forget", self.forget), ("symmetry", self.symmetry)];
        if let Some((key, _)) = merges.iter().find(|(_, is_set)| *is_set)
            && (self.has_rmr() || self.has_ask())
        {
            return Some(format!(
                "{key} works for [model.check] only: leave [model.rmr] and [model.ask] out"
            ));
        }
        if self.has_ask() && self.memory != MemoryModel::Sequential {
            return Some(
                "questions are answered under memory = \"sc\" only: leave [model.ask] out".into(),
            );
        }
        None
    }
}

/// Error for a manifest that cannot be read or is not valid. The message names the line, the model, the run or the
/// file.
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
    /// The models, in the order of the file.
    #[serde(default, rename = "model")]
    pub models: Vec<AtlasModel>,
    /// Runs that show that variants are wrong at sizes that are too large to explore.
    #[serde(default, rename = "run")]
    pub runs: Vec<KnownRun>,
}

impl Manifest {
    /// Returns the manifest that is built into the lab. It has the models of all folders.
    pub fn standard() -> Result<Self, Error> {
        Self::of(&ManifestFile::built_in())
    }

    /// Reads several files as one manifest, in this order.
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
            // The line of a model is only known if the model is written as [[model]].
            let line = lines.get(index).copied().unwrap_or(1);
            let id = model.id();
            if let Some(problem) = model.problem() {
                return Err(Error(format!("line {line}: {id}: {problem}")));
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

/// Returns the first line of each model. Lines are counted from 1.
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
