//! First in, first out.

use std::{collections::VecDeque, fmt, iter};

use super::items::{Items, Op, Store};
use crate::resilient::Resilient;

/// A queue for any number of threads: first in, first out. An operation completes as long as fewer
/// than k others have stopped inside theirs.
///
/// There are copies of the queue, and each holds its own items: heavy ones belong in an
/// [`Arc`](std::sync::Arc). What was taken out may live on in some of them until later operations
/// replace them.
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
    most: usize,
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
    /// An empty queue that at most `k` threads work on at once.
    ///
    /// # Panics
    /// If k is 0 or more than 64.
    pub fn new(k: usize) -> Self {
        Self::with_items(k, iter::empty())
    }

    /// A queue of these, the first one in front.
    ///
    /// # Panics
    /// If k is 0 or more than 64.
    pub fn with_items(k: usize, items: impl IntoIterator<Item = T>) -> Self {
        let items = Items::unbounded(items.into_iter().collect());
        Queue { most: items.most, shared: Resilient::new(k, items) }
    }

    /// An empty queue with room for `most` items.
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
    /// If k is 0 or more than 64.
    pub fn bounded(k: usize, most: usize) -> Self {
        let items = Items { store: VecDeque::new(), most };
        Queue { most, shared: Resilient::new(k, items) }
    }

    /// Puts the item at the end.
    ///
    /// # Panics
    /// If the queue is full, which only a bounded one can be; see [`try_push`](Self::try_push).
    pub fn push(&self, item: T) {
        assert!(self.try_push(item).is_ok(), "the queue is full: it has room for {}", self.most);
    }

    /// Puts the item at the end, or gives it back if the queue is full.
    pub fn try_push(&self, item: T) -> Result<(), T> {
        self.shared.apply(Op::Put(item)).one().map_or(Ok(()), Err)
    }

    /// Puts the item at the end. If the queue is full, the one in front makes room and is returned;
    /// in a queue without room for any, the item is not kept either.
    pub fn force_push(&self, item: T) -> Option<T> {
        if self.most == 0 {
            return Some(item);
        }
        self.shared.apply(Op::Force(item)).one()
    }

    /// Puts all of them at the end, in one operation: nobody comes in between.
    ///
    /// # Panics
    /// If they do not all fit; see [`try_extend`](Self::try_extend).
    pub fn extend(&self, items: impl IntoIterator<Item = T>) {
        let put = self.try_extend(items);
        assert!(put.is_ok(), "too many at once: the queue has room for {}", self.most);
    }

    /// Puts all of them at the end in one operation, or gives them back if they do not all fit.
    pub fn try_extend(&self, items: impl IntoIterator<Item = T>) -> Result<(), Vec<T>> {
        let refused = self.shared.apply(Op::PutAll(items.into_iter().collect())).many();
        if refused.is_empty() { Ok(()) } else { Err(refused) }
    }

    /// Takes the item in front.
    pub fn pop(&self) -> Option<T> {
        self.shared.apply(Op::Take).one()
    }

    /// Takes the item in front if the test says so. The test is run more than once, by others too and
    /// also later, and must say the same each time.
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

    /// Takes so many from the front in one operation, or all if there are fewer.
    pub fn pop_many(&self, most: usize) -> Vec<T> {
        self.shared.apply(Op::TakeMany(most)).many()
    }

    /// Takes all there are.
    pub fn drain(&self) -> Vec<T> {
        self.pop_many(usize::MAX)
    }

    /// A copy of the item in front.
    pub fn peek(&self) -> Option<T> {
        self.shared.read(|items| items.store.next().cloned())
    }

    /// A copy of all there are, as they stand.
    pub fn to_vec(&self) -> Vec<T> {
        self.shared.read(|items| items.store.iter().cloned().collect())
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

    /// How many there is room for, if the queue is bounded.
    pub fn capacity(&self) -> Option<usize> {
        (self.most < usize::MAX).then_some(self.most)
    }

    /// How many may be in at once: one more than may stop.
    pub fn k(&self) -> usize {
        self.shared.k()
    }

    /// The items, when nobody shares the queue any more.
    pub fn into_inner(self) -> VecDeque<T> {
        self.shared.into_inner().store
    }
}

impl<T: Clone + Send + Sync> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("k", &self.k()).finish_non_exhaustive()
    }
}
