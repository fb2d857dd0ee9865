//! Opening a hall without knowing its number of slots.

use super::Error;

/// Opens a hall with `slots` slots. Without `slots`, opens it with the number that it has, and creates it
/// with `default_slots` if it is missing.
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
            // Another process has created it in the meantime.
            Err(error) if error.is_other_size() => existing().map_err(Into::into),
            opened => opened,
        },
        opened => opened,
    }
}
