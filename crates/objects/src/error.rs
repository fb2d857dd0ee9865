//! The error of constructors.

use std::{error::Error, fmt};

use hallpass_algorithms::objects::universal::MAX_PROCESSES;

/// Error for an invalid `k`, returned by `try_new`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildError {
    k: usize,
}

impl BuildError {
    pub(crate) fn check(k: usize) -> Result<(), Self> {
        if (1..=MAX_PROCESSES).contains(&k) { Ok(()) } else { Err(BuildError { k }) }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "k must be between 1 and {MAX_PROCESSES}, got {}: at most k threads run an operation \
             at the same time, and any number of threads may share the object",
            self.k
        )
    }
}

impl Error for BuildError {}
