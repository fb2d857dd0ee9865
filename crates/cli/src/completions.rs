//! `hallpass completions`: prints shell completions.

use std::process::ExitCode;

use clap::{Args as ClapArgs, CommandFactory};
use clap_complete::Shell;

use crate::{Cli, output::out};

#[derive(ClapArgs)]
pub struct Args {
    /// The shell to print completions for
    #[arg(value_enum)]
    shell: Shell,
}

/// Completes the names of halls in bash, zsh and fish. The generated scripts complete only what is known in advance.
fn with_hall_names(shell: Shell, script: String) -> String {
    match shell {
        Shell::Bash => {
            script.replace("complete -F _hallpass ", "complete -F _hallpass_with_halls ")
                + include_str!("completions/halls.bash")
        }
        Shell::Zsh => {
            let mut script = script;
            for operand in [
                "*::names -- The names of the halls \\[default\\: all halls\\]",
                "*::names -- The names of the halls",
                ":name -- The name of the hall",
            ] {
                let plain = format!("'{operand}:_default'");
                script = script.replace(&plain, &format!("'{operand}:_hallpass_halls'"));
            }
            let operands =
                "'*::operands -- The hall, then the command with its arguments:_default'";
            script = script.replace(operands, "'1:hall:_hallpass_halls' '*::command:_normal'");
            script.replacen("_hallpass() {", include_str!("completions/halls.zsh"), 1)
        }
        Shell::Fish => script + include_str!("completions/halls.fish"),
        _ => script,
    }
}

pub fn run(args: Args) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hallpass", &mut script);
    out!("{}", with_hall_names(args.shell, String::from_utf8_lossy(&script).into_owned()));
    ExitCode::SUCCESS
}
