//! Lines over a few places, on a logarithmic scale of times.

use plotters::style::{BLACK, RGBColor};

use super::{
    Failure,
    canvas::{Align, Canvas, GREY, MARGIN, PALE, Type, WIDTH},
    scale::{Scale, spread_out},
};
use crate::common::text;

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
/// Height of the area for values beyond the scale.
const BEYOND: i32 = 28;

/// One line, with its name at its end.
pub struct Line<'a> {
    pub name: &'a str,
    pub bold: bool,
    pub colour: RGBColor,
    pub shape: usize,
    /// Nanoseconds at each place. What is infinite lies beyond the scale.
    pub points: Vec<Option<f64>>,
}

/// The area of the lines.
pub struct Panel<'a> {
    pub about: &'a str,
    /// The names of the places, and what they are.
    pub places: &'a [String],
    pub axis: &'a str,
    /// Label of the area beyond the scale.
    pub beyond: &'a str,
}

fn area(lines: usize) -> i32 {
    LEAST.max(GAP * lines as i32)
}

/// The height of a panel with this many lines.
pub fn height(lines: usize) -> i32 {
    ABOVE + area(lines) + BELOW
}

/// Draws a panel from `top` on.
pub fn draw(
    canvas: &Canvas<'_>,
    top: i32,
    panel: &Panel<'_>,
    lines: &[Line<'_>],
) -> Result<(), Failure> {
    let values = || lines.iter().flat_map(|line| line.points.iter().flatten());
    let seen = || values().copied().filter(|value| value.is_finite());
    let (least, most) = (seen().fold(f64::INFINITY, f64::min), seen().fold(1.0, f64::max));
    let beyond = values().any(|value| value.is_infinite());
    let (upper, lower) = (top + ABOVE, top + ABOVE + area(lines.len()));
    let below_strip = if beyond { upper + BEYOND } else { upper };
    let scale = Scale::of_decades(least.min(most), most, (lower, below_strip));
    let y = |value: f64| if value.is_finite() { scale.pixel(value) } else { upper };
    let title = Type::new(15, BLACK, Align::Left).bold(true);
    canvas.text((MARGIN, top + 10), panel.about, title)?;
    draw_frame(canvas, &scale, panel, (upper, lower))?;
    if beyond {
        canvas.line([(LEFT, upper), (RIGHT, upper)], PALE, 1)?;
        canvas.text((LEFT - 8, upper), panel.beyond, Type::new(13, GREY, Align::Right))?;
    }
    let x = |place: usize| x(place, panel.places.len());
    let end = |line: &Line<'_>| {
        let last = line.points.iter().rposition(Option::is_some)?;
        Some((x(last), y(line.points[last]?)))
    };
    let ends: Vec<(&Line<'_>, (i32, i32))> =
        lines.iter().filter_map(|line| Some((line, end(line)?))).collect();
    let wanted: Vec<i32> = ends.iter().map(|(_, end)| end.1).collect();
    for ((line, end), name) in ends.iter().zip(spread_out(&wanted, GAP, (upper, lower))) {
        let points: Vec<(i32, i32)> = line
            .points
            .iter()
            .enumerate()
            .filter_map(|(place, value)| Some((x(place), y((*value)?))))
            .collect();
        canvas.line(points.clone(), line.colour, 2)?;
        for at in points {
            canvas.marker(at, line.shape, line.colour)?;
        }
        canvas.line([(end.0 + 8, end.1), (RIGHT + 26, name)], line.colour, 1)?;
        canvas.marker((RIGHT + 34, name), line.shape, line.colour)?;
        let look = Type::new(13, BLACK, Align::Left).bold(line.bold);
        canvas.text((RIGHT + 44, name), line.name, look)?;
    }
    Ok(())
}

/// Where a place is.
fn x(place: usize, places: usize) -> i32 {
    LEFT + 20 + (RIGHT - LEFT - 20) * place as i32 / (places as i32 - 1).max(1)
}

/// Lines at powers of ten and at the places, and what they are.
fn draw_frame(
    canvas: &Canvas<'_>,
    scale: &Scale,
    panel: &Panel<'_>,
    area: (i32, i32),
) -> Result<(), Failure> {
    for tick in scale.ticks() {
        let y = scale.pixel(tick);
        canvas.line([(LEFT, y), (RIGHT, y)], PALE, 1)?;
        let unit = text::duration(tick).replace(".00", "").replace(".0", "");
        canvas.text((LEFT - 8, y), &unit, Type::new(13, GREY, Align::Right))?;
    }
    for (place, name) in panel.places.iter().enumerate() {
        let x = x(place, panel.places.len());
        canvas.line([(x, area.0), (x, area.1)], PALE, 1)?;
        canvas.text((x, area.1 + 16), name, Type::new(13, GREY, Align::Centre))?;
    }
    let below = Type::new(13, GREY, Align::Right);
    canvas.text((LEFT - 8, area.1 + 16), panel.axis, below)
}
