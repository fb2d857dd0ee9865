//! Draws percentiles of waits as lines.

use super::{colour, legend};
use crate::{
    common::plot::{
        Failure,
        canvas::{self, Canvas, FOOT, HEAD},
        lines::{self, Line, Panel},
    },
    threads::{
        contestants::Camp,
        report::{Outcome, PERCENTILES, Report, Row},
        table,
    },
};

/// Draws one picture with a panel for each workload.
pub fn draw(outcomes: &[&Outcome], report: &Report) -> Result<String, Failure> {
    let panel = |outcome: &Outcome| lines::height(outcome.rows.len());
    let height = HEAD + outcomes.iter().map(|outcome| panel(outcome)).sum::<i32>() + FOOT;
    let caption = table::footnote(report);
    let title = "Time from the request to the pass";
    canvas::picture(height, title, &legend(outcomes), caption.trim_end(), |canvas| {
        let mut top = HEAD;
        for outcome in outcomes {
            draw_panel(canvas, outcome, top)?;
            top += panel(outcome);
        }
        Ok(())
    })
}

fn draw_panel(canvas: &Canvas<'_>, outcome: &Outcome, top: i32) -> Result<(), Failure> {
    let rows: Vec<&Row> = outcome.rows.iter().filter(|row| row.waits.is_some()).collect();
    let line = |(index, row): (usize, &&Row)| Line {
        name: row.contestant,
        bold: row.camp == Camp::Hallpass,
        colour: colour(row),
        // Contestants with the same colour have different markers.
        shape: rows[..index].iter().filter(|before| colour(before) == colour(row)).count(),
        points: row.waits.into_iter().flatten().map(Some).collect(),
    };
    let lines: Vec<Line<'_>> = rows.iter().enumerate().map(line).collect();
    let (about, places) = (outcome.workload.to_string(), PERCENTILES.map(|(name, _)| name.into()));
    let panel = Panel { about: &about, places: &places, axis: "", beyond: "" };
    lines::draw(canvas, top, &panel, &lines)
}
