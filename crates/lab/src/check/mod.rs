//! The checker: a question, and the report that answers it.

mod analyse;
mod compact_liveness;
mod compactly;
mod compile;
mod report;
mod run;
mod safety;

pub(crate) use compile::{
    REMOTE_REFERENCES, cannot_compile, check_contention, check_counts_steps, check_initial, compile,
};
pub use report::{Outcome, Report, Verdict};
pub(crate) use run::with_words;
pub use run::{Error, Resources, check};

use hallpass_algorithms::registry;

use crate::{catalogue, machine, schedule::MemoryModel, space::Initial};

/// A property that an algorithm can be checked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Property {
    /// At most k processes are in their critical sections.
    Exclusion,
    /// Processes in their critical sections hold distinct names, all below k.
    Names,
    /// If some process tries to enter its critical section and no process has stopped, then some process enters: this
    /// one or another one.
    Deadlock,
    /// Every process that tries to enter its critical section does so, as long as at most [`Question::crashes`]
    /// processes have stopped.
    Starvation,
    /// The exit section takes a bounded number of the process's own steps.
    Exit,
    /// The doorway takes a bounded number of the process's own steps.
    Doorway,
    /// FIFE: first in, first enabled (definition 2.5 of Afek et al.; see [`fife`](crate::fife)).
    Fife,
    /// FIFE in the strong sense (definition 5.1 of Afek et al.).
    FifeStrong,
    /// A process is overtaken a bounded number of times, and no more often than the algorithm promises.
    Bypass,
    /// The invariants that the paper or file states.
    Invariants,
}

impl Property {
    /// All properties.
    pub const ALL: [Property; 10] = [
        Property::Exclusion,
        Property::Names,
        Property::Deadlock,
        Property::Starvation,
        Property::Exit,
        Property::Doorway,
        Property::Fife,
        Property::FifeStrong,
        Property::Bypass,
        Property::Invariants,
    ];

    /// Returns the name on the command line and in JSON.
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
            Property::Bypass => "bypass",
            Property::Invariants => "invariants",
        }
    }

    /// Returns the property of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|property| property.name() == name)
    }

    /// Returns whether [`Question::compact`] works for this property.
    pub fn is_compact(self) -> bool {
        self != Property::Bypass
    }

    /// Returns whether this property is a bound on the number of steps in a part of a passage.
    pub fn counts_steps(self) -> bool {
        matches!(self, Property::Exit | Property::Doorway)
    }

    /// Returns whether this is a property of single states. Symmetry preserves such properties.
    pub fn is_safety(self) -> bool {
        matches!(self, Property::Exclusion | Property::Names | Property::Invariants)
    }
}

/// A question: the algorithm, its size, and the properties to check.
#[derive(Clone, Debug)]
pub struct Question {
    /// The algorithm's identifier.
    pub algorithm: String,
    /// The number of processes.
    pub n: usize,
    /// The maximum number of processes in the critical section at once.
    pub k: usize,
    /// The maximum number of processes outside their remainder at once.
    pub contention: usize,
    /// The properties to check.
    pub properties: Vec<Property>,
    /// The properties that the algorithm must have. Other properties are reported, but not enforced.
    pub promised: Vec<Property>,
    /// Starvation counts as a violation while at most this many processes have stopped.
    pub crashes: usize,
    /// The maximum number of times that a process may be overtaken. With `None`, any bound will do.
    pub bypass: Option<u32>,
    /// The memory model: how stores take effect.
    pub memory: MemoryModel,
    /// The initial states.
    pub initial: Initial,
    /// Whether to merge states that differ only by a renaming of processes.
    pub symmetry: bool,
    /// Whether to decide properties of whole runs without a stored graph. This takes less memory and more time, and
    /// works for every property except bypass.
    pub compact: bool,
    /// Whether to merge states that differ only in values that no process can read before a process overwrites
    /// them.
    pub forget: bool,
    /// Whether the search makes every step, even a step that another order of the same steps makes superfluous. This
    /// takes more time, and the answers are the same.
    pub every_step: bool,
    /// Promised properties that [`Question::supported`] has left out. If there are any, the verdict is partial at best.
    pub left_out: Vec<Property>,
}

impl Question {
    /// Creates a question about every property, with the number of crashes that the paper promises to
    /// survive. The question includes a bound on overtaking only if the algorithm promises one, because checking
    /// this bound takes as long as checking all other properties together. If the model leaves out steps of the
    /// algorithm, the question leaves out the bounds on steps.
    pub fn everything(algorithm: &str, n: usize, k: usize) -> Self {
        let mut question = Self::of_registered(algorithm, n, k);
        if let Some(subject) = catalogue::find(algorithm) {
            let promises = subject.promises(n, k);
            question.promised = promises.properties;
            question.crashes = promises.crashes.min(n);
        }
        question
    }

    /// Creates a question about every property. The promises come from the registry. An algorithm that is not
    /// registered promises all properties except FIFE, strong FIFE and a bound on overtaking.
    fn of_registered(algorithm: &str, n: usize, k: usize) -> Self {
        let entry = registry::entry(algorithm).ok().map(|(entry, _)| entry);
        let fife = entry.is_some_and(|entry| entry.promises_fife);
        let bypass = entry.and_then(|entry| entry.promises_bypass);
        let counts_steps = entry.is_none_or(|entry| entry.counts_steps);
        let is_promised = |property: &Property| match property {
            property if property.counts_steps() && !counts_steps => false,
            Property::Fife => fife,
            Property::FifeStrong => entry.is_some_and(|entry| entry.promises_fife_strong),
            Property::Starvation | Property::Doorway => {
                entry.is_none_or(|entry| entry.promises_everybody)
            }
            Property::Bypass => bypass.is_some(),
            Property::Exit => entry.is_none_or(|entry| entry.promises_exit),
            _ => true,
        };
        Question {
            algorithm: algorithm.to_string(),
            n,
            k,
            contention: n,
            properties: Property::ALL
                .into_iter()
                .filter(|&property| property != Property::Bypass || bypass.is_some())
                .filter(|&property| !property.counts_steps() || counts_steps)
                .collect(),
            promised: Property::ALL.into_iter().filter(is_promised).collect(),
            crashes: entry.map_or(k.saturating_sub(1), |entry| entry.crashes(k)),
            bypass,
            memory: MemoryModel::Sequential,
            initial: Initial::All,
            symmetry: false,
            compact: false,
            forget: false,
            every_step: false,
            left_out: Vec::new(),
        }
    }

    /// Returns whether the algorithm promises the property with this name. Every algorithm promises `range`, which a
    /// question cannot ask for.
    pub fn promises(&self, name: &str) -> bool {
        name == "range" || self.promised.iter().any(|property| property.name() == name)
    }

    /// Returns the options of this question that do not work for the property.
    pub fn options_against(&self, property: Property) -> Vec<&'static str> {
        let with_symmetry =
            property.is_safety() || self.compact && property == Property::Starvation;
        [
            ("--symmetry", self.symmetry && !with_symmetry),
            ("--compact", self.compact && !property.is_compact()),
            ("--forget", self.forget && property == Property::Invariants),
        ]
        .into_iter()
        .filter_map(|(option, is_against)| is_against.then_some(option))
        .collect()
    }

    /// Leaves out the properties for which an option of this question does not work, and remembers in
    /// [`Question::left_out`] those that the algorithm promises.
    pub fn supported(self) -> Self {
        let has_invariants = || {
            machine::build(&self.algorithm, self.n, self.k)
                .is_ok_and(|machine| !machine.invariants().is_empty())
        };
        let (properties, excluded): (Vec<_>, Vec<_>) = (self.properties.iter().copied())
            .partition(|&property| self.options_against(property).is_empty());
        let is_missed = |property: &Property| {
            self.promised.contains(property)
                && (*property != Property::Invariants || has_invariants())
        };
        let left_out = excluded.into_iter().filter(is_missed).collect();
        Question { properties, left_out, ..self }
    }

    /// Restricts the question to these properties and enforces each of them.
    pub fn only(self, properties: Vec<Property>) -> Self {
        Question { promised: properties.clone(), properties, ..self }
    }
}
