//! Why something about halls did not work, wherever they are.

use std::{error, fmt};

#[derive(Debug)]
pub enum Error {
    Here(hallpass_processes::Error),
    Cluster(hallpass_cluster::Error),
    /// What was asked for makes no sense.
    Asked(String),
}

impl Error {
    /// There is no hall of that name.
    fn is_missing(&self) -> bool {
        use hallpass_cluster::Error as There;
        use hallpass_processes::Error as Here;
        matches!(self, Error::Here(Here::Missing { .. }) | Error::Cluster(There::Missing { .. }))
    }

    /// Nobody answers, so there is no point in asking for the next hall.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Error::Cluster(hallpass_cluster::Error::Unreachable { .. }))
    }

    /// The hall has another number of slots.
    fn is_other_size(&self) -> bool {
        use hallpass_cluster::Error as There;
        use hallpass_processes::Error as Here;
        matches!(self, Error::Here(Here::Slots { .. }) | Error::Cluster(There::Slots { .. }))
    }
}

/// Opens a hall with as many slots as it has, unless the user says how many; a new one gets `otherwise`.
pub fn open_or_make<H, E: Into<Error>>(
    slots: Option<usize>,
    otherwise: usize,
    existing: impl Fn() -> Result<H, E>,
    with: impl Fn(usize) -> Result<H, E>,
) -> Result<H, Error> {
    if let Some(slots) = slots {
        return with(slots).map_err(Into::into);
    }
    match existing().map_err(Into::into) {
        Err(error) if error.is_missing() => match with(otherwise).map_err(Into::into) {
            // Somebody else made it since.
            Err(error) if error.is_other_size() => existing().map_err(Into::into),
            opened => opened,
        },
        opened => opened,
    }
}

impl From<hallpass_processes::Error> for Error {
    fn from(error: hallpass_processes::Error) -> Self {
        Error::Here(error)
    }
}

impl From<hallpass_cluster::Error> for Error {
    fn from(error: hallpass_cluster::Error) -> Self {
        Error::Cluster(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Here(error) => error.fmt(f),
            Error::Cluster(error) => error.fmt(f),
            Error::Asked(why) => f.write_str(why),
        }
    }
}

impl error::Error for Error {}
