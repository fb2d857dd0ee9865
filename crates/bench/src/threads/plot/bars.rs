//! Draws the time for each passage as bars, with fairness beside them.

use plotters::style::{BLACK, RGBColor};

use super::{colour, legend};
use crate::{
    common::plot::{
        Failure,
        canvas::{self, Align, Canvas, FOOT, GREY, HEAD, MARGIN, PALE, Type, WIDTH},
        scale::Scale,
    },
    common::text,
    threads::{
        contestants::Camp,
        report::{Outcome, Report, Row},
        table,
        workloads::Group,
    },
};

/// Height of a contestant's row.
const ROW: i32 = 24;
const BAR: i32 = 15;
/// Space between the upper edge of a panel and its first row, for the panel's title and the headings.
const ABOVE: i32 = 52;
/// Space between the last row and the next panel, for the values at the axis.
const BELOW: i32 = 40;
/// The x position at which names end and bars begin.
const NAMES: i32 = 170;
/// Space for the text after a bar.
const VALUE: i32 = 130;
/// The x positions between which fairness is drawn, in workloads where threads compete.
const FAIRNESS: (i32, i32) = (730, WIDTH - MARGIN - 30);

const HEADING: Type = Type::new(13, GREY, Align::Left);
const TRACK: RGBColor = RGBColor(200, 200, 200);

/// Draws one picture with a panel for each workload.
pub fn draw(group: Group, outcomes: &[&Outcome], report: &Report) -> Result<String, Failure> {
    let panel = |outcome: &Outcome| ABOVE + ROW * outcome.rows.len() as i32 + BELOW;
    let panels: i32 = outcomes.iter().map(|outcome| panel(outcome)).sum();
    let title = match group {
        Group::Alone => "One thread alone: the cost of a passage",
        Group::Contended => "Twice as many threads as slots",
        _ => "Eight times as many threads as slots",
    };
    let caption = table::footnote(report);
    let scale = scale_of(outcomes);
    let height = HEAD + panels + FOOT;
    canvas::picture(height, title, &legend(outcomes), caption.trim_end(), |canvas| {
        let mut top = HEAD;
        for outcome in outcomes {
            draw_panel(canvas, outcome, top, &scale)?;
            top += panel(outcome);
        }
        Ok(())
    })
}

/// Returns the contestants that can be compared with the floor, each with its ratio.
fn ratios(outcome: &Outcome) -> Vec<(&Row, f64)> {
    outcome.rows.iter().filter_map(|row| Some((row, outcome.to_floor(row)?))).collect()
}

/// Returns one scale for all panels, so that they can be compared.
fn scale_of(outcomes: &[&Outcome]) -> Scale {
    let fairness = outcomes.iter().any(|outcome| outcome.workload.has_rivalry());
    let right = if fairness { FAIRNESS.0 - 40 } else { WIDTH - MARGIN };
    let values = || outcomes.iter().flat_map(|outcome| ratios(outcome)).map(|(_, ratio)| ratio);
    let (least, most) = (values().fold(1.0, f64::min), values().fold(1.0, f64::max));
    Scale::of_ratios(least, most, (NAMES + 10, right - VALUE))
}

fn draw_panel(
    canvas: &Canvas<'_>,
    outcome: &Outcome,
    top: i32,
    scale: &Scale,
) -> Result<(), Failure> {
    let ratios = ratios(outcome);
    let first = top + ABOVE;
    let end = first + ROW * ratios.len() as i32;
    let about = outcome.workload.to_string();
    canvas.text((MARGIN, top + 10), &about, Type::new(15, BLACK, Align::Left).bold(true))?;
    let log = if scale.is_log() { " (logarithmic)" } else { "" };
    let heading = format!("time for each passage, times the floor{log}");
    canvas.text((NAMES + 10, top + 36), &heading, HEADING)?;
    for tick in scale.ticks() {
        let x = scale.pixel(tick);
        canvas.line([(x, first), (x, end)], PALE, 1)?;
        canvas.text((x, end + 12), &format!("{tick}"), Type::new(12, GREY, Align::Centre))?;
    }
    for (index, (row, ratio)) in ratios.iter().enumerate() {
        let middle = first + ROW * index as i32 + ROW / 2;
        let name = Type::new(13, BLACK, Align::Right).bold(row.camp == Camp::Hallpass);
        canvas.text((NAMES, middle), row.contestant, name)?;
        let (from, to) = (scale.pixel(scale.base()), scale.pixel(*ratio));
        // A bar is at least 2 pixels long, so that even the floor shows: 1 on a logarithmic scale.
        let (from, to) = (from.min(to), from.max(to).max(from.min(to) + 2));
        canvas.bar((from, middle - BAR / 2), (to, middle + BAR / 2), colour(row))?;
        let value = format!("{}× ({})", text::short(*ratio), text::duration(row.ns));
        canvas.text((to + 6, middle), &value, Type::new(12, BLACK, Align::Left))?;
    }
    if outcome.workload.has_rivalry() {
        let rows: Vec<&Row> = ratios.iter().map(|(row, _)| *row).collect();
        draw_fairness(canvas, &rows, first)?;
    }
    Ok(())
}

/// Draws a dot between 0 and 1 for each row.
fn draw_fairness(canvas: &Canvas<'_>, rows: &[&Row], first: i32) -> Result<(), Failure> {
    let (from, to) = FAIRNESS;
    let end = first + ROW * rows.len() as i32;
    canvas.text((from, first - 16), "fairness: least / mean", HEADING)?;
    let x = |part: f64| from + (part.clamp(0.0, 1.0) * f64::from(to - from)).round() as i32;
    for tick in [0.0, 0.5, 1.0] {
        canvas.line([(x(tick), first), (x(tick), end)], PALE, 1)?;
        let text = format!("{tick}");
        canvas.text((x(tick), end + 12), &text, Type::new(12, GREY, Align::Centre))?;
    }
    for (index, row) in rows.iter().enumerate() {
        let middle = first + ROW * index as i32 + ROW / 2;
        canvas.line([(from, middle), (x(row.fairness), middle)], TRACK, 2)?;
        canvas.disc((x(row.fairness), middle), 5, colour(row))?;
    }
    Ok(())
}
