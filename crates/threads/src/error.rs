//! The errors of halls.

use std::{error::Error, fmt};

/// Displays a number of slots, such as `1 slot` or `2 slots`.
struct Slots(usize);

impl fmt::Display for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, if self.0 == 1 { "slot" } else { "slots" })
    }
}

/// Error returned by [`acquire`](crate::Hall::acquire) and the other methods that wait without a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AcquireError {
    /// The hall is closed.
    Closed,
    /// The hall has fewer slots than the caller asked for.
    TooMany {
        /// The number of slots that the caller asked for.
        asked: usize,
        /// The number of slots that the hall has.
        slots: usize,
    },
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AcquireError::Closed => f.write_str("the hall is closed"),
            AcquireError::TooMany { asked, slots } => {
                write!(f, "cannot acquire {}: the hall has only {slots}", Slots(*asked))
            }
        }
    }
}

impl Error for AcquireError {}

/// Error returned by [`try_acquire`](crate::Hall::try_acquire) and the other methods that wait for a
/// limited time or not at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TryAcquireError {
    /// The hall is closed.
    Closed,
    /// Too few slots are free, or there are waiters. Methods that do not wait return this.
    NoPermits,
    /// The time limit passed before the caller got a slot. Methods with a time limit return this.
    TimedOut,
    /// The hall has fewer slots than the caller asked for.
    TooMany {
        /// The number of slots that the caller asked for.
        asked: usize,
        /// The number of slots that the hall has.
        slots: usize,
    },
}

impl From<AcquireError> for TryAcquireError {
    fn from(error: AcquireError) -> Self {
        match error {
            AcquireError::Closed => TryAcquireError::Closed,
            AcquireError::TooMany { asked, slots } => TryAcquireError::TooMany { asked, slots },
        }
    }
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            TryAcquireError::Closed => AcquireError::Closed.fmt(f),
            TryAcquireError::NoPermits => {
                f.write_str("too few slots are free, or there are waiters")
            }
            TryAcquireError::TimedOut => f.write_str("timed out while waiting for a slot"),
            TryAcquireError::TooMany { asked, slots } => {
                AcquireError::TooMany { asked, slots }.fmt(f)
            }
        }
    }
}

impl Error for TryAcquireError {}

/// Error returned by [`resize`](crate::Hall::resize), [`add_slots`](crate::Hall::add_slots) and
/// [`remove_slots`](crate::Hall::remove_slots).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ResizeError {
    /// The hall cannot have as many slots as the caller asked for.
    TooMany {
        /// The number of slots that the hall would have had.
        asked: usize,
        /// The largest number of slots that this hall can have.
        max: usize,
    },
    /// The caller wanted to remove more slots than the hall has.
    TooFew {
        /// The number of slots that the caller wanted to remove.
        removed: usize,
        /// The number of slots that the hall has.
        slots: usize,
    },
}

impl fmt::Display for ResizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResizeError::TooMany { asked, max } => write!(
                f,
                "this hall can have 0 to {max} slots, got {asked}; use \
                 `Hall::builder(k).max_slots(m)` to make room for more"
            ),
            ResizeError::TooFew { removed, slots } => {
                write!(f, "cannot remove {}: the hall has only {slots}", Slots(*removed))
            }
        }
    }
}

impl Error for ResizeError {}

/// Error returned by [`Builder::build`](crate::Builder::build): the hall cannot be created.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildError(pub(crate) String);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for BuildError {}
