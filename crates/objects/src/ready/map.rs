//! Keys and values.

use std::{borrow::Borrow, collections::BTreeMap, fmt, iter, ops::RangeBounds};

use super::tree::{Op, Tree};
use crate::resilient::Resilient;

/// A sorted map for any number of threads. An operation completes as long as fewer than k others have
/// stopped inside theirs.
///
/// There are copies of the map, and each holds its own keys and values: heavy ones belong in an
/// [`Arc`](std::sync::Arc). What was taken out may live on in some of them until later operations
/// replace them.
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

/// Making one, and its end.
impl<K: Ord + Clone + Send + Sync, V: Clone + Send + Sync> Map<K, V> {
    /// An empty map that at most `k` threads work on at once.
    ///
    /// # Panics
    /// If k is 0 or more than 64.
    pub fn new(k: usize) -> Self {
        Self::with_entries(k, iter::empty())
    }

    /// A map of these.
    ///
    /// # Panics
    /// If k is 0 or more than 64.
    pub fn with_entries(k: usize, entries: impl IntoIterator<Item = (K, V)>) -> Self {
        Map { shared: Resilient::new(k, Tree(entries.into_iter().collect())) }
    }

    /// How many may be in at once: one more than may stop.
    pub fn k(&self) -> usize {
        self.shared.k()
    }

    /// The entries, when nobody shares the map any more.
    pub fn into_inner(self) -> BTreeMap<K, V> {
        self.shared.into_inner().0
    }
}

/// Changing.
impl<K: Ord + Clone + Send + Sync, V: Clone + Send + Sync> Map<K, V> {
    /// Puts the value there. Returns what was there before.
    pub fn insert(&self, key: K, value: V) -> Option<V> {
        self.shared.apply(Op::Insert(key, value)).value()
    }

    /// Puts all of them there, in one operation: nobody sees some without the others.
    pub fn extend(&self, entries: impl IntoIterator<Item = (K, V)>) {
        self.shared.apply(Op::InsertAll(entries.into_iter().collect()));
    }

    /// Puts the value there if there is none. Returns what is there then.
    ///
    /// ```
    /// # use hallpass_objects::Map;
    /// let map = Map::new(2);
    /// assert_eq!(map.get_or_insert("a", 1), 1);
    /// assert_eq!(map.get_or_insert("a", 2), 1);
    /// ```
    pub fn get_or_insert(&self, key: K, value: V) -> V {
        let there = self.shared.apply(Op::InsertIfNone(key, value.clone())).value();
        there.unwrap_or(value)
    }

    /// Puts there what the closure makes of what is there; `None` means no value. Returns what was
    /// there before. The closure is called more than once, by others too and also later, and must return
    /// the same each time.
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

    /// Puts `new` there if `current` is there; `None` means no value. Otherwise the error says what
    /// is there.
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
        let there =
            self.update(
                key,
                move |there| {
                    if there == expected.as_ref() { new.clone() } else { there.cloned() }
                },
            );
        if there == current { Ok(()) } else { Err(there) }
    }

    /// Takes the value out.
    pub fn remove(&self, key: K) -> Option<V> {
        self.shared.apply(Op::Remove(key)).value()
    }

    /// Takes the entry with the smallest key.
    pub fn pop_first(&self) -> Option<(K, V)> {
        self.shared.apply(Op::PopFirst).entry()
    }

    /// Takes the entry with the greatest key.
    pub fn pop_last(&self) -> Option<(K, V)> {
        self.shared.apply(Op::PopLast).entry()
    }

    /// Drops all entries.
    pub fn clear(&self) {
        self.shared.apply(Op::Clear);
    }
}

/// Looking.
impl<K: Ord + Clone + Send + Sync, V: Clone + Send + Sync> Map<K, V> {
    /// What is there.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.shared.read(|tree| tree.0.get(key).cloned())
    }

    /// Whether something is there.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.shared.read(|tree| tree.0.contains_key(key))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.shared.read(|tree| tree.0.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry with the smallest key.
    pub fn first(&self) -> Option<(K, V)> {
        self.shared.read(|tree| tree.0.first_key_value().map(cloned))
    }

    /// The entry with the greatest key.
    pub fn last(&self) -> Option<(K, V)> {
        self.shared.read(|tree| tree.0.last_key_value().map(cloned))
    }

    /// The entries with these keys, as they are at one moment.
    pub fn range<Q: Ord + ?Sized>(&self, keys: impl RangeBounds<Q>) -> Vec<(K, V)>
    where
        K: Borrow<Q>,
    {
        self.shared.read(|tree| tree.0.range(keys).map(cloned).collect())
    }

    /// All keys, in ascending order.
    pub fn keys(&self) -> Vec<K> {
        self.shared.read(|tree| tree.0.keys().cloned().collect())
    }

    /// All values, in the order of their keys.
    pub fn values(&self) -> Vec<V> {
        self.shared.read(|tree| tree.0.values().cloned().collect())
    }

    /// A copy of the map.
    pub fn snapshot(&self) -> BTreeMap<K, V> {
        self.shared.read(|tree| tree.0.clone())
    }
}

impl<K: Ord + Clone + Send + Sync, V: Clone + Send + Sync> fmt::Debug for Map<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Map").field("k", &self.k()).finish_non_exhaustive()
    }
}
