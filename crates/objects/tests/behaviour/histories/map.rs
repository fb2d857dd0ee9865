//! Histories of the map.

use fastrand::Rng;
use hallpass_objects::Map;

use super::{Ret, Subject};
use crate::support::sleep_sometimes;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MapOp {
    Insert(u8, i64),
    Extend(i64),
    GetOrInsert(u8, i64),
    Double(u8),
    CompareExchange(u8, Option<i64>, Option<i64>),
    Remove(u8),
    PopFirst,
    PopLast,
    Get(u8),
    Last,
    Values,
}

#[derive(Default)]
pub struct Sorted;

impl Subject for Sorted {
    /// A list sorted by key, so that the specification of the map does not use a map.
    type State = Vec<(u8, i64)>;
    type Op = MapOp;
    type Shared = Map<u8, i64>;

    fn expected(state: &mut Vec<(u8, i64)>, op: &MapOp) -> Ret {
        let get = |state: &Vec<(u8, i64)>, key: u8| {
            state.iter().find(|entry| entry.0 == key).map(|entry| entry.1)
        };
        let put = |state: &mut Vec<(u8, i64)>, key: u8, value: Option<i64>| {
            let before = get(state, key);
            state.retain(|entry| entry.0 != key);
            state.extend(value.map(|value| (key, value)));
            state.sort();
            before
        };
        let one = match *op {
            MapOp::Insert(key, value) => put(state, key, Some(value)),
            MapOp::Extend(value) => {
                put(state, 1, Some(value));
                put(state, 3, Some(value));
                None
            }
            MapOp::GetOrInsert(key, value) => {
                let value = get(state, key).unwrap_or(value);
                put(state, key, Some(value));
                Some(value)
            }
            MapOp::Double(key) => put(state, key, get(state, key).map(|value| value * 2)),
            MapOp::CompareExchange(key, current, new) if get(state, key) == current => {
                put(state, key, new);
                None
            }
            MapOp::CompareExchange(key, ..) => Some(get(state, key).unwrap_or(NONE)),
            MapOp::Remove(key) => put(state, key, None),
            MapOp::PopFirst if state.is_empty() => None,
            MapOp::PopFirst => Some(state.remove(0).1),
            MapOp::PopLast => state.pop().map(|entry| entry.1),
            MapOp::Get(key) => get(state, key),
            MapOp::Last => state.last().map(|entry| entry.1),
            MapOp::Values => return state.iter().map(|entry| entry.1).collect(),
        };
        Vec::from_iter(one)
    }

    fn shared(k: usize) -> Map<u8, i64> {
        Map::new(k)
    }

    fn choose(random: &mut Rng) -> MapOp {
        let (key, value) = (random.u8(..4), random.i64(1..5));
        match random.u8(..11) {
            0 => MapOp::Insert(key, value),
            1 => MapOp::Extend(value),
            2 => MapOp::GetOrInsert(key, value),
            3 => MapOp::Double(key),
            4 => {
                let mut maybe = || random.bool().then(|| random.i64(1..3));
                MapOp::CompareExchange(key, maybe(), maybe())
            }
            5 => MapOp::Remove(key),
            6 => MapOp::PopFirst,
            7 => MapOp::PopLast,
            8 => MapOp::Get(key),
            9 => MapOp::Last,
            _ => MapOp::Values,
        }
    }

    fn perform(map: &Map<u8, i64>, op: &MapOp) -> Ret {
        let one = match *op {
            MapOp::Insert(key, value) => map.insert(key, value),
            MapOp::Extend(value) => {
                map.extend([(1, value), (3, value)]);
                None
            }
            MapOp::GetOrInsert(key, value) => Some(map.get_or_insert(key, value)),
            MapOp::Double(key) => map.update(key, double),
            MapOp::CompareExchange(key, current, new) => {
                map.compare_exchange(key, current, new).err().map(|found| found.unwrap_or(NONE))
            }
            MapOp::Remove(key) => map.remove(key),
            MapOp::PopFirst => map.pop_first().map(|entry| entry.1),
            MapOp::PopLast => map.pop_last().map(|entry| entry.1),
            MapOp::Get(key) => map.get(&key),
            MapOp::Last => map.last().map(|entry| entry.1),
            MapOp::Values => return map.values(),
        };
        Vec::from_iter(one)
    }
}

/// Stands for a key without a value in the result of a failed exchange. An empty list means a successful exchange.
const NONE: i64 = -1;

fn double(value: Option<&i64>) -> Option<i64> {
    sleep_sometimes();
    value.map(|value| value * 2)
}
