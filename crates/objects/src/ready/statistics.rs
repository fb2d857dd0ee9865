//! Statistics of recorded numbers.

use std::fmt;

use crate::{object::Object, resilient::Resilient};

/// Count, sum, mean, variance and range of the numbers that any number of threads record. An operation
/// completes as long as fewer than k other threads have stopped in the middle of an operation.
///
/// A [`Summary`] describes one moment, so its count and its mean are about the same numbers.
///
/// ```
/// use hallpass_objects::Statistics;
///
/// let latency = Statistics::new(2);
/// std::thread::scope(|scope| {
///     for time in [2.0, 4.0, 9.0] {
///         let latency = &latency;
///         scope.spawn(move || latency.record(time));
///     }
/// });
/// let summary = latency.summary();
/// assert_eq!((summary.count(), summary.sum()), (3, 15.0));
/// assert_eq!((summary.min(), summary.max()), (Some(2.0), Some(9.0)));
/// assert_eq!((summary.mean(), summary.variance()), (Some(5.0), Some(13.0)));
/// ```
pub struct Statistics {
    shared: Resilient<Tally>,
}

/// Statistics of recorded numbers at one moment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    count: u64,
    /// The sum. `rest` collects the digits that `sum` loses (Neumaier 1974).
    sum: f64,
    rest: f64,
    /// The mean, and the sum of squared distances from it. Both are updated with each number (Welford
    /// 1962). A variance computed from the sum of numbers and the sum of squares would lose all digits
    /// if the mean is large.
    mean: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl Summary {
    const EMPTY: Summary = Summary {
        count: 0,
        sum: 0.0,
        rest: 0.0,
        mean: 0.0,
        squares: 0.0,
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
    };

    fn record(&mut self, x: f64) {
        self.count += 1;
        let sum = self.sum + x;
        let (large, small) = if self.sum.abs() >= x.abs() { (self.sum, x) } else { (x, self.sum) };
        self.rest += (large - sum) + small;
        self.sum = sum;
        let distance = x - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (x - self.mean);
        self.min = self.min.min(x);
        self.max = self.max.max(x);
    }

    fn if_any(&self, value: f64) -> Option<f64> {
        (self.count > 0).then_some(value)
    }

    /// Returns the number of recorded numbers.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of the recorded numbers.
    pub fn sum(&self) -> f64 {
        self.sum + self.rest
    }

    /// Returns the mean, or `None` if no number was recorded.
    pub fn mean(&self) -> Option<f64> {
        self.if_any(self.mean)
    }

    /// Returns the sample variance (the divisor is count - 1), or `None` for fewer than two numbers.
    pub fn variance(&self) -> Option<f64> {
        (self.count > 1).then(|| self.squares / (self.count - 1) as f64)
    }

    /// Returns the square root of the [variance](Self::variance).
    pub fn standard_deviation(&self) -> Option<f64> {
        self.variance().map(f64::sqrt)
    }

    /// Returns the smallest number, or `None` if no number was recorded.
    pub fn min(&self) -> Option<f64> {
        self.if_any(self.min)
    }

    /// Returns the largest number, or `None` if no number was recorded.
    pub fn max(&self) -> Option<f64> {
        self.if_any(self.max)
    }
}

#[derive(Clone)]
struct Tally(Summary);

enum Op {
    Record(f64),
    RecordAll(Vec<f64>),
    Take,
}

impl Object for Tally {
    type Op = Op;
    /// The summary before the operation.
    type Ret = Summary;

    fn apply(&mut self, op: &Op) -> Summary {
        let before = self.0;
        match op {
            Op::Record(x) => self.0.record(*x),
            Op::RecordAll(all) => all.iter().for_each(|&x| self.0.record(x)),
            Op::Take => self.0 = Summary::EMPTY,
        }
        before
    }
}

impl Statistics {
    /// Creates empty statistics. At most `k` threads run operations at once.
    ///
    /// # Panics
    /// Panics if `k` is not between 1 and 64.
    pub fn new(k: usize) -> Self {
        Statistics { shared: Resilient::new(k, Tally(Summary::EMPTY)) }
    }

    /// Records a number.
    ///
    /// # Panics
    /// Panics if `x` is infinite or not a number, because it would make every later summary useless.
    pub fn record(&self, x: f64) {
        assert!(x.is_finite(), "only finite numbers can be recorded, got {x}");
        self.shared.apply(Op::Record(x));
    }

    /// Records all numbers in one operation.
    ///
    /// # Panics
    /// Panics if one of the numbers is infinite or not a number. In that case no number is recorded.
    pub fn record_all(&self, all: impl IntoIterator<Item = f64>) {
        let all: Vec<_> = all.into_iter().collect();
        all.iter()
            .for_each(|x| assert!(x.is_finite(), "only finite numbers can be recorded, got {x}"));
        self.shared.apply(Op::RecordAll(all));
    }

    /// Returns the summary of the numbers that were recorded since the last [`take`](Self::take), or since the
    /// beginning.
    pub fn summary(&self) -> Summary {
        self.shared.read(|tally| tally.0)
    }

    /// Returns the summary and removes all numbers. So each number is in at most one of the summaries that `take`
    /// returns. This is useful for periodic reports.
    ///
    /// ```
    /// # use hallpass_objects::Statistics;
    /// let statistics = Statistics::new(2);
    /// statistics.record_all([1.0, 2.0]);
    /// assert_eq!(statistics.take().count(), 2);
    /// assert_eq!(statistics.take().mean(), None);
    /// ```
    pub fn take(&self) -> Summary {
        self.shared.apply(Op::Take)
    }

    /// Returns k: the object tolerates k - 1 stopped threads.
    pub fn k(&self) -> usize {
        self.shared.k()
    }
}

impl fmt::Debug for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statistics").field("k", &self.k()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: impl IntoIterator<Item = f64>) -> Summary {
        let mut summary = Summary::EMPTY;
        numbers.into_iter().for_each(|x| summary.record(x));
        summary
    }

    #[test]
    fn variance_stays_exact_with_a_large_mean() {
        // A variance computed from the sum of numbers and the sum of squares would be negative.
        let summary = of([4.0, 7.0, 13.0, 16.0].map(|x| x + 1e9));
        assert_eq!(summary.mean(), Some(1e9 + 10.0));
        assert_eq!(summary.variance(), Some(30.0));
    }

    #[test]
    fn sum_keeps_the_digits_that_large_numbers_hide() {
        assert_eq!(of([1.0, 1e100, 1.0, -1e100]).sum(), 2.0);
        let many = of((0..1_000_000).map(|_| 0.1));
        assert!((many.sum() - 100_000.0).abs() < 1e-9, "{}", many.sum());
        assert!((many.mean().unwrap() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn summaries_of_no_number_and_one_number() {
        assert_eq!(of([]).mean(), None);
        assert_eq!(of([]).max(), None);
        assert_eq!((of([3.0]).mean(), of([3.0]).variance()), (Some(3.0), None));
    }
}
