//! What queues have in common: items go in, and come out in an order that the store knows.

use crate::object::Object;

/// Keeps items and knows which is next.
pub(super) trait Store: Clone {
    type Item: Clone;

    fn put(&mut self, item: Self::Item);
    fn take(&mut self) -> Option<Self::Item>;
    fn next(&self) -> Option<&Self::Item>;
    fn len(&self) -> usize;
    fn clear(&mut self);
}

/// A store with room for so many.
pub(super) struct Items<S> {
    pub store: S,
    pub most: usize,
}

impl<S: Clone> Clone for Items<S> {
    fn clone(&self) -> Self {
        Items { store: self.store.clone(), most: self.most }
    }

    /// Copies are made over old ones, and stores can use the room that these have.
    fn clone_from(&mut self, other: &Self) {
        self.store.clone_from(&other.store);
        self.most = other.most;
    }
}

impl<S> Items<S> {
    pub fn unbounded(store: S) -> Self {
        Items { store, most: usize::MAX }
    }
}

pub(super) enum Op<T> {
    /// Puts it in, or returns it if there is no room.
    Put(T),
    /// Puts it in. If there is no room, the next one goes and is returned.
    Force(T),
    /// Puts all in, or returns them if there is not room for all.
    PutAll(Vec<T>),
    Take,
    /// Takes the next one if it is like that.
    TakeIf(Test<T>),
    TakeMany(usize),
    Clear,
}

pub(super) type Test<T> = Box<dyn Fn(&T) -> bool + Send + Sync>;

/// What comes out.
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
        self.most - self.store.len() >= items
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
                let gone = if self.has_room(1) { None } else { self.store.take() };
                self.put(item);
                gone.into()
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
            Op::TakeMany(most) => {
                let items = std::iter::from_fn(|| self.store.take());
                Out::Many(items.take(*most).collect())
            }
            Op::Clear => {
                self.store.clear();
                Out::Nothing
            }
        }
    }
}
