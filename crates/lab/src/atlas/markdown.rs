//! The report as Markdown, with one table for each family: the algorithms that are based on one figure of a paper.

use std::fmt::Write as _;

use hallpass_algorithms::registry::{CostModel, Standing};

use super::{
    cells::{self, LEGEND, LIMITS, PROPERTIES},
    run::{AtlasReport, Entry},
    sections::{self, Family, Group},
};
use crate::trace;

/// Writes the report as a Markdown page.
pub fn markdown(report: &AtlasReport) -> String {
    let mut text = String::from("# Atlas\n\n");
    let _ = writeln!(text, "{}\n", report.summary());
    list(&mut text, "Not as expected", &report.differences());
    list(&mut text, "Not explored to the end", &report.unseen());
    for family in sections::families(report) {
        family_table(&mut text, &family);
    }
    questions(&mut text, report);
    wrong(&mut text, &sections::wrong(report));
    text.push_str("## How to read this\n\n");
    for (mark, meaning) in LEGEND {
        let _ = writeln!(text, "- **{mark}**: {meaning}.");
    }
    text.push_str("\n## Scope of these results\n\n");
    for limit in LIMITS {
        let _ = writeln!(text, "- {limit}");
    }
    text
}

fn list(text: &mut String, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "## {heading}\n");
    for line in lines {
        let _ = writeln!(text, "- {line}");
    }
    text.push('\n');
}

fn row(text: &mut String, cells: impl IntoIterator<Item = String>) {
    for cell in cells {
        // A `|` in the text would end the cell.
        let _ = write!(text, "| {} ", cell.replace('|', "\\|"));
    }
    text.push_str("|\n");
}

/// Writes the answers to questions about whole runs, one row for each model.
fn questions(text: &mut String, report: &AtlasReport) {
    let asked =
        report.entries.iter().filter_map(|entry| Some((entry, entry.measured.ask_report()?)));
    let rows: Vec<[String; 2]> = asked
        .map(|(entry, report)| {
            let answers = report.answers.iter();
            let answers: Vec<String> =
                answers.map(|(name, answered)| format!("{name}: {}", answered.answer)).collect();
            [format!("`{}`", entry.model.id()), answers.join(", ")]
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    text.push_str("## Questions about whole runs\n\n");
    row(text, ["model", "answers"].map(String::from));
    row(text, ["---", "---"].map(String::from));
    rows.into_iter().for_each(|cells| row(text, cells));
    text.push('\n');
}

fn family_table(text: &mut String, family: &Family<'_>) {
    let _ = writeln!(text, "## {}\n", family.title());
    let entries: Vec<&Entry> =
        family.groups.iter().flat_map(|group| group.entries.iter().copied()).collect();
    let listed = |listed| entries.iter().any(|entry| entry.model.check.contains_key(&listed));
    let shown: Vec<_> = PROPERTIES.into_iter().filter(|(property, _)| listed(*property)).collect();
    let heads = ["algorithm", "n", "k", "c", "states"].into_iter();
    let heads = heads.chain(shown.iter().map(|(_, head)| *head)).chain(["CC", "DSM", "s"]);
    let heads: Vec<String> = heads.map(String::from).collect();
    let rule: Vec<String> = (0..heads.len())
        .map(|column| if (1..=4).contains(&column) { "--:".into() } else { "---".into() })
        .collect();
    row(text, heads);
    row(text, rule);
    for entry in entries {
        let model = &entry.model;
        let particulars = model.particulars();
        let particulars = particulars.iter().filter(|part| !part.starts_with("c="));
        let name =
            particulars.fold(format!("`{}`", model.algorithm), |name, part| name + " " + part);
        let size = [model.n, model.k, model.contention()].map(|number| number.to_string());
        let properties = shown.iter().map(|&(property, _)| cells::property(entry, property));
        let figures = [CostModel::Cc, CostModel::Dsm].map(|model| cells::figure(entry, model));
        let found = [cells::states(entry)].into_iter().chain(properties).chain(figures);
        row(
            text,
            [name]
                .into_iter()
                .chain(size)
                .chain(found.map(|cell| cell.text))
                .chain([format!("{:.1}", entry.measured.seconds)]),
        );
    }
    text.push('\n');
}

/// Returns the last five cells of the row of a variant for which no exploration has found a
/// violation.
fn uncaught(group: &Group<'_>) -> [String; 5] {
    if let Some(run) = group.recorded.first() {
        let size = format!("n={} k={} (recorded run)", run.n, run.k);
        let steps = (run.stem.len() + run.cycle.len()).to_string();
        let replay = format!("`{}`", trace::encode(run).unwrap_or_default());
        return [size, "too many".into(), trace::describe(run), steps, replay];
    }
    let sizes: Vec<String> = group.entries.iter().map(|entry| entry.model.id()).collect();
    let nowhere = format!("**no violation found** ({})", sizes.join(", "));
    [nowhere, "–".into(), "–".into(), "–".into(), "–".into()]
}

fn wrong(text: &mut String, groups: &[Group<'_>]) {
    if groups.is_empty() {
        return;
    }
    text.push_str("## Wrong as printed, or on purpose\n\n");
    let heads = ["variant", "what is wrong", "caught at", "states", "by", "steps", "replay"];
    row(text, heads.map(String::from));
    row(text, heads.map(|_| "---".to_string()));
    for group in groups {
        let printed = group.about.standing == Standing::Printed;
        let what = format!("{}: {}", group.about.figure, group.about.title);
        let name = format!("`{}`{}", group.id, if printed { " (as printed)" } else { "" });
        let Some((entry, catches)) = group.caught() else {
            row(text, [name, what].into_iter().chain(uncaught(group)));
            continue;
        };
        let model = &entry.model;
        let size = format!("n={} k={}", model.n, model.k);
        let by = catches.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let (steps, replay) = catches.first().map_or(Default::default(), |(_, run)| {
            (run.stem.len() + run.cycle.len(), trace::encode(run).unwrap_or_default())
        });
        let states = cells::states(entry).text;
        row(text, [name, what, size, states, by, steps.to_string(), format!("`{replay}`")]);
    }
    text.push('\n');
}
