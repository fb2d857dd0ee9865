//! Quartiles of samples.

use serde::Serialize;

use super::statistics::median;

/// The median, and the medians of the lower and the upper half.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Quartiles {
    /// The lower quartile: a quarter of the values lies below it.
    pub lower: f64,
    /// The median: half of the values lies below it.
    pub median: f64,
    /// The upper quartile: a quarter of the values lies above it.
    pub upper: f64,
}

impl Quartiles {
    /// Returns the quartiles of `values`, or `None` if there are no values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Quartiles> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let half = values.len().div_ceil(2);
        Some(Quartiles {
            lower: median(values[..half].to_vec())?,
            median: median(values.clone())?,
            upper: median(values[values.len() - half..].to_vec())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_halves_contain_the_middle_value() {
        let quartiles = Quartiles::of([5.0, 1.0, 2.0, 4.0, 3.0]);
        assert_eq!(quartiles, Some(Quartiles { lower: 2.0, median: 3.0, upper: 4.0 }));
        assert_eq!(Quartiles::of([]), None);
    }
}
