//! The report as one HTML page that needs nothing else: no fonts, scripts or styles from elsewhere,
//! readable without its script, light or dark as the reader's system is.

mod claims;
mod tables;
mod wrong;

use std::fmt::Write as _;

use super::{
    cells::{self, LEGEND, LIMITS},
    run::{AtlasReport, Status},
    sections::{self, Family, Group},
};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The report as an HTML page.
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
    remarks(&mut page, report);
    claims::section(&mut page, &families);
    for (number, family) in families.iter().enumerate() {
        tables::section(&mut page, number, family);
    }
    wrong::section(&mut page, &wrong);
    reading(&mut page);
    page.push_str("</main>\n");
    let _ = write!(
        page,
        "<footer>hallpass {} &middot; <code>hallpass lab atlas</code></footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    page
}

/// `text` where it stands between tags or in an attribute.
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

/// A formula of the registry's with a mathematician's signs.
fn formula(text: &str) -> String {
    text.replace("ceil(log2(n/k))", "⌈log₂(n/k)⌉").replace('-', "−")
}

/// `1 model`, `2 models`.
fn counted(count: usize, one: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {one}{s}")
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
            ("partial", format!("Partial: {} not seen to the end", counted(unseen, "model")))
        }
    }
}

fn header(page: &mut String, report: &AtlasReport, families: &[Family<'_>], wrong: &[Group<'_>]) {
    let (class, sentence) = verdict(report);
    let caught = wrong.iter().filter(|group| group.caught().is_some()).count();
    let algorithms: usize = families.iter().map(|family| family.groups.len()).sum();
    let _ = write!(
        page,
        "<header>\n<h1>Atlas of k-exclusion</h1>\n<p class=\"lead\">Every interleaving of every \
         algorithm here, at the sizes listed: what holds, what does not, how many remote memory \
         references the worst passage makes, and whether that is what the paper says.</p>\n\
         <p class=\"verdict {class}\">{sentence}</p>\n<dl class=\"tiles\">"
    );
    for (what, value) in [
        ("algorithms", algorithms.to_string()),
        ("models", report.entries.len().to_string()),
        ("states", cells::thousands(report.states())),
        ("wrong variants caught", format!("{caught} of {}", wrong.len())),
        ("time", duration(report.seconds)),
    ] {
        let _ = write!(page, "<div><dd>{value}</dd><dt>{what}</dt></div>");
    }
    page.push_str("</dl>\n<nav><a href=\"#claims\">Claims</a>");
    let one_paper = families.iter().all(|family| family.paper == families[0].paper);
    for (number, family) in families.iter().enumerate() {
        let name = if one_paper { family.figure.to_string() } else { family.title() };
        let _ = write!(page, "<a href=\"#family-{number}\">{}</a>", escape(&name));
    }
    page.push_str(
        "<a href=\"#wrong\">Wrong variants</a><a href=\"#reading\">How to read this</a>\
         <input id=\"filter\" type=\"search\" placeholder=\"filter: fig8 n=3 …\" \
         aria-label=\"Show only rows with these words\" hidden></nav>\n</header>\n",
    );
}

fn duration(seconds: f64) -> String {
    if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}

/// Writes differences and incomplete results first: readers look for them.
fn remarks(page: &mut String, report: &AtlasReport) {
    for (heading, class, lines) in [
        ("Not as expected", "bad", report.differences()),
        ("Not seen to the end", "partial", report.unseen()),
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

/// Writes the legend, and the scope of the verdicts.
fn reading(page: &mut String) {
    page.push_str("<section id=\"reading\"><h2>How to read this</h2>\n<div class=\"columns\"><div>\n<p class=\"key\">");
    for (class, words) in [
        ("holds", "holds"),
        ("violated", "violated"),
        ("unpromised", "violated, and not promised"),
        ("tight", "tight"),
        ("loose", "loose"),
        ("exceeded", "exceeded"),
        ("partial", "partial"),
        ("differs", "not as expected"),
    ] {
        let _ = write!(page, "<span class=\"{class}\">{words}</span>");
    }
    page.push_str("</p>\n<dl class=\"legend\">");
    for (mark, meaning) in LEGEND {
        let _ = write!(page, "<dt>{}</dt><dd>{}</dd>", escape(mark), escape(meaning));
    }
    page.push_str("</dl>\n</div><div><h3>In what sense</h3>\n<ul class=\"limits\">");
    for limit in LIMITS {
        let (what, rest) = limit.split_once(": ").unwrap_or(("", limit));
        if what.is_empty() || what.len() > 40 {
            let _ = write!(page, "<li>{}</li>", escape(limit));
        } else {
            let _ = write!(page, "<li><b>{}</b>: {}</li>", escape(what), escape(rest));
        }
    }
    page.push_str("</ul></div></div></section>\n");
}
