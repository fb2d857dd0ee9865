//! Small multiples: a little plot for each line, with all other lines faint behind it.

use plotters::style::BLACK;

use super::{
    Failure,
    canvas::{self, Align, Canvas, FAINT, GREY, HEADING, MARGIN, PALE, SMALL, TEXT, Type, WIDTH},
    lines::Line,
    scale::Scale,
};
use crate::common::text;

const COLUMNS: usize = 2;
/// Width of the labels at the left edge.
const LABELS: i32 = 62;
/// Distance between two little plots.
const GAP: i32 = 24;
/// Height of the name above a little plot, of its area, and of the labels below.
const NAME: i32 = 24;
const AREA: i32 = 116;
const BELOW: i32 = 32;
/// Height of the heading above all little plots.
const HEAD: i32 = 34;
/// Approximate width of a character of the heading.
const HEADING_CHARACTER: i32 = 10;

/// Little plots of lines over the same positions, all on one scale.
pub struct Multiples<'a> {
    pub about: &'a str,
    pub places: &'a [&'a str],
    pub lines: &'a [Line<'a>],
}

impl Multiples<'_> {
    fn about_lines(&self) -> Vec<String> {
        canvas::wrap(self.about, HEADING_CHARACTER)
    }

    fn head(&self) -> i32 {
        HEAD * self.about_lines().len() as i32
    }

    /// Returns the height of the little plots with their heading.
    pub fn height(&self) -> i32 {
        self.head() + (NAME + AREA + BELOW) * self.lines.len().div_ceil(COLUMNS) as i32
    }

    /// Draws the little plots from `top` on.
    pub fn draw(&self, canvas: &Canvas<'_>, top: i32) -> Result<(), Failure> {
        for (index, line) in self.about_lines().iter().enumerate() {
            let y = top + HEAD / 2 + HEAD * index as i32;
            canvas.text((MARGIN, y), line, Type::new(HEADING, BLACK, Align::Left).bold(true))?;
        }
        let values = || self.lines.iter().flat_map(|line| line.points.iter().flatten().copied());
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(1.0, f64::max));
        let width = (WIDTH - 2 * MARGIN - LABELS - GAP * (COLUMNS as i32 - 1)) / COLUMNS as i32;
        for (index, line) in self.lines.iter().enumerate() {
            let (column, row) = ((index % COLUMNS) as i32, (index / COLUMNS) as i32);
            let left = MARGIN + LABELS + (width + GAP) * column;
            let upper = top + self.head() + (NAME + AREA + BELOW) * row + NAME;
            let scale = Scale::of_decades(least.min(most), most, (upper + AREA, upper));
            let little = Little { canvas, scale, left, right: left + width, upper };
            little.frame(self.places, column == 0)?;
            for other in self.lines {
                canvas.line(little.points(other), FAINT, 1)?;
            }
            little.draw(line)?;
        }
        Ok(())
    }
}

/// One little plot.
struct Little<'a, 'b> {
    canvas: &'a Canvas<'b>,
    scale: Scale,
    left: i32,
    right: i32,
    upper: i32,
}

impl Little<'_, '_> {
    fn x(&self, place: usize, places: usize) -> i32 {
        let (from, to) = (self.left + 14, self.right - 14);
        from + (to - from) * place as i32 / (places as i32 - 1).max(1)
    }

    fn points(&self, line: &Line<'_>) -> Vec<(i32, i32)> {
        let places = line.points.len();
        let point = |(place, value): (usize, &Option<f64>)| {
            Some((self.x(place, places), self.scale.pixel((*value)?)))
        };
        line.points.iter().enumerate().filter_map(point).collect()
    }

    /// Draws the grid lines of the scale, and the names of the first, the middle and the last position. In the first
    /// column, every second grid line has a label.
    fn frame(&self, places: &[&str], is_first_column: bool) -> Result<(), Failure> {
        let ticks = self.scale.ticks();
        for (index, tick) in ticks.iter().enumerate() {
            let y = self.scale.pixel(*tick);
            self.canvas.line([(self.left, y), (self.right, y)], PALE, 1)?;
            if is_first_column && index % 2 == 0 {
                let label = text::duration(*tick).replace(".00", "").replace(".0", "");
                let look = Type::new(SMALL, GREY, Align::Right);
                self.canvas.text((self.left - 6, y), &label, look)?;
            }
        }
        for place in [0, places.len() / 2, places.len().saturating_sub(1)] {
            let at = (self.x(place, places.len()), self.upper + AREA + 14);
            self.canvas.text(at, places[place], Type::new(SMALL, GREY, Align::Centre))?;
        }
        Ok(())
    }

    fn draw(&self, line: &Line<'_>) -> Result<(), Failure> {
        let name = Type::new(TEXT, BLACK, Align::Left).bold(line.bold);
        self.canvas.text((self.left, self.upper - NAME / 2), line.name, name)?;
        let points = self.points(line);
        self.canvas.line(points.clone(), line.colour, 3)?;
        points.into_iter().try_for_each(|at| self.canvas.marker(at, line.shape, line.colour))
    }
}
