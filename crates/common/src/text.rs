//! The error messages that both families print. Each says what happened, and what to do where that is
//! not obvious.

use std::fmt::{Formatter, Result};

use crate::MAX_SLOTS;

/// No slot is free, or others wait for one, and the time to wait is over.
pub const NO_PERMITS: &str = "no slot is free";

/// The hall is closed or was removed.
pub const CLOSED: &str = "the hall is closed or was removed";

/// Writes that no hall can have this name.
pub fn bad_name(f: &mut Formatter<'_>, name: &str, why: &str) -> Result {
    write!(f, "`{}` cannot be the name of a hall: {why}", name.escape_debug())
}

/// Writes that no hall can have `asked` slots.
pub fn bad_slots(f: &mut Formatter<'_>, asked: usize) -> Result {
    write!(f, "a hall can have 1 to {MAX_SLOTS} slots, not {asked}")
}

/// Writes that the hall `name` has `found` slots, and not the `asked` ones.
pub fn other_slots(f: &mut Formatter<'_>, name: &str, asked: usize, found: usize) -> Result {
    write!(
        f,
        "hall `{name}` has {found} slots and {asked} were asked for: ask for {found}, or resize it"
    )
}

/// Writes that `subject` has another version than this program.
pub fn other_version(f: &mut Formatter<'_>, subject: &str, found: u32, ours: u32) -> Result {
    write!(
        f,
        "{subject} has version {found} and this hallpass knows version {ours}: use the hallpass that \
         made it, or remove the hall"
    )
}

/// Writes that the hall `name` cannot be removed while it is used.
pub fn in_use(f: &mut Formatter<'_>, name: &str, holders: usize, waiters: usize) -> Result {
    write!(
        f,
        "hall `{name}` is in use: {holders} inside, {waiters} waiting; force it to remove it all the \
         same"
    )
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    struct Shown<F>(F);

    impl<F: Fn(&mut Formatter<'_>) -> Result> fmt::Display for Shown<F> {
        fn fmt(&self, f: &mut Formatter<'_>) -> Result {
            (self.0)(f)
        }
    }

    #[test]
    fn messages_name_the_hall_both_numbers_and_a_remedy() {
        let slots = Shown(|f: &mut Formatter<'_>| other_slots(f, "gpu", 4, 3)).to_string();
        assert_eq!(slots, "hall `gpu` has 3 slots and 4 were asked for: ask for 3, or resize it");
        let version =
            Shown(|f: &mut Formatter<'_>| other_version(f, "hall `gpu`", 2, 1)).to_string();
        assert!(
            version.starts_with("hall `gpu` has version 2") && version.contains("remove the hall")
        );
        let busy = Shown(|f: &mut Formatter<'_>| in_use(f, "gpu", 2, 5)).to_string();
        assert!(busy.contains("2 inside, 5 waiting") && busy.contains("force"), "{busy}");
    }
}
