//! The store etcd: its client, its options, and the [`Store`](crate::store::Store) over them.

mod client;
mod options;
mod store;

pub use options::EtcdOptions;

pub(crate) use store::EtcdStore;
