//! What was measured, as pictures: bars for each group of workloads, lines for waits.

mod bars;
pub(crate) mod canvas;
mod latency;
pub(crate) mod lines;
pub(crate) mod scale;

use std::{error::Error, fmt};

use plotters::style::RGBColor;

use crate::{
    contestants::{Camp, Order},
    report::{Outcome, Report, Row},
    workloads::{Group, Workload},
};

/// A plot could not be drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlotError(String);

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the plot could not be drawn: {}", self.0)
    }
}

impl Error for PlotError {}

/// What goes wrong while drawing.
pub(crate) type Failure = Box<dyn Error>;

impl From<Failure> for PlotError {
    fn from(failure: Failure) -> Self {
        PlotError(failure.to_string())
    }
}

fn name(group: Group) -> String {
    format!("{}.svg", group.name())
}

/// The files that the plots of these workloads go to.
pub fn names(workloads: &[Workload]) -> Vec<String> {
    let has = |group: &Group| workloads.iter().any(|workload| workload.group == *group);
    Group::ALL.into_iter().filter(has).map(name).collect()
}

/// The files, and the SVG that goes into each. A group in which nothing ran has none.
pub fn plots(report: &Report) -> Result<Vec<(String, String)>, PlotError> {
    let mut plots = Vec::new();
    for group in Group::ALL {
        let is_in = |outcome: &&Outcome| {
            outcome.workload.group == group && outcome.rows.iter().any(|row| shown(outcome, row))
        };
        let outcomes: Vec<&Outcome> = report.workloads.iter().filter(is_in).collect();
        if outcomes.is_empty() {
            continue;
        }
        let svg = match group {
            Group::Latency => latency::draw(&outcomes, report),
            _ => bars::draw(group, &outcomes, report),
        };
        plots.push((name(group), svg?));
    }
    Ok(plots)
}

/// Whether there is something to draw of it.
fn shown(outcome: &Outcome, row: &Row) -> bool {
    match outcome.workload.measures_waits() {
        true => row.waits.is_some(),
        false => outcome.to_floor(row).is_some(),
    }
}

/// What colours tell apart, in the order of the legend. The colours are Okabe and Ito's, which
/// colour-blind people can tell apart.
const KINDS: [(Kind, RGBColor, &str); 6] = [
    (Kind::Hallpass, RGBColor(0, 158, 115), "hallpass"),
    (Kind::HallpassBarging, RGBColor(127, 206, 185), "hallpass, barging"),
    (Kind::Fifo, RGBColor(0, 114, 178), "first come, first served"),
    (Kind::Everybody, RGBColor(204, 121, 167), "in no set order"),
    (Kind::Barging, RGBColor(230, 159, 0), "barging"),
    (Kind::Open, RGBColor(150, 150, 150), "floor (keeps nobody out)"),
];

/// One colour.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Hallpass,
    HallpassBarging,
    Fifo,
    Everybody,
    Barging,
    Open,
}

impl Kind {
    fn of(row: &Row) -> Kind {
        match (row.camp, row.order) {
            (Camp::Floor, _) | (_, Order::Open) => Kind::Open,
            (Camp::Hallpass, Order::Barging) => Kind::HallpassBarging,
            (Camp::Hallpass, _) => Kind::Hallpass,
            (_, Order::Fifo) => Kind::Fifo,
            (_, Order::Everybody) => Kind::Everybody,
            (_, Order::Barging) => Kind::Barging,
        }
    }
}

fn colour(row: &Row) -> RGBColor {
    let kind = Kind::of(row);
    KINDS.iter().find(|(one, ..)| *one == kind).map_or(canvas::GREY, |(_, colour, _)| *colour)
}

/// The colours that occur, with their texts.
fn legend(outcomes: &[&Outcome]) -> Vec<(RGBColor, &'static str)> {
    let occurs = |kind: Kind| {
        let rows = outcomes.iter().flat_map(|outcome| &outcome.rows);
        rows.map(Kind::of).any(|one| one == kind)
    };
    let present = KINDS.into_iter().filter(|(kind, ..)| occurs(*kind));
    present.map(|(_, colour, text)| (colour, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_legend_fits() {
        let width: i32 = KINDS.iter().map(|(.., text)| canvas::legend_width(text)).sum();
        assert!(canvas::MARGIN + width <= canvas::WIDTH);
    }
}
