//! The numbers of slots that a hall can have.

use std::{error, fmt};

/// The largest number of slots that a hall of processes or of a cluster can have.
pub const MAX_SLOTS: usize = 1024;

/// Error returned by [`check_slots`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SlotsError {
    /// The number of slots that was refused.
    pub asked: usize,
}

/// Checks that a hall can have `k` slots.
///
/// # Errors
/// Returns a [`SlotsError`] if `k` is 0 or more than [`MAX_SLOTS`].
///
/// ```
/// use hallpass_common::check_slots;
///
/// assert!(check_slots(4).is_ok());
/// assert_eq!(check_slots(0).unwrap_err().to_string(), "a hall can have 1 to 1024 slots, not 0");
/// ```
pub fn check_slots(k: usize) -> Result<(), SlotsError> {
    if (1..=MAX_SLOTS).contains(&k) { Ok(()) } else { Err(SlotsError { asked: k }) }
}

impl fmt::Display for SlotsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::text::bad_slots(f, self.asked)
    }
}

impl error::Error for SlotsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hall_has_at_least_one_slot_and_at_most_the_maximum() {
        for k in [1, 2, MAX_SLOTS] {
            assert_eq!(check_slots(k), Ok(()));
        }
        for k in [0, MAX_SLOTS + 1, usize::MAX] {
            let error = check_slots(k).expect_err("out of range");
            assert_eq!(error.asked, k);
            let text = error.to_string();
            assert!(text.contains("1 to 1024") && text.contains(&k.to_string()), "{text}");
        }
    }
}
