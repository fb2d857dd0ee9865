//! Which directory of halls a command works on.

use std::path::PathBuf;

use clap::Args;
use hallpass_shared::{Error, Place};

/// The options that all commands on halls share.
#[derive(Args)]
pub struct Location {
    /// Use the halls that all users of this machine share
    #[arg(long, conflicts_with = "dir")]
    system: bool,
    /// Use the halls in this directory
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,
}

impl Location {
    pub fn place(self) -> Result<Place, Error> {
        match self {
            Location { dir: Some(path), .. } => Ok(Place::at(path)),
            Location { system: true, .. } => Ok(Place::system()),
            Location { .. } => Place::user(),
        }
    }
}
