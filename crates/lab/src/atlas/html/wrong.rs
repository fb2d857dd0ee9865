//! The wrong variants: what is wrong with each, and what catches it.

use std::fmt::Write as _;

use hallpass_algorithms::registry::Standing;

use super::{
    super::{cells::thousands, run::Entry, sections::Group},
    counted, escape,
};
use crate::{schedule::Schedule, trace};

pub(super) fn section(page: &mut String, groups: &[Group<'_>]) {
    if groups.is_empty() {
        return;
    }
    page.push_str(
        "<section id=\"wrong\"><h2>Wrong variants</h2>\n<p>A checker that finds nothing wrong may be \
         looking at nothing. These are wrong as printed, or were made wrong on purpose in one place; \
         each is shown at the smallest size (fewest processes, then fewest states) at which something \
         the paper promises is violated. \
         <code>hallpass lab replay</code> steps through a run.</p>\n<div class=\"cards\">\n",
    );
    for group in groups {
        card(page, group);
    }
    page.push_str("</div></section>\n");
}

fn card(page: &mut String, group: &Group<'_>) {
    let printed = match group.about.standing {
        Standing::Printed => "<small class=\"tag\">as printed</small>",
        _ => "",
    };
    let different = group.entries.iter().any(|entry| !entry.comparison.differences.is_empty());
    let _ = write!(
        page,
        "<article data-id=\"{id}\"{}><h3><code>{id}</code>{printed}</h3>\n<p class=\"what\">{}</p>\n",
        if different { " class=\"is-different\"" } else { "" },
        escape(&format!("{}: {}.", group.about.figure, group.about.title)),
        id = escape(group.id),
    );
    match group.caught() {
        Some((entry, catches)) => caught(page, group, entry, &catches),
        None => {
            let _ = write!(
                page,
                "<p class=\"uncaught\">Not caught at {}.</p>",
                sizes(group.entries.iter().copied())
            );
        }
    }
    page.push_str("</article>\n");
}

fn caught(page: &mut String, group: &Group<'_>, entry: &Entry, catches: &[(&str, &Schedule)]) {
    let model = &entry.model;
    let _ = write!(
        page,
        "<p class=\"size\"><b>n = {}, k = {}</b> · {} states",
        model.n,
        model.k,
        thousands(entry.measured.states().unwrap_or_default())
    );
    let smaller = group.uncaught().filter(|other| other.model.n <= model.n);
    let smaller = sizes(smaller);
    if !smaller.is_empty() {
        let _ = write!(page, " · <span class=\"quiet\">nothing wrong at {smaller}</span>");
    }
    page.push_str("</p>\n<ul class=\"catches\">");
    for (name, run) in catches {
        catch(page, name, run);
    }
    page.push_str("</ul>");
}

fn catch(page: &mut String, name: &str, run: &Schedule) {
    let length = if run.cycle.is_empty() {
        counted(run.stem.len(), "step")
    } else {
        let stem = counted(run.stem.len(), "step");
        format!("{stem}, then {} forever", counted(run.cycle.len(), "step"))
    };
    let _ = write!(
        page,
        "<li><details><summary><span class=\"violated\">{}</span> {} <small>{length}</small></summary>",
        escape(name),
        escape(&trace::describe(run)),
    );
    match trace::encode(run) {
        Ok(replay) => {
            let _ = write!(page, "<code class=\"replay\">{}</code>", escape(&replay));
        }
        Err(error) => {
            let _ =
                write!(page, "<p>There is no replay string: {}</p>", escape(&error.to_string()));
        }
    }
    page.push_str("</details></li>");
}

fn sizes<'a>(entries: impl Iterator<Item = &'a Entry>) -> String {
    let sizes: Vec<String> =
        entries.map(|entry| format!("n = {}, k = {}", entry.model.n, entry.model.k)).collect();
    sizes.join("; ")
}
