//! What was measured, as text.

use std::fmt::Write as _;

use crate::{
    contestants::Order,
    report::{LeftOut, Outcome, PERCENTILES, Report, Row},
};

/// One table a workload, with a line on how it was measured.
pub fn table(report: &Report) -> String {
    let mut text = String::new();
    for outcome in report.workloads.iter().filter(|outcome| !outcome.rows.is_empty()) {
        let _ = writeln!(text, "{}: {}", outcome.workload.name(), outcome.workload);
        text.push_str(&columns(&lines(outcome), 2));
        text.push_str(&left_out(&outcome.left_out));
        text.push('\n');
    }
    text.push_str(&footnote(report));
    text
}

/// Lines of as many cells each, in columns: the first `words` of them begin where the column does, the
/// others, which are numbers, end there.
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

/// A line for each reason, and whom it keeps out.
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

/// How it was measured, in a line.
pub fn footnote(report: &Report) -> String {
    let partly = if report.complete { "" } else { "; stopped before the end" };
    let plural = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let (cores, rounds) = (plural(report.cores, "core"), plural(report.rounds, "round"));
    let time = report.time_ms;
    format!("{cores}; medians of {rounds} of {time} ms, contestants in turns{partly}\n")
}

/// The heading and a line for each contestant.
fn lines(outcome: &Outcome) -> Vec<Vec<String>> {
    let waits = outcome.workload.measures_waits();
    let mut heading = vec!["contestant".to_string(), "order".into()];
    match waits {
        true => heading.extend(PERCENTILES.iter().map(|(name, _)| name.to_string())),
        false => heading.extend(["ns/passage", "spread", "x floor", "x tokio"].map(String::from)),
    }
    if outcome.workload.has_rivalry() {
        heading.push("min/mean".into());
    }
    let line = |row: &Row| {
        let ratio = |ratio: Option<f64>| ratio.map_or("-".into(), short);
        let mut line = vec![row.contestant.to_string(), order(row.order).into()];
        match row.waits.filter(|_| waits) {
            Some(waits) => line.extend(waits.map(duration)),
            None => line.extend([
                format!("{:.1}", row.ns),
                format!("{:.0} %", row.spread * 100.0),
                ratio(outcome.to_floor(row)),
                ratio(outcome.to_tokio(row)),
            ]),
        }
        if outcome.workload.has_rivalry() {
            line.push(format!("{:.2}", row.fairness));
        }
        line
    };
    std::iter::once(heading).chain(outcome.rows.iter().map(line)).collect()
}

/// A word for an order.
pub fn order(order: Order) -> &'static str {
    match order {
        Order::Open => "-",
        Order::Fifo => "fifo",
        Order::Everybody => "everybody",
        Order::Barging => "barging",
    }
}

/// Three digits that count.
pub fn short(value: f64) -> String {
    match value {
        _ if value < 9.995 => format!("{value:.2}"),
        _ if value < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Nanoseconds in the unit that suits them.
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
