//! The report as one HTML page. The page contains its style and its script, and loads nothing else.
//! It is readable without the script, and follows the reader's light or dark theme. It links to the
//! pages of [`run_pages`](super::run_pages).

mod bounds;
mod tables;
mod wrong;

use std::fmt::Write as _;

use crate::counted::counted;

use super::{
    cells::{self, LEGEND, LIMITS},
    run::{AtlasReport, Status},
    sections::{self, Family, Group},
};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Renders the report as an HTML page.
pub fn html(report: &AtlasReport) -> String {
    let families = sections::families(report);
    let wrong = sections::wrong(report);
    let mut page =
        String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    let _ = write!(
        page,
        "<title>Atlas of k-exclusion</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    );
    header(&mut page, report, &families, &wrong);
    page.push_str("<main>\n");
    reading(&mut page);
    remarks(&mut page, report);
    bounds::section(&mut page, &families, report.not_selected);
    for (number, family) in families.iter().enumerate() {
        tables::section(&mut page, number, family);
    }
    wrong::section(&mut page, &wrong);
    page.push_str("</main>\n");
    let _ = write!(
        page,
        "<footer>hallpass {} &middot; <code>hallpass-lab atlas</code></footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    page
}

/// Escapes text for HTML elements and quoted attributes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Writes a formula of the registry with mathematical signs.
fn formula(text: &str) -> String {
    text.replace("ceil(log2(n/k))", "⌈log₂(n/k)⌉").replace('-', "−")
}

fn verdict(report: &AtlasReport) -> (&'static str, String) {
    let of = counted(report.entries.len(), "model");
    match report.status() {
        Status::AsExpected => ("good", format!("All {of} are as expected")),
        Status::Differs => {
            ("bad", format!("{} of {of} not as expected", report.count(Status::Differs)))
        }
        Status::Partial => {
            let unseen = report.count(Status::Partial) + report.unreached.len();
            ("partial", format!("Partial: {} not explored to the end", counted(unseen, "model")))
        }
    }
}

fn header(page: &mut String, report: &AtlasReport, families: &[Family<'_>], wrong: &[Group<'_>]) {
    let (class, sentence) = verdict(report);
    let count = wrong::Count::of(wrong);
    let algorithms: usize = families.iter().map(|family| family.groups.len()).sum();
    let _ = write!(
        page,
        "<header>\n<h1>Atlas of k-exclusion</h1>\n<p class=\"lead\">Every interleaving of every \
         algorithm, at the sizes listed: which properties hold, how many remote memory references the \
         worst passage makes, and whether these results agree with the source of the algorithm: a paper, a \
         file or hallpass itself.</p>\n\
         <p class=\"verdict {class}\">{sentence}</p>\n<dl class=\"tiles\">"
    );
    let rejected = (count.all > 0).then(|| format!("{} of {}", count.rejected(), count.all));
    for (what, value) in [
        ("algorithms", Some(algorithms.to_string())),
        ("models", Some(report.entries.len().to_string())),
        ("states", Some(cells::thousands(report.states()))),
        ("wrong variants rejected", rejected),
        ("time", Some(duration(report.seconds))),
    ] {
        let Some(value) = value else { continue };
        let _ = write!(page, "<div><dd>{value}</dd><dt>{what}</dt></div>");
    }
    page.push_str("</dl>\n");
    if count.all > 0 {
        let _ = writeln!(page, "<p class=\"lead\">{}</p>", count.sentence());
    }
    page.push_str("<nav><a href=\"#bounds\">Bounds</a>");
    let one_paper = families.iter().all(|family| family.paper == families[0].paper);
    for (number, family) in families.iter().enumerate() {
        let name = if one_paper { family.figure.to_string() } else { family.title() };
        let _ = write!(page, "<a href=\"#family-{number}\">{}</a>", escape(&name));
    }
    if count.all > 0 {
        page.push_str("<a href=\"#wrong\">Wrong variants</a>");
    }
    page.push_str(
        "<input id=\"filter\" type=\"search\" placeholder=\"filter: fig8 n=3 …\" \
         aria-label=\"Show only rows with these words\" hidden></nav>\n</header>\n",
    );
}

fn duration(seconds: f64) -> String {
    if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}

/// Writes differences and incomplete results before all tables, because readers look for them.
fn remarks(page: &mut String, report: &AtlasReport) {
    for (heading, class, lines) in [
        ("Not as expected", "bad", report.differences()),
        ("Not explored to the end", "partial", report.unseen()),
    ] {
        if lines.is_empty() {
            continue;
        }
        let _ = write!(page, "<section class=\"remarks {class}\"><h2>{heading}</h2>\n<ul>");
        for line in lines {
            let _ = write!(page, "<li>{}</li>", escape(&line));
        }
        page.push_str("</ul></section>\n");
    }
}

/// Writes the legend, and the scope of the results.
fn reading(page: &mut String) {
    page.push_str("<section id=\"reading\">\n<p class=\"key\">");
    for (class, words) in [
        ("holds", "✓ holds"),
        ("violated", "✗ violated"),
        ("unpromised", "✗ violated, but the source does not promise it"),
        ("tight", "tight: some run reaches the stated bound"),
        ("loose", "loose: no run reaches it"),
        ("exceeded", "exceeded: some run needs more"),
        ("partial", "partial: not explored to the end"),
        ("differs", "not as expected"),
    ] {
        let _ = write!(page, "<span class=\"{class}\">{words}</span>");
    }
    page.push_str(
        "</p>\n<details><summary>All marks, and the scope of these results</summary>\n\
         <div class=\"columns\"><div>\n<dl class=\"legend\">",
    );
    for (mark, meaning) in LEGEND {
        let _ = write!(page, "<dt>{}</dt><dd>{}</dd>", escape(mark), escape(meaning));
    }
    page.push_str("</dl>\n</div><div><h3>Scope of these results</h3>\n<ul class=\"limits\">");
    for limit in LIMITS {
        let (what, rest) = limit.split_once(": ").unwrap_or(("", limit));
        if what.is_empty() || what.len() > 40 {
            let _ = write!(page, "<li>{}</li>", escape(limit));
        } else {
            let _ = write!(page, "<li><b>{}</b>: {}</li>", escape(what), escape(rest));
        }
    }
    page.push_str("</ul></div></div></details></section>\n");
}
