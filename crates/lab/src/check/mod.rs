//! The checker: a question, and what came of it.

mod analyse;
mod report;
mod run;

pub use report::{Outcome, Report, Verdict};
pub use run::{Error, Resources, check};
pub(crate) use run::{check_contention, check_initial, compile, with_words};

use hallpass_algorithms::registry;

use crate::{schedule::MemoryModel, space::Initial};

/// What can be asked of an algorithm.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Property {
    /// At most k in their critical sections.
    Exclusion,
    /// Those have names of their own, all below k.
    Names,
    /// Somebody gets in if somebody tries, when nobody has stopped.
    Deadlock,
    /// Everybody who tries gets in, when few enough have stopped.
    Starvation,
    /// The exit section takes a bounded number of own steps.
    Exit,
    /// The doorway does.
    Doorway,
    /// First in, first enabled (definition 2.5).
    Fife,
    /// The same, stronger (definition 5.1).
    FifeStrong,
    /// The invariants that the paper states.
    Invariants,
}

impl Property {
    /// All of them.
    pub const ALL: [Property; 9] = [
        Property::Exclusion,
        Property::Names,
        Property::Deadlock,
        Property::Starvation,
        Property::Exit,
        Property::Doorway,
        Property::Fife,
        Property::FifeStrong,
        Property::Invariants,
    ];

    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Property::Exclusion => "exclusion",
            Property::Names => "names",
            Property::Deadlock => "deadlock",
            Property::Starvation => "starvation",
            Property::Exit => "exit",
            Property::Doorway => "doorway",
            Property::Fife => "fife",
            Property::FifeStrong => "fife-strong",
            Property::Invariants => "invariants",
        }
    }

    /// The property of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|property| property.name() == name)
    }

    /// Whether it is a property of single states, which symmetry keeps.
    pub fn is_safety(self) -> bool {
        matches!(self, Property::Exclusion | Property::Names | Property::Invariants)
    }
}

/// What to check.
#[derive(Clone, Debug)]
pub struct Question {
    /// The algorithm's identifier.
    pub algorithm: String,
    /// How many processes.
    pub n: usize,
    /// How many may be in.
    pub k: usize,
    /// At most this many outside their remainder at once.
    pub contention: usize,
    /// What to look at.
    pub properties: Vec<Property>,
    /// What of that the algorithm is held to; of the rest one only wants to know.
    pub promised: Vec<Property>,
    /// How many may stop before starvation is forgiven is one more than this.
    pub crashes: usize,
    /// How stores take effect.
    pub memory: MemoryModel,
    /// Which initial states.
    pub initial: Initial,
    /// Whether to take states together that differ in the names of processes only.
    pub symmetry: bool,
}

impl Question {
    /// Everything about an algorithm, with as many crashes as its paper promises to survive.
    pub fn everything(algorithm: &str, n: usize, k: usize) -> Self {
        let entry = registry::entry(algorithm).ok().map(|(entry, _)| entry);
        let fife = entry.is_some_and(|entry| entry.promises_fife);
        let is_promised = |property: &Property| match property {
            Property::Fife => fife,
            Property::FifeStrong => entry.is_some_and(|entry| entry.promises_fife_strong),
            Property::Starvation | Property::Doorway => {
                entry.is_none_or(|entry| entry.promises_everybody)
            }
            Property::Exit => entry.is_none_or(|entry| entry.promises_exit),
            _ => true,
        };
        Question {
            algorithm: algorithm.to_string(),
            n,
            k,
            contention: n,
            properties: Property::ALL.to_vec(),
            promised: Property::ALL.into_iter().filter(is_promised).collect(),
            crashes: entry.map_or(k.saturating_sub(1), |entry| entry.crashes(k)),
            memory: MemoryModel::Sequential,
            initial: Initial::All,
            symmetry: false,
        }
    }

    /// Looks at these properties only, and holds the algorithm to each.
    pub fn only(self, properties: Vec<Property>) -> Self {
        Question { promised: properties.clone(), properties, ..self }
    }
}
