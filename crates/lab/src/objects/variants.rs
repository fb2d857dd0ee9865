//! The construction, and what is wrong on purpose, by name.

use std::marker::PhantomData;

use hallpass_algorithms::objects::universal::{
    Careless, Errand, Forgetful, Hasty, Hurried, Line, Next, Rules, Selfish, Sound, Unguarded,
    Unmarked, Unpinned, Untagged, copies, step,
};

use super::shop::Shop;

/// One of them.
#[derive(Clone, Copy)]
pub struct Variant {
    /// Its name on the command line; none of what is right.
    pub name: Option<&'static str>,
    /// What is wrong with it.
    pub title: &'static str,
    /// One step.
    pub step: fn(&mut Shop<'_>, usize, Errand, Line) -> Next,
    /// Which steps access nothing.
    pub is_local: fn(Line, usize, usize) -> bool,
    /// Lines R3 and A4 look again.
    pub validates: bool,
    /// Request numbers grow.
    pub numbers: bool,
    /// Who has guarded the head keeps it as it is, and what was not installed is not read: all that
    /// [`normal`](super::normal) relies on where it leaves out more.
    pub orderly: bool,
}

impl std::fmt::Debug for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name.unwrap_or("sound"))
    }
}

/// Whether the step from this line only decides where to go on: it is taken together with the one
/// before it, since nobody can tell when it happens.
fn is_local<L: Rules>(at: Line, me: usize, k: usize) -> bool {
    use Line::*;
    match at {
        P2 { i, .. } => i == k || i == me || !L::MARKS,
        G1 { h, i } => i == h + 1 || i > copies(k),
        G2 { j, .. } => j == k || j == me || !L::GUARDS,
        G3 { j, .. } => j == k || !L::KEEPS_ANSWERS || j == me && !L::KEEPS_OWN,
        _ => false,
    }
}

fn run<L: Rules>(shop: &mut Shop<'_>, me: usize, errand: Errand, at: Line) -> Next {
    step(shop, me, errand, at, PhantomData::<L>)
}

const fn variant<L: Rules>(name: Option<&'static str>, title: &'static str) -> Variant {
    let orderly = L::VALIDATES
        && L::GUARDS
        && L::KEEPS_ANSWERS
        && L::KEEPS_OWN
        && L::MARKS
        && L::NUMBERS
        && L::SPOILS;
    Variant {
        name,
        title,
        step: run::<L>,
        is_local: is_local::<L>,
        validates: L::VALIDATES,
        numbers: L::NUMBERS,
        orderly,
    }
}

/// What is right.
pub const SOUND: Variant = variant::<Sound>(None, "as it is");

/// What is not.
pub const WRONG: [Variant; 9] = [
    variant::<Hasty>(Some("hasty"), "guards without looking again"),
    variant::<Unguarded>(Some("unguarded"), "does not look at guards"),
    variant::<Unpinned>(Some("unpinned"), "writes over answers"),
    variant::<Careless>(Some("careless"), "writes over its own answer"),
    variant::<Hurried>(Some("hurried"), "replaces a head whose answers are not assigned"),
    variant::<Unmarked>(Some("unmarked"), "reads the others' operations without a mark"),
    variant::<Untagged>(Some("untagged"), "numbers requests modulo 2"),
    variant::<Selfish>(Some("selfish"), "helps nobody"),
    variant::<Forgetful>(Some("forgetful"), "takes what it did not install for what was installed"),
];

/// A wrong one by its name.
pub fn wrong(name: &str) -> Option<Variant> {
    WRONG.into_iter().find(|variant| variant.name == Some(name))
}
