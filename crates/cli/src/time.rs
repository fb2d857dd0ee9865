//! Parses and formats durations.

use std::time::Duration;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

const NOT_A_TIME: &str =
    "a time is a number, with or without one of the units s, m, h and d, such as 10 or 1.5m";

/// Reads a time as `timeout(1)` and `sleep(1)` do: `1.5`, `1.5s`, `2m`, `.5h`, `1d`.
pub fn parse(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.as_bytes().last() {
        Some(b's') => (&text[..text.len() - 1], 1),
        Some(b'm') => (&text[..text.len() - 1], MINUTE),
        Some(b'h') => (&text[..text.len() - 1], HOUR),
        Some(b'd') => (&text[..text.len() - 1], DAY),
        _ => (text, 1),
    };
    // `f64` also parses `inf` and `1e3`, which are not accepted here.
    if !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(NOT_A_TIME.into());
    }
    let seconds: f64 = number.parse().map_err(|_| NOT_A_TIME.to_string())?;
    // A time that does not fit into a `Duration` becomes the longest `Duration`: a time limit that never ends.
    Ok(Duration::try_from_secs_f64(seconds * unit as f64).unwrap_or(Duration::MAX))
}

/// Formats a time in its two largest units: `12s`, `3m12s`, `2h05m`, `3d04h`.
pub fn short(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        ..MINUTE => format!("{seconds}s"),
        MINUTE..HOUR => format!("{}m{:02}s", seconds / MINUTE, seconds % MINUTE),
        HOUR..DAY => format!("{}h{:02}m", seconds / HOUR, seconds % HOUR / MINUTE),
        DAY.. => format!("{}d{:02}h", seconds / DAY, seconds % DAY / HOUR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_sleep_reads_them() {
        for (text, milliseconds) in [
            ("0", 0),
            ("10", 10_000),
            ("1.5", 1_500),
            (".25", 250),
            ("2.", 2_000),
            ("3s", 3_000),
            ("0.1m", 6_000),
            ("2h", 7_200_000),
            ("1d", 86_400_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in
            ["", "s", ".", "-1", "+1", "1e3", "inf", "nan", "1 s", "1w", "1ss", "1.2.3", "é"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(parse(&"9".repeat(40)), Ok(Duration::MAX));
    }

    #[test]
    fn times_are_shown_in_two_units() {
        for (seconds, text) in [
            (0, "0s"),
            (59, "59s"),
            (192, "3m12s"),
            (3_600, "1h00m"),
            (7_505, "2h05m"),
            (86_399, "23h59m"),
            (86_400, "1d00h"),
            (8_640_000, "100d00h"),
        ] {
            assert_eq!(short(Duration::from_secs(seconds)), text);
        }
    }
}
