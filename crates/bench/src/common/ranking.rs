//! Warnings about rankings that mean nothing because measurements overlap.

/// The median of a contestant, with its spread.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// The name of the contestant.
    pub contestant: &'a str,
    /// The median of the rounds.
    pub median: f64,
    /// The largest distance of a round from the median, as a fraction of the median.
    pub spread: f64,
}

/// Returns a line for each group of neighbours in `ranking` whose measurements overlap. Another run may rank them
/// differently. `ranking` is sorted by the median.
pub fn warnings(ranking: &[Measured<'_>]) -> String {
    let overlap = |one: &Measured<'_>, next: &Measured<'_>| {
        one.median * (1.0 + one.spread) >= next.median * (1.0 - next.spread)
    };
    let groups = ranking.chunk_by(overlap).filter(|group| group.len() > 1);
    let line = |group: &[Measured<'_>]| {
        let names: Vec<&str> = group.iter().map(|one| one.contestant).collect();
        let spread = group.iter().map(|one| one.spread).fold(0.0, f64::max);
        format!(
            "  no ranking (measurements overlap, spread up to {:.0} %): {}\n",
            spread * 100.0,
            names.join(", ")
        )
    };
    groups.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_whose_measurements_overlap_have_no_ranking() {
        let measured = |contestant, median, spread| Measured { contestant, median, spread };
        let ranking = [
            measured("first", 10.0, 0.01),
            measured("second", 20.0, 0.20),
            measured("third", 23.0, 0.05),
            measured("last", 40.0, 0.30),
        ];
        assert_eq!(
            warnings(&ranking),
            "  no ranking (measurements overlap, spread up to 20 %): second, third\n"
        );
        assert_eq!(warnings(&ranking[..2]), "");
    }
}
