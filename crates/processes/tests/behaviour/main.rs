//! What the public interface promises, one test a promise. Where others are needed, the test waits
//! until they are where it wants them; nothing depends on how long anything takes, except that time
//! limits run out, and not at once.
//!
//! Others are threads, or puppets: processes that do what they are told. A puppet is this program run
//! again with nothing but the test `puppet::obey`, which does nothing otherwise.

mod cell;
mod closing;
mod death;
mod disks;
mod forks;
mod many;
mod order;
mod places;
mod puppet;
mod queue;
mod resizing;
mod slots;
mod status;
mod support;
mod time;
