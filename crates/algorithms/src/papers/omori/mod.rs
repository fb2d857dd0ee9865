//! Omori, Obokata, Motegi & Igarashi, "Analysis of Some Lockout Avoidance Algorithms for the
//! k-Exclusion Problem", 2002. The algorithms use only reads and writes.
//!
//! | module | procedure | contents |
//! |---|---|---|
//! | [`naive`](mod@naive) | (n, k)-NAIVE | Peterson's algorithm for n processes without its last k-1 levels; tolerates no crash |
//! | [`excl`](mod@excl) | (n, k)-EXCL | n-k levels; each level counts the processes at this level or above |
//! | [`gtex`](mod@gtex) | (n, k)-GTEX | a tournament of groups; each group runs a small EXCL |
//! | [`ladder`] | | the common part of all three: a sequence of competitions |
//! | [`wrong`] | | deliberately wrong variants, which the checker must reject |

pub mod entries;
pub mod excl;
pub mod gtex;
pub mod ladder;
pub mod naive;
pub mod wrong;

pub use excl::excl;
pub use gtex::gtex;
pub use ladder::Ladder;
pub use naive::naive;
