//! Time for each passage as bars, with fairness beside it.

use super::{colour, legend};
use crate::{
    common::{
        plot::{
            Failure,
            bars::{Bar, Panel, RANGE},
            canvas,
            scale::Scale,
        },
        text,
    },
    threads::{
        contestants::Camp,
        report::{Outcome, Report, Row},
        table,
        workloads::Group,
    },
};

/// Draws one picture with a panel for each workload.
pub fn draw(group: Group, outcomes: &[&Outcome], report: &Report) -> Result<String, Failure> {
    let title = match group {
        Group::Alone => "The cost of a passage without competition",
        Group::Contended => "A few more threads than slots",
        _ => "Far more threads than slots",
    };
    let scale = scale_of(outcomes);
    let abouts: Vec<String> = outcomes.iter().map(|outcome| outcome.workload.to_string()).collect();
    let bars: Vec<Vec<Bar<'_>>> = outcomes.iter().map(|outcome| bars(outcome)).collect();
    let rows = abouts.iter().zip(&bars).zip(outcomes);
    let panels: Vec<Panel<'_>> = rows
        .map(|((about, bars), outcome)| Panel {
            about,
            meaning: meaning(outcome, &scale),
            bars,
            scale: &scale,
            tick: |tick| format!("{tick}"),
        })
        .collect();
    let height = panels.iter().map(Panel::height).sum();
    let caption = table::footnote(report);
    canvas::picture(height, title, &legend(outcomes), &caption, |canvas, mut top| {
        for panel in &panels {
            panel.draw(canvas, top)?;
            top += panel.height();
        }
        Ok(())
    })
}

fn meaning(outcome: &Outcome, scale: &Scale) -> &'static str {
    match (outcome.workload.has_rivalry(), scale.is_log()) {
        (true, true) => "time of a passage / floor (logarithmic) · min/mean: fairness",
        (true, false) => "time of a passage / floor · min/mean: fairness",
        (false, true) => "time of a passage / floor (logarithmic)",
        (false, false) => "time of a passage / floor",
    }
}

/// Returns the contestants that can be compared with the floor.
fn ratios(outcome: &Outcome) -> Vec<(&Row, f64)> {
    outcome.rows.iter().filter_map(|row| Some((row, outcome.to_floor(row)?))).collect()
}

/// Returns one scale for all panels, so that they can be compared.
fn scale_of(outcomes: &[&Outcome]) -> Scale {
    let values = || outcomes.iter().flat_map(|outcome| ratios(outcome)).map(|(_, ratio)| ratio);
    let (least, most) = (values().fold(1.0, f64::min), values().fold(1.0, f64::max));
    Scale::of_ratios(least, most, RANGE)
}

fn bars(outcome: &Outcome) -> Vec<Bar<'_>> {
    ratios(outcome).into_iter().map(|(row, ratio)| bar(outcome, row, ratio)).collect()
}

fn bar<'a>(outcome: &Outcome, row: &'a Row, ratio: f64) -> Bar<'a> {
    let mut value = format!("{}× ({})", text::short(ratio), text::duration(row.ns));
    if outcome.workload.has_rivalry() {
        value += &format!(" · min/mean {:.2}", row.fairness);
    }
    let bold = row.camp == Camp::Hallpass;
    Bar { name: row.contestant, bold, colour: colour(row), end: ratio, value }
}
