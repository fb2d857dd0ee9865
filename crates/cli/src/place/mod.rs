//! Where halls are: in a directory of this machine, or on a cluster that machines share.

mod error;
mod location;

use hallpass_cluster::Cluster;

pub use self::{
    error::{Error, open_or_make},
    location::{Location, Site},
};
use crate::people::{Users, View};

pub enum Place {
    Here(hallpass_processes::HallDir),
    Cluster(Cluster),
}

impl Place {
    /// Its path, or its URL.
    pub fn shown(&self) -> String {
        match self {
            Place::Here(place) => place.path().to_string_lossy().into_owned(),
            Place::Cluster(etcd) => etcd.url(),
        }
    }

    pub fn names(&self) -> Result<Vec<String>, Error> {
        Ok(match self {
            Place::Here(place) => place.names()?,
            Place::Cluster(etcd) => etcd.names()?,
        })
    }

    /// A hall as it is now.
    pub fn look(&self, name: &str, users: &mut Users) -> Result<View, Error> {
        Ok(match self {
            Place::Here(place) => View::new(place.open_existing(name)?.status(), users),
            Place::Cluster(etcd) => View::new(etcd.open_existing(name)?.status()?, users),
        })
    }

    pub fn reap(&self, name: &str) -> Result<usize, Error> {
        Ok(match self {
            Place::Here(place) => place.open_existing(name)?.reap()?,
            Place::Cluster(etcd) => etcd.open_existing(name)?.reap()?,
        })
    }

    pub fn resize(&self, name: &str, slots: usize) -> Result<(), Error> {
        match self {
            Place::Here(place) => place.open_existing(name)?.resize(slots)?,
            Place::Cluster(etcd) => etcd.open_existing(name)?.resize(slots)?,
        }
        Ok(())
    }

    pub fn remove(&self, name: &str, force: bool) -> Result<(), Error> {
        match self {
            Place::Here(place) => place.remove(name, force)?,
            Place::Cluster(etcd) => etcd.remove(name, force)?,
        }
        Ok(())
    }
}
