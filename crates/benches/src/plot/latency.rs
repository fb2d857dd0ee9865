//! Percentiles of waits as lines.

use plotters::style::BLACK;

use super::{
    Failure,
    canvas::{self, Align, Canvas, FOOT, GREY, HEAD, MARGIN, PALE, Type, WIDTH},
    colour, legend,
    scale::{Scale, spread_out},
};
use crate::{
    contestants::Camp,
    report::{Outcome, PERCENTILES, Report, Row},
    table,
};

/// Where lines begin and end.
const LEFT: i32 = 90;
const RIGHT: i32 = WIDTH - 210;
/// The least height of the lines' area.
const LEAST: i32 = 420;
/// Between two names.
const GAP: i32 = 17;
/// Above and below the lines of a panel.
const ABOVE: i32 = 44;
const BELOW: i32 = 46;

fn area(outcome: &Outcome) -> i32 {
    LEAST.max(GAP * outcome.rows.len() as i32)
}

/// One picture with a panel for each workload.
pub fn draw(outcomes: &[&Outcome], report: &Report) -> Result<String, Failure> {
    let panel = |outcome: &Outcome| ABOVE + area(outcome) + BELOW;
    let height = HEAD + outcomes.iter().map(|outcome| panel(outcome)).sum::<i32>() + FOOT;
    let caption = table::footnote(report);
    let title = "From asking to being in";
    canvas::picture(height, title, &legend(outcomes), caption.trim_end(), |canvas| {
        let mut top = HEAD;
        for outcome in outcomes {
            draw_panel(canvas, outcome, top)?;
            top += panel(outcome);
        }
        Ok(())
    })
}

fn draw_panel(canvas: &Canvas<'_>, outcome: &Outcome, top: i32) -> Result<(), Failure> {
    let waits = outcome.rows.iter().filter_map(|row| Some((row, row.waits?)));
    let lines: Vec<(&Row, [f64; PERCENTILES.len()])> = waits.collect();
    let values = || lines.iter().flat_map(|(_, waits)| *waits);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(1.0, f64::max));
    let (upper, lower) = (top + ABOVE, top + ABOVE + area(outcome));
    let scale = Scale::of_decades(least, most, (lower, upper));
    let about = outcome.workload.to_string();
    canvas.text((MARGIN, top + 10), &about, Type::new(15, BLACK, Align::Left).bold(true))?;
    draw_frame(canvas, &scale, (upper, lower))?;
    let y = |wait: f64| scale.pixel(wait);
    let ends: Vec<i32> = lines.iter().map(|(_, waits)| y(waits[PERCENTILES.len() - 1])).collect();
    let names = spread_out(&ends, GAP, (upper, lower));
    for (index, ((row, waits), (end, name))) in lines.iter().zip(ends.iter().zip(names)).enumerate()
    {
        let colour = colour(row);
        // Those of one colour differ in their markers.
        let alike = |(before, _): &&(&Row, _)| super::colour(before) == colour;
        let shape = lines[..index].iter().filter(alike).count();
        let points: Vec<(i32, i32)> =
            waits.iter().enumerate().map(|(index, wait)| (x(index), y(*wait))).collect();
        canvas.line(points.clone(), colour, 2)?;
        for at in points {
            canvas.marker(at, shape, colour)?;
        }
        canvas.line([(RIGHT + 8, *end), (RIGHT + 26, name)], colour, 1)?;
        canvas.marker((RIGHT + 34, name), shape, colour)?;
        let look = Type::new(13, BLACK, Align::Left).bold(row.camp == Camp::Hallpass);
        canvas.text((RIGHT + 44, name), row.contestant, look)?;
    }
    Ok(())
}

/// Where a percentile is.
fn x(index: usize) -> i32 {
    LEFT + 20 + (RIGHT - LEFT - 20) * index as i32 / (PERCENTILES.len() as i32 - 1)
}

/// Lines at powers of ten, and what they are.
fn draw_frame(canvas: &Canvas<'_>, scale: &Scale, area: (i32, i32)) -> Result<(), Failure> {
    for tick in scale.ticks() {
        let y = scale.pixel(tick);
        canvas.line([(LEFT, y), (RIGHT, y)], PALE, 1)?;
        let unit = table::duration(tick).replace(".00", "").replace(".0", "");
        canvas.text((LEFT - 8, y), &unit, Type::new(13, GREY, Align::Right))?;
    }
    for (index, (name, _)) in PERCENTILES.into_iter().enumerate() {
        canvas.line([(x(index), area.0), (x(index), area.1)], PALE, 1)?;
        canvas.text((x(index), area.1 + 16), name, Type::new(13, GREY, Align::Centre))?;
    }
    Ok(())
}
