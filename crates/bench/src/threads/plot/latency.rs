//! Percentiles of waits: a little plot for each contestant in each workload.

use super::{colour, legend};
use crate::{
    common::plot::{Failure, canvas, lines::Line, multiples::Multiples},
    threads::{
        contestants::Camp,
        report::{Outcome, PERCENTILES, Report, Row},
        table,
    },
};

/// Draws one picture that has, for each workload, a little plot for each contestant.
pub fn draw(outcomes: &[&Outcome], report: &Report) -> Result<String, Failure> {
    let places = PERCENTILES.map(|(name, _)| name);
    let abouts: Vec<String> = outcomes.iter().map(|outcome| outcome.workload.to_string()).collect();
    let lines: Vec<Vec<Line<'_>>> = outcomes.iter().map(|outcome| lines(outcome)).collect();
    let multiples: Vec<Multiples<'_>> = abouts
        .iter()
        .zip(&lines)
        .map(|(about, lines)| Multiples { about, places: &places, lines })
        .collect();
    let height = multiples.iter().map(Multiples::height).sum();
    let caption = format!("other contestants in grey; {}", table::footnote(report));
    let title = "Time from the request to the pass";
    canvas::picture(height, title, &legend(outcomes), &caption, |canvas, mut top| {
        for one in &multiples {
            one.draw(canvas, top)?;
            top += one.height();
        }
        Ok(())
    })
}

fn lines(outcome: &Outcome) -> Vec<Line<'_>> {
    outcome.rows.iter().filter(|row| row.waits.is_some()).map(line).collect()
}

fn line(row: &Row) -> Line<'_> {
    Line {
        name: row.contestant,
        bold: row.camp == Camp::Hallpass,
        colour: colour(row),
        shape: 0,
        points: row.waits.into_iter().flatten().map(Some).collect(),
    }
}
