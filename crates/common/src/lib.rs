//! Types, rules and messages that halls of processes and halls of clusters share.
//!
//! | item | content |
//! |---|---|
//! | [`check_name`], [`MAX_NAME_LEN`] | the names that a hall can have |
//! | [`check_slots`], [`MAX_SLOTS`] | the number of slots that a hall can have |
//! | [`Status`], [`Participant`] | a hall with its holders and waiters at one moment |
//! | [`Limit`] | the time that a caller is willing to wait |
//! | [`command_line`] | the command that `status` shows for a process |
//! | [`text`] | the error messages that halls of both kinds show |
//!
//! `hallpass-processes` and `hallpass-cluster` re-export [`MAX_SLOTS`], [`Status`] and [`Participant`] for their users.
#![forbid(unsafe_code)]

mod command;
mod limit;
mod name;
mod slots;
mod status;
pub mod text;

pub use command::command_line;
pub use limit::Limit;
pub use name::{MAX_NAME_LEN, NameError, check_name};
pub use slots::{MAX_SLOTS, SlotsError, check_slots};
pub use status::{Participant, Status};
