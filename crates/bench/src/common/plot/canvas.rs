//! An SVG with coordinates in pixels, and what both kinds of plots have in common.

use plotters::{
    coord::Shift,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::Failure;

pub const WIDTH: i32 = 900;
/// Where text begins and ends.
pub const MARGIN: i32 = 24;
/// Height of title and legend.
pub const HEAD: i32 = 78;
/// Height of the line at the bottom.
pub const FOOT: i32 = 34;

pub const GREY: RGBColor = RGBColor(90, 90, 90);
pub const PALE: RGBColor = RGBColor(228, 228, 228);

const FONT: &str = "sans-serif";
/// About what a character of the legend takes.
const LEGEND_CHARACTER: i32 = 7;

/// Number of distinguishable markers.
pub const SHAPES: usize = 6;

/// Where a text stands in relation to its point.
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

/// About what a colour takes in the legend.
pub fn legend_width(text: &str) -> i32 {
    34 + LEGEND_CHARACTER * text.chars().count() as i32
}

/// Draws a picture of some height: title, legend, what `draw` draws, and a line below.
pub fn picture(
    height: i32,
    title: &str,
    legend: &[(RGBColor, &str)],
    caption: &str,
    draw: impl FnOnce(&Canvas<'_>) -> Result<(), Failure>,
) -> Result<String, Failure> {
    let mut svg = String::new();
    let size = (WIDTH as u32, height as u32);
    let canvas = Canvas { area: SVGBackend::with_string(&mut svg, size).into_drawing_area() };
    canvas.area.fill(&WHITE)?;
    canvas.text((MARGIN, 26), title, Type::new(22, BLACK, Align::Left))?;
    let mut x = MARGIN;
    for (colour, text) in legend {
        canvas.bar((x, 52), (x + 12, 64), *colour)?;
        canvas.text((x + 18, 58), text, Type::new(13, BLACK, Align::Left))?;
        x += legend_width(text);
    }
    draw(&canvas)?;
    canvas.text((MARGIN, height - 18), caption, Type::new(13, GREY, Align::Left))?;
    canvas.area.present()?;
    drop(canvas);
    Ok(svg)
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

    /// One of [`SHAPES`] shapes.
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
