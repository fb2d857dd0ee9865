//! Checks shared objects with real threads: histories are linearizable, stopped threads do not block
//! others, a panic reaches only its caller, and every value is dropped exactly once.

mod copies;
mod handles;
mod histories;
mod panics;
mod stopped;
mod sum;
mod support;
