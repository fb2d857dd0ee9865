//! The FIFO queue.

use std::{collections::VecDeque, fmt, iter};

use super::items::{Items, Op, Store};
use crate::resilient::Resilient;

/// A FIFO queue for any number of threads. An operation completes as long as fewer than k other threads
/// have stopped in the middle of an operation.
///
/// The queue exists in several copies, each with its own clones of the items. So put large items into an
/// [`Arc`](std::sync::Arc). A removed item may stay in a copy until a later operation updates this copy.
///
/// ```
/// use hallpass_objects::Queue;
///
/// let queue = Queue::new(2);
/// std::thread::scope(|scope| {
///     scope.spawn(|| queue.push("a"));
///     scope.spawn(|| queue.push("b"));
/// });
/// let mut both = [queue.pop(), queue.pop()];
/// both.sort();
/// assert_eq!(both, [Some("a"), Some("b")]);
/// assert_eq!(queue.pop(), None);
/// ```
pub struct Queue<T: Clone> {
    shared: Resilient<Items<VecDeque<T>>>,
    capacity: usize,
}

impl<T: Clone> Store for VecDeque<T> {
    type Item = T;

    fn put(&mut self, item: T) {
        self.push_back(item);
    }

    fn take(&mut self) -> Option<T> {
        self.pop_front()
    }

    fn next(&self) -> Option<&T> {
        self.front()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn clear(&mut self) {
        self.clear();
    }
}

impl<T: Clone + Send + Sync> Queue<T> {
    /// Creates an empty queue. At most `k` threads run operations at once.
    ///
    /// # Panics
    /// Panics if `k` is not between 1 and 64.
    pub fn new(k: usize) -> Self {
        Self::with_items(k, iter::empty())
    }

    /// Creates a queue with these items, the first item at the front.
    ///
    /// # Panics
    /// Panics if `k` is not between 1 and 64.
    pub fn with_items(k: usize, items: impl IntoIterator<Item = T>) -> Self {
        let items = Items::unbounded(items.into_iter().collect());
        Queue { capacity: items.capacity, shared: Resilient::new(k, items) }
    }

    /// Creates an empty queue for at most `capacity` items.
    ///
    /// ```
    /// # use hallpass_objects::Queue;
    /// let queue = Queue::bounded(2, 1);
    /// assert_eq!(queue.try_push("a"), Ok(()));
    /// assert_eq!(queue.try_push("b"), Err("b"));
    /// assert_eq!(queue.force_push("c"), Some("a"));
    /// ```
    ///
    /// # Panics
    /// Panics if `k` is not between 1 and 64.
    pub fn bounded(k: usize, capacity: usize) -> Self {
        let items = Items { store: VecDeque::new(), capacity };
        Queue { capacity, shared: Resilient::new(k, items) }
    }

    /// Appends the item.
    ///
    /// # Panics
    /// Panics if the queue is full. Only a [bounded](Self::bounded) queue can be full; see
    /// [`try_push`](Self::try_push).
    pub fn push(&self, item: T) {
        assert!(
            self.try_push(item).is_ok(),
            "the queue is full: its capacity is {}",
            self.capacity
        );
    }

    /// Appends the item.
    ///
    /// # Errors
    /// Returns the item if the queue is full.
    pub fn try_push(&self, item: T) -> Result<(), T> {
        self.shared.apply(Op::Put(item)).one().map_or(Ok(()), Err)
    }

    /// Appends the item. If the queue is full, removes the front item and returns it. If the capacity is 0,
    /// returns `item` itself.
    pub fn force_push(&self, item: T) -> Option<T> {
        if self.capacity == 0 {
            return Some(item);
        }
        self.shared.apply(Op::Force(item)).one()
    }

    /// Appends all items in one operation, so that they stay together.
    ///
    /// # Panics
    /// Panics if not all items fit; see [`try_extend`](Self::try_extend).
    pub fn extend(&self, items: impl IntoIterator<Item = T>) {
        let put = self.try_extend(items);
        assert!(put.is_ok(), "too many items: the capacity of the queue is {}", self.capacity);
    }

    /// Appends all items in one operation.
    ///
    /// # Errors
    /// Returns all items as `Err` if not all of them fit.
    pub fn try_extend(&self, items: impl IntoIterator<Item = T>) -> Result<(), Vec<T>> {
        let refused = self.shared.apply(Op::PutAll(items.into_iter().collect())).many();
        if refused.is_empty() { Ok(()) } else { Err(refused) }
    }

    /// Removes the front item and returns it.
    pub fn pop(&self) -> Option<T> {
        self.shared.apply(Op::Take).one()
    }

    /// Removes the front item and returns it, if `test` returns `true` for it. Several threads may call
    /// `test`, even after this call has returned. `test` must return the same result each time.
    ///
    /// ```
    /// # use hallpass_objects::Queue;
    /// let queue = Queue::with_items(2, [1, 2]);
    /// assert_eq!(queue.pop_if(|&item| item > 1), None);
    /// assert_eq!(queue.pop_if(|&item| item < 2), Some(1));
    /// ```
    pub fn pop_if(&self, test: impl Fn(&T) -> bool + Send + Sync + 'static) -> Option<T> {
        self.shared.apply(Op::TakeIf(Box::new(test))).one()
    }

    /// Removes up to `count` items from the front in one operation and returns them.
    pub fn pop_many(&self, count: usize) -> Vec<T> {
        self.shared.apply(Op::TakeMany(count)).many()
    }

    /// Removes all items and returns them.
    pub fn drain(&self) -> Vec<T> {
        self.pop_many(usize::MAX)
    }

    /// Returns a clone of the front item.
    pub fn peek(&self) -> Option<T> {
        self.shared.read(|items| items.store.next().cloned())
    }

    /// Returns clones of all items, front first.
    pub fn to_vec(&self) -> Vec<T> {
        self.shared.read(|items| items.store.iter().cloned().collect())
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

    /// Returns the capacity, or `None` if the queue is unbounded.
    pub fn capacity(&self) -> Option<usize> {
        (self.capacity < usize::MAX).then_some(self.capacity)
    }

    /// Returns k: the object tolerates k - 1 stopped threads.
    pub fn k(&self) -> usize {
        self.shared.k()
    }

    /// Consumes the queue and returns its items.
    pub fn into_inner(self) -> VecDeque<T> {
        self.shared.into_inner().store
    }
}

impl<T: Clone + Send + Sync> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("k", &self.k()).finish_non_exhaustive()
    }
}
