//! Plots of worst cases against n or another number, as SVG.

use std::fmt;

use plotters::{
    chart::{ChartBuilder, ChartContext},
    coord::{Shift, cartesian::Cartesian2d, types::RangedCoordf64},
    prelude::*,
    series::DashedLineSeries,
};

use crate::svg::follow_colour_scheme;

/// The meaning of a series. It decides how the series is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shows {
    /// Exact worst cases: a solid line with filled markers.
    Exact,
    /// Lower bounds from a search: a dashed line with hollow markers.
    Searched,
    /// A paper's bound: a broad pale line.
    Bound,
}

/// A line of points.
#[derive(Clone, Debug)]
pub struct Series {
    /// The text in the legend.
    pub label: String,
    /// The meaning of the points.
    pub shows: Shows,
    /// The group of the series, such as its algorithm. All series of one group have the same colour.
    pub group: usize,
    /// The points, from left to right.
    pub points: Vec<(u32, u32)>,
    /// The sizes without a bound: passages of any cost exist. They are marked at the upper edge.
    pub unbounded: Vec<u32>,
}

/// A plot of worst cases against a size, such as n, with its texts.
#[derive(Clone, Debug)]
pub struct Plot {
    /// The title, above the plot.
    pub title: String,
    /// The caption below the plot, such as the counting rules.
    pub caption: String,
    /// The label of the horizontal axis.
    pub x_label: String,
    /// The label of the vertical axis.
    pub y_label: String,
    /// The curves and points to draw.
    pub series: Vec<Series>,
}

/// Error returned by [`plot`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlotError {
    /// Every series is empty: it has no point, and no size without a bound.
    Empty,
    /// The library that draws failed, with this message.
    Drawing(String),
}

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlotError::Empty => f.write_str("there is nothing to plot: every series is empty"),
            PlotError::Drawing(text) => write!(f, "cannot draw the plot: {text}"),
        }
    }
}

impl std::error::Error for PlotError {}

/// The size of a plot. It is narrow, with large text, because a phone shows the plot at little more
/// than half this size.
const SIZE: (u32, u32) = (620, 600);
const TITLE_LINE: u32 = 26;
/// Font sizes.
const TITLE_FONT: u32 = 25;
const TEXT_FONT: u32 = 19;
const CAPTION_FONT: u32 = 17;
const FONT: &str = "sans-serif";
/// The number of characters that fit into a line of the title and of the caption.
const TITLE_WIDTH: usize = 50;
const CAPTION_WIDTH: usize = 82;
const CAPTION_LINE: u32 = 20;
/// The colours of Okabe and Ito, which colour-blind readers can distinguish. Their yellow is left out,
/// because it is too pale.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];
const MARKER: u32 = 5;
const TRIANGLE: i32 = 7;
const LEGEND_ROW: u32 = 24;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Failure = Box<dyn std::error::Error>;

/// Draws the plot.
///
/// # Errors
/// Fails if no series has a point or a size without a bound, or if drawing fails.
pub fn plot(plot: &Plot) -> Result<String, PlotError> {
    let Some(frame) = Frame::around(&plot.series) else {
        return Err(PlotError::Empty);
    };
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
    let drawn = draw(plot, &frame, &area);
    drop(area);
    drawn.map_err(|failure| PlotError::Drawing(failure.to_string()))?;
    Ok(follow_colour_scheme(&svg))
}

/// The range of both axes.
struct Frame {
    x: (f64, f64),
    top: f64,
}

impl Frame {
    fn around(series: &[Series]) -> Option<Self> {
        let points = || series.iter().flat_map(|series| &series.points);
        let unbounded = series.iter().flat_map(|series| &series.unbounded).copied();
        let xs = || points().map(|&(x, _)| x).chain(unbounded.clone());
        let (least, most) = (xs().min()?, xs().max()?);
        let highest = points().map(|&(_, y)| y).max().unwrap_or(0).max(1);
        let x = (f64::from(least) - 0.5, f64::from(most) + 0.5);
        // The triangles of sizes without a bound need extra room.
        let room = if unbounded.clone().next().is_some() { 1.25 } else { 1.08 };
        Some(Frame { x, top: f64::from(highest) * room })
    }
}

fn draw(plot: &Plot, frame: &Frame, area: &Area<'_>) -> Result<(), Failure> {
    area.fill(&WHITE)?;
    let caption = wrap(&plot.caption, CAPTION_WIDTH);
    let title = wrap(&plot.title, TITLE_WIDTH);
    let legend = TITLE_LINE * title.len() as u32 + 26;
    let above = legend + LEGEND_ROW * plot.series.len() as u32 + 12;
    let (upper, rest) = area.split_vertically(above);
    let below = CAPTION_LINE * caption.len() as u32 + 20;
    let (middle, lower) = rest.split_vertically(SIZE.1.saturating_sub(above + below));
    let text = |size: u32, colour: &RGBColor| (FONT, size).into_font().color(colour);
    for (index, line) in title.into_iter().enumerate() {
        let y = (TITLE_LINE * index as u32) as i32 + 16;
        upper.draw(&Text::new(line, (24, y), text(TITLE_FONT, &BLACK)))?;
    }
    for (index, series) in plot.series.iter().enumerate() {
        let y = legend + LEGEND_ROW * index as u32 + LEGEND_ROW / 2;
        draw_legend_entry(&upper, series, (24, y as i32))?;
    }
    let grey = RGBColor(90, 90, 90);
    for (index, line) in caption.into_iter().enumerate() {
        let y = (CAPTION_LINE * index as u32) as i32 + 8;
        lower.draw(&Text::new(line, (24, y), text(CAPTION_FONT, &grey)))?;
    }
    let mut chart = ChartBuilder::on(&middle)
        .margin_right(24)
        .margin_left(8)
        .x_label_area_size(56)
        .y_label_area_size(72)
        .build_cartesian_2d(frame.x.0..frame.x.1, 0.0..frame.top)?;
    let whole = |value: &f64| match value.fract() == 0.0 {
        true => format!("{value:.0}"),
        false => String::new(),
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(228, 228, 228))
        .axis_style(RGBColor(120, 120, 120))
        .x_labels(((frame.x.1 - frame.x.0) as usize).min(16))
        .x_label_formatter(&whole)
        .y_label_formatter(&whole)
        .x_desc(plot.x_label.as_str())
        .y_desc(plot.y_label.as_str())
        .axis_desc_style((FONT, TEXT_FONT))
        .label_style((FONT, TEXT_FONT))
        .draw()?;
    // The bounds are drawn first, so that they are under the measured values.
    for shows in [Shows::Bound, Shows::Searched, Shows::Exact] {
        for series in plot.series.iter().filter(|series| series.shows == shows) {
            draw_series(&mut chart, series, &plot.series, frame)?;
        }
    }
    area.present()?;
    Ok(())
}

fn colour(series: &Series) -> RGBColor {
    COLOURS[series.group % COLOURS.len()]
}

fn pale(colour: RGBColor) -> ShapeStyle {
    colour.mix(0.25).stroke_width(7)
}

/// Draws one entry of the legend: a sample of the line with its marker, and the text.
///
/// The legend is outside the plot, so that it covers no point.
fn draw_legend_entry(area: &Area<'_>, series: &Series, at: (i32, i32)) -> Result<(), Failure> {
    let colour = colour(series);
    let line = colour.stroke_width(2);
    let x = |offset: i32| (at.0 + offset, at.1);
    let strokes: &[(i32, i32)] = match series.shows {
        _ if series.points.is_empty() => &[],
        Shows::Bound | Shows::Exact => &[(0, 32)],
        Shows::Searched => &[(0, 8), (24, 32)],
    };
    let style = if series.shows == Shows::Bound { pale(colour) } else { line };
    for &(from, to) in strokes {
        area.draw(&PathElement::new([x(from), x(to)], style))?;
    }
    let inside = if series.shows == Shows::Exact { colour } else { WHITE };
    let mut label = series.label.clone();
    if series.points.is_empty() {
        area.draw(&TriangleMarker::new(x(16), TRIANGLE, colour.filled()))?;
    } else if series.shows != Shows::Bound {
        area.draw(&Circle::new(x(16), MARKER, inside.filled()))?;
        area.draw(&Circle::new(x(16), MARKER, line))?;
    }
    if !series.unbounded.is_empty() {
        label.push_str(" (triangles: no bound)");
    }
    let (x, y) = x(42);
    let font = (FONT, TEXT_FONT).into_font().color(&BLACK);
    area.draw(&Text::new(label, (x, y - 8), font))?;
    Ok(())
}

fn draw_series<'a, 'b: 'a>(
    chart: &mut Chart<'a, 'b>,
    series: &Series,
    all: &[Series],
    frame: &Frame,
) -> Result<(), Failure> {
    let colour = colour(series);
    let at = |&(x, y): &(u32, u32)| (f64::from(x), f64::from(y));
    let points = series.points.iter().map(at);
    let line = colour.stroke_width(2);
    let inside = match series.shows {
        Shows::Bound => {
            chart.draw_series(LineSeries::new(points, pale(colour)))?;
            return Ok(());
        }
        Shows::Exact => {
            chart.draw_series(LineSeries::new(points.clone(), line))?;
            colour
        }
        Shows::Searched => {
            // The dashed line begins where the exact values of the same colour end.
            let first = series.points.first().map_or(0, |point| point.0);
            let before = all
                .iter()
                .filter(|other| other.shows == Shows::Exact && other.group == series.group)
                .flat_map(|other| other.points.iter().filter(|point| point.0 < first))
                .max_by_key(|point| point.0);
            let points = before.into_iter().chain(&series.points).map(at);
            chart.draw_series(DashedLineSeries::new(points, 6, 5, line))?;
            WHITE
        }
    };
    chart.draw_series(points.clone().map(|at| Circle::new(at, MARKER, inside.filled())))?;
    chart.draw_series(points.map(|at| Circle::new(at, MARKER, line)))?;
    draw_unbounded(chart, series, frame, colour)
}

/// Draws triangles at the upper edge. The triangles of each group are below those of the previous group.
fn draw_unbounded<'a, 'b: 'a>(
    chart: &mut Chart<'a, 'b>,
    series: &Series,
    frame: &Frame,
    colour: RGBColor,
) -> Result<(), Failure> {
    let tops = series.unbounded.iter().map(|&x| (f64::from(x), frame.top));
    let below = 10 + 14 * (series.group % COLOURS.len()) as i32;
    chart.draw_series(tops.map(|at| {
        EmptyElement::at(at) + TriangleMarker::new((0, below), TRIANGLE, colour.filled())
    }))?;
    Ok(())
}

/// Breaks text into lines of at most `width` characters. A longer word gets its own line.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(shows: Shows, points: &[(u32, u32)]) -> Series {
        let label = format!("<{shows:?}>");
        Series { label, shows, group: 0, points: points.to_vec(), unbounded: Vec::new() }
    }

    fn with(series: Vec<Series>) -> Plot {
        Plot {
            title: "worst & paper".into(),
            caption: "c = n; every write is remote".into(),
            x_label: "n".into(),
            y_label: "references".into(),
            series,
        }
    }

    #[test]
    fn every_point_has_a_marker_and_every_text_is_shown() {
        let exact = series(Shows::Exact, &[(2, 7), (3, 14)]);
        let searched = series(Shows::Searched, &[(4, 21), (5, 28), (6, 35)]);
        let bound = series(Shows::Bound, &[(2, 7), (6, 35)]);
        let svg = plot(&with(vec![exact, searched, bound])).expect("it can be drawn");
        // There is one disc and one ring for each of five points, and for two lines of the legend.
        assert_eq!(svg.matches("<circle").count(), 2 * (5 + 2));
        for text in ["worst &amp; paper", "c = n; every write is remote", "&lt;Exact&gt;"] {
            assert!(svg.contains(text), "{text} in {svg}");
        }
        assert!(svg.trim_end().ends_with("</svg>"));
    }

    #[test]
    fn sizes_without_a_bound_are_marked() {
        let mut endless = series(Shows::Searched, &[]);
        endless.unbounded = vec![3];
        let svg = plot(&with(vec![endless])).expect("it can be drawn");
        assert!(svg.contains("no bound") && svg.contains("<polygon"));
    }

    #[test]
    fn a_plot_without_points_is_refused() {
        assert_eq!(plot(&with(Vec::new())), Err(PlotError::Empty));
        assert_eq!(plot(&with(vec![series(Shows::Exact, &[])])), Err(PlotError::Empty));
    }

    #[test]
    fn captions_wrap_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert!(wrap("", 7).is_empty());
    }
}
