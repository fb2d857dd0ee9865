//! The object behind `Queue` and `PriorityQueue`: a store of items with a capacity.

use crate::object::Object;

/// A collection that decides which item is next.
pub(super) trait Store: Clone {
    type Item: Clone;

    fn put(&mut self, item: Self::Item);
    fn take(&mut self) -> Option<Self::Item>;
    fn next(&self) -> Option<&Self::Item>;
    fn len(&self) -> usize;
    fn clear(&mut self);
}

/// A store with at most `capacity` items.
pub(super) struct Items<S> {
    pub store: S,
    pub capacity: usize,
}

impl<S: Clone> Clone for Items<S> {
    fn clone(&self) -> Self {
        Items { store: self.store.clone(), capacity: self.capacity }
    }

    /// Clones into the existing store, so that the store can reuse its memory.
    fn clone_from(&mut self, other: &Self) {
        self.store.clone_from(&other.store);
        self.capacity = other.capacity;
    }
}

impl<S> Items<S> {
    pub fn unbounded(store: S) -> Self {
        Items { store, capacity: usize::MAX }
    }
}

pub(super) enum Op<T> {
    /// Adds the item, or returns it if the store is full.
    Put(T),
    /// Adds the item. If the store is full, removes the next item first and returns it.
    Force(T),
    /// Adds all items, or returns them if not all of them fit.
    PutAll(Vec<T>),
    Take,
    /// Removes the next item if it passes the test.
    TakeIf(Test<T>),
    TakeMany(usize),
    Clear,
}

pub(super) type Test<T> = Box<dyn Fn(&T) -> bool + Send + Sync>;

/// The items that an operation returns.
pub(super) enum Out<T> {
    Nothing,
    One(T),
    Many(Vec<T>),
}

impl<T> Out<T> {
    pub fn one(self) -> Option<T> {
        match self {
            Out::One(item) => Some(item),
            _ => None,
        }
    }

    pub fn many(self) -> Vec<T> {
        match self {
            Out::Many(items) => items,
            _ => Vec::new(),
        }
    }
}

impl<T> From<Option<T>> for Out<T> {
    fn from(item: Option<T>) -> Self {
        item.map_or(Out::Nothing, Out::One)
    }
}

impl<S: Store> Items<S> {
    fn has_room(&self, items: usize) -> bool {
        self.capacity - self.store.len() >= items
    }

    fn put(&mut self, item: &S::Item) {
        self.store.put(item.clone());
    }
}

impl<S: Store> Object for Items<S> {
    type Op = Op<S::Item>;
    type Ret = Out<S::Item>;

    fn apply(&mut self, op: &Self::Op) -> Self::Ret {
        match op {
            Op::Put(item) if !self.has_room(1) => Out::One(item.clone()),
            Op::Put(item) => {
                self.put(item);
                Out::Nothing
            }
            Op::Force(item) => {
                let removed = if self.has_room(1) { None } else { self.store.take() };
                self.put(item);
                removed.into()
            }
            Op::PutAll(items) if !self.has_room(items.len()) => Out::Many(items.clone()),
            Op::PutAll(items) => {
                items.iter().for_each(|item| self.put(item));
                Out::Nothing
            }
            Op::Take => self.store.take().into(),
            Op::TakeIf(test) => match self.store.next() {
                Some(next) if test(next) => self.store.take().into(),
                _ => Out::Nothing,
            },
            Op::TakeMany(count) => {
                let items = std::iter::from_fn(|| self.store.take());
                Out::Many(items.take(*count).collect())
            }
            Op::Clear => {
                self.store.clear();
                Out::Nothing
            }
        }
    }
}
