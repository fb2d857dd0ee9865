//! The store engine etcd: its client, its keys, its transactions and its options.
//!
//! The rest of the crate uses [`EtcdStore`]. The arguments and results of its methods have types that do not depend
//! on the engine: [`View`](crate::view::View), [`Revision`](crate::view::Revision),
//! [`ClaimRecord`](crate::records::ClaimRecord), [`Failure`](crate::failure::Failure). A second engine needs
//! a folder like this one and a trait with the methods of [`EtcdStore`].

mod client;
mod engine;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod keys;
mod options;
mod store;
mod view;
mod watches;

pub use options::{EtcdOptions, Tls};

pub(crate) use engine::EtcdEngine;
pub(crate) use store::EtcdStore;
pub(crate) use watches::{TurnChange, TurnWatch};
