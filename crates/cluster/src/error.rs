//! Why something did not work.

use std::{error, fmt};

use crate::MAX_SLOTS;

/// Why something did not work, in one sentence that says what to do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// No slot is free, or others wait for one; with a time limit, until it was over.
    NoPermits,
    /// The hall is closed, or was removed.
    Closed,
    /// There is no hall of that name.
    Missing {
        /// The name.
        name: String,
        /// Where it would be.
        place: String,
    },
    /// The hall has another number of slots.
    Slots {
        /// Its name.
        name: String,
        /// How many were asked for.
        asked: usize,
        /// How many it has.
        found: usize,
    },
    /// The hall was made by a hallpass that speaks otherwise.
    Version {
        /// Its name.
        name: String,
        /// Its version.
        found: u32,
        /// The version that this library knows.
        ours: u32,
    },
    /// What is in etcd under a hall's name is no hall.
    Damaged {
        /// The key.
        key: String,
        /// What is wrong with it.
        why: String,
    },
    /// The hall cannot be removed now.
    InUse {
        /// Its name.
        name: String,
        /// How many slots are held.
        holders: usize,
        /// How many wait.
        waiting: usize,
    },
    /// No hall can have that name.
    BadName {
        /// The name.
        name: String,
        /// Why not.
        why: &'static str,
    },
    /// No hall can have that many slots.
    BadSlots {
        /// How many were asked for.
        asked: usize,
    },
    /// An option, or a variable of the environment, makes no sense.
    BadOption {
        /// Which one.
        what: String,
        /// Why.
        why: String,
    },
    /// No member of the cluster answered in time, or none that has a leader.
    Unreachable {
        /// Whom we asked.
        endpoints: String,
        /// What the last of them said, or what became of the attempt.
        why: String,
    },
    /// The cluster does not let us.
    Denied {
        /// What it said.
        why: String,
    },
    /// The cluster refused what it was asked for, though it could be reached.
    Refused {
        /// What it said.
        why: String,
    },
    /// The pass was lost before it could be given back: somebody else may have had the slot since.
    Lost,
    /// The operating system refused something.
    System {
        /// What was tried.
        doing: &'static str,
        /// What it said.
        why: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoPermits => f.write_str("no slot is free"),
            Error::Closed => f.write_str("the hall is closed or was removed"),
            Error::Missing { name, place } => write!(f, "there is no hall `{name}` on {place}"),
            Error::Slots { name, asked, found } => write!(
                f,
                "hall `{name}` has {found} slots and {asked} were asked for: ask for {found}, or \
                 resize it"
            ),
            Error::Version { name, found, ours } => write!(
                f,
                "hall `{name}` has version {found} and this hallpass knows version {ours}: use the \
                 hallpass that made it, or remove the hall"
            ),
            Error::Damaged { key, why } => write!(
                f,
                "{key} in etcd is not of a hall or is damaged ({why}): if nothing uses it, remove it"
            ),
            Error::InUse { name, holders, waiting } => write!(
                f,
                "hall `{name}` is in use: {holders} inside, {waiting} waiting; force it to remove \
                 it all the same"
            ),
            Error::BadName { name, why } => {
                write!(f, "`{}` cannot be the name of a hall: {why}", name.escape_debug())
            }
            Error::BadSlots { asked } => {
                write!(f, "a hall can have 1 to {MAX_SLOTS} slots, not {asked}")
            }
            Error::BadOption { what, why } => write!(f, "{what}: {why}"),
            Error::Unreachable { endpoints, why } => {
                write!(f, "etcd cannot be reached at {endpoints}: {why}")
            }
            Error::Denied { why } => write!(f, "no access to etcd: {why}"),
            Error::Refused { why } => write!(f, "etcd refused: {why}"),
            Error::Lost => f.write_str("the pass was lost: its claim in etcd is gone"),
            Error::System { doing, why } => write!(f, "cannot {doing}: {why}"),
        }
    }
}

impl error::Error for Error {}
