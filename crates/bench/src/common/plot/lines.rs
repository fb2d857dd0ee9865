//! Lines over a few positions on the horizontal axis, on a logarithmic scale of times.

use plotters::style::{BLACK, RGBColor};

use super::{
    Failure,
    canvas::{self, Align, Canvas, GREY, HEADING, MARGIN, PALE, SMALL, TEXT, Type, WIDTH},
    scale::{Scale, spread_out},
};
use crate::common::text;

/// The horizontal range of the lines.
const LEFT: i32 = 94;
const RIGHT: i32 = WIDTH - 172;
/// Minimum height of the area of the lines.
const LEAST: i32 = 400;
/// Distance between two names.
const GAP: i32 = 21;
/// Height of a line of the heading, and its distance from the lines below.
const HEADING_LINE: i32 = 22;
const ABOVE: i32 = 22;
/// Height of the names below the horizontal axis.
const BELOW: i32 = 46;
/// Approximate width of a character of the heading.
const HEADING_CHARACTER: i32 = 10;
/// Height of the area for values beyond the scale.
const BEYOND: i32 = 28;

/// One line, with its name at its end.
pub struct Line<'a> {
    pub name: &'a str,
    pub bold: bool,
    pub colour: RGBColor,
    pub shape: usize,
    /// Nanoseconds at each position. An infinite value lies beyond the scale.
    pub points: Vec<Option<f64>>,
}

/// The area of the lines.
pub struct Panel<'a> {
    pub about: &'a str,
    /// The names of the positions on the horizontal axis.
    pub places: &'a [String],
    /// The name of the horizontal axis.
    pub axis: &'a str,
    /// Label of the area beyond the scale.
    pub beyond: &'a str,
}

fn area(lines: usize) -> i32 {
    LEAST.max(GAP * lines as i32)
}

impl Panel<'_> {
    fn about_lines(&self) -> Vec<String> {
        canvas::wrap(self.about, HEADING_CHARACTER)
    }

    fn head(&self) -> i32 {
        HEADING_LINE * self.about_lines().len() as i32 + ABOVE
    }

    /// Returns the height of the panel with this many lines.
    pub fn height(&self, lines: usize) -> i32 {
        self.head() + area(lines) + BELOW
    }
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
    let upper = top + panel.head();
    let lower = upper + area(lines.len());
    let below_strip = if beyond { upper + BEYOND } else { upper };
    let scale = Scale::of_decades(least.min(most), most, (lower, below_strip));
    let y = |value: f64| if value.is_finite() { scale.pixel(value) } else { upper };
    for (index, text) in panel.about_lines().iter().enumerate() {
        let y = top + HEADING_LINE / 2 + HEADING_LINE * index as i32;
        canvas.text((MARGIN, y), text, Type::new(HEADING, BLACK, Align::Left).bold(true))?;
    }
    draw_frame(canvas, &scale, panel, (upper, lower))?;
    if beyond {
        canvas.line([(LEFT, upper), (RIGHT, upper)], PALE, 1)?;
        canvas.text((LEFT - 8, upper), panel.beyond, Type::new(SMALL, GREY, Align::Right))?;
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
        canvas.line([(end.0 + 8, end.1), (RIGHT + 22, name)], line.colour, 1)?;
        canvas.marker((RIGHT + 30, name), line.shape, line.colour)?;
        let look = Type::new(TEXT, BLACK, Align::Left).bold(line.bold);
        canvas.text((RIGHT + 42, name), line.name, look)?;
    }
    Ok(())
}

/// Returns the pixel of a position.
fn x(place: usize, places: usize) -> i32 {
    LEFT + 20 + (RIGHT - LEFT - 20) * place as i32 / (places as i32 - 1).max(1)
}

/// Draws the grid lines of the scale and of the positions, with their labels.
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
        canvas.text((LEFT - 8, y), &unit, Type::new(SMALL, GREY, Align::Right))?;
    }
    for (place, name) in panel.places.iter().enumerate() {
        let x = x(place, panel.places.len());
        canvas.line([(x, area.0), (x, area.1)], PALE, 1)?;
        canvas.text((x, area.1 + 16), name, Type::new(SMALL, GREY, Align::Centre))?;
    }
    let below = Type::new(SMALL, GREY, Align::Right);
    canvas.text((LEFT - 8, area.1 + 16), panel.axis, below)
}
