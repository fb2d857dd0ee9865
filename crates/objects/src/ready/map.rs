//! The sorted map.

use std::{borrow::Borrow, collections::BTreeMap, fmt, iter, ops::RangeBounds};

use super::tree::{Op, Tree};
use crate::resilient::Resilient;

/// A sorted map for any number of threads. An operation completes as long as fewer than k other threads
/// have stopped in the middle of an operation.
///
/// The map exists in several copies, each with its own clones of keys and values. So put large keys and
/// values into an [`Arc`](std::sync::Arc). A removed entry may stay in a copy until a later operation
/// updates this copy.
///
/// ```
/// use hallpass_objects::Map;
///
/// let ages = Map::new(2);
/// std::thread::scope(|scope| {
///     scope.spawn(|| ages.insert("Ada", 36));
///     scope.spawn(|| ages.insert("Alan", 41));
/// });
/// assert_eq!(ages.get("Ada"), Some(36));
/// assert_eq!(ages.insert("Ada", 37), Some(36));
/// assert_eq!(ages.range("B"..), []);
/// ```
pub struct Map<K: Ord + Clone, V: Clone> {
    shared: Resilient<Tree<K, V>>,
}

fn cloned<K: Clone, V: Clone>((key, value): (&K, &V)) -> (K, V) {
    (key.clone(), value.clone())
}

/// Construction and destruction.
impl<K: Ord + Clone + Send + Sync, V: Clone + Send + Sync> Map<K, V> {
    /// Creates an empty map. At most `k` threads run operations at once.
    ///
    /// # Panics
    /// Panics if `k` is not between 1 and 64.
    pub fn new(k: usize) -> Self {
        Self::with_entries(k, iter::empty())
    }

    /// Creates a map with these entries.
    ///
    /// # Panics
    /// Panics if `k` is not between 1 and 64.
    pub fn with_entries(k: usize, entries: impl IntoIterator<Item = (K, V)>) -> Self {
        Map { shared: Resilient::new(k, Tree(entries.into_iter().collect())) }
    }

    /// Returns k: the object tolerates k - 1 stopped threads.
    pub fn k(&self) -> usize {
        self.shared.k()
    }

    /// Consumes the map and returns its entries.
    pub fn into_inner(self) -> BTreeMap<K, V> {
        self.shared.into_inner().0
    }
}

/// Operations that change the map.
impl<K: Ord + Clone + Send + Sync, V: Clone + Send + Sync> Map<K, V> {
    /// Sets the value of the key and returns the old value.
    pub fn insert(&self, key: K, value: V) -> Option<V> {
        self.shared.apply(Op::Insert(key, value)).value()
    }

    /// Inserts all entries in one operation: no thread sees some of them without the others.
    pub fn extend(&self, entries: impl IntoIterator<Item = (K, V)>) {
        self.shared.apply(Op::InsertAll(entries.into_iter().collect()));
    }

    /// Sets the value of the key unless it has one. Returns the value that the key has afterwards.
    ///
    /// ```
    /// # use hallpass_objects::Map;
    /// let map = Map::new(2);
    /// assert_eq!(map.get_or_insert("a", 1), 1);
    /// assert_eq!(map.get_or_insert("a", 2), 1);
    /// ```
    pub fn get_or_insert(&self, key: K, value: V) -> V {
        let found = self.shared.apply(Op::InsertIfNone(key, value.clone())).value();
        found.unwrap_or(value)
    }

    /// Sets the value of the key to the result of `update`, where `None` means no value. Returns the old
    /// value. Several threads may call `update`, even after this call has returned. `update` must return the
    /// same result each time.
    ///
    /// ```
    /// # use hallpass_objects::Map;
    /// let words = Map::new(2);
    /// for word in ["to", "be", "or", "not", "to", "be"] {
    ///     words.update(word, |count| Some(count.unwrap_or(&0) + 1));
    /// }
    /// assert_eq!(words.get("be"), Some(2));
    /// ```
    pub fn update(
        &self,
        key: K,
        update: impl Fn(Option<&V>) -> Option<V> + Send + Sync + 'static,
    ) -> Option<V> {
        self.shared.apply(Op::Update(key, Box::new(update))).value()
    }

    /// Sets the value of the key to `new` if it is `current`, where `None` means no value.
    ///
    /// # Errors
    /// Returns the value of the key as `Err` if it is not `current`.
    ///
    /// ```
    /// # use hallpass_objects::Map;
    /// let owners = Map::new(2);
    /// assert_eq!(owners.compare_exchange("a", None, Some(1)), Ok(()));
    /// assert_eq!(owners.compare_exchange("a", None, Some(2)), Err(Some(1)));
    /// assert_eq!(owners.compare_exchange("a", Some(1), None), Ok(()));
    /// assert!(owners.is_empty());
    /// ```
    pub fn compare_exchange(
        &self,
        key: K,
        current: Option<V>,
        new: Option<V>,
    ) -> Result<(), Option<V>>
    where
        V: PartialEq + 'static,
    {
        let expected = current.clone();
        let old =
            self.update(
                key,
                move |value| {
                    if value == expected.as_ref() { new.clone() } else { value.cloned() }
                },
            );
        if old == current { Ok(()) } else { Err(old) }
    }

    /// Removes the key and returns its value.
    pub fn remove(&self, key: K) -> Option<V> {
        self.shared.apply(Op::Remove(key)).value()
    }

    /// Removes the entry with the smallest key and returns it.
    pub fn pop_first(&self) -> Option<(K, V)> {
        self.shared.apply(Op::PopFirst).entry()
    }

    /// Removes the entry with the greatest key and returns it.
    pub fn pop_last(&self) -> Option<(K, V)> {
        self.shared.apply(Op::PopLast).entry()
    }

    /// Removes all entries.
    pub fn clear(&self) {
        self.shared.apply(Op::Clear);
    }
}

/// Operations that read the map.
impl<K: Ord + Clone + Send + Sync, V: Clone + Send + Sync> Map<K, V> {
    /// Returns a clone of the value of the key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.shared.read(|tree| tree.0.get(key).cloned())
    }

    /// Returns whether the key has a value.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.shared.read(|tree| tree.0.contains_key(key))
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.shared.read(|tree| tree.0.len())
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a clone of the entry with the smallest key.
    pub fn first(&self) -> Option<(K, V)> {
        self.shared.read(|tree| tree.0.first_key_value().map(cloned))
    }

    /// Returns a clone of the entry with the greatest key.
    pub fn last(&self) -> Option<(K, V)> {
        self.shared.read(|tree| tree.0.last_key_value().map(cloned))
    }

    /// Returns clones of all entries in a range of keys, as they are at one moment.
    pub fn range<Q: Ord + ?Sized>(&self, keys: impl RangeBounds<Q>) -> Vec<(K, V)>
    where
        K: Borrow<Q>,
    {
        self.shared.read(|tree| tree.0.range(keys).map(cloned).collect())
    }

    /// Returns clones of all keys in ascending order.
    pub fn keys(&self) -> Vec<K> {
        self.shared.read(|tree| tree.0.keys().cloned().collect())
    }

    /// Returns clones of all values in the order of their keys.
    pub fn values(&self) -> Vec<V> {
        self.shared.read(|tree| tree.0.values().cloned().collect())
    }

    /// Returns a clone of all entries.
    pub fn snapshot(&self) -> BTreeMap<K, V> {
        self.shared.read(|tree| tree.0.clone())
    }
}

impl<K: Ord + Clone + Send + Sync, V: Clone + Send + Sync> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Map").field("k", &self.k()).finish_non_exhaustive()
    }
}
