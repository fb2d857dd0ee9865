//! Shared objects under real threads: histories are linearizable, stopped threads block nobody, panics stay
//! with their callers, and every value is dropped exactly once.

mod copies;
mod handles;
mod histories;
mod panics;
mod stopped;
mod sum;
mod support;
