//! Anderson & Moir, "Using Local-Spin k-Exclusion Algorithms to Improve Wait-Free Object
//! Implementations", revised February 1997.
//!
//! | module | figure | contents |
//! |---|---|---|
//! | [`names`] | 1 | k-assignment on top of any k-exclusion algorithm |
//! | [`fig2`] | 2 | an idealised atomic queue, the baseline |
//! | [`fig3`] | 3 | (k+1, k)-exclusion for cache-coherent computers |
//! | [`fig8`] | 8 | (k+1, k)-exclusion for distributed shared memory |
//! | [`fig9`] | 9 | (k+1, k)-exclusion with a constant number of spin locations per process |
//! | [`arrange`] | 5, 7 | from (k+1, k) to (n, k): levels, a tree, fast paths |
//! | [`wrong`] | | deliberately wrong variants, which the checker must reject |

pub mod arrange;
pub mod block;
pub mod entries;
pub mod fig2;
pub mod fig3;
pub mod fig8;
pub mod fig9;
pub mod names;
pub mod wrong;

pub use arrange::{Arranged, fast, inductive, nested, tree};
pub use block::Block;
pub use fig2::Fig2;
pub use fig3::Fig3;
pub use fig8::Fig8;
pub use fig9::Fig9;
pub use names::Named;
