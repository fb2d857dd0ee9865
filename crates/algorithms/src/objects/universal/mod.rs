//! The universal construction: any sequential object, shared by k processes, with wait-free operations.
//!
//! hallpass defines this construction, based on Herlihy (1993) and P-Sim (Fatourou & Kallimanis, 2011).
//! A process makes a copy of the object, and applies to it the operations that all processes have
//! requested, including its own. Then it tries to install the copy as the object. If that fails, another
//! process has installed its own copy first. The process tries again until some process has served its
//! request. The construction needs 3k copies and no garbage collector, no matter how long a process stalls.
//!
//! - head: the copy that is currently the object. A process writes only copies that no other process reads or
//!   writes.
//! - request\[i\]: the number of process i's latest request, the buffer that holds its operation, and the
//!   copy that holds the answer ([`Request`]).
//! - flips: one bit for each process, the parity of its request number. Each copy stores the bits that it
//!   has served, so one comparison finds all open requests.
//! - guard\[i\]: the copy that process i reads. If the copy is still the head after process i has
//!   written its guard, no process writes the copy until process i clears its guard.
//! - mark\[i\]: the operation of another process that process i reads. The mark protects it as a guard
//!   protects a copy.
//! - taken\[c\]: whether copy c is the head, or a process is writing it.
//!
//! A copy is free if it is not taken, no process guards it, and no process still has to fetch an answer
//! from it. Before any process replaces the head, all answers in it are assigned to their requests:
//! line F1 writes to request\[i\] which copy holds the answer. So the requests show every answer that still
//! has to be fetched from a former head.
//!
//! The answer to a request is assigned after at most three changes of the head. Another process may have
//! begun to prepare the first new head before the request was made, so this head may not have served the
//! request. The second new head has served it. The third is installed only after line F1. So the loop from A1
//! ends, and the lab counts its steps.
//!
//! The construction is fast because the copy that the head replaced lacks only the operations that the
//! head has served. This copy catches up by applying these operations ([`Environment::copy_ends`]). So
//! nothing is copied as long as the same few copies take turns at being the head.

mod environment;
mod lines;
pub mod wrong;

pub use environment::{Answer, Environment, Helped, MAX_PROCESSES, Mark, NONE, Request, copies};
pub use lines::{Intent, Line, Next, begin, is_local, step};
