//! `hallpass lab rmr`.

use std::process::ExitCode;

use clap::Args as ClapArgs;
use hallpass_lab::{
    rmr::{self, Question},
    schedule::Conventions,
};

use super::{
    HOLDS,
    options::{Effort, Size},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    size: Size,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    effort: Effort,
}

pub fn run(args: Args) -> super::Result {
    let Args { size, json, effort } = args;
    let question = Question {
        algorithm: size.algorithm.clone(),
        n: size.n,
        k: size.k,
        contention: size.contention(),
        conventions: Conventions::default(),
        initial: size.initial.into(),
    };
    let report = effort.with_resources(|resources| rmr::exact(&question, resources))?;
    let _ = json;
    println!("{}", report.to_json());
    Ok(ExitCode::from(HOLDS))
}
