//! `hallpass completions`: prints shell completions.

use std::{collections::BTreeSet, process::ExitCode};

use clap::{Arg, Args as ClapArgs, Command, CommandFactory};
use clap_complete::Shell;

use crate::{Cli, output::out};

#[derive(ClapArgs)]
pub struct Args {
    /// The shell to print completions for
    #[arg(value_enum)]
    shell: Shell,
}

/// Returns the commands that accept the name of a hall.
fn commands_with_names(program: &Command) -> Vec<&str> {
    let accepts_name = |command: &&Command| {
        command
            .get_positionals()
            .any(|operand| ["name", "names", "operands"].contains(&operand.get_id().as_str()))
    };
    program.get_subcommands().filter(accepts_name).map(Command::get_name).collect()
}

/// Returns all options that need a value, each with its dashes, such as `-k` and `--slots`. The word after such an
/// option is not the name of a hall.
fn options_with_values(program: &Command) -> BTreeSet<String> {
    let options = program.get_subcommands().flat_map(Command::get_opts);
    let needs_value =
        |option: &&Arg| option.get_num_args().is_none_or(|values| values.min_values() > 0);
    options
        .filter(needs_value)
        .flat_map(|option| {
            let short = option.get_short_and_visible_aliases().unwrap_or_default().into_iter();
            let long = option.get_long_and_visible_aliases().unwrap_or_default().into_iter();
            short.map(|letter| format!("-{letter}")).chain(long.map(|word| format!("--{word}")))
        })
        .collect()
}

/// Adds completions of hall names to the script for bash, zsh or fish. The script that clap generates completes only
/// words that are known in advance.
fn with_hall_names(shell: Shell, script: String, program: &Command) -> String {
    match shell {
        Shell::Bash => {
            let options = Vec::from_iter(options_with_values(program)).join(" | ");
            let names = include_str!("completions/halls.bash")
                .replace("COMMANDS", &commands_with_names(program).join(" | "))
                .replace("OPTIONS", &options);
            script.replace("complete -F _hallpass ", "complete -F _hallpass_with_halls ") + &names
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
        Shell::Fish => {
            let commands = commands_with_names(program).join(" ");
            script + &include_str!("completions/halls.fish").replace("COMMANDS", &commands)
        }
        _ => script,
    }
}

pub fn run(args: Args) -> ExitCode {
    let mut program = Cli::command();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "hallpass", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    out!("{}", with_hall_names(args.shell, script, &program));
    ExitCode::SUCCESS
}
