//! The wrong variants: the mistake of each, and the runs that show it.

use std::fmt::Write as _;

use hallpass_algorithms::registry::Standing;

use super::{
    super::{cells::thousands, listed::Listed, run::Entry, runs, sections::Group, wrong::violated},
    counted, escape,
};
use crate::{schedule::Schedule, trace};

/// The number of wrong variants, by how they were rejected.
pub(super) struct Count {
    pub all: usize,
    /// The number of variants rejected by exploring a model.
    explored: usize,
    /// The number of variants rejected by a recorded run.
    recorded: usize,
}

impl Count {
    pub fn of(groups: &[Group<'_>]) -> Self {
        let explored = groups.iter().filter(|group| group.caught().is_some()).count();
        let recorded = groups.iter().filter(|group| is_recorded_only(group)).count();
        Count { all: groups.len(), explored, recorded }
    }

    pub fn rejected(&self) -> usize {
        self.explored + self.recorded
    }

    /// Returns a sentence that explains the numbers.
    pub fn sentence(&self) -> String {
        let Count { all, explored, recorded } = self;
        let mut text =
            format!("{explored} of {all} wrong variants fail at a size that was explored here.");
        if *recorded > 0 {
            let fail = if *recorded == 1 { "fails" } else { "fail" };
            let _ = write!(
                text,
                " {recorded} {fail} only at sizes that are too large to explore: a recorded run, executed again \
                 on the algorithm's own code, shows the violation of each."
            );
        }
        let open = all - self.rejected();
        if open > 0 {
            let were = if open == 1 { "was" } else { "were" };
            let _ = write!(text, " {open} {were} not rejected in this run of the atlas.");
        }
        text
    }
}

fn is_recorded_only(group: &Group<'_>) -> bool {
    group.caught().is_none() && !group.recorded.is_empty()
}

pub(super) fn section(page: &mut String, groups: &[Group<'_>]) {
    if groups.is_empty() {
        return;
    }
    page.push_str(
        "<section id=\"wrong\"><h2>Wrong variants</h2>\n<p>A checker that never finds a violation proves \
         nothing. These variants are wrong as printed in a paper, or deliberately wrong in one place. Each is \
         shown at the smallest size (fewest processes, then fewest states) at which it violates \
         a promise of its source. Click a violation to see its run; <code>hallpass-lab \
         replay</code> steps through it in a terminal.</p>\n",
    );
    let _ = writeln!(page, "<p>{}</p>\n<div class=\"cards\">", Count::of(groups).sentence());
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
        None if is_recorded_only(group) => recorded(page, group),
        None => {
            let _ = write!(
                page,
                "<p class=\"uncaught\">No violation at {}.</p>",
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
        catch(page, name, &runs::link(entry, name), run);
    }
    page.push_str("</ul>");
}

/// Writes the recorded runs of a variant that fails only at sizes that are too large to explore.
fn recorded(page: &mut String, group: &Group<'_>) {
    for run in &group.recorded {
        let _ = write!(
            page,
            "<p class=\"size\"><b>n = {}, k = {}</b> · too large to explore, shown by a recorded run \
             · <span class=\"quiet\">nothing wrong at {}</span></p>\n<ul class=\"catches\">",
            run.n,
            run.k,
            sizes(group.entries.iter().copied())
        );
        let name = violated(run).map_or("recorded", Listed::name);
        catch(page, name, &runs::recorded_link(run), run);
        page.push_str("</ul>");
    }
}

fn catch(page: &mut String, name: &str, link: &str, run: &Schedule) {
    let length = if run.cycle.is_empty() {
        counted(run.stem.len(), "step")
    } else {
        let stem = counted(run.stem.len(), "step");
        format!("{stem}, then {} forever", counted(run.cycle.len(), "step"))
    };
    let _ = write!(
        page,
        "<li><a href=\"{link}\"><span class=\"violated\">{}</span> {}</a> <small>{length}</small>\
         <details><summary>replay string</summary>",
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
