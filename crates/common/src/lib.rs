//! What halls of processes and halls of clusters have in common, so that both families follow the same
//! rules and say the same words:
//!
//! | module item | what it is |
//! |---|---|
//! | [`check_name`], [`MAX_NAME_LEN`] | which names a hall can have |
//! | [`check_slots`], [`MAX_SLOTS`] | how many slots a hall can have |
//! | [`Status`], [`Participant`] | a hall with its holders and waiters at one moment |
//! | [`Limit`] | how long a caller is willing to wait |
//! | [`command_line`] | what a process shows as its command |
//! | [`text`] | the error messages of both families |
//!
//! Programs use these through `hallpass-processes` and `hallpass-cluster`, which re-export them.
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
