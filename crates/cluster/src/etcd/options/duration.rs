//! Durations in Go's notation.

use std::time::Duration;

/// The units. If one unit begins with another, the longer one comes first.
const UNITS: [(&str, f64); 7] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
];

/// Parses one or more numbers with a unit each: `5s`, `500ms`, `1m30s`, `1.5h`.
pub(super) fn parse(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut rest = text;
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let (unit, worth) = UNITS.iter().find(|(unit, _)| after.starts_with(unit))?;
        seconds += number.parse::<f64>().ok()? * worth;
        rest = &after[unit.len()..];
        if rest.is_empty() {
            return Duration::try_from_secs_f64(seconds).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed_as_go_writes_them() {
        for (text, milliseconds) in [
            ("5s", 5000),
            ("500ms", 500),
            ("1m30s", 90_000),
            ("1.5h", 5_400_000),
            ("250000us", 250),
        ] {
            assert_eq!(parse(text), Some(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "5", "s", "5 s", "-5s", "5s3", "5d", "1..5s", "inf"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
