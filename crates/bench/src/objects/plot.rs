//! The report as pictures: total times as lines, remaining throughput as bars.

use plotters::style::RGBColor;

use super::{
    contestants::Kind,
    report::{Curve, Figure, Kept, Part, Point, Report},
    table,
};
use crate::common::plot::{
    Failure, PlotError,
    bars::{self, Bar, RANGE},
    canvas,
    lines::{self, Line, Panel},
    scale::Scale,
};

fn name(part: Part) -> Option<&'static str> {
    match part {
        Part::Plain => Some("figure-10.svg"),
        Part::Paused => Some("figure-11.svg"),
        Part::Stopped => Some("stopped.svg"),
        Part::Memory => None,
    }
}

/// Returns the names of the files to which the plots of these parts go.
pub fn names(parts: &[Part]) -> Vec<String> {
    parts.iter().filter_map(|part| name(*part)).map(String::from).collect()
}

/// Returns the names of the files and the SVG of each.
pub fn plots(report: &Report) -> Result<Vec<(String, String)>, PlotError> {
    let mut plots = Vec::new();
    for figure in report.figures.iter().filter(|figure| !figure.is_empty()) {
        let svg = draw_curves(figure, report)?;
        plots.extend(name(figure.part).map(|name| (name.to_string(), svg)));
    }
    if !report.stopped.is_empty() {
        let svg = draw_kept(report)?;
        plots.extend(name(Part::Stopped).map(|name| (name.to_string(), svg)));
    }
    Ok(plots)
}

/// Returns the colour of a kind. Wait-free objects and locks have colours of Okabe and Ito, which colour-blind people
/// can distinguish. Resilient objects have shades of green: the more threads may stop, the darker.
fn colour(kind: Kind) -> RGBColor {
    match kind {
        Kind::Resilient { k: 1 } => RGBColor(140, 214, 194),
        Kind::Resilient { k: 2 } => RGBColor(64, 184, 152),
        Kind::Resilient { k: 3..=4 } => RGBColor(0, 146, 106),
        Kind::Resilient { .. } => RGBColor(0, 94, 68),
        Kind::WaitFree { .. } => RGBColor(0, 114, 178),
        Kind::SpinLock => RGBColor(204, 121, 167),
        Kind::Lock => RGBColor(230, 159, 0),
        Kind::LockFree => RGBColor(120, 120, 120),
    }
}

/// Returns the group of contestants to which a kind belongs, as a text for the legend.
fn group(kind: Kind) -> &'static str {
    match kind {
        Kind::Resilient { .. } => "resilient, k - 1 may stop",
        Kind::WaitFree { .. } => "wait-free, all may stop",
        Kind::SpinLock => "spinning lock",
        Kind::Lock => "sleeping lock",
        Kind::LockFree => "lock-free",
    }
}

/// Returns the colours that occur, with their groups. If a group has several shades, the legend shows the middle shade.
fn legend(kinds: &[Kind]) -> Vec<(RGBColor, &'static str)> {
    let shades = kinds.chunk_by(|one, other| group(*one) == group(*other));
    shades.map(|kinds| kinds[kinds.len() / 2]).map(|kind| (colour(kind), group(kind))).collect()
}

fn is_ours(kind: Kind) -> bool {
    matches!(kind, Kind::Resilient { .. })
}

fn draw_curves(figure: &Figure, report: &Report) -> Result<String, Failure> {
    let title = match figure.part {
        Part::Paused => "Figure 11 on this machine: threads are paused while they run",
        _ => "Figure 10 on this machine: more and more threads",
    };
    let curves: Vec<&Curve> = figure.curves.iter().collect();
    let total = lines_of(&curves, |point| match (point.ms, point.done) {
        (Some(ms), _) => Some(ms * 1e6),
        (None, done) => done.map(|_| f64::INFINITY),
    });
    let longest = lines_of(&curves, |point| point.longest_ms.map(|ms| ms * 1e6));
    let places: Vec<String> = figure.threads().iter().map(usize::to_string).collect();
    let (about, beyond) =
        (table::about(figure.part, report), format!("not in {} s", report.limit_s));
    let panel = |about| Panel { about, places: &places, axis: "threads", beyond: &beyond };
    let mut panels = vec![(panel(&about), total)];
    if longest.iter().any(|line| line.points.iter().any(Option::is_some)) {
        panels.push((panel(table::LONGEST), longest));
    }
    let kinds: Vec<Kind> = curves.iter().map(|curve| curve.kind).collect();
    let caption = table::footnote(report);
    let height = panels.iter().map(|(panel, lines)| panel.height(lines.len())).sum();
    canvas::picture(height, title, &legend(&kinds), &caption, |canvas, mut top| {
        for (panel, lines) in &panels {
            lines::draw(canvas, top, panel, lines)?;
            top += panel.height(lines.len());
        }
        Ok(())
    })
}

/// Returns a line for each curve, with a value in nanoseconds for each of its points.
fn lines_of<'a>(curves: &[&'a Curve], nanos: impl Fn(&Point) -> Option<f64>) -> Vec<Line<'a>> {
    let line = |(index, curve): (usize, &&'a Curve)| Line {
        name: curve.contestant,
        bold: is_ours(curve.kind),
        colour: colour(curve.kind),
        shape: alike_before(curves, index),
        points: curve.points.iter().map(&nanos).collect(),
    };
    curves.iter().enumerate().map(line).collect()
}

/// Returns how many curves of the same group come before this one. The curves of a group have different markers.
fn alike_before(curves: &[&Curve], index: usize) -> usize {
    let is_alike = |before: &&&Curve| group(before.kind) == group(curves[index].kind);
    curves[..index].iter().filter(is_alike).count()
}

/// Throughput that remains while some threads are stopped.
struct Remains {
    name: String,
    kind: Kind,
    part: f64,
    rate: f64,
}

fn remains(rows: &[Kept]) -> Vec<Remains> {
    let of = |kept: &Kept| {
        let bar = |stopped: usize, part: Option<f64>, rate: Option<f64>| {
            let name = format!("{}, {stopped} stopped", kept.contestant);
            Some(Remains { name, kind: kept.kind, part: part?, rate: rate? })
        };
        let most = kept.most_stopped.unwrap_or(0);
        [bar(1, kept.part_with_one(), kept.one), bar(most, kept.part_with_most(), kept.most)]
    };
    rows.iter().flat_map(of).flatten().collect()
}

fn draw_kept(report: &Report) -> Result<String, Failure> {
    let remains = remains(&report.stopped);
    let kinds: Vec<Kind> = report.stopped.iter().map(|kept| kept.kind).collect();
    let title = "Throughput of other threads while threads are stopped in an operation";
    let most = remains.iter().map(|one| one.part).fold(1.0, f64::max);
    let scale = Scale::of_ratios(1.0, most, RANGE);
    let bars: Vec<Bar<'_>> = remains.iter().map(bar).collect();
    let panel = bars::Panel {
        about: &format!("{} more threads work", report.active),
        meaning: "operations per second, relative to those with no thread stopped",
        bars: &bars,
        scale: &scale,
        tick: |tick| format!("{:.0} %", tick * 100.0),
    };
    let caption = table::footnote(report);
    canvas::picture(panel.height(), title, &legend(&kinds), &caption, |canvas, top| {
        panel.draw(canvas, top)
    })
}

fn bar(remains: &Remains) -> Bar<'_> {
    let value = match remains.part {
        0.0 => "stops".to_string(),
        part => format!("{} ({:.0}/s)", table::percent(Some(part)), remains.rate),
    };
    let (name, kind) = (&remains.name, remains.kind);
    Bar { name, bold: is_ours(kind), colour: colour(kind), end: remains.part, value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::contestants::field;

    #[test]
    fn the_legend_has_one_entry_for_each_group() {
        let kinds: Vec<Kind> = field().iter().map(|one| one.kind).collect();
        assert_eq!(legend(&kinds).len(), 5);
    }
}
