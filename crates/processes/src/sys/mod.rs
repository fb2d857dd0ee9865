//! The operating system: everything that needs Linux, and most of the unsafe code.
//!
//! | module | contents |
//! |---|---|
//! | [`mapping`] | `mmap` of a file that processes share |
//! | [`generation`](mod@generation) | a page that is wiped on fork, to notice a fork |
//! | [`nap`] | a short sleep that another process can end |
//! | [`pipe`] | a write that does not raise `SIGPIPE` |
//! | [`lifeline`] | named pipes, by which the kernel reports whether a process is alive |
//! | [`files`] | files and directories that other processes see complete or not at all |
//! | [`clock`] | the coarse clock |
//! | [`exit`] | waiting until a dying process has closed all its files |

mod clock;
mod exit;
mod files;
mod generation;
pub(crate) mod lifeline;
mod mapping;
pub(crate) mod nap;
mod pipe;

pub(crate) use clock::coarse_now;
pub(crate) use exit::await_exit;
pub(crate) use files::{allocate, allocate_range, open_dir, open_in, rename_new};
pub(crate) use generation::generation;
pub(crate) use mapping::Mapping;
pub(crate) use pipe::write_byte;
