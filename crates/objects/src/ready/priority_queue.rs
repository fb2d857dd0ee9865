//! Greatest first.

use std::{collections::BinaryHeap, fmt, iter};

use super::items::{Items, Op, Store};
use crate::resilient::Resilient;

/// A priority queue for any number of threads: the greatest item comes out first. An operation
/// completes as long as fewer than k others have stopped inside theirs.
///
/// There are copies of the queue, and each holds its own items: heavy ones belong in an
/// [`Arc`](std::sync::Arc). What was taken out may live on in some of them until later operations
/// replace them. For the smallest first, use [`Reverse`](std::cmp::Reverse). Items that
/// are equal come out in any order.
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
    /// An empty queue that at most `k` threads work on at once.
    ///
    /// # Panics
    /// If k is 0 or more than 64.
    pub fn new(k: usize) -> Self {
        Self::with_items(k, iter::empty())
    }

    /// A queue of these.
    ///
    /// # Panics
    /// If k is 0 or more than 64.
    pub fn with_items(k: usize, items: impl IntoIterator<Item = T>) -> Self {
        let items = Items::unbounded(items.into_iter().collect());
        PriorityQueue { shared: Resilient::new(k, items) }
    }

    /// Puts the item in.
    pub fn push(&self, item: T) {
        self.shared.apply(Op::Put(item));
    }

    /// Puts all of them in, in one operation: nobody sees some without the others.
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

    /// Takes the greatest item.
    pub fn pop(&self) -> Option<T> {
        self.shared.apply(Op::Take).one()
    }

    /// Takes the greatest item if the test says so. The test is run more than once, by others too and
    /// also later, and must say the same each time.
    ///
    /// ```
    /// # use hallpass_objects::PriorityQueue;
    /// use std::cmp::Reverse;
    ///
    /// // Timers: the earliest first, and only when its time has come.
    /// let timers = PriorityQueue::with_items(2, [Reverse(30), Reverse(10)]);
    /// let due = |now| timers.pop_if(move |&Reverse(at)| at <= now);
    /// assert_eq!(due(20), Some(Reverse(10)));
    /// assert_eq!(due(20), None);
    /// ```
    pub fn pop_if(&self, test: impl Fn(&T) -> bool + Send + Sync + 'static) -> Option<T> {
        self.shared.apply(Op::TakeIf(Box::new(test))).one()
    }

    /// Takes the so many greatest in one operation, or all if there are fewer; the greatest first.
    pub fn pop_many(&self, most: usize) -> Vec<T> {
        self.shared.apply(Op::TakeMany(most)).many()
    }

    /// Takes all there are, the greatest first.
    pub fn drain(&self) -> Vec<T> {
        self.pop_many(usize::MAX)
    }

    /// A copy of the greatest item.
    pub fn peek(&self) -> Option<T> {
        self.shared.read(|items| items.store.next().cloned())
    }

    /// A copy of all there are, the greatest last, as in
    /// [`BinaryHeap::into_sorted_vec`].
    pub fn to_sorted_vec(&self) -> Vec<T> {
        // Sorted outside of the reading, which should be short.
        self.shared.read(|items| items.store.clone()).into_sorted_vec()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.shared.read(|items| items.store.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Drops all there are.
    pub fn clear(&self) {
        self.shared.apply(Op::Clear);
    }

    /// How many may be in at once: one more than may stop.
    pub fn k(&self) -> usize {
        self.shared.k()
    }

    /// The items, when nobody shares the queue any more.
    pub fn into_inner(self) -> BinaryHeap<T> {
        self.shared.into_inner().store
    }
}

impl<T: Ord + Clone + Send + Sync> fmt::Debug for PriorityQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PriorityQueue").field("k", &self.k()).finish_non_exhaustive()
    }
}
