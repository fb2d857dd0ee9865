//! The stated bounds on remote references. Each bound has a mark for every size at which it was
//! compared.

use std::fmt::Write as _;

use hallpass_algorithms::registry::{self, CostModel};

use super::{
    super::{
        cells::{self, Cell, CellKind},
        sections::{Family, Group},
    },
    counted, escape, formula,
    tables::class,
};

/// Writes the section. `not_run` is the number of models that this run of the atlas left out.
pub(super) fn section(page: &mut String, families: &[Family<'_>], not_run: usize) {
    let groups = families.iter().flat_map(|family| &family.groups);
    let bounds: Vec<_> = groups
        .flat_map(|group| group.about.bounds().filter_map(move |of| bound(group, of)))
        .collect();
    if bounds.is_empty() {
        return;
    }
    page.push_str(
        "<section id=\"bounds\"><h2>The stated bounds, against the worst passage of all schedules</h2>\n\
         <p>One mark for each size, the smallest first: the worst passage at that size, as a share of the \
         stated bound. A full mark means that some run needs at least as many remote references as the bound states.",
    );
    if not_run > 0 {
        let _ = write!(
            page,
            " {} did not run: a bound that is loose here may be tight in one of them.",
            counted(not_run, "more model")
        );
    }
    page.push_str("</p>\n<div class=\"wide\"><table class=\"bounds\"><tbody>\n");
    for Bound { group, machine, source, formula, dots } in &bounds {
        let _ = write!(
            page,
            "<tr data-id=\"{id}\"><th scope=\"row\">{}</th><td><code>{id}</code></td><td>{machine} ≤ {}</td>\
             <td>{}</td><td class=\"dots\">",
            escape(source),
            escape(&self::formula(formula)),
            summary(dots),
            id = escape(group.id),
        );
        for (size, cell) in dots {
            let _ = write!(
                page,
                "<i class=\"{}\" style=\"--share:{}%\" title=\"{}\"></i>",
                class(cell.kind),
                cell.share.unwrap_or_default(),
                escape(&format!("{size}: {}", cell.text)),
            );
        }
        page.push_str("</td></tr>\n");
    }
    page.push_str("</tbody></table></div></section>\n");
}

struct Bound<'a> {
    group: &'a Group<'a>,
    machine: &'static str,
    source: String,
    formula: String,
    /// The sizes, each with its figure.
    dots: Vec<(String, Cell)>,
}

fn bound<'a>(group: &'a Group<'a>, stated: registry::RmrBound) -> Option<Bound<'a>> {
    let machine = match stated.model {
        CostModel::Cc => "CC",
        CostModel::Dsm => "DSM",
    };
    let dots: Vec<_> = group
        .entries
        .iter()
        .map(|entry| (entry, cells::figure(entry, stated.model)))
        .filter(|(_, cell)| cell.kind != CellKind::Unlisted)
        .map(|(entry, cell)| {
            let model = &entry.model;
            (format!("n={} k={} c={}", model.n, model.k, model.contention()), cell)
        })
        .collect();
    if dots.is_empty() {
        return None;
    }
    let (source, formula) = if group.names {
        (format!("{}, Lemma 1", stated.source), format!("({}) + min(k, c) + 1", stated.formula))
    } else {
        (stated.source.to_string(), stated.formula.to_string())
    };
    Some(Bound { group, machine, source, formula, dots })
}

/// Returns a summary such as `tight at 3 of 5 sizes`. If the bound is exceeded or a size is not as
/// expected, the summary counts those sizes instead.
fn summary(dots: &[(String, Cell)]) -> String {
    let count = |kind| dots.iter().filter(|(_, cell)| cell.kind == kind).count();
    let sizes = if dots.len() == 1 { "size" } else { "sizes" };
    for (kind, words) in [
        (CellKind::Differs, "not as expected"),
        (CellKind::Exceeded, "exceeded"),
        (CellKind::Tight, "tight"),
        (CellKind::Loose, "loose"),
    ] {
        let count = count(kind);
        if count > 0 {
            let of = dots.len();
            return format!(
                "<span class=\"{}\">{words}</span> at {count} of {of} {sizes}",
                class(kind)
            );
        }
    }
    "partial".into()
}
