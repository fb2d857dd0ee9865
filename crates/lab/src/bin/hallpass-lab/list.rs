//! `hallpass-lab list`.

use std::process::ExitCode;

use clap::Args as ClapArgs;
use hallpass_algorithms::registry::{CostModel, ENTRIES, Entry, RmrBound, Standing};
use hallpass_lab::program::{self, HOLDS, output::outln};

#[derive(ClapArgs)]
pub struct Args {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

pub fn run(Args { json }: Args) -> program::Result {
    if json {
        let entries: Vec<_> = ENTRIES.iter().map(to_json).collect();
        outln!("{}", serde_json::Value::Array(entries));
        return Ok(ExitCode::from(HOLDS));
    }
    for (standing, heading) in [
        (Standing::Sound, "ALGORITHMS (those of papers also with +names, for k-assignment)"),
        (Standing::Printed, "AS PRINTED IN THE PAPER, and wrong"),
        (Standing::Broken, "WRONG ON PURPOSE"),
    ] {
        outln!("{heading}");
        for entry in ENTRIES.iter().filter(|entry| entry.standing == standing) {
            outln!("  {:<26} {}, {}: {}", entry.id, entry.paper, entry.figure, entry.title);
            let stated = |bound: RmrBound| {
                format!("; states {} {} ({})", model(bound.model), bound.formula, bound.source)
            };
            let bounds: String = entry.bounds().map(stated).collect();
            outln!("  {:<26} uses {}{bounds}", "", entry.primitives);
        }
        outln!("");
    }
    Ok(ExitCode::from(HOLDS))
}

fn model(model: CostModel) -> &'static str {
    match model {
        CostModel::Cc => "CC RMR",
        CostModel::Dsm => "DSM RMR",
    }
}

fn to_json(entry: &Entry) -> serde_json::Value {
    serde_json::json!({
        "id": entry.id,
        "names": entry.nameable,
        "title": entry.title,
        "paper": entry.paper,
        "figure": entry.figure,
        "primitives": entry.primitives,
        "standing": match entry.standing {
            Standing::Sound => "sound",
            Standing::Printed => "printed",
            Standing::Broken => "broken",
        },
        "least_n_minus_k": entry.min_gap,
        "most_n": entry.max_processes,
        "claims": entry.bounds().map(|bound| serde_json::json!({
            "source": bound.source,
            "model": match bound.model { CostModel::Cc => "cc", CostModel::Dsm => "dsm" },
            "formula": bound.formula,
        })).collect::<Vec<_>>(),
    })
}
