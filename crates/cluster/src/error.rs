//! The error type of this crate.

use std::{error, fmt};

use hallpass_common::{NameError, SlotsError, text};

/// Error returned by the functions of this crate. Its text is one sentence that says what happened and, if this is not
/// obvious, what to do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// No slot is free, there are waiters, or the store has just lost history, so that no slot may be assigned yet.
    /// With a time limit: the caller got no slot in time.
    NoPermits,
    /// A request asked for more slots than it can get.
    TooMany {
        /// The number that was asked for.
        asked: usize,
        /// The maximum for one request: the number of slots of the hall, but at most 60.
        slots: usize,
    },
    /// The hall is closed or was removed.
    Closed,
    /// There is no hall of that name.
    Missing {
        /// The name of the missing hall.
        name: String,
        /// The URL of the cluster.
        place: String,
    },
    /// The hall has a different number of slots.
    Slots {
        /// The name of the hall.
        name: String,
        /// The number that was asked for.
        asked: usize,
        /// The number of slots that the hall has.
        found: usize,
    },
    /// The hall was created by an incompatible version of hallpass.
    Version {
        /// The name of the hall.
        name: String,
        /// The version of its records.
        found: u32,
        /// The version that this library supports.
        ours: u32,
    },
    /// A key below the hall's name does not hold a record of a hall.
    Damaged {
        /// The key of the damaged record.
        key: String,
        /// The reason why the record is invalid.
        why: String,
    },
    /// The hall cannot be removed because it is in use.
    InUse {
        /// The name of the hall.
        name: String,
        /// The number of slots that are held.
        holders: usize,
        /// The number of waiters.
        waiting: usize,
    },
    /// No holder has this slot.
    Vacant {
        /// The name of the hall.
        name: String,
        /// The slot that was named.
        slot: usize,
    },
    /// A hall cannot have this name.
    BadName {
        /// The name that was refused.
        name: String,
        /// The rule that the name breaks.
        why: &'static str,
    },
    /// A hall cannot have this number of slots.
    BadSlots {
        /// The number that was asked for.
        asked: usize,
    },
    /// An option or an environment variable is invalid.
    BadOption {
        /// The option or variable.
        what: String,
        /// The reason why its value is invalid.
        why: String,
    },
    /// No server of the store answered in time, or the servers that answered cannot serve requests.
    Unreachable {
        /// The name of the store, such as `etcd`.
        engine: &'static str,
        /// The servers that were tried.
        endpoints: String,
        /// Why the last attempt failed.
        why: String,
    },
    /// The store answers, but had no capacity for the request in time. For example, the database has no connection
    /// left.
    Busy {
        /// The name of the store, such as `PostgreSQL`.
        engine: &'static str,
        /// The servers that were tried.
        endpoints: String,
        /// The reason that was given.
        why: String,
    },
    /// The store rejected the credentials or the certificate.
    Denied {
        /// The name of the store, such as `etcd`.
        engine: &'static str,
        /// The reason that was given.
        why: String,
    },
    /// The store could be reached, but rejected the request.
    Refused {
        /// The name of the store, such as `etcd`.
        engine: &'static str,
        /// The reason that was given.
        why: String,
    },
    /// The pass was lost before it was released. Another process may have had the slot in the meantime.
    Lost,
    /// The operating system rejected a request, the thread that talks to the store has ended, or the store sent an
    /// incomplete answer.
    System {
        /// The action that failed.
        doing: &'static str,
        /// The reason that was given.
        why: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoPermits => f.write_str(text::NO_PERMITS),
            Error::Closed => f.write_str(text::CLOSED),
            Error::TooMany { asked, slots } => write!(
                f,
                "cannot acquire {asked} slots: a request on this hall can have at most {slots}"
            ),
            Error::Missing { name, place } => write!(f, "there is no hall `{name}` on {place}"),
            Error::Slots { name, asked, found } => text::other_slots(f, name, *asked, *found),
            Error::Version { name, found, ours } => {
                text::other_version(f, &format!("hall `{name}`"), *found, *ours)
            }
            Error::Damaged { key, why } => write!(
                f,
                "{key} in the store does not belong to a hall or is damaged ({why}): if nothing uses it, remove it"
            ),
            Error::InUse { name, holders, waiting } => text::in_use(f, name, *holders, *waiting),
            Error::Vacant { name, slot } => write!(
                f,
                "slot {slot} of hall `{name}` is not held: `hallpass status` lists the holders"
            ),
            Error::BadName { name, why } => text::bad_name(f, name, why),
            Error::BadSlots { asked } => text::bad_slots(f, *asked),
            Error::BadOption { what, why } => write!(f, "{what}: {why}"),
            Error::Unreachable { engine, endpoints, why } => {
                write!(f, "{engine} cannot be reached at {endpoints}: {why}")
            }
            Error::Busy { engine, endpoints, why } => {
                write!(f, "{engine} at {endpoints} is busy: {why}")
            }
            Error::Denied { engine, why } => write!(f, "no access to {engine}: {why}"),
            Error::Refused { engine, why } => write!(f, "{engine} refused: {why}"),
            Error::Lost => f.write_str("the pass was lost: its claim in the store is gone"),
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
