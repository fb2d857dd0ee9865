//! Errors of commands on halls, at any location.

use std::{error, fmt};

#[derive(Debug)]
pub enum Error {
    Machine(hallpass_processes::Error),
    Cluster(hallpass_cluster::Error),
    /// Invalid options.
    Options(String),
}

impl Error {
    /// Returns `true` if there is no hall with this name.
    pub fn is_missing(&self) -> bool {
        use hallpass_cluster::Error as OnCluster;
        use hallpass_processes::Error as OnMachine;
        matches!(
            self,
            Error::Machine(OnMachine::Missing { .. }) | Error::Cluster(OnCluster::Missing { .. })
        )
    }

    /// Returns `true` if the cluster does not answer, or is too busy. Then a request for another hall would fail, too.
    pub fn is_unreachable(&self) -> bool {
        use hallpass_cluster::Error as OnCluster;
        self.is_busy() || matches!(self, Error::Cluster(OnCluster::Unreachable { .. }))
    }

    /// Returns `true` if the cluster answers, but has no capacity at the moment.
    pub fn is_busy(&self) -> bool {
        matches!(self, Error::Cluster(hallpass_cluster::Error::Busy { .. }))
    }

    /// Returns `true` if the hall has another number of slots than the caller requested.
    pub(super) fn is_other_size(&self) -> bool {
        use hallpass_cluster::Error as OnCluster;
        use hallpass_processes::Error as OnMachine;
        matches!(
            self,
            Error::Machine(OnMachine::Slots { .. }) | Error::Cluster(OnCluster::Slots { .. })
        )
    }
}

impl From<hallpass_processes::Error> for Error {
    fn from(error: hallpass_processes::Error) -> Self {
        Error::Machine(error)
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
            Error::Machine(error) => error.fmt(f),
            Error::Cluster(error) => error.fmt(f),
            Error::Options(why) => f.write_str(why),
        }
    }
}

impl error::Error for Error {}
