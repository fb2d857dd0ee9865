//! Shared memory in the model of the papers: a set of words with atomic accesses.

use core::sync::atomic::{AtomicI64, Ordering::SeqCst};

/// A process number, in `0..n`.
pub type Pid = usize;

/// The content of a shared variable. Booleans are 0 and 1.
pub type Word = i64;

/// A shared variable: an index into a [`Layout`](crate::Layout). Because variables are indices, the same
/// step machine runs on every implementation of [`Memory`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub(crate) u16);

impl Var {
    /// Returns the position of the variable in its layout.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One atomic access to a variable.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// Reads the variable.
    Read,
    /// Overwrites the variable.
    Write(Word),
    /// Adds a number to the variable.
    FetchAdd(Word),
    /// Sets the variable to 1.
    TestAndSet,
    /// Sets these bits.
    Set(Word),
    /// Clears these bits.
    Clear(Word),
    /// Replaces `old` with `new` if the variable holds `old`.
    CompareAndSwap {
        /// The expected value.
        old: Word,
        /// The value that replaces it.
        new: Word,
    },
    /// Replaces the value with a function of this value and an argument. This is the "large critical
    /// section" that idealised algorithms assume. No real computer has such an instruction.
    AtomicUpdate(fn(Word, Word) -> Word, Word),
}

impl Op {
    /// Returns the value of the variable after the access, if the variable holds `old` before it.
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
            Op::AtomicUpdate(f, argument) => f(old, argument),
        }
    }

    /// Returns whether this access fails if the variable holds `old`. Four kinds of accesses can fail: `TestAndSet` of
    /// a variable that is already set, `Set` of bits that are all set already, `Clear` of bits that are all clear
    /// already, and `CompareAndSwap` that expects another value. Returns `false` for all other accesses.
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

    /// Returns whether this access is neither a plain read nor a plain write.
    pub fn is_read_modify_write(self) -> bool {
        !matches!(self, Op::Read | Op::Write(_))
    }
}

/// An atomic word of real memory: [`AtomicI64`] from `core`, or a wrapper around loom's `AtomicI64`.
/// Every access is sequentially consistent.
pub trait AtomicWord {
    /// Returns the value.
    fn load(&self) -> Word;
    /// Stores `new` and returns the old value.
    fn swap(&self, new: Word) -> Word;
    /// Adds `by` and returns the old value.
    fn fetch_add(&self, by: Word) -> Word;
    /// Sets these bits and returns the old value.
    fn fetch_or(&self, bits: Word) -> Word;
    /// Keeps only these bits and returns the old value.
    fn fetch_and(&self, bits: Word) -> Word;
    /// Replaces `old` with `new` and returns `Ok(old)`. If the word holds another value, returns that
    /// value as `Err`.
    fn compare_exchange(&self, old: Word, new: Word) -> Result<Word, Word>;
}

impl AtomicWord for AtomicI64 {
    #[inline(always)]
    fn load(&self) -> Word {
        self.load(SeqCst)
    }

    #[inline(always)]
    fn swap(&self, new: Word) -> Word {
        self.swap(new, SeqCst)
    }

    #[inline(always)]
    fn fetch_add(&self, by: Word) -> Word {
        self.fetch_add(by, SeqCst)
    }

    #[inline(always)]
    fn fetch_or(&self, bits: Word) -> Word {
        self.fetch_or(bits, SeqCst)
    }

    #[inline(always)]
    fn fetch_and(&self, bits: Word) -> Word {
        self.fetch_and(bits, SeqCst)
    }

    #[inline(always)]
    fn compare_exchange(&self, old: Word, new: Word) -> Result<Word, Word> {
        self.compare_exchange(old, new, SeqCst, SeqCst)
    }
}

impl Op {
    /// Performs the access on a word of real memory and returns the old value, like [`Memory::access`].
    /// The access is sequentially consistent, as in the checker.
    ///
    /// All code of this crate that accesses real memory calls this function.
    #[inline(always)]
    pub fn apply<W: AtomicWord>(self, word: &W) -> Word {
        match self {
            Op::Read => word.load(),
            Op::Write(new) => word.swap(new),
            Op::FetchAdd(by) => word.fetch_add(by),
            Op::TestAndSet => word.swap(1),
            Op::Set(bits) => word.fetch_or(bits),
            Op::Clear(bits) => word.fetch_and(!bits),
            Op::CompareAndSwap { old, new } => {
                word.compare_exchange(old, new).unwrap_or_else(|found| found)
            }
            Op::AtomicUpdate(f, argument) => {
                let mut old = word.load();
                while let Err(found) = word.compare_exchange(old, f(old, argument)) {
                    old = found;
                }
                old
            }
        }
    }
}

/// Shared memory. An implementation provides [`access`](Memory::access). Most algorithms call only the named
/// operations.
pub trait Memory {
    /// Performs `op` on `var` atomically and returns the old value.
    fn access(&mut self, var: Var, op: Op) -> Word;

    /// Returns the value of `var`.
    #[inline]
    fn read(&mut self, var: Var) -> Word {
        self.access(var, Op::Read)
    }

    /// Executes `var := value`.
    #[inline]
    fn write(&mut self, var: Var, value: Word) {
        self.access(var, Op::Write(value));
    }

    /// Adds `by` to `var` and returns the old value.
    #[inline]
    fn fetch_add(&mut self, var: Var, by: Word) -> Word {
        self.access(var, Op::FetchAdd(by))
    }

    /// Sets the boolean `var` and returns whether it was already set. This is the convention of Anderson
    /// & Moir. Some authors return the opposite.
    #[inline]
    fn test_and_set(&mut self, var: Var) -> bool {
        self.access(var, Op::TestAndSet) != 0
    }

    /// Replaces `old` with `new` if `var` holds `old`. Returns whether `var` held `old`.
    #[inline]
    fn compare_and_swap(&mut self, var: Var, old: Word, new: Word) -> bool {
        self.access(var, Op::CompareAndSwap { old, new }) == old
    }

    /// Executes `var := f(var, argument)` as one atomic step and returns the old value.
    #[inline]
    fn atomic_update(&mut self, var: Var, f: fn(Word, Word) -> Word, argument: Word) -> Word {
        self.access(var, Op::AtomicUpdate(f, argument))
    }
}

impl<M: Memory + ?Sized> Memory for &mut M {
    #[inline]
    fn access(&mut self, var: Var, op: Op) -> Word {
        (**self).access(var, op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apply_returns_the_old_value_and_stores_the_result_of_leaves() {
        let ops = [
            Op::Read,
            Op::Write(9),
            Op::FetchAdd(-3),
            Op::TestAndSet,
            Op::Set(0b1010),
            Op::Clear(0b0110),
            Op::CompareAndSwap { old: 6, new: 8 },
            Op::AtomicUpdate(|old, argument| old * argument, 7),
        ];
        for (op, old) in ops.into_iter().flat_map(|op| [0, 1, 6].map(|old| (op, old))) {
            let word = AtomicI64::new(old);
            assert_eq!(op.apply(&word), old, "{op:?} on {old}");
            assert_eq!(word.into_inner(), op.leaves(old), "{op:?} on {old}");
        }
    }
}
