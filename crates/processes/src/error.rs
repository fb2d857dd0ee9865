//! Why something did not work.

use std::{alloc::Layout, error, fmt, io, path::PathBuf};

use hallpass_common::{NameError, SlotsError, text};

/// Why something did not work, in one sentence that says what to do.
#[derive(Debug)]
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
        place: PathBuf,
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
    /// The file is of another version.
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that this library knows.
        ours: u32,
    },
    /// The file is no hall, or a damaged one.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The hall holds no value: it was made as a hall, and not as a [`SharedCell`](crate::SharedCell).
    NoValue {
        /// Its name.
        name: String,
    },
    /// The value that the hall holds is of another type.
    Value {
        /// The file.
        path: PathBuf,
        /// Size and alignment of what was asked for.
        asked: Layout,
        /// Size and alignment of what it holds.
        found: Layout,
    },
    /// This process was forked inside the closure of an update, which is its parent's and not its own:
    /// here, nothing has happened.
    Forked,
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
    /// There are as many participants as there is room for.
    Full {
        /// The hall's name.
        name: String,
        /// How many there is room for.
        most: usize,
    },
    /// The operating system refused something.
    System {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

impl Error {
    /// Says what was tried when the operating system refused.
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
            Error::Missing { name, place } => {
                write!(f, "there is no hall `{name}` in {}", place.display())
            }
            Error::Slots { name, asked, found } => text::other_slots(f, name, *asked, *found),
            Error::Version { path, found, ours } => {
                text::other_version(f, &path.display().to_string(), *found, *ours)
            }
            Error::Damaged { path, why } => write!(
                f,
                "{} is no hall or is damaged ({why}): if nothing uses it, remove it",
                path.display()
            ),
            Error::NoValue { name } => write!(
                f,
                "hall `{name}` holds no value: choose another name, or remove it if nothing uses it"
            ),
            Error::Value { path, asked, found } => write!(
                f,
                "{} holds {} and {} were asked for: ask for what it holds, or remove the hall",
                path.display(),
                Shown(found),
                Shown(asked)
            ),
            Error::Forked => f.write_str(
                "this process was forked in the middle of an update, which is its parent's: nothing \
                 has happened here",
            ),
            Error::InUse { name, holders, waiting } => text::in_use(f, name, *holders, *waiting),
            Error::BadName { name, why } => text::bad_name(f, name, why),
            Error::BadSlots { asked } => text::bad_slots(f, *asked),
            Error::Full { name, most } => write!(
                f,
                "hall `{name}` has {most} participants, which is as many as there is room for: wait \
                 until some are gone"
            ),
            Error::System { doing, path, source } => {
                write!(f, "cannot {doing} {}: {source}", path.display())
            }
        }
    }
}

/// A layout in words.
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
