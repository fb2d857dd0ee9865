//! Quartiles of samples.

use serde::Serialize;

use super::statistics::median;

/// The median, and what the lower and the upper half have as theirs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Quartiles {
    /// A quarter is below.
    pub lower: f64,
    /// Half is below.
    pub median: f64,
    /// A quarter is above.
    pub upper: f64,
}

impl Quartiles {
    /// Those of these values; none if there are none.
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
    fn halves_share_the_middle_one() {
        let quartiles = Quartiles::of([5.0, 1.0, 2.0, 4.0, 3.0]);
        assert_eq!(quartiles, Some(Quartiles { lower: 2.0, median: 3.0, upper: 4.0 }));
        assert_eq!(Quartiles::of([]), None);
    }
}
