//! The table of a family (the algorithms that are based on one figure). Each algorithm is one body of rows.

use std::fmt::Write as _;

use hallpass_algorithms::registry::CostModel;

use super::super::{
    cells::{self, Cell, CellKind, PROPERTIES},
    listed::Listed,
    run::{Entry, Status},
    runs,
    sections::{self, Family, Group},
};
use super::{escape, formula};

pub(super) fn class(kind: CellKind) -> &'static str {
    match kind {
        CellKind::Holds => "holds",
        CellKind::Violated => "violated",
        CellKind::Unpromised => "unpromised",
        CellKind::Unlisted => "unlisted",
        CellKind::Partial => "partial",
        CellKind::Differs => "differs",
        CellKind::Tight => "tight",
        CellKind::Loose => "loose",
        CellKind::Exceeded => "exceeded",
        CellKind::Plain => "plain",
    }
}

pub(super) fn section(page: &mut String, number: usize, family: &Family<'_>) {
    let _ = write!(
        page,
        "<section id=\"family-{number}\"><h2>{}</h2>\n<div class=\"wide\"><table class=\"models\">\n",
        escape(&family.title())
    );
    let listed = |listed: Listed| {
        let mut entries = family.groups.iter().flat_map(|group| &group.entries);
        entries.any(|entry| entry.model.check.contains_key(&listed))
    };
    let shown: Vec<_> = PROPERTIES.into_iter().filter(|(property, _)| listed(*property)).collect();
    page.push_str("<thead><tr>");
    let heads = ["n", "k", "c", "states"].into_iter();
    let heads = heads.chain(shown.iter().map(|(_, head)| *head)).chain(["CC", "DSM", "time"]);
    let heads: Vec<&str> = heads.collect();
    for head in &heads {
        let _ = write!(page, "<th scope=\"col\">{head}</th>");
    }
    page.push_str("</tr></thead>\n");
    for group in &family.groups {
        body(page, group, &shown, heads.len());
    }
    page.push_str("</table></div></section>\n");
}

fn body(page: &mut String, group: &Group<'_>, shown: &[(Listed, &str)], columns: usize) {
    let about = group.about;
    let names = if group.names { ", with names (Fig. 1, Lemma 1)" } else { "" };
    let bound = |bound: hallpass_algorithms::registry::RmrBound| {
        let machine = match bound.model {
            CostModel::Cc => "CC",
            CostModel::Dsm => "DSM",
        };
        let names = if group.names { " + min(k, c) + 1" } else { "" };
        format!(" · {} states {machine} ≤ {}{names}", bound.source, formula(bound.formula))
    };
    let bounds: String = about.bounds().map(bound).collect();
    let _ = writeln!(
        page,
        "<tbody data-algorithm=\"{id}\"><tr class=\"group\"><th colspan=\"{columns}\" scope=\"rowgroup\">\
         <code>{id}</code> {} <small>{}</small></th></tr>",
        escape(&format!("{}{names}", about.title)),
        escape(&format!("{} · uses {}{bounds}", about.figure, about.primitives)),
        id = escape(group.id),
    );
    for entry in &group.entries {
        row(page, entry, shown);
    }
    page.push_str("</tbody>\n");
}

fn row(page: &mut String, entry: &Entry, shown: &[(Listed, &str)]) {
    let model = &entry.model;
    let status = match entry.status() {
        Status::AsExpected => "",
        Status::Partial => " class=\"is-partial\"",
        Status::Differs => " class=\"is-different\"",
    };
    let _ = write!(page, "<tr data-id=\"{}\"{status}>", escape(&model.id()));
    let _ = write!(page, "<td>{}</td><td>{}</td><td>{}", model.n, model.k, model.contention());
    for part in model.particulars().iter().filter(|part| !part.starts_with("c=")) {
        let _ = write!(page, " <small class=\"tag\">{}</small>", escape(part));
    }
    page.push_str("</td>");
    let states = entry.measured.states().unwrap_or_default();
    cell(page, &cells::states(entry), Some(magnitude(states)), "states ", None);
    for &(property, _) in shown {
        let name = property.name();
        let has_run = runs::violations(entry).any(|(violated, _)| violated == name);
        let link = has_run.then(|| runs::link(entry, name));
        cell(page, &cells::property(entry, property), None, "", link);
    }
    for model in [CostModel::Cc, CostModel::Dsm] {
        let found = cells::figure(entry, model);
        let share = found.share;
        let machine = match model {
            CostModel::Cc => "CC",
            CostModel::Dsm => "DSM",
        };
        let has_run = sections::exceeded(entry).any(|(exceeded, _)| exceeded == machine);
        let link = has_run.then(|| runs::link(entry, machine));
        cell(page, &found, share, "figure ", link);
    }
    let _ = writeln!(page, "<td class=\"time\">{:.1} s</td></tr>", entry.measured.seconds);
}

/// Returns the length of the bar for a number of states, in percent. A hundred million states fill the
/// bar. With ten times fewer states, the bar is shorter by an eighth of its full length.
fn magnitude(states: u64) -> u64 {
    let digits = (states.max(1) as f64).log10();
    ((digits / 8.0).min(1.0) * 100.0) as u64
}

/// Writes a cell. `share` is the length of a bar behind the text, in percent. `more` is a CSS class for this kind of
/// cell, or empty. `link` is the page of the run that shows the result.
fn cell(page: &mut String, cell: &Cell, share: Option<u64>, more: &str, link: Option<String>) {
    let _ = write!(page, "<td class=\"{more}{}\"", class(cell.kind));
    if let Some(share) = share {
        let _ = write!(page, " style=\"--share:{share}%\"");
    }
    if !cell.hint.is_empty() {
        let _ = write!(page, " title=\"{}\"", escape(&cell.hint));
    }
    let _ = match link {
        Some(link) => write!(page, "><a href=\"{link}\">{}</a></td>", escape(&cell.text)),
        None => write!(page, ">{}</td>", escape(&cell.text)),
    };
}
