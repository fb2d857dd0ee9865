//! Tests the parts of the checker, such as exploration, tables, symmetry, store buffers and linearizability.

mod compact;
mod expand;
mod forget;
mod limits;
mod linear;
mod permutations;
mod search;
mod store_buffers;
mod support;
mod symmetry;
mod tables;
