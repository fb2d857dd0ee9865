//! The object behind the map.

use std::collections::BTreeMap;

use crate::object::Object;

#[derive(Clone)]
pub(super) struct Tree<K, V>(pub BTreeMap<K, V>);

pub(super) enum Op<K, V> {
    Insert(K, V),
    InsertAll(Vec<(K, V)>),
    /// Inserts the value unless the key has one. Returns the value that the key had before.
    InsertIfNone(K, V),
    Update(K, Update<V>),
    Remove(K),
    PopFirst,
    PopLast,
    Clear,
}

/// Computes the new value from the old value, where `None` means no value.
pub(super) type Update<V> = Box<dyn Fn(Option<&V>) -> Option<V> + Send + Sync>;

pub(super) enum Ret<K, V> {
    Nothing,
    Value(V),
    Entry(K, V),
}

impl<K, V> Ret<K, V> {
    pub fn value(self) -> Option<V> {
        match self {
            Ret::Nothing => None,
            Ret::Value(value) | Ret::Entry(_, value) => Some(value),
        }
    }

    pub fn entry(self) -> Option<(K, V)> {
        match self {
            Ret::Entry(key, value) => Some((key, value)),
            _ => None,
        }
    }
}

impl<K: Ord + Clone, V: Clone> Tree<K, V> {
    fn insert(&mut self, key: &K, value: &V) -> Option<V> {
        self.0.insert(key.clone(), value.clone())
    }
}

impl<K: Ord + Clone, V: Clone> Object for Tree<K, V> {
    type Op = Op<K, V>;
    type Ret = Ret<K, V>;

    fn apply(&mut self, op: &Op<K, V>) -> Ret<K, V> {
        let before = match op {
            Op::Insert(key, value) => self.insert(key, value),
            Op::InsertAll(entries) => {
                entries.iter().for_each(|(key, value)| _ = self.insert(key, value));
                None
            }
            Op::InsertIfNone(key, value) => {
                let found = self.0.get(key).cloned();
                if found.is_none() {
                    self.insert(key, value);
                }
                found
            }
            Op::Update(key, update) => match update(self.0.get(key)) {
                Some(value) => self.0.insert(key.clone(), value),
                None => self.0.remove(key),
            },
            Op::Remove(key) => self.0.remove(key),
            Op::Clear => {
                self.0.clear();
                None
            }
            Op::PopFirst => return entry(self.0.pop_first()),
            Op::PopLast => return entry(self.0.pop_last()),
        };
        before.map_or(Ret::Nothing, Ret::Value)
    }
}

fn entry<K, V>(entry: Option<(K, V)>) -> Ret<K, V> {
    entry.map_or(Ret::Nothing, |(key, value)| Ret::Entry(key, value))
}
