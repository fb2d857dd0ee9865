//! Bars, each below a line with its name and its value.

use plotters::style::{BLACK, RGBColor};

use super::{
    Failure,
    canvas::{self, Align, Canvas, GREY, HEADING, MARGIN, PALE, SMALL, TEXT, Type, WIDTH},
    scale::Scale,
};

/// Height of a bar with its line of text.
const ROW: i32 = 42;
const BAR: i32 = 14;
/// Height of the line of text.
const LINE: i32 = 22;
/// Height of a line of the heading.
const HEADING_LINE: i32 = 22;
/// Distance between the heading and the first bar, and between the last bar and the next panel.
const ABOVE: i32 = 10;
const BELOW: i32 = 44;
/// Approximate width of a character of the heading.
const HEADING_CHARACTER: i32 = 10;

/// The horizontal range of bars.
pub const RANGE: (i32, i32) = (MARGIN, WIDTH - MARGIN);

/// One bar.
pub struct Bar<'a> {
    pub name: &'a str,
    pub bold: bool,
    pub colour: RGBColor,
    /// The position of its end on the scale.
    pub end: f64,
    /// The text at the right edge.
    pub value: String,
}

/// Bars on one scale.
pub struct Panel<'a> {
    /// The subject of the panel.
    pub about: &'a str,
    /// The meaning of the length of a bar.
    pub meaning: &'a str,
    pub bars: &'a [Bar<'a>],
    pub scale: &'a Scale,
    /// Formats a value of the scale.
    pub tick: fn(f64) -> String,
}

impl Panel<'_> {
    fn about_lines(&self) -> Vec<String> {
        canvas::wrap(self.about, HEADING_CHARACTER)
    }

    fn head(&self) -> i32 {
        HEADING_LINE * (self.about_lines().len() as i32 + 1) + ABOVE
    }

    /// Returns the height of the panel.
    pub fn height(&self) -> i32 {
        self.head() + ROW * self.bars.len() as i32 + BELOW
    }

    /// Draws the panel from `top` on.
    pub fn draw(&self, canvas: &Canvas<'_>, top: i32) -> Result<(), Failure> {
        let mut y = top + HEADING_LINE / 2;
        for line in self.about_lines() {
            canvas.text((MARGIN, y), &line, Type::new(HEADING, BLACK, Align::Left).bold(true))?;
            y += HEADING_LINE;
        }
        canvas.text((MARGIN, y), self.meaning, Type::new(SMALL, GREY, Align::Left))?;
        let first = top + self.head();
        let end = first + ROW * self.bars.len() as i32;
        for tick in self.scale.ticks() {
            let x = self.scale.pixel(tick);
            canvas.line([(x, first), (x, end)], PALE, 1)?;
            // Texts at the edges stay inside the picture.
            let align = match x {
                _ if x < RANGE.0 + 10 => Align::Left,
                _ if x > RANGE.1 - 10 => Align::Right,
                _ => Align::Centre,
            };
            canvas.text((x, end + 12), &(self.tick)(tick), Type::new(SMALL, GREY, align))?;
        }
        for (index, bar) in self.bars.iter().enumerate() {
            self.draw_bar(canvas, first + ROW * index as i32, bar)?;
        }
        Ok(())
    }

    fn draw_bar(&self, canvas: &Canvas<'_>, top: i32, bar: &Bar<'_>) -> Result<(), Failure> {
        let middle = top + LINE / 2 + 2;
        let name = Type::new(TEXT, BLACK, Align::Left).bold(bar.bold);
        canvas.text((RANGE.0, middle), bar.name, name)?;
        canvas.text((RANGE.1, middle), &bar.value, Type::new(TEXT, BLACK, Align::Right))?;
        if bar.end <= 0.0 {
            return Ok(());
        }
        let (from, to) = (self.scale.pixel(self.scale.base()), self.scale.pixel(bar.end));
        // A bar has at least two pixels, so that it is visible even if it ends at its base. For example, a contestant
        // whose ratio is 1 has such a bar on a logarithmic scale.
        let (from, to) = (from.min(to), from.max(to).max(from.min(to) + 2));
        canvas.bar((from, top + LINE), (to, top + LINE + BAR), bar.colour)
    }
}
