//! Why there is no pass.

use std::{error::Error, fmt};

/// Why waiting would be in vain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AcquireError {
    /// The hall is closed.
    Closed,
    /// The hall does not have that many slots.
    TooMany {
        /// How many were asked for.
        asked: usize,
        /// How many there are.
        slots: usize,
    },
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AcquireError::Closed => f.write_str("the hall is closed"),
            AcquireError::TooMany { asked, slots } => {
                write!(f, "{asked} passes were asked for, and the hall has {slots} slots in all")
            }
        }
    }
}

impl Error for AcquireError {}

/// Why an attempt has failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TryAcquireError {
    /// The hall is closed.
    Closed,
    /// Not enough slots are free, or others wait for them; with a time limit, until it was over.
    NoPermits,
    /// The hall does not have that many slots.
    TooMany {
        /// How many were asked for.
        asked: usize,
        /// How many there are.
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
            TryAcquireError::NoPermits => f.write_str("no pass is free"),
            TryAcquireError::TooMany { asked, slots } => {
                AcquireError::TooMany { asked, slots }.fmt(f)
            }
        }
    }
}

impl Error for TryAcquireError {}

/// Why a hall cannot have that many slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResizeError {
    /// How many were asked for.
    pub asked: usize,
    /// How many this hall can have.
    pub max: usize,
}

impl fmt::Display for ResizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ResizeError { asked, max } = self;
        write!(
            f,
            "this hall can have 1 to {max} slots, not {asked}; `Hall::builder(k).max_slots(m)` makes \
             room for more"
        )
    }
}

impl Error for ResizeError {}

/// Why there is no such hall.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildError(pub(crate) String);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for BuildError {}
