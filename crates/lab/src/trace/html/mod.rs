//! A trace as one HTML page. The page loads nothing else, and is readable without scripts and on paper.
//!
//! Each process has a column, and time goes downwards. The background of a column shows the section of
//! its process. Each box is a step. It is coloured if the step is a remote reference. Pointing at a box
//! shows the memory after the step.

mod data;
mod rows;

use std::fmt::Write as _;

use hallpass_algorithms::{Pid, registry};

use super::{step::Trace, words};
use crate::{
    catalogue::author,
    schedule::{CostModel, Finding, MemoryModel},
};

const CSS: &str = include_str!("page.css");
const JS: &str = include_str!("page.js");

/// The maximum number of columns beside which the memory is shown. With more columns, the memory is
/// shown below them.
const MOST_BESIDE: usize = 5;

/// Renders the page.
pub fn html(trace: &Trace) -> String {
    let schedule = &trace.schedule;
    let sentence = match trace.confirmed {
        Ok(()) => capital(&words::shows(trace)),
        Err(_) => format!("Not confirmed: {}", words::describe(schedule)),
    };
    let model = match first_model(trace) {
        CostModel::Cc => "cc",
        CostModel::Dsm => "dsm",
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{id}, n = {n}, k = {k}: {title}</title>\n<style>\n{CSS}</style>\n</head>\n\
         <body data-model=\"{model}\">\n{head}<main{wide}>\n<div class=\"run\">\n{table}</div>\n{aside}\
         </main>\n{foot}<script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script>\n{JS}</script>\n</body>\n</html>\n",
        id = escape(&schedule.algorithm),
        n = schedule.n,
        k = schedule.k,
        title = escape(&sentence),
        head = head(trace, &sentence),
        wide = if trace.movers().len() > MOST_BESIDE { " class=\"wide\"" } else { "" },
        table = rows::table(trace),
        aside = aside(trace),
        foot = foot(trace),
        data = data::json(trace),
    )
}

/// Escapes text for HTML elements and quoted attributes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            char => out.push(char),
        }
    }
    out
}

fn capital(sentence: &str) -> String {
    let mut chars = sentence.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + chars.as_str()
}

/// Returns the cost model whose references are coloured at first: the model of the finding, or else the
/// model of the paper's bound.
fn first_model(trace: &Trace) -> CostModel {
    if let Finding::Rmr { model, .. } = trace.schedule.finding {
        return model;
    }
    let entry = registry::entry(&trace.schedule.algorithm).ok();
    entry.and_then(|(entry, _)| entry.bounds().next()).map_or(CostModel::Cc, |claim| claim.model)
}

fn head(trace: &Trace, sentence: &str) -> String {
    let schedule = &trace.schedule;
    let mut out = format!("<header>\n<h1>{}.</h1>\n", escape(sentence));
    if let Err(why) = &trace.confirmed {
        let why = escape(why);
        let _ = writeln!(out, "<p class=\"unconfirmed\">The run does not show this: {why}.</p>");
    }
    out.push_str("<p class=\"about\">");
    let _ = write!(out, "<b>{}</b>", escape(&schedule.algorithm));
    if let Ok((entry, names)) = registry::entry(&schedule.algorithm) {
        let names = if names && !entry.id.contains("names") { ", with names" } else { "" };
        let _ = write!(
            out,
            " &middot; {}{names} &middot; {}, {}",
            escape(entry.title),
            escape(entry.paper),
            escape(entry.figure)
        );
    }
    let (n, k) = (schedule.n, schedule.k);
    let _ = write!(out, " &middot; n = {n}, k = {k}");
    let _ = writeln!(out, " &middot; {}</p>", words::memory_model(schedule.memory));
    let open = words::open_values(trace);
    if !open.is_empty() {
        let values: Vec<String> =
            open.iter().map(|(name, value)| escape(&format!("{name} = {value}"))).collect();
        let _ = writeln!(
            out,
            "<p class=\"about\">Initial values that {} leaves open: <code>{}</code></p>",
            author(&schedule.algorithm),
            values.join("</code>, <code>")
        );
    }
    let _ = writeln!(
        out,
        "<p class=\"replay\"><span>Replay</span><code id=\"replay\">{}</code>\
         <button type=\"button\" id=\"copy\">Copy</button></p>",
        escape(&trace.replay)
    );
    let _ = writeln!(
        out,
        "<p class=\"about\">Play it in the explorer: <code>hallpass-lab explore {}</code></p>",
        escape(&trace.replay)
    );
    out.push_str(&legend(trace));
    out.push_str("</header>\n");
    out
}

fn legend(trace: &Trace) -> String {
    let mut out = String::from("<div class=\"legend\">\n<span class=\"key\">");
    for (class, name) in rows::SECTIONS {
        let _ = write!(out, "<span><i class=\"{class}\"></i>{name}</span>");
    }
    if trace.stops().iter().any(Option::is_some) {
        out.push_str("<span><i class=\"stopped\"></i>\u{271d} stopped forever</span>");
    }
    out.push_str(
        "</span>\n<span class=\"key\"><span><i class=\"box\"></i>a step</span>\
         <span><i class=\"box hot\"></i>remote reference, numbered within its passage</span></span>\n\
         <span class=\"toggle\" role=\"group\" aria-label=\"Which references are remote\">\
         <button type=\"button\" data-model=\"cc\">cache-coherent</button>\
         <button type=\"button\" data-model=\"dsm\">distributed memory</button></span>\n</div>\n",
    );
    out
}

/// Renders the initial memory, which the script updates.
fn aside(trace: &Trace) -> String {
    let mut out = String::from(
        "<aside>\n<h2 id=\"when\">Initial memory</h2>\n<table class=\"memory\"><tbody>\n",
    );
    for (decl, &value) in trace.vars.iter().zip(&trace.schedule.initial) {
        let home = match decl.home {
            Some(p) => format!(" title=\"in the memory of process {p}\""),
            None => String::new(),
        };
        let (name, value) = (escape(&decl.name), escape(&decl.show(value)));
        let _ = writeln!(out, "<tr{home}><th scope=\"row\">{name}</th><td>{value}</td></tr>");
    }
    out.push_str("</tbody></table>\n");
    if trace.schedule.memory == MemoryModel::StoreBuffers {
        out.push_str("<h2>Store buffers</h2>\n<table class=\"buffers\"><tbody>\n");
        for p in trace.movers() {
            let _ = writeln!(out, "<tr data-p=\"{p}\"><th scope=\"row\">{p}</th><td></td></tr>");
        }
        out.push_str("</tbody></table>\n");
    }
    out.push_str("<p class=\"hint\">Point at a step, or click to hold it.</p>\n</aside>\n");
    out
}

fn foot(trace: &Trace) -> String {
    let schedule = &trace.schedule;
    let mut out = String::from("<footer>\n<h2>About this run</h2>\n<ul>\n");
    let memory = match schedule.memory {
        MemoryModel::Sequential => {
            "Memory is sequentially consistent: an access takes effect immediately, for all processes."
        }
        MemoryModel::StoreBuffers => {
            "Stores go through a first-in-first-out buffer per process, as on x86. A store counts as \
             a reference when it leaves the buffer."
        }
    };
    let _ = writeln!(
        out,
        "<li>{memory} One step is one line of {} and at most one access.</li>",
        author(&schedule.algorithm)
    );
    let _ = writeln!(
        out,
        "<li>Cache-coherent: a read is remote unless the reader has a valid copy; a write is \
         remote and invalidates the copies of other processes; {}.</li>",
        words::rules(&trace.conventions).join("; ")
    );
    out.push_str(
        "<li>Distributed memory: an access is remote unless the variable is in the memory of the \
         process.</li>\n",
    );
    if trace.is_lasso() {
        out.push_str(
            "<li>The loop is shown once, with the references of its first round; later rounds may \
             find copies in the cache.</li>\n",
        );
    }
    let idle: Vec<Pid> = (0..schedule.n).filter(|p| !trace.movers().contains(p)).collect();
    if !idle.is_empty() {
        let _ = writeln!(
            out,
            "<li>Processes that take no step are not shown: {}.</li>",
            words::list(idle)
        );
    }
    let _ = writeln!(
        out,
        "<li>This is one run, for n = {} and k = {}. It says nothing about other sizes.</li>\n</ul>\n</footer>",
        schedule.n, schedule.k
    );
    out
}
