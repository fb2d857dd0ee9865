//! Omori, Obokata, Motegi & Igarashi, "Analysis of Some Lockout Avoidance Algorithms for the
//! k-Exclusion Problem", 2002. Reads and writes only.
//!
//! | module | procedure | what it is |
//! |---|---|---|
//! | [`naive`](mod@naive) | (n, k)-NAIVE | Peterson's n processes, stopped k levels early; no crash is survived |
//! | [`excl`](mod@excl) | (n, k)-EXCL | n-k levels, each of which counts who is there or above |
//! | [`gtex`](mod@gtex) | (n, k)-GTEX | a tournament of groups, each of them a small EXCL |
//! | [`ladder`] | | what the three have in common: one competition after another |
//! | [`wrong`] | | variants that are wrong on purpose, for the checker to reject |

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
