//! What can be wrong with what is asked for.

use std::{error::Error, fmt};

use hallpass_algorithms::objects::universal::MOST;

/// An object that cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildError(pub(crate) String);

impl BuildError {
    pub(crate) fn unless_possible(k: usize) -> Result<(), Self> {
        match k {
            0 => Err(BuildError("k must be at least 1: nobody could ever get in".into())),
            1..=MOST => Ok(()),
            _ => Err(BuildError(format!(
                "k = {k} is too large: at most {MOST} can be in a shared object at once. k is how many \
                 may be in, not how many threads there are"
            ))),
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for BuildError {}
