//! Puts what was measured into a manifest, which keeps its order and its comments.

use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use super::{
    expected::{OPEN, UNLIMITED},
    manifest::{AtlasModel, Error, Listed, Manifest},
    run::{AtlasReport, Measured},
};
use crate::{
    check::{self, Outcome, Verdict},
    explore::Ended,
    graph::Bound,
    rmr::Figure,
};

/// The manifest with what was measured instead of what was expected.
///
/// What was not seen to the end stays as it is: a limit must not become an expectation.
pub fn bless(text: &str, report: &AtlasReport) -> Result<String, Error> {
    // It must be a manifest before and after.
    Manifest::parse(text)?;
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| Error::new(error.to_string()))?;
    if report.entries.is_empty() {
        return Ok(text.to_string());
    }
    let models = document.get_mut("model").and_then(Item::as_array_of_tables_mut);
    let models = models.ok_or_else(|| {
        Error::new("only models that are written as [[model]] can be blessed".into())
    })?;
    for entry in &report.entries {
        if let Some(table) = models.get_mut(entry.index) {
            model(table, &entry.model, &entry.measured);
        }
    }
    let text = document.to_string();
    Manifest::parse(&text)?;
    Ok(text)
}

fn model(table: &mut Table, model: &AtlasModel, measured: &Measured) {
    if let Some(states) = complete_states(measured) {
        set(table, "states", i64::try_from(states).unwrap_or(i64::MAX).into());
    }
    if let (Some(report), Some(listed)) = (measured.check_report(), subtable(table, "check")) {
        for &property in model.check.keys() {
            if let Some(value) = outcome(report, property) {
                set(listed, property.name(), value);
            }
        }
    }
    if let (Some(report), Some(listed)) = (measured.rmr_report(), subtable(table, "rmr")) {
        for (name, figure) in [("cc", &report.cc), ("dsm", &report.dsm)] {
            if listed.contains_key(name) && figure.exact {
                set(listed, name, worst(figure));
            }
        }
    }
}

/// Nothing unless every exploration was complete and found as many.
fn complete_states(measured: &Measured) -> Option<u64> {
    let check = measured.check_report().map(|report| (report.states, report.ended));
    let rmr = measured.rmr_report().map(|report| (report.states, report.ended));
    let mut found = [check, rmr].into_iter().flatten();
    let (states, ended) = found.next()?;
    let agree = found.all(|other| other == (states, ended));
    (ended == Ended::Complete && agree).then_some(states)
}

fn subtable<'a>(table: &'a mut Table, name: &str) -> Option<&'a mut dyn TableLike> {
    table.get_mut(name)?.as_table_like_mut()
}

/// Replaces a value and keeps what stands around it.
fn set(table: &mut dyn TableLike, name: &str, mut new: Value) {
    match table.get_mut(name) {
        Some(Item::Value(old)) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        _ => {
            table.insert(name, value(new));
        }
    }
}

fn outcome(report: &check::Report, listed: Listed) -> Option<Value> {
    // Only a range that is left is in the report.
    let Some(outcome) = report.properties.get(listed.name()) else {
        return report.is_complete().then(|| "holds".into());
    };
    let verdict = match outcome.verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Partial => return None,
        // The algorithm has no such property: back to being open, so that somebody looks.
        Verdict::NotChecked => OPEN,
    };
    Some(with_numbers(listed, verdict, outcome))
}

fn with_numbers(listed: Listed, verdict: &str, outcome: &Outcome) -> Value {
    let mut long = InlineTable::new();
    long.insert("verdict", verdict.into());
    if matches!(listed, Listed::Starvation | Listed::Deadlock) {
        long.insert("resilience", outcome.resilience.map_or(UNLIMITED.into(), number));
    }
    match outcome.bound {
        Some(Bound::Most(steps)) => drop(long.insert("bound", i64::from(steps).into())),
        Some(unbounded) => drop(long.insert("bound", unbounded.to_string().into())),
        None => {}
    }
    if long.len() == 1 { verdict.into() } else { long.into() }
}

fn number(number: usize) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

fn worst(figure: &Figure) -> Value {
    let mut table = InlineTable::new();
    table.insert(
        "worst",
        match figure.worst {
            Bound::Most(count) => i64::from(count).into(),
            Bound::Unbounded => figure.worst.to_string().into(),
        },
    );
    if let Some(claim) = &figure.claim {
        table.insert("claim", i64::try_from(claim.bound).unwrap_or(i64::MAX).into());
    }
    table.into()
}
