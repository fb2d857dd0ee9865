//! Histories of the counter and the statistics.

use std::thread;

use fastrand::Rng;
use hallpass_objects::{Counter, Statistics};

use super::{Ret, Subject};
use crate::support::sleep_sometimes;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NumberOp {
    Add(i64),
    Sub(i64),
    Max(i64),
    Swap(i64),
    CompareExchange(i64, i64),
    Negate,
    Get,
}

#[derive(Default)]
pub struct Number;

impl Subject for Number {
    type State = i64;
    type Op = NumberOp;
    type Shared = Counter;

    fn expected(state: &mut i64, op: &NumberOp) -> Ret {
        let before = *state;
        match *op {
            NumberOp::Add(n) => *state += n,
            NumberOp::Sub(n) => *state -= n,
            NumberOp::Max(n) if n > before => *state = n,
            NumberOp::Swap(n) => *state = n,
            NumberOp::CompareExchange(current, new) if before == current => *state = new,
            NumberOp::Negate => *state = -before,
            _ => {}
        }
        match *op {
            NumberOp::Sub(_) => vec![*state],
            _ => vec![before],
        }
    }

    fn shared(k: usize) -> Counter {
        Counter::new(k, 0)
    }

    fn choose(random: &mut Rng) -> NumberOp {
        let n = random.i64(0..5);
        match random.u8(..8) {
            0..2 => NumberOp::Add(n),
            2 => NumberOp::Sub(n),
            3 => NumberOp::Max(n),
            4 => NumberOp::Swap(n),
            5 => NumberOp::CompareExchange(n, random.i64(0..5)),
            6 => NumberOp::Negate,
            _ => NumberOp::Get,
        }
    }

    fn perform(counter: &Counter, op: &NumberOp) -> Ret {
        vec![match *op {
            NumberOp::Add(n) => counter.fetch_add(n),
            NumberOp::Sub(n) => counter.sub(n),
            NumberOp::Max(n) => counter.fetch_max(n),
            NumberOp::Swap(n) => counter.swap(n),
            NumberOp::CompareExchange(current, new) => {
                counter.compare_exchange(current, new).unwrap_or_else(|found| found)
            }
            NumberOp::Negate => counter.fetch_update(negate),
            NumberOp::Get => counter.get(),
        }]
    }
}

/// A counter whose additions are a read followed by a write, so that other operations come in between.
#[derive(Default)]
pub struct Torn;

impl Subject for Torn {
    type State = i64;
    type Op = NumberOp;
    type Shared = Counter;

    fn expected(state: &mut i64, op: &NumberOp) -> Ret {
        Number::expected(state, op)
    }

    fn shared(k: usize) -> Counter {
        Number::shared(k)
    }

    fn choose(random: &mut Rng) -> NumberOp {
        Number::choose(random)
    }

    fn perform(counter: &Counter, op: &NumberOp) -> Ret {
        let NumberOp::Add(n) = *op else { return Number::perform(counter, op) };
        let before = counter.get();
        thread::yield_now();
        counter.swap(before + n);
        vec![before]
    }
}

fn negate(n: i64) -> i64 {
    sleep_sometimes();
    -n
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SummaryOp {
    Record(i64),
    RecordAll([i64; 2]),
    Read,
    Take,
}

#[derive(Default)]
pub struct Numbers;

impl Subject for Numbers {
    /// The numbers that were recorded since the last `Take`, or since the beginning. They are in ascending order,
    /// because the order of recording does not matter.
    type State = Vec<i64>;
    type Op = SummaryOp;
    type Shared = Statistics;

    fn expected(state: &mut Vec<i64>, op: &SummaryOp) -> Ret {
        match op {
            SummaryOp::Record(n) => state.push(*n),
            SummaryOp::RecordAll(all) => state.extend(all),
            SummaryOp::Read | SummaryOp::Take => {
                let (Some(min), Some(max)) = (state.iter().min(), state.iter().max()) else {
                    return vec![];
                };
                let (count, sum) = (state.len() as i64, state.iter().sum::<i64>());
                // The sum of squared distances from the mean, times the count, so that the result is an
                // integer.
                let squares = state.iter().map(|n| n * n).sum::<i64>() * count - sum * sum;
                let seen = vec![count, sum, squares, *min, *max];
                if *op == SummaryOp::Take {
                    state.clear();
                }
                return seen;
            }
        }
        state.sort();
        vec![]
    }

    fn shared(k: usize) -> Statistics {
        Statistics::new(k)
    }

    fn choose(random: &mut Rng) -> SummaryOp {
        match random.u8(..8) {
            0..3 => SummaryOp::Record(random.i64(0..9)),
            3 => SummaryOp::RecordAll([random.i64(0..9), random.i64(0..9)]),
            4..7 => SummaryOp::Read,
            _ => SummaryOp::Take,
        }
    }

    fn perform(statistics: &Statistics, op: &SummaryOp) -> Ret {
        let summary = match *op {
            SummaryOp::Record(n) => {
                statistics.record(n as f64);
                return vec![];
            }
            SummaryOp::RecordAll(all) => {
                statistics.record_all(all.map(|n| n as f64));
                return vec![];
            }
            SummaryOp::Read => statistics.summary(),
            SummaryOp::Take => statistics.take(),
        };
        let (Some(min), Some(max)) = (summary.min(), summary.max()) else { return vec![] };
        let count = summary.count() as f64;
        let squares = summary.variance().unwrap_or(0.0) * (count - 1.0) * count;
        [count, summary.sum(), squares, min, max].map(|x| x.round() as i64).to_vec()
    }
}
