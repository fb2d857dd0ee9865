//! Tests of the guarantees that only halls of processes give. The crate `hallpass-conformance` tests the
//! guarantees of all halls; `tests/conformance.rs` runs it.
//!
//! If a test needs other processes, it uses puppets. A puppet is a child process that executes the orders of the
//! test. It is this program, run again with only the test `puppet::obey`. (In the process that runs the tests,
//! `puppet::obey` does nothing.) A test waits until puppets and threads are in the expected state.

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
