//! The protocols behind hallpass's own halls, one folder per product family.

pub mod cluster;
pub mod processes;
pub mod threads;
