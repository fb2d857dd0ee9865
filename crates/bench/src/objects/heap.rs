//! The object, a priority queue, and the operations on it.

use std::{cmp::Reverse, collections::BinaryHeap};

use hallpass_objects::Object;

use super::stall;

/// An operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Adds an element.
    Push(u64),
    /// Removes the smallest element, if there is one.
    Pop,
}

/// A binary heap with the smallest element first.
#[derive(Debug, Default)]
pub struct Heap(BinaryHeap<Reverse<u64>>);

/// `Clone` is not derived, because a derived `clone_from` does not reuse the memory of the copy that it overwrites.
impl Clone for Heap {
    fn clone(&self) -> Self {
        Heap(self.0.clone())
    }

    fn clone_from(&mut self, source: &Self) {
        self.0.clone_from(&source.0);
    }
}

impl Heap {
    /// Creates a heap with this many elements.
    pub fn of_size(size: usize) -> Self {
        let mut numbers = Numbers::new(0);
        Heap((0..size).map(|_| Reverse(numbers.next())).collect())
    }

    /// Returns the elements, in no particular order.
    pub fn elements(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|element| element.0)
    }
}

impl Object for Heap {
    type Op = Op;
    type Ret = Option<u64>;

    /// Applies an operation. A thread that has to stop in the middle of its operation stops here, after it has changed
    /// the heap. (Other threads do not see this change, because the heap is a copy or is protected by a lock.)
    fn apply(&mut self, op: &Op) -> Option<u64> {
        let ret = match op {
            Op::Push(element) => {
                self.0.push(Reverse(*element));
                None
            }
            Op::Pop => self.0.pop().map(|element| element.0),
        };
        stall::point();
        ret
    }
}

/// Pseudo-random numbers that depend only on the seed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// Starts the sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        // The multiplication makes neighbouring seeds start far apart.
        Numbers(seed.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// Returns the next number.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "the sequence does not end")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, which must not be 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// The operations of one thread: push and pop alternate.
#[derive(Clone, Debug)]
pub struct Ops {
    numbers: Numbers,
    pushes: bool,
}

impl Ops {
    /// Starts the operations of this thread.
    pub fn new(thread: usize) -> Self {
        Ops { numbers: Numbers::new(1 + thread as u64), pushes: false }
    }

    /// Returns the next operation.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "the sequence does not end")]
    pub fn next(&mut self) -> Op {
        self.pushes = !self.pushes;
        if self.pushes { Op::Push(self.numbers.next()) } else { Op::Pop }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pop_returns_the_smallest_element_and_none_from_an_empty_heap() {
        let mut heap = Heap::of_size(0);
        assert_eq!(heap.apply(&Op::Pop), None);
        for element in [3, 1, 2] {
            heap.apply(&Op::Push(element));
        }
        assert_eq!([(); 4].map(|()| heap.apply(&Op::Pop)), [Some(1), Some(2), Some(3), None]);
        assert_eq!(Heap::of_size(100).elements().count(), 100);
    }

    #[test]
    fn pushes_and_pops_alternate_and_threads_push_different_numbers() {
        let (mut one, mut other) = (Ops::new(0), Ops::new(1));
        let (first, second) = (one.next(), one.next());
        assert!(matches!(first, Op::Push(_)) && second == Op::Pop);
        assert_ne!(other.next(), first);
    }
}
