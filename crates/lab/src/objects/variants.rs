//! The construction and its wrong variants, by name.

use hallpass_algorithms::{
    framework::changed::Change,
    objects::universal::{
        Intent, Line, Next, step,
        wrong::{
            Careless, Forgetful, Hasty, Hurried, Selfish, Unguarded, Unmarked, Unpinned, Untagged,
        },
    },
};

use super::environment::ModelEnvironment;

/// The construction, or a wrong variant of it.
#[derive(Clone, Copy)]
pub struct Variant {
    /// The name on the command line, or `None` for the sound construction.
    pub name: Option<&'static str>,
    /// The mistake of the variant.
    pub title: &'static str,
    /// Executes one line.
    pub step: fn(&mut ModelEnvironment<'_>, usize, Intent, Line) -> Next,
    /// Whether the variant replaces this line of process `me` with a line without an access.
    pub skips: fn(me: usize, at: Line) -> bool,
    /// Whether lines R3 and A4 check the head again.
    pub validates: bool,
    /// Whether request numbers grow.
    pub numbers: bool,
    /// Whether the variant never changes a guarded head, and never reads a copy that was not installed.
    /// If so, the [normal form](super::normal) clears more fields.
    pub orderly: bool,
}

impl std::fmt::Debug for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name.unwrap_or("sound"))
    }
}

/// The sound construction.
pub const SOUND: Variant = Variant {
    name: None,
    title: "the construction itself",
    step: |environment, me, intent, at| step(environment, me, intent, at),
    skips: |_, _| false,
    validates: true,
    numbers: true,
    orderly: true,
};

/// Returns the construction with the change `C`.
const fn wrong<C>(name: &'static str, title: &'static str) -> Variant
where
    C: for<'e> Change<Intent, Line, Next, ModelEnvironment<'e>>,
{
    let name = Some(name);
    Variant {
        name,
        title,
        step: |environment, me, intent, at| {
            C::line(&intent, environment, me, at)
                .unwrap_or_else(|| step(environment, me, intent, at))
        },
        ..SOUND
    }
}

/// Returns the construction with the change `C`, which breaks the guarantees of [`Variant::orderly`].
const fn disorderly<C>(name: &'static str, title: &'static str) -> Variant
where
    C: for<'e> Change<Intent, Line, Next, ModelEnvironment<'e>>,
{
    Variant { orderly: false, ..wrong::<C>(name, title) }
}

/// The variants that are wrong on purpose.
pub const WRONG: [Variant; 9] = [
    Variant {
        validates: false,
        ..disorderly::<Hasty>("hasty", "does not check the head again after guarding it")
    },
    Variant {
        skips: |_, at| matches!(at, Line::G2 { .. }),
        ..disorderly::<Unguarded>("unguarded", "does not check guards")
    },
    Variant {
        skips: |_, at| matches!(at, Line::G3 { .. }),
        ..disorderly::<Unpinned>("unpinned", "overwrites answers")
    },
    Variant {
        skips: |me, at| matches!(at, Line::G3 { j, .. } if j == me),
        ..disorderly::<Careless>("careless", "overwrites its own answer")
    },
    wrong::<Hurried>("hurried", "replaces a head whose answers are not assigned"),
    Variant {
        skips: |_, at| matches!(at, Line::P2 { .. }),
        ..disorderly::<Unmarked>("unmarked", "reads operations of others without a mark")
    },
    Variant { numbers: false, ..disorderly::<Untagged>("untagged", "numbers requests modulo 2") },
    wrong::<Selfish>("selfish", "does not serve the requests of others"),
    disorderly::<Forgetful>(
        "forgetful",
        "treats a copy that was not installed as an installed copy",
    ),
];

/// Returns the wrong variant with this name, such as `hasty`.
pub fn wrong_variant(name: &str) -> Option<Variant> {
    WRONG.into_iter().find(|variant| variant.name == Some(name))
}
