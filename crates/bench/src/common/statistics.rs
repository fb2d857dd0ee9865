//! Medians over rounds.

/// Returns the median of the times of all rounds, and the spread: the largest distance of a round from the median, as a
/// fraction of the median. Returns `None` if at least half of the rounds had no passage.
pub fn time_and_spread(nanos: impl Iterator<Item = Option<f64>>) -> Option<(f64, f64)> {
    let nanos: Vec<f64> = nanos.map(|nanos| nanos.unwrap_or(f64::INFINITY)).collect();
    let ns = median(nanos.clone()).filter(|ns| ns.is_finite())?;
    let seen = nanos.iter().filter(|nanos| nanos.is_finite());
    Some((ns, seen.map(|nanos| (nanos - ns).abs() / ns).fold(0.0, f64::max)))
}

/// Returns the value in the middle, or the mean of the two values in the middle.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
        assert_eq!(median(vec![]), None);
    }
}
