//! Checks the parts of the checker: explorer, symmetry, store buffers and linearizability.

mod limits;
mod linear;
mod permutations;
mod store_buffers;
mod support;
mod symmetry;
mod tables;
