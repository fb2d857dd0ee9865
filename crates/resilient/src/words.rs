//! Words that several threads access.

use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use hallpass_algorithms::{Op, Word};

/// On cache lines of its own: they are fetched in pairs.
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);

/// One access, sequentially consistent, as in the lab.
#[inline(always)]
pub(crate) fn access(word: &AtomicI64, op: Op) -> Word {
    match op {
        Op::Read => word.load(SeqCst),
        Op::Write(new) => {
            word.store(new, SeqCst);
            new
        }
        Op::FetchAdd(by) => word.fetch_add(by, SeqCst),
        Op::TestAndSet => word.swap(1, SeqCst),
        Op::Set(bits) => word.fetch_or(bits, SeqCst),
        Op::Clear(bits) => word.fetch_and(!bits, SeqCst),
        Op::CompareAndSwap { old, new } => {
            word.compare_exchange(old, new, SeqCst, SeqCst).unwrap_or_else(|found| found)
        }
        Op::Ideal(f, argument) => word
            .fetch_update(SeqCst, SeqCst, |old| Some(f(old, argument)))
            .unwrap_or_else(|found| found),
    }
}
