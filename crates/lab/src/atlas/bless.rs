//! Writes measured results into the files of a manifest, which lists models with their expected results. The order and
//! the comments within each file stay.

use std::ops::Range;

use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use super::{
    expected::{Answer, OPEN, UNLIMITED},
    files::ManifestFile,
    listed::{Listed, Tier},
    manifest::{AtlasModel, Error, Manifest},
    run::{AtlasReport, Measured},
};
use crate::{
    check::{self, Outcome, Verdict},
    explore::Ended,
    graph::Bound,
    questions,
    rmr::Figure,
};

/// Returns the files with the measured results instead of the expected results.
///
/// A result is not written if a limit of the exploration left it open.
pub fn bless(files: &[ManifestFile], report: &AtlasReport) -> Result<Vec<ManifestFile>, Error> {
    let mut first = 0;
    let blessed = files.iter().map(|file| {
        let models = Manifest::parse(&file.text).map_err(|error| file.error(&error))?.models.len();
        let here = first..first + models;
        first = here.end;
        let text = rewrite(&file.text, report, here).map_err(|error| file.error(&error))?;
        Ok(ManifestFile { path: file.path.clone(), text })
    });
    let blessed = blessed.collect::<Result<Vec<_>, Error>>()?;
    // The blessed files must parse as a manifest.
    Manifest::of(&blessed)?;
    Ok(blessed)
}

/// Returns the text of a file with the measured results. `here` are the indices of its models in the manifest.
fn rewrite(text: &str, report: &AtlasReport, here: Range<usize>) -> Result<String, Error> {
    let entries: Vec<_> =
        report.entries.iter().filter(|entry| here.contains(&entry.index)).collect();
    if entries.is_empty() {
        return Ok(text.to_string());
    }
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| Error::new(error.to_string()))?;
    let models = document.get_mut("model").and_then(Item::as_array_of_tables_mut);
    let models = models.ok_or_else(|| {
        Error::new("only models that are written as [[model]] can be blessed".into())
    })?;
    for entry in entries {
        if let Some(table) = models.get_mut(entry.index - here.start) {
            model(table, &entry.model, &entry.measured);
        }
    }
    Ok(document.to_string())
}

fn model(table: &mut Table, model: &AtlasModel, measured: &Measured) {
    if let Some(states) = complete_states(measured) {
        set(table, "states", i64::try_from(states).unwrap_or(i64::MAX).into());
        if model.states.is_none() {
            set(table, "tier", Tier::of(states).name().into());
        }
    }
    if let (Some(report), Some(listed)) = (measured.check_report(), subtable(table, "check")) {
        for (&property, expected) in &model.check {
            match outcome(report, property, expected.answer) {
                Found::Value(value) => set(listed, property.name(), value),
                Found::NoSuchProperty => drop(listed.remove(property.name())),
                Found::Nothing => {}
            }
        }
        let range = Listed::Range.name();
        let found = report.properties.get(range).map(|outcome| outcome.verdict);
        if !listed.contains_key(range) && found == Some(Verdict::Violated) {
            set(listed, range, "violated".into());
        }
    }
    if let (Some(report), Some(listed)) = (measured.ask_report(), subtable(table, "ask")) {
        for name in model.ask.keys() {
            match report.answers.get(name).map(|answered| &answered.answer) {
                None | Some(questions::Answer::Partial(_)) => {}
                Some(answer) => set(listed, name, answer.to_string().into()),
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

/// Returns the number of states if every exploration was complete and all found the same number.
fn complete_states(measured: &Measured) -> Option<u64> {
    let check = measured.check_report().map(|report| (report.states, report.ended));
    let rmr = measured.rmr_report().map(|report| (report.states, report.ended));
    let ask = measured.ask_report().map(|report| (report.states, report.ended));
    let mut found = [check, rmr, ask].into_iter().flatten();
    let (states, ended) = found.next()?;
    let agree = found.all(|other| other == (states, ended));
    (ended == Ended::Complete && agree).then_some(states)
}

fn subtable<'a>(table: &'a mut Table, name: &str) -> Option<&'a mut dyn TableLike> {
    table.get_mut(name)?.as_table_like_mut()
}

/// Replaces a value. Keeps the white space and the comments around it.
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

/// The result to write for a property.
enum Found {
    Value(Value),
    NoSuchProperty,
    Nothing,
}

fn outcome(report: &check::Report, listed: Listed, expected: Answer) -> Found {
    // The report contains `range` only if a variable has left its range.
    let Some(outcome) = report.properties.get(listed.name()) else {
        return if report.is_complete() { Found::Value("holds".into()) } else { Found::Nothing };
    };
    let verdict = match outcome.verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Partial => return Found::Nothing,
        // The algorithm does not have this property. If the manifest expects an answer, a person has to decide, so the
        // answer becomes `?`.
        Verdict::NotChecked if expected == Answer::Open => return Found::NoSuchProperty,
        Verdict::NotChecked => OPEN,
    };
    Found::Value(with_numbers(listed, verdict, outcome))
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
