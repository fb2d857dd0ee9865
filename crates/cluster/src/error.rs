//! Why something did not work.

use std::{error, fmt};

use hallpass_common::{NameError, SlotsError, text};

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
            Error::NoPermits => f.write_str(text::NO_PERMITS),
            Error::Closed => f.write_str(text::CLOSED),
            Error::Missing { name, place } => write!(f, "there is no hall `{name}` on {place}"),
            Error::Slots { name, asked, found } => text::other_slots(f, name, *asked, *found),
            Error::Version { name, found, ours } => {
                text::other_version(f, &format!("hall `{name}`"), *found, *ours)
            }
            Error::Damaged { key, why } => write!(
                f,
                "{key} in etcd is not of a hall or is damaged ({why}): if nothing uses it, remove it"
            ),
            Error::InUse { name, holders, waiting } => text::in_use(f, name, *holders, *waiting),
            Error::BadName { name, why } => text::bad_name(f, name, why),
            Error::BadSlots { asked } => text::bad_slots(f, *asked),
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

impl From<NameError> for Error {
    fn from(error: NameError) -> Self {
        Error::BadName { name: error.name, why: error.why }
    }
}

impl From<SlotsError> for Error {
    fn from(error: SlotsError) -> Self {
        Error::BadSlots { asked: error.asked }
    }
}
