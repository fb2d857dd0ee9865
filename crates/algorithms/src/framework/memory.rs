//! Shared memory as the papers see it: a set of words, each access atomic.

use core::sync::atomic::{AtomicI64, Ordering::SeqCst};

/// A process: whoever competes. Identifiers are `0..n`.
pub type Pid = usize;

/// The content of one shared variable. Booleans are 0 and 1.
pub type Word = i64;

/// A shared variable: an index into a [`Layout`](crate::Layout), so that one machine runs over an
/// array of atomics, a checker's packed state or a mapped file alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub(crate) u16);

impl Var {
    /// The variable's position in its layout.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One atomic access to a variable.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Read it.
    Read,
    /// Overwrite it.
    Write(Word),
    /// Add to it; the old value comes back.
    FetchAdd(Word),
    /// Set it to 1; the old value comes back.
    TestAndSet,
    /// Set these bits; the old value comes back.
    Set(Word),
    /// Clear these bits; the old value comes back.
    Clear(Word),
    /// Replace `old` by `new`, if it is `old`.
    CompareAndSwap {
        /// The value that must be there.
        old: Word,
        /// The value that replaces it.
        new: Word,
    },
    /// Replace its value by a function of it and an argument: the "large critical section" that
    /// idealised algorithms assume and no machine has.
    Ideal(fn(Word, Word) -> Word, Word),
}

impl Op {
    /// The value the access leaves behind where it finds `old`.
    #[inline]
    pub fn leaves(self, old: Word) -> Word {
        match self {
            Op::Read => old,
            Op::Write(new) => new,
            Op::FetchAdd(by) => old + by,
            Op::TestAndSet => 1,
            Op::Set(bits) => old | bits,
            Op::Clear(bits) => old & !bits,
            Op::CompareAndSwap { old: expected, new } => {
                if old == expected {
                    new
                } else {
                    old
                }
            }
            Op::Ideal(f, argument) => f(old, argument),
        }
    }

    /// Whether this is a read-modify-write that finds `old` and therefore changes nothing: a
    /// test-and-set of a bit that is set, setting bits that are set, clearing bits that are clear, a compare-and-swap that
    /// compares unequal.
    #[inline]
    pub fn fails_on(self, old: Word) -> bool {
        match self {
            Op::TestAndSet => old != 0,
            Op::Set(bits) => old & bits == bits,
            Op::Clear(bits) => old & bits == 0,
            Op::CompareAndSwap { old: expected, .. } => old != expected,
            _ => false,
        }
    }

    /// Whether this reads and writes in one step.
    pub fn is_read_modify_write(self) -> bool {
        !matches!(self, Op::Read | Op::Write(_))
    }
}

impl Op {
    /// Performs it on a real word, sequentially consistent, as in the checker; the old value comes back.
    #[inline(always)]
    pub fn on(self, word: &AtomicI64) -> Word {
        match self {
            Op::Read => word.load(SeqCst),
            Op::Write(new) => word.swap(new, SeqCst),
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
}

/// Shared memory. An implementation supplies [`access`](Memory::access); algorithms call the named
/// operations.
pub trait Memory {
    /// Performs `op` on `var` atomically and returns the value from before it.
    fn access(&mut self, var: Var, op: Op) -> Word;

    /// The value of `var`.
    #[inline]
    fn read(&mut self, var: Var) -> Word {
        self.access(var, Op::Read)
    }

    /// `var := value`.
    #[inline]
    fn write(&mut self, var: Var, value: Word) {
        self.access(var, Op::Write(value));
    }

    /// Adds `by` to `var` and returns the old value.
    #[inline]
    fn fetch_add(&mut self, var: Var, by: Word) -> Word {
        self.access(var, Op::FetchAdd(by))
    }

    /// Sets the boolean `var` and returns whether it was set already (the convention of Anderson
    /// & Moir; some authors return the opposite).
    #[inline]
    fn test_and_set(&mut self, var: Var) -> bool {
        self.access(var, Op::TestAndSet) != 0
    }

    /// Replaces `old` by `new` if `var` holds `old`; says whether it did.
    #[inline]
    fn compare_and_swap(&mut self, var: Var, old: Word, new: Word) -> bool {
        self.access(var, Op::CompareAndSwap { old, new }) == old
    }

    /// `var := f(var, argument)` as one atomic step; returns the old value.
    #[inline]
    fn ideal(&mut self, var: Var, f: fn(Word, Word) -> Word, argument: Word) -> Word {
        self.access(var, Op::Ideal(f, argument))
    }
}

impl<M: Memory + ?Sized> Memory for &mut M {
    #[inline]
    fn access(&mut self, var: Var, op: Op) -> Word {
        (**self).access(var, op)
    }
}
