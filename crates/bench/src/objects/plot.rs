//! The report as pictures: total times as lines, remaining throughput as bars.

use plotters::style::{BLACK, RGBColor};

use super::{
    contestants::Kind,
    report::{Curve, Figure, Kept, Part, Point, Report},
    table,
};
use crate::common::plot::{
    Failure, PlotError,
    canvas::{self, Align, Canvas, FOOT, GREY, HEAD, MARGIN, PALE, Type, WIDTH},
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

/// Returns one of Okabe and Ito's colours. Resilient objects are darker if more threads may stop.
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

/// Returns the legend text of a group of colours.
fn sort(kind: Kind) -> &'static str {
    match kind {
        Kind::Resilient { .. } => "resilient, k - 1 may stop",
        Kind::WaitFree { .. } => "wait-free, all may stop",
        Kind::SpinLock => "spinning lock",
        Kind::Lock => "sleeping lock",
        Kind::LockFree => "lock-free",
    }
}

/// Returns the colours that occur, with their texts. Several shades are represented by the one in the middle.
fn legend(kinds: &[Kind]) -> Vec<(RGBColor, &'static str)> {
    let shades = kinds.chunk_by(|one, other| sort(*one) == sort(*other));
    shades.map(|kinds| kinds[kinds.len() / 2]).map(|kind| (colour(kind), sort(kind))).collect()
}

fn is_ours(kind: Kind) -> bool {
    matches!(kind, Kind::Resilient { .. })
}

fn draw_curves(figure: &Figure, report: &Report) -> Result<String, Failure> {
    let title = match figure.part {
        Part::Paused => "Figure 11 on this machine: threads are paused while they run",
        _ => "Figure 10 on this machine: more and more threads",
    };
    let nanos = |point: &Point| match (point.ms, point.done) {
        (Some(ms), _) => Some(ms * 1e6),
        (None, done) => done.map(|_| f64::INFINITY),
    };
    let curves: Vec<&Curve> = figure.curves.iter().collect();
    let line = |(index, curve): (usize, &&Curve)| Line {
        name: curve.contestant,
        bold: is_ours(curve.kind),
        colour: colour(curve.kind),
        shape: alike_before(&curves, index),
        points: curve.points.iter().map(nanos).collect(),
    };
    let lines: Vec<Line<'_>> = curves.iter().enumerate().map(line).collect();
    let places: Vec<String> = figure.threads().iter().map(usize::to_string).collect();
    let (about, beyond) =
        (table::about(figure.part, report), format!("not in {} s", report.limit_s));
    let panel = Panel { about: &about, places: &places, axis: "threads", beyond: &beyond };
    let kinds: Vec<Kind> = curves.iter().map(|curve| curve.kind).collect();
    let caption = table::footnote(report);
    let height = HEAD + lines::height(lines.len()) + FOOT;
    canvas::picture(height, title, &legend(&kinds), caption.trim_end(), |canvas| {
        lines::draw(canvas, HEAD, &panel, &lines)
    })
}

/// Returns how many curves of the same sort come before this one: they have different markers.
fn alike_before(curves: &[&Curve], index: usize) -> usize {
    let is_alike = |before: &&&Curve| sort(before.kind) == sort(curves[index].kind);
    curves[..index].iter().filter(is_alike).count()
}

/// Height of a bar's row.
const ROW: i32 = 24;
const BAR: i32 = 15;
/// Space between title and bars, for the description.
const ABOVE: i32 = 52;
/// Space for the values at the axis.
const BELOW: i32 = 40;
/// The x position at which names end and bars begin.
const NAMES: i32 = 210;
/// Space for the text after a bar.
const VALUE: i32 = 130;

/// One bar.
struct Bar {
    name: String,
    kind: Kind,
    part: f64,
    rate: f64,
}

fn bars(rows: &[Kept]) -> Vec<Bar> {
    let of = |kept: &Kept| {
        let bar = |stopped: usize, part: Option<f64>, rate: Option<f64>| {
            let name = format!("{}, {stopped} stopped", kept.contestant);
            Some(Bar { name, kind: kept.kind, part: part?, rate: rate? })
        };
        let most = kept.most_stopped.unwrap_or(0);
        [bar(1, kept.part_with_one(), kept.one), bar(most, kept.part_with_most(), kept.most)]
    };
    rows.iter().flat_map(of).flatten().collect()
}

fn draw_kept(report: &Report) -> Result<String, Failure> {
    let bars = bars(&report.stopped);
    let kinds: Vec<Kind> = report.stopped.iter().map(|kept| kept.kind).collect();
    let title = "Throughput of the others while threads are stopped inside an operation";
    let caption = table::footnote(report);
    let height = HEAD + ABOVE + ROW * bars.len() as i32 + BELOW + FOOT;
    canvas::picture(height, title, &legend(&kinds), caption.trim_end(), |canvas| {
        let about = format!("{} more threads work", report.active);
        let look = Type::new(15, BLACK, Align::Left).bold(true);
        canvas.text((MARGIN, HEAD + 10), &about, look)?;
        draw_bars(canvas, &bars)
    })
}

fn draw_bars(canvas: &Canvas<'_>, bars: &[Bar]) -> Result<(), Failure> {
    let first = HEAD + ABOVE;
    let end = first + ROW * bars.len() as i32;
    let most = bars.iter().map(|bar| bar.part).fold(1.0, f64::max);
    let scale = Scale::of_ratios(0.0, most, (NAMES + 10, WIDTH - MARGIN - VALUE));
    let heading = "operations per second, relative to those with no thread stopped";
    canvas.text((NAMES + 10, first - 16), heading, Type::new(13, GREY, Align::Left))?;
    for tick in scale.ticks() {
        let (x, text) = (scale.pixel(tick), format!("{:.0} %", tick * 100.0));
        canvas.line([(x, first), (x, end)], PALE, 1)?;
        canvas.text((x, end + 12), &text, Type::new(12, GREY, Align::Centre))?;
    }
    for (index, bar) in bars.iter().enumerate() {
        let middle = first + ROW * index as i32 + ROW / 2;
        let name = Type::new(13, BLACK, Align::Right).bold(is_ours(bar.kind));
        canvas.text((NAMES, middle), &bar.name, name)?;
        let (from, to) = (scale.pixel(0.0), scale.pixel(bar.part));
        if bar.part > 0.0 {
            canvas.bar((from, middle - BAR / 2), (to, middle + BAR / 2), colour(bar.kind))?;
        }
        let value = match bar.part {
            0.0 => "stops".to_string(),
            _ => format!("{} ({:.0}/s)", table::percent(Some(bar.part)), bar.rate),
        };
        canvas.text((to + 6, middle), &value, Type::new(12, BLACK, Align::Left))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::contestants::field;

    #[test]
    fn the_whole_legend_fits() {
        let kinds: Vec<Kind> = field().iter().map(|one| one.kind).collect();
        let legend = legend(&kinds);
        assert_eq!(legend.len(), 5);
        let width: i32 = legend.iter().map(|(_, text)| canvas::legend_width(text)).sum();
        assert!(MARGIN + width <= WIDTH);
    }
}
