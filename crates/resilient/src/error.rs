//! What can be wrong with what is asked for.

use std::{error::Error, fmt};

/// An object that cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildError(pub(crate) String);

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for BuildError {}
