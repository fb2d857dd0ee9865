//! The error messages that the families `processes` and `cluster` share. Each message says what happened and, if
//! this is not obvious, what to do.

use std::fmt::{Formatter, Result};

use crate::MAX_SLOTS;

/// The message for a caller that gets no slot because it does not wait or its time limit is over. At this moment, no
/// slot is free, there are waiters, or the store of a cluster hall has just lost history.
pub const NO_PERMITS: &str = "no slot is free";

/// The message if the hall is closed or was removed.
pub const CLOSED: &str =
    "the hall is closed or was removed: to use a closed hall again, remove it and create it again";

/// Returns a number with its unit, such as `1 slot` or `2 slots`.
pub fn counted(count: usize, unit: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{ending}")
}

/// Writes that no hall can have this name.
pub fn bad_name(f: &mut Formatter<'_>, name: &str, why: &str) -> Result {
    write!(f, "`{}` cannot be the name of a hall: {why}", name.escape_debug())?;
    match name.contains('/') {
        true => {
            f.write_str("; give the directory with `--dir`, or the prefix in the URL of a cluster")
        }
        false => Ok(()),
    }
}

/// Writes that no hall can have `asked` slots.
pub fn bad_slots(f: &mut Formatter<'_>, asked: usize) -> Result {
    write!(f, "a hall can have 1 to {MAX_SLOTS} slots, not {asked}")
}

/// Writes that the hall `name` has `found` slots, but the caller asked for `asked`.
pub fn other_slots(f: &mut Formatter<'_>, name: &str, asked: usize, found: usize) -> Result {
    let (slots, were) = (counted(found, "slot"), if asked == 1 { "was" } else { "were" });
    write!(
        f,
        "hall `{name}` has {slots}, but {asked} {were} requested: request {found}, or resize the hall"
    )
}

/// Writes that `subject` has a version that this program does not support.
pub fn other_version(f: &mut Formatter<'_>, subject: &str, found: u32, ours: u32) -> Result {
    write!(
        f,
        "{subject} has version {found}, but this hallpass supports version {ours}: use the hallpass that \
         created it, or remove the hall"
    )
}

/// Writes that the hall `name` cannot be removed while it is in use.
pub fn in_use(f: &mut Formatter<'_>, name: &str, holders: usize, waiters: usize) -> Result {
    write!(
        f,
        "hall `{name}` is in use: {holders} holding a slot, {waiters} waiting; to remove it anyway, use \
         force (`hallpass rm --force`)"
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
        assert_eq!(
            slots,
            "hall `gpu` has 3 slots, but 4 were requested: request 3, or resize the hall"
        );
        let one = Shown(|f: &mut Formatter<'_>| other_slots(f, "gpu", 4, 1)).to_string();
        assert!(one.starts_with("hall `gpu` has 1 slot, but 4 were requested"), "{one}");
        let one = Shown(|f: &mut Formatter<'_>| other_slots(f, "gpu", 1, 4)).to_string();
        assert!(one.starts_with("hall `gpu` has 4 slots, but 1 was requested"), "{one}");
        let version =
            Shown(|f: &mut Formatter<'_>| other_version(f, "hall `gpu`", 2, 1)).to_string();
        assert!(
            version.starts_with("hall `gpu` has version 2") && version.contains("remove the hall")
        );
        let busy = Shown(|f: &mut Formatter<'_>| in_use(f, "gpu", 2, 5)).to_string();
        assert!(busy.contains("2 holding a slot, 5 waiting") && busy.contains("force"), "{busy}");
    }
}
