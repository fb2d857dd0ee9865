//! Formats a count with its noun.

/// Formats a count with its noun in the singular or the plural: `1 step`, `2 steps`, `2 processes`.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = match (count, noun.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn a_noun_follows_its_count() {
        assert_eq!(counted(0, "step"), "0 steps");
        assert_eq!(counted(1, "stopped process"), "1 stopped process");
        assert_eq!(counted(2, "stopped process"), "2 stopped processes");
    }
}
