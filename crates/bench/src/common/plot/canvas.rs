//! An SVG with coordinates in pixels, and the parts that all plots share.
//!
//! Plots are narrow and have large letters, because on a phone a page shows them at little more than half
//! their size.

use plotters::{
    coord::Shift,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use hallpass_lab::svg::follow_colour_scheme;

use super::Failure;

pub const WIDTH: i32 = 620;
/// Distance of texts from the left and the right edge.
pub const MARGIN: i32 = 20;

/// Font size of the title.
const TITLE: u32 = 25;
/// Font size of the headings of panels.
pub const HEADING: u32 = 21;
/// Font size of the legend, and of names and values.
pub const TEXT: u32 = 19;
/// Font size of scales, notes and the caption.
pub const SMALL: u32 = 17;

/// Height of a line of the title, of the legend and of the caption.
const TITLE_LINE: i32 = 26;
const LEGEND_LINE: i32 = 24;
const CAPTION_LINE: i32 = 19;
/// Approximate width of a character of the title, of the legend and of the caption.
const TITLE_CHARACTER: i32 = 11;
const LEGEND_CHARACTER: i32 = 9;
const CAPTION_CHARACTER: i32 = 8;

pub const GREY: RGBColor = RGBColor(90, 90, 90);
pub const PALE: RGBColor = RGBColor(228, 228, 228);
/// Lines in the background of small multiples.
pub const FAINT: RGBColor = RGBColor(210, 210, 210);

const FONT: &str = "sans-serif";

/// Number of distinguishable markers.
pub const SHAPES: usize = 6;

/// Position of a text relative to its point.
#[derive(Clone, Copy)]
pub enum Align {
    Left,
    Centre,
    Right,
}

/// Style of a text.
#[derive(Clone, Copy)]
pub struct Type {
    pub size: u32,
    pub colour: RGBColor,
    pub align: Align,
    pub bold: bool,
}

impl Type {
    pub const fn new(size: u32, colour: RGBColor, align: Align) -> Self {
        Type { size, colour, align, bold: false }
    }

    pub const fn bold(self, bold: bool) -> Self {
        Type { bold, ..self }
    }
}

/// The picture while it is drawn.
pub struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

/// Returns the approximate width of an entry of the legend.
fn legend_width(text: &str) -> i32 {
    40 + LEGEND_CHARACTER * text.chars().count() as i32
}

/// Places the entries of a legend from left to right, in as many lines as they need. Returns the position
/// of each entry and the number of lines.
fn place_legend(legend: &[(RGBColor, &str)]) -> (Vec<(i32, i32)>, i32) {
    let (mut x, mut line) = (MARGIN, 0);
    let mut places = Vec::new();
    for (_, text) in legend {
        if x > MARGIN && x + legend_width(text) > WIDTH {
            (x, line) = (MARGIN, line + 1);
        }
        places.push((x, line));
        x += legend_width(text);
    }
    (places, line + 1)
}

/// Breaks a text into lines that fit into the picture, given the width of a character.
pub fn wrap(text: &str, character: i32) -> Vec<String> {
    let most = ((WIDTH - 2 * MARGIN) / character) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// Draws a picture: a title, a legend, a body with the height `body`, and a caption. `draw` draws the body and gets the
/// y at which the body begins. The picture follows the colour scheme of the page.
pub fn picture(
    body: i32,
    title: &str,
    legend: &[(RGBColor, &str)],
    caption: &str,
    draw: impl FnOnce(&Canvas<'_>, i32) -> Result<(), Failure>,
) -> Result<String, Failure> {
    let (title, caption) = (wrap(title, TITLE_CHARACTER), wrap(caption, CAPTION_CHARACTER));
    let (places, legend_lines) = place_legend(legend);
    let legend_top = 18 + TITLE_LINE * title.len() as i32;
    let top = legend_top + LEGEND_LINE * legend_lines + 16;
    let foot = CAPTION_LINE * caption.len() as i32 + 12;
    let mut svg = String::new();
    let size = (WIDTH as u32, (top + body + foot) as u32);
    let canvas = Canvas { area: SVGBackend::with_string(&mut svg, size).into_drawing_area() };
    canvas.area.fill(&WHITE)?;
    for (index, line) in title.iter().enumerate() {
        let y = 12 + TITLE_LINE * index as i32 + TITLE_LINE / 2;
        canvas.text((MARGIN, y), line, Type::new(TITLE, BLACK, Align::Left))?;
    }
    for ((colour, text), (x, line)) in legend.iter().zip(places) {
        let y = legend_top + LEGEND_LINE * line + LEGEND_LINE / 2;
        canvas.bar((x, y - 7), (x + 14, y + 7), *colour)?;
        canvas.text((x + 22, y), text, Type::new(TEXT, BLACK, Align::Left))?;
    }
    draw(&canvas, top)?;
    for (index, line) in caption.iter().enumerate() {
        let y = top + body + CAPTION_LINE * index as i32 + CAPTION_LINE / 2;
        canvas.text((MARGIN, y), line, Type::new(SMALL, GREY, Align::Left))?;
    }
    canvas.area.present()?;
    drop(canvas);
    Ok(follow_colour_scheme(&svg))
}

impl Canvas<'_> {
    pub fn text(&self, at: (i32, i32), text: &str, look: Type) -> Result<(), Failure> {
        let across = match look.align {
            Align::Left => HPos::Left,
            Align::Centre => HPos::Center,
            Align::Right => HPos::Right,
        };
        let style = if look.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = (FONT, look.size, style).into_font().color(&look.colour);
        let font = font.pos(Pos::new(across, VPos::Center));
        Ok(self.area.draw(&Text::new(text.to_string(), at, font))?)
    }

    pub fn bar(&self, from: (i32, i32), to: (i32, i32), colour: RGBColor) -> Result<(), Failure> {
        Ok(self.area.draw(&Rectangle::new([from, to], colour.filled()))?)
    }

    pub fn line(
        &self,
        points: impl Into<Vec<(i32, i32)>>,
        colour: RGBColor,
        width: u32,
    ) -> Result<(), Failure> {
        Ok(self.area.draw(&PathElement::new(points, colour.stroke_width(width)))?)
    }

    /// Draws one of [`SHAPES`] shapes.
    pub fn marker(&self, at: (i32, i32), shape: usize, colour: RGBColor) -> Result<(), Failure> {
        let (x, y) = at;
        let points = match shape % SHAPES {
            0 => return self.disc(at, 4, colour),
            1 => vec![(x - 4, y - 4), (x + 4, y - 4), (x + 4, y + 4), (x - 4, y + 4)],
            2 => vec![(x, y - 5), (x + 5, y + 4), (x - 5, y + 4)],
            3 => vec![(x, y - 6), (x + 5, y), (x, y + 6), (x - 5, y)],
            4 => vec![(x, y + 5), (x + 5, y - 4), (x - 5, y - 4)],
            _ => vec![(x - 2, y - 6), (x + 2, y - 6), (x + 2, y + 6), (x - 2, y + 6)],
        };
        Ok(self.area.draw(&Polygon::new(points, colour.filled()))?)
    }

    pub fn disc(&self, at: (i32, i32), radius: i32, colour: RGBColor) -> Result<(), Failure> {
        Ok(self.area.draw(&Circle::new(at, radius, colour.filled()))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_breaks_into_lines_that_fit() {
        let text = "first come, first served";
        let (places, lines) = place_legend(&[(BLACK, text), (GREY, text), (PALE, text)]);
        assert_eq!((places[0], places[1].1, lines), ((MARGIN, 0), 0, 2));
        assert_eq!(places[2], (MARGIN, 1));
        assert!(places.iter().all(|(x, _)| x + legend_width(text) <= WIDTH));
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two", (WIDTH - 2 * MARGIN) / 5), ["one", "two"]);
    }
}
