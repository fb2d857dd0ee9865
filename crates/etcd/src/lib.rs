//! **At most k at once among machines, each with its own number**, on etcd.

mod claim;
mod client;
mod clock;
mod core;
mod error;
mod hall;
mod keys;
mod manage;
mod options;
mod pass;
mod passage;
mod place;
mod records;
mod retry;
mod runtime;
mod status;
mod store;
mod view;
mod waiting;

pub use clock::Clock;
pub use error::Error;
pub use hall::{Acquire, EtcdHall};
pub use options::{Options, Tls};
pub use pass::{EtcdPass, Loss, Lost, Renewals};
pub use place::Etcd;
pub use status::{Participant, Status};

/// The most slots a hall can have.
pub const MOST_SLOTS: usize = 1024;
