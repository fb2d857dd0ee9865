//! Guarantees of halls of processes only. Those of all halls are in the crate `hallpass-conformance`,
//! which `tests/conformance.rs` runs.
//!
//! Where a test needs other processes, it uses puppets: processes that do what they are told. A puppet is
//! this program run again with nothing but the test `puppet::obey`, which does nothing otherwise. A test
//! waits until puppets and threads are where it wants them.

mod cell;
mod closing;
mod death;
mod disks;
mod forks;
mod hall_dirs;
mod many;
mod order;
mod puppet;
mod queue;
mod resizing;
mod slots;
mod status;
mod support;
