//! Opens a hall, with or without a given number of slots.

use super::Error;

/// Opens the hall with `slots` slots, or creates it. Without `slots`, opens an existing hall with any number of slots.
/// If there is no hall, creates one with `default_slots` slots.
pub fn open_or_create<H, E: Into<Error>>(
    slots: Option<usize>,
    default_slots: usize,
    existing: impl Fn() -> Result<H, E>,
    with: impl Fn(usize) -> Result<H, E>,
) -> Result<H, Error> {
    if let Some(slots) = slots {
        return with(slots).map_err(Into::into);
    }
    match existing().map_err(Into::into) {
        Err(error) if error.is_missing() => match with(default_slots).map_err(Into::into) {
            // Another process has created the hall in the meantime.
            Err(error) if error.is_other_size() => existing().map_err(Into::into),
            opened => opened,
        },
        opened => opened,
    }
}
