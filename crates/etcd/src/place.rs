//! A cluster with halls in it.

use crate::{Error, Options, hall::EtcdHall};

/// A cluster with halls in it. Clones are one connection.
#[derive(Clone)]
pub struct Etcd {
    _private: (),
}

impl Etcd {
    /// Connects.
    ///
    /// # Errors
    /// [`Error::Unreachable`] within the dial time-out, [`Error::Denied`], [`Error::BadOption`].
    pub fn connect(_options: Options) -> Result<Etcd, Error> {
        todo!()
    }

    /// Where it is: `etcd://...`, without secrets.
    pub fn url(&self) -> String {
        todo!()
    }

    /// Opens the hall `name`, or makes it with `k` slots.
    ///
    /// # Errors
    /// [`Error::Slots`] if it has another number of slots, and whatever else [`Error`] lists.
    pub fn open(&self, _name: &str, _k: usize) -> Result<EtcdHall, Error> {
        todo!()
    }

    /// Opens a hall that is there.
    ///
    /// # Errors
    /// [`Error::Missing`] if it is not, and whatever else [`Error`] lists.
    pub fn open_existing(&self, _name: &str) -> Result<EtcdHall, Error> {
        todo!()
    }

    /// The names of the halls.
    ///
    /// # Errors
    /// [`Error::Unreachable`] and the like.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        todo!()
    }

    /// Removes a hall; by force even if somebody is in or waits: who holds a slot then loses it, and who
    /// waits gets [`Error::Closed`].
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::InUse`] without force, and the like.
    pub fn remove(&self, _name: &str, _force: bool) -> Result<(), Error> {
        todo!()
    }
}
