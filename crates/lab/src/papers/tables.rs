//! The comparison tables of the papers, with measured columns beside the paper's columns.

use super::{
    cells::link,
    judge::{self, Run},
    markdown::row,
    statements::{Column, PaperTable, Quantity, Row},
};
use crate::{
    atlas::{Answer, AtlasModel, Listed, Manifest},
    graph::Bound,
    schedule::MemoryModel,
};

/// Writes the table as Markdown, and returns the runs to which it links.
pub(super) fn write(text: &mut String, table: &PaperTable, manifest: &Manifest) -> Vec<Run> {
    let mut runs = Vec::new();
    let sizes: Vec<String> = table.sizes.iter().map(|(n, k)| format!("({n},{k})")).collect();
    let heads = table.measured.iter().map(|column| match column {
        Column::Contended => format!("*measured at {}*", sizes.join(" · ")),
        Column::Alone => "*measured, c = 1*".into(),
        Column::Starvation => "*starvation-free, measured*".into(),
        Column::Fife => "*FIFE, measured*".into(),
    });
    let heads: Vec<String> =
        [String::new()].into_iter().chain(table.columns.iter().cloned()).chain(heads).collect();
    let rule = vec!["---".to_string(); heads.len()];
    text.push_str(&format!("### {}\n\n", table.title));
    row(text, heads);
    row(text, rule);
    for line in &table.rows {
        let measured =
            table.measured.iter().enumerate().map(|(index, &column)| match &line.algorithm {
                None if index == 0 => "not implemented".into(),
                None => "–".into(),
                Some(id) => cell(line, id, column, table, manifest, &mut runs),
            });
        let name = match &line.algorithm {
            Some(id) => format!("{} `{id}`", line.name),
            None => line.name.clone(),
        };
        let cells: Vec<String> =
            [name].into_iter().chain(line.claimed.iter().cloned()).chain(measured).collect();
        row(text, cells);
    }
    text.push('\n');
    if let Some(note) = &table.note {
        text.push_str(&format!("{}\n\n", note.trim()));
    }
    runs
}

fn cell(
    line: &Row,
    id: &str,
    column: Column,
    table: &PaperTable,
    manifest: &Manifest,
    runs: &mut Vec<Run>,
) -> String {
    let models: Vec<&AtlasModel> = manifest
        .models
        .iter()
        .filter(|model| model.algorithm == id && model.memory == MemoryModel::Sequential)
        .collect();
    match column {
        Column::Contended => figures(line, table, &models, |model| model.n),
        Column::Alone => figures(line, table, &models, |_| 1),
        Column::Starvation => answer(&models, Listed::Starvation, runs),
        Column::Fife => answer(&models, Listed::Fife, runs),
    }
}

fn figures(
    line: &Row,
    table: &PaperTable,
    models: &[&AtlasModel],
    contention: impl Fn(&AtlasModel) -> usize,
) -> String {
    let figure = |quantity: Quantity, (n, k): (usize, usize)| {
        let found = models.iter().find_map(|model| {
            let meant = (model.n, model.k) == (n, k) && model.contention() == contention(model);
            let figure = if quantity == Quantity::Dsm { &model.rmr.dsm } else { &model.rmr.cc };
            figure.as_ref().filter(|_| meant)?.worst
        });
        match found {
            Some(Bound::Most(count)) => count.to_string(),
            Some(Bound::Unbounded) => "∞".into(),
            None => "–".into(),
        }
    };
    let both = line.machines.len() > 1;
    let lines = line.machines.iter().map(|&machine| {
        let figures: Vec<String> = table.sizes.iter().map(|&size| figure(machine, size)).collect();
        let figures = figures.join(" · ");
        match (machine, both) {
            (Quantity::Dsm, true) => format!("DSM {figures}"),
            (_, true) => format!("CC {figures}"),
            _ => figures,
        }
    });
    lines.collect::<Vec<_>>().join("<br>")
}

fn answer(models: &[&AtlasModel], listed: Listed, runs: &mut Vec<Run>) -> String {
    let with = |wanted: Answer| {
        models.iter().filter(move |model| judge::answer(model, listed) == Some(wanted))
    };
    let violated = with(Answer::Violated).min_by_key(|model| (model.n, model.states));
    match violated {
        Some(&model) => {
            let run = judge::violation(model.clone(), listed);
            let text = format!("no: {}", link(&run));
            runs.push(run);
            text
        }
        None if with(Answer::Holds).next().is_some() => "yes".into(),
        None => "–".into(),
    }
}
