//! Figures as tables of text.

use std::fmt::Write as _;

use super::rounds::LeftOut;

/// Aligns the cells of lines in columns. All lines have the same number of cells. The first `words` columns
/// contain words and are aligned to the left. The others contain numbers and are aligned to the right.
pub fn columns(lines: &[Vec<String>], words: usize) -> String {
    let mut text = String::new();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    for line in lines {
        for (column, cell) in line.iter().enumerate() {
            let width = width(column).unwrap_or(0);
            let _ = match column < words {
                true => write!(text, "  {cell:<width$}"),
                false => write!(text, "  {cell:>width$}"),
            };
        }
        text.push('\n');
    }
    text
}

/// Formats one line for each reason, with the contestants that were left out for this reason.
pub fn left_out(out: &[LeftOut]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for LeftOut { contestant, why } in out {
        match reasons.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, names)) => names.push(contestant),
            None => reasons.push((why, vec![contestant])),
        }
    }
    let line =
        |(why, names): (&str, Vec<&str>)| format!("  left out ({why}): {}\n", names.join(", "));
    reasons.into_iter().map(line).collect()
}

/// Puts a heading above rows, for [`columns`].
pub fn with_heading<const N: usize>(
    heading: [&str; N],
    lines: impl Iterator<Item = [String; N]>,
) -> Vec<Vec<String>> {
    std::iter::once(heading.map(String::from)).chain(lines).map(Vec::from).collect()
}

/// Returns the end of the footnote: a note if the run was stopped early.
pub fn unless_complete(complete: bool) -> &'static str {
    if complete { "" } else { "; stopped before the end" }
}

/// Formats a number with three digits, or with all digits before the decimal point if there are more.
pub fn short(value: f64) -> String {
    match value {
        _ if value < 9.995 => format!("{value:.2}"),
        _ if value < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Formats nanoseconds with up to three digits, in the largest unit in which the number is at least 1.
pub fn duration(nanos: f64) -> String {
    match nanos {
        _ if nanos < 999.5 => format!("{nanos:.0} ns"),
        _ if nanos < 999.5e3 => format!("{} us", short(nanos / 1e3)),
        _ if nanos < 999.5e6 => format!("{} ms", short(nanos / 1e6)),
        _ => format!("{} s", short(nanos / 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits_and_a_unit() {
        let units = [(23.4, "23 ns"), (1234.0, "1.23 us"), (56_789.0, "56.8 us"), (2e8, "200 ms")];
        for (nanos, text) in units {
            assert_eq!(duration(nanos), text);
        }
        assert_eq!(duration(999_700.0), "1.00 ms");
    }
}
