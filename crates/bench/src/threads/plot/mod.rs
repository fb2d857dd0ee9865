//! Draws the report as pictures: bars for each group of workloads, little plots for waits.

mod bars;
mod latency;

use plotters::style::RGBColor;

use super::{
    contestants::Camp,
    report::{Outcome, Report, Row},
    workloads::{Group, Workload},
};
use crate::common::{
    Order,
    plot::{PlotError, canvas},
};

fn name(group: Group) -> String {
    format!("{}.svg", group.name())
}

/// Returns the names of the files to which the plots of these workloads go.
pub fn names(workloads: &[Workload]) -> Vec<String> {
    // The bars show multiples of the floor. The workloads of tasks have no floor, so they have no plots.
    let has = |group: &Group| {
        !group.is_for_tasks() && workloads.iter().any(|workload| workload.group == *group)
    };
    Group::ALL.into_iter().filter(has).map(name).collect()
}

/// Returns the names of the files and the SVG of each. A group in which nothing ran has no file.
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

/// Returns `true` if the row has figures to draw.
fn shown(outcome: &Outcome, row: &Row) -> bool {
    match outcome.workload.measures_waits() {
        true => row.waits.is_some(),
        false => outcome.to_floor(row).is_some(),
    }
}

/// The meaning of the colours, in the order of the legend. Most colours are Okabe and Ito's, which colour-blind people
/// can distinguish.
const CATEGORIES: [(Category, RGBColor, &str); 6] = [
    (Category::Hallpass, RGBColor(0, 158, 115), "hallpass"),
    (Category::HallpassBarging, RGBColor(127, 206, 185), "hallpass, newcomers may overtake"),
    (Category::Fifo, RGBColor(0, 114, 178), "first come, first served"),
    (Category::Everybody, RGBColor(204, 121, 167), "in no set order"),
    (Category::Barging, RGBColor(230, 159, 0), "barging"),
    (Category::Open, RGBColor(150, 150, 150), "floor (no exclusion)"),
];

/// The meaning of one colour.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Category {
    Hallpass,
    HallpassBarging,
    Fifo,
    Everybody,
    Barging,
    Open,
}

impl Category {
    fn of(row: &Row) -> Category {
        match (row.camp, row.order) {
            (Camp::Floor, _) | (_, Order::Open) => Category::Open,
            (Camp::Hallpass, Order::Barging | Order::Bypass) => Category::HallpassBarging,
            (Camp::Hallpass, _) => Category::Hallpass,
            (_, Order::Fifo) => Category::Fifo,
            (_, Order::Everybody) => Category::Everybody,
            (_, Order::Barging | Order::Bypass) => Category::Barging,
        }
    }
}

fn colour(row: &Row) -> RGBColor {
    let category = Category::of(row);
    CATEGORIES
        .iter()
        .find(|(one, ..)| *one == category)
        .map_or(canvas::GREY, |(_, colour, _)| *colour)
}

/// Returns the colours that occur, with their texts.
fn legend(outcomes: &[&Outcome]) -> Vec<(RGBColor, &'static str)> {
    let occurs = |category: Category| {
        let rows = outcomes.iter().flat_map(|outcome| &outcome.rows);
        rows.map(Category::of).any(|one| one == category)
    };
    let present = CATEGORIES.into_iter().filter(|(category, ..)| occurs(*category));
    present.map(|(_, colour, text)| (colour, text)).collect()
}
