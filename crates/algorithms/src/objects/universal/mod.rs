//! Any sequential object, shared by k participants, each operation wait-free.
//!
//! Ours, after Herlihy's construction (1993) and P-Sim (Fatourou & Kallimanis, 2011): whoever operates
//! makes a copy of the object, applies to it all operations that others have asked for, its own among
//! them, and tries to make the copy the object. Who loses finds that somebody else has served it. It
//! goes with 3k copies and needs no garbage collector, however long anybody stalls.
//!
//! - head: which copy is the object. Only a copy that is not reachable is ever written.
//! - request\[i\]: a number that grows with every request of participant i, in which of its places the
//!   operation lies, and which copy has the answer ([`Asked`]).
//! - flips: a bit for each participant, the parity of its number. Each copy keeps the bits that it has
//!   served, so one look tells who is waiting.
//! - guard\[i\]: the copy that i reads. Who finds it to be the head after that may read it in peace.
//! - mark\[i\]: the operation of another that i reads, in the same way.
//! - taken\[c\]: copy c is the head, or somebody writes it.
//!
//! A copy is free if it is not taken, and nobody guards it or still has to fetch its answer from there.
//! All answers in the head are assigned (line F1) before anybody replaces it, so who looks at the
//! requests sees all that concern a former head.
//!
//! Three changes of the head after a request, its answer is assigned: the copy that the first makes the
//! head may have been begun before the request, the second's has served it, and the third waits for
//! line F1. So the loop from A1 on ends; the lab counts the steps.
//!
//! What makes it quick: the copy that the head replaced lacks nothing but the operations that the head
//! has served. Applying these is how it catches up ([`Workshop::copy_ends`]), and nothing is copied
//! while the same few copies take turns.

mod broken;
mod lines;
mod workshop;

pub use broken::{
    Careless, Forgetful, Hasty, Hurried, Rules, Selfish, Sound, Unguarded, Unmarked, Unpinned,
    Untagged,
};
pub use lines::{Errand, Line, Next, begin, step};
pub use workshop::{Answer, Asked, Helped, MOST, Mark, NOBODY, Workshop, copies};
