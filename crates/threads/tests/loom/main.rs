//! Explores the code around the step machine under [loom](https://docs.rs/loom). The modules `environment`, `lock`,
//! `waiter`, `future` and `parking` run on loom's atomics, cells and threads. Under loom, a waiting thread parks
//! without spinning or yielding first, a thread that waits for the lock of the queue yields instead of spinning, and a
//! newcomer that may queue tries to overtake only once. The rest of these modules is unchanged.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p hallpass-threads --release --test loom --target-dir target/loom
//! ```
//!
//! The lab explores all sequentially consistent runs of the step machine, with a queue and wake-ups that are
//! correct by definition. Loom checks the parts that the lab's model leaves out:
//! - The queue is a list of nodes on stacks and in futures. Only the *server*, the caller that holds the lock, accesses
//!   the cells of the nodes, and each server sees what the server before it wrote (loom's cells check both).
//! - A wake-up is a thread's `unpark` or a task's waker. Wakers are taken out and replaced under the lock.
//! - Futures may be dropped, or polled with a different waker, at any time before, while or after they get a slot.
//! - A release happens before the next acquire of the slot (loom's cells check this too).
//!
//! Loom treats sequentially consistent accesses as acquire and release, which is weaker. So results under loom
//! also hold for the code. A future recognises its waker by the waker's address, and a new waker may get the address
//! of an old one. In a real program, the old waker is freed before that. Loom does not model this order, so the
//! tests keep old wakers alive.
//!
//! The tests do not cover time limits, because loom has no clock; they cover giving up with `try_acquire` and with
//! dropped futures. They do not cover runs with more preemptions than the bound that each test sets.
#![cfg(loom)]

mod manage;
mod support;
mod tasks;
mod threads;
