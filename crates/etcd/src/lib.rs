//! **At most k at once among machines, each with its own number**, on etcd.

mod client;
mod clock;
mod error;
mod hall;
mod options;
mod pass;
mod place;
mod status;

pub use clock::Clock;
pub use error::Error;
pub use hall::{Acquire, EtcdHall};
pub use options::{Options, Tls};
pub use pass::{EtcdPass, Loss, Lost};
pub use place::Etcd;
pub use status::{Participant, Status};

/// The most slots a hall can have.
pub const MOST_SLOTS: usize = 1024;
