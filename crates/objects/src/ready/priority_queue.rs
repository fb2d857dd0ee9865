//! The priority queue.

use std::{collections::BinaryHeap, fmt, iter};

use super::items::{Items, Op, Store};
use crate::resilient::Resilient;

/// A priority queue for any number of threads: the greatest item comes out first. An operation completes
/// as long as fewer than k other threads have stopped in the middle of an operation.
///
/// The queue exists in several copies, each with its own clones of the items. So put large items into an
/// [`Arc`](std::sync::Arc). A removed item may stay in a copy until a later operation updates this copy.
///
/// Use [`Reverse`](std::cmp::Reverse) to get the smallest item first. Equal items come out in any order.
///
/// ```
/// use hallpass_objects::PriorityQueue;
///
/// let jobs = PriorityQueue::new(2);
/// std::thread::scope(|scope| {
///     scope.spawn(|| jobs.push((1, "sweep")));
///     scope.spawn(|| jobs.push((9, "put out the fire")));
/// });
/// assert_eq!(jobs.pop(), Some((9, "put out the fire")));
/// assert_eq!(jobs.pop(), Some((1, "sweep")));
/// assert_eq!(jobs.pop(), None);
/// ```
pub struct PriorityQueue<T: Ord + Clone> {
    shared: Resilient<Items<BinaryHeap<T>>>,
}

impl<T: Ord + Clone> Store for BinaryHeap<T> {
    type Item = T;

    fn put(&mut self, item: T) {
        self.push(item);
    }

    fn take(&mut self) -> Option<T> {
        self.pop()
    }

    fn next(&self) -> Option<&T> {
        self.peek()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn clear(&mut self) {
        self.clear();
    }
}

impl<T: Ord + Clone + Send + Sync> PriorityQueue<T> {
    /// Creates an empty queue. At most `k` threads run operations at once.
    ///
    /// # Panics
    /// Panics if `k` is not between 1 and 64.
    pub fn new(k: usize) -> Self {
        Self::with_items(k, iter::empty())
    }

    /// Creates a queue with these items.
    ///
    /// # Panics
    /// Panics if `k` is not between 1 and 64.
    pub fn with_items(k: usize, items: impl IntoIterator<Item = T>) -> Self {
        let items = Items::unbounded(items.into_iter().collect());
        PriorityQueue { shared: Resilient::new(k, items) }
    }

    /// Adds the item.
    pub fn push(&self, item: T) {
        self.shared.apply(Op::Put(item));
    }

    /// Adds all items in one operation: no thread sees some of them without the others.
    ///
    /// ```
    /// # use hallpass_objects::PriorityQueue;
    /// let queue = PriorityQueue::new(2);
    /// queue.extend([2, 3, 1]);
    /// assert_eq!(queue.drain(), [3, 2, 1]);
    /// ```
    pub fn extend(&self, items: impl IntoIterator<Item = T>) {
        self.shared.apply(Op::PutAll(items.into_iter().collect()));
    }

    /// Removes the greatest item and returns it.
    pub fn pop(&self) -> Option<T> {
        self.shared.apply(Op::Take).one()
    }

    /// Removes the greatest item and returns it, if `test` returns `true` for it. Several threads may
    /// call `test`, even after this call has returned. `test` must return the same result each time.
    ///
    /// ```
    /// # use hallpass_objects::PriorityQueue;
    /// use std::cmp::Reverse;
    ///
    /// // Timers: the earliest first, and only when it is due.
    /// let timers = PriorityQueue::with_items(2, [Reverse(30), Reverse(10)]);
    /// let due = |now| timers.pop_if(move |&Reverse(at)| at <= now);
    /// assert_eq!(due(20), Some(Reverse(10)));
    /// assert_eq!(due(20), None);
    /// ```
    pub fn pop_if(&self, test: impl Fn(&T) -> bool + Send + Sync + 'static) -> Option<T> {
        self.shared.apply(Op::TakeIf(Box::new(test))).one()
    }

    /// Removes up to `count` items in one operation and returns them, the greatest first.
    pub fn pop_many(&self, count: usize) -> Vec<T> {
        self.shared.apply(Op::TakeMany(count)).many()
    }

    /// Removes all items and returns them, the greatest first.
    pub fn drain(&self) -> Vec<T> {
        self.pop_many(usize::MAX)
    }

    /// Returns a clone of the greatest item.
    pub fn peek(&self) -> Option<T> {
        self.shared.read(|items| items.store.next().cloned())
    }

    /// Returns clones of all items, the greatest last, like [`BinaryHeap::into_sorted_vec`].
    pub fn to_sorted_vec(&self) -> Vec<T> {
        // The items are sorted after the read, because a read should be short.
        self.shared.read(|items| items.store.clone()).into_sorted_vec()
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.shared.read(|items| items.store.len())
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all items.
    pub fn clear(&self) {
        self.shared.apply(Op::Clear);
    }

    /// Returns k: the object tolerates k - 1 stopped threads.
    pub fn k(&self) -> usize {
        self.shared.k()
    }

    /// Consumes the queue and returns its items.
    pub fn into_inner(self) -> BinaryHeap<T> {
        self.shared.into_inner().store
    }
}

impl<T: Ord + Clone + Send + Sync> fmt::Debug for PriorityQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PriorityQueue").field("k", &self.k()).finish_non_exhaustive()
    }
}
