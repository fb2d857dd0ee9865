//! Choi, "A Solution to k-Exclusion with O(log k) RMR Complexity", Dartmouth TR2011-682, 2011.
//!
//! | module | section | contents |
//! |---|---|---|
//! | [`sets`] | 2.4, 3.1 | the cells that a process waits on, and the cells that it updates |
//! | [`algorithm`] | 2.2, 2.3 | the algorithm |
//! | [`invariants`] | 3.4, 3.6 | (O4) and (I1) to (I11) |
//! | [`statements`] | 3.4, 3.5 | (O1) to (O3), (O5) to (O7), and Lemma 4 |
//! | [`normal`] | | a normal form with bounded numbers, so that the checker sees finitely many states |
//! | [`bounded`] | 4 | tokens with bounded counters, which the paper leaves open |
//! | [`wrong`] | | deliberately wrong variants, which the checker must reject |

pub mod algorithm;
pub mod bounded;
pub mod entries;
pub mod invariants;
pub mod normal;
pub mod sets;
pub mod statements;
pub mod wrong;

pub use algorithm::Choi;
pub use bounded::Bounded;
