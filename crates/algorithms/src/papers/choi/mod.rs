//! Choi, "A Solution to k-Exclusion with O(log k) RMR Complexity", Dartmouth TR2011-682, 2011.
//!
//! | module | section | what it is |
//! |---|---|---|
//! | [`sets`] | 2.4, 3.1 | which cells a process waits on, and which it updates |
//! | [`algorithm`] | 2.2, 2.3 | the algorithm |
//! | [`invariants`] | 3.4, 3.6 | (O4) and (I1) to (I11) |
//! | [`normal`] | | smaller numbers for a state, so that the checker sees finitely many |
//! | [`bounded`] | 4 | tokens with bounded counters, which the thesis leaves open |
//! | [`wrong`] | | variants that are wrong on purpose, for the checker to reject |

pub mod algorithm;
pub mod bounded;
pub mod entries;
pub mod invariants;
pub mod normal;
pub mod sets;
pub mod wrong;

pub use algorithm::Choi;
pub use bounded::Bounded;
