//! The error of this crate.

use std::{alloc::Layout, error, fmt, io, path::PathBuf};

use hallpass_common::{NameError, SlotsError, text};

/// Error returned by this crate. Its message says what happened and, in many cases, what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Too few slots are free, or there are waiters. With a time limit or a [`Cancel`](crate::Cancel): the caller got
    /// no slot before it gave up.
    NoPermits,
    /// The hall is closed, or was removed.
    Closed,
    /// There is no hall of this name.
    Missing {
        /// The name of the missing hall.
        name: String,
        /// The directory that was searched.
        dir: PathBuf,
    },
    /// The hall has a different number of slots.
    Slots {
        /// The name of the hall.
        name: String,
        /// The number of slots that the caller asked for.
        asked: usize,
        /// The number of slots that the hall has.
        found: usize,
    },
    /// The file has a version that this library does not support.
    Version {
        /// The path of the file.
        path: PathBuf,
        /// The version of the file.
        found: u32,
        /// The version that this library supports.
        ours: u32,
    },
    /// The file is not a hall, or is damaged.
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The check that failed.
        why: String,
    },
    /// A file or directory of this name is not a hall, so it was not removed.
    NotAHall {
        /// The file or directory.
        path: PathBuf,
        /// The check that failed.
        why: String,
    },
    /// The hall holds no value: it was not created as a [`SharedCell`](crate::SharedCell).
    NoValue {
        /// The name of the hall.
        name: String,
    },
    /// The hall holds a value of another type.
    Value {
        /// The path of the file.
        path: PathBuf,
        /// Size and alignment of the type that the caller asked for.
        asked: Layout,
        /// Size and alignment of the value in the file.
        found: Layout,
    },
    /// This process was forked in the closure of an update. The update belongs to the parent. This process has not
    /// changed the value.
    Forked,
    /// The hall has holders or waiters, so it was not removed.
    InUse {
        /// The name of the hall.
        name: String,
        /// The number of holders.
        holders: usize,
        /// The number of waiters.
        waiting: usize,
    },
    /// No hall can have this name.
    BadName {
        /// The name that was refused.
        name: String,
        /// The rule that the name breaks.
        why: &'static str,
    },
    /// No hall can have this number of slots.
    BadSlots {
        /// The number of slots that the caller asked for.
        asked: usize,
    },
    /// The hall has fewer slots than the caller asked for.
    TooMany {
        /// The number of slots that the caller asked for.
        asked: usize,
        /// The number of slots that the hall has.
        slots: usize,
    },
    /// The hall has no room for another [registration](crate::MAX_REGISTRATIONS).
    Full {
        /// The name of the hall.
        name: String,
        /// The maximum number of registrations.
        max: usize,
    },
    /// A call to the operating system failed.
    System {
        /// The action that failed, such as `open` in `cannot open`.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl Error {
    /// Returns a function that adds the attempted action to an error of the operating system.
    pub(crate) fn system<E: Into<io::Error>>(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(E) -> Error {
        let path = path.into();
        move |source| Error::System { doing, path, source: source.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoPermits => f.write_str(text::NO_PERMITS),
            Error::Closed => f.write_str(text::CLOSED),
            Error::Missing { name, dir } => {
                write!(f, "there is no hall `{name}` in {}", dir.display())
            }
            Error::Slots { name, asked, found } => text::other_slots(f, name, *asked, *found),
            Error::Version { path, found, ours } => {
                text::other_version(f, &path.display().to_string(), *found, *ours)
            }
            Error::Damaged { path, why } => write!(
                f,
                "{} is not a hall or is damaged ({why}): use another name, or remove the damaged hall by force \
                 (`hallpass rm --force`)",
                path.display()
            ),
            Error::NotAHall { path, why } => write!(
                f,
                "{} is not a hall ({why}), so hallpass does not remove it: remove it with other tools, or use \
                 another name",
                path.display()
            ),
            Error::NoValue { name } => write!(
                f,
                "hall `{name}` holds no value: use another name, or remove the hall if it is not in use"
            ),
            Error::Value { path, asked, found } => write!(
                f,
                "{} holds {}, but {} were requested: open it with the type it holds, or remove the hall",
                path.display(),
                Shown(found),
                Shown(asked)
            ),
            Error::Forked => f.write_str(
                "this process was forked in the middle of an update of its parent: here, the update has \
                 no effect",
            ),
            Error::InUse { name, holders, waiting } => text::in_use(f, name, *holders, *waiting),
            Error::BadName { name, why } => text::bad_name(f, name, why),
            Error::BadSlots { asked } => text::bad_slots(f, *asked),
            Error::TooMany { asked, slots } => write!(
                f,
                "cannot acquire {asked} slots: the hall has only {slots}: acquire at most {slots}, or resize the hall"
            ),
            Error::Full { name, max } => write!(
                f,
                "hall `{name}` has {max} registrations, which is the maximum: wait until some processes \
                 have left"
            ),
            Error::System { doing, path, source } => {
                write!(f, "cannot {doing} {}: {source}", path.display())
            }
        }
    }
}

/// Displays a layout in words.
struct Shown<'a>(&'a Layout);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes aligned to {}", self.0.size(), self.0.align())
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Error::System { source, .. } => Some(source),
            _ => None,
        }
    }
}

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
