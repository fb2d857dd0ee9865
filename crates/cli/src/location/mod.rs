//! The location of halls: a directory on this machine, or a cluster.

mod args;
mod error;
mod file_system;
mod open;

use std::{collections::BTreeMap, time::Duration};

use hallpass_cluster::{Cluster, ClusterOptions};
use hallpass_processes::HallDir;

pub use self::{
    args::{LocationArgs, ON_A_STORE, hide_on_machine},
    error::Error,
    file_system::check_file_system,
    open::open_or_create,
};
use crate::{
    snapshot::{Users, View},
    tally::TallyFile,
};

/// A location, before anything there is opened.
pub enum Location {
    Machine(HallDir),
    Cluster(Box<ClusterOptions>),
}

/// The halls at a location.
pub enum Halls {
    OnMachine(HallDir),
    OnCluster(Cluster),
}

impl Halls {
    /// Returns the path of the directory, or the URL of the cluster.
    pub fn shown(&self) -> String {
        match self {
            Halls::OnMachine(dir) => dir.path().to_string_lossy().into_owned(),
            Halls::OnCluster(cluster) => cluster.url(),
        }
    }

    /// Returns the names of all halls, sorted.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        Ok(match self {
            Halls::OnMachine(dir) => dir.names()?,
            Halls::OnCluster(cluster) => cluster.names()?,
        })
    }

    /// Returns a snapshot of a hall.
    pub fn look(&self, name: &str, users: &mut Users) -> Result<View, Error> {
        Ok(match self {
            Halls::OnMachine(dir) => View::new(dir.open_existing(name)?.status(), users),
            Halls::OnCluster(cluster) => View::new(cluster.open_existing(name)?.status()?, users),
        })
    }

    /// Returns how long ago the holder of each slot renewed its claim, which is its record in the store. For a hall of
    /// this machine, the map is empty: the kernel shows which holders are alive, so they renew nothing.
    pub fn renewal_ages(&self, name: &str) -> Result<BTreeMap<usize, Duration>, Error> {
        match self {
            Halls::OnMachine(_) => Ok(BTreeMap::new()),
            Halls::OnCluster(cluster) => Ok(cluster.open_existing(name)?.renewal_ages()?),
        }
    }

    /// Returns the file that contains the counts of the runs that this machine made in a hall; `None` if these runs
    /// are not counted.
    pub fn tally(&self, name: &str) -> Option<TallyFile> {
        match self {
            Halls::OnMachine(dir) => Some(TallyFile::in_hall(&dir.path().join(name))),
            Halls::OnCluster(cluster) => TallyFile::of_cluster(&cluster.url(), name),
        }
    }

    /// Releases the slots of dead processes. Returns the number of dead processes, or, on a cluster, the number of
    /// slots that this call released.
    pub fn reap(&self, name: &str) -> Result<usize, Error> {
        Ok(match self {
            Halls::OnMachine(dir) => dir.open_existing(name)?.reap()?,
            Halls::OnCluster(cluster) => cluster.open_existing(name)?.reap()?,
        })
    }

    /// Changes the number of slots.
    pub fn resize(&self, name: &str, slots: usize) -> Result<(), Error> {
        match self {
            Halls::OnMachine(dir) => dir.open_existing(name)?.resize(slots)?,
            Halls::OnCluster(cluster) => cluster.open_existing(name)?.resize(slots)?,
        }
        Ok(())
    }

    /// Closes a hall: newcomers and waiters get no slot, and holders keep theirs until they leave.
    pub fn close(&self, name: &str) -> Result<(), Error> {
        match self {
            Halls::OnMachine(dir) => dir.open_existing(name)?.close(),
            Halls::OnCluster(cluster) => cluster.open_existing(name)?.close()?,
        }
        Ok(())
    }

    /// Takes a slot away from its holder.
    pub fn evict(&self, name: &str, slot: usize) -> Result<(), Error> {
        match self {
            Halls::OnMachine(_) => Err(Error::Options(
                "evict is for halls on etcd or PostgreSQL: add --on URL. On this machine, `hallpass status` shows the \
                 process that holds the slot: kill it"
                    .into(),
            )),
            Halls::OnCluster(cluster) => Ok(cluster.open_existing(name)?.evict(slot)?),
        }
    }

    /// Removes a hall.
    pub fn remove(&self, name: &str, force: bool) -> Result<(), Error> {
        match self {
            Halls::OnMachine(dir) => dir.remove(name, force)?,
            Halls::OnCluster(cluster) => cluster.remove(name, force)?,
        }
        Ok(())
    }
}
