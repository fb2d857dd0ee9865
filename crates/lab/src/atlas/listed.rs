//! The words of the manifest: the tiers of models, and the properties that a model can list.

use serde::Deserialize;

use crate::check::Property;

/// The duration class of a model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// The model takes seconds. Continuous integration runs these models.
    Quick,
    /// The model takes minutes.
    Full,
    /// The model takes hours, or needs more memory than most computers have.
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

    /// Returns the name in the manifest and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Quick => "quick",
            Tier::Full => "full",
            Tier::Huge => "huge",
        }
    }
}

/// A property that can be listed under `[model.check]`. `range` means that variables stay within their
/// declared ranges. The checker checks `range` even if it is not listed.
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
    Bypass,
    Invariants,
    Range,
}

impl Listed {
    /// All properties.
    pub const ALL: [Listed; 11] = [
        Listed::Exclusion,
        Listed::Names,
        Listed::Deadlock,
        Listed::Starvation,
        Listed::Exit,
        Listed::Doorway,
        Listed::Fife,
        Listed::FifeStrong,
        Listed::Bypass,
        Listed::Invariants,
        Listed::Range,
    ];

    /// Returns the property of the checker. Returns `None` for `range`, which the checker always checks.
    pub fn property(self) -> Option<Property> {
        Property::ALL.get(self as usize).copied()
    }

    /// Returns the name in the manifest and in reports.
    pub fn name(self) -> &'static str {
        self.property().map_or("range", Property::name)
    }
}
