//! Halls that processes share; see the crate `hallpass`.

mod error;
mod file;
mod future;
mod hall;
mod member;
mod pass;
mod place;
mod seat;
mod status;
mod sys;
mod wire;

pub use error::Error;
pub use file::{MOST_MEMBERS, MOST_SLOTS};
pub use future::Acquire;
pub use hall::SharedHall;
pub use pass::{OwnedSharedPass, SharedPass};
pub use place::Place;
pub use status::{Participant, Status};
