//! `hallpass jobserver`: runs a build whose jobs take slots of a hall.
//!
//! The *clients* of a jobserver are the programs of a build, such as make, cargo and ninja. They share a number of
//! *tokens* through a pipe. A client takes a token before it starts a job, and puts it back afterwards. Here each token
//! is a slot. hallpass offers one token at a time. When a client has
//! taken it, hallpass acquires another slot and offers the token of that slot. So a build holds only the slots that it
//! uses, and the slot of the offered token. All builds of a hall share one limit. From the beginning, the build itself
//! uses one slot, for which the protocol has no token.

pub mod build;
mod tokens;

use std::{
    ffi::OsString,
    path::Path,
    process::{Command, ExitCode},
    thread,
    time::Instant,
};

use clap::{Args as ClapArgs, ValueEnum};
use hallpass_processes::HallDir;

use self::{
    build::{flags, without_job_limits},
    tokens::{Server, Tokens},
};
use crate::{
    location::{Location, LocationArgs, check_file_system, hide_on_machine, open_or_create},
    log,
    run::{
        Duties, Ended, Environment, Failure, LowDescriptor, OWN_FAILURE, Refusal, SlotAfterUs,
        Waiting, not_started, parse_slots, shown, variables_of_slots,
    },
    signals::exit_on_truncated_file,
};

const AFTER: &str = "\
hallpass removes the options -j and --jobs of make and ninja, because with these options they would ignore the \
jobserver.";

#[derive(ClapArgs)]
#[command(after_help = AFTER, mut_args(hide_on_machine))]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// The number of slots [default: that of the existing hall; for a new hall, the number of processors]
    #[arg(short = 'k', long, value_name = "K", value_parser = parse_slots, allow_negative_numbers = true)]
    slots: Option<usize>,
    /// How the build gets its tokens: before it starts another job in parallel, it takes a token
    /// [default: fifo for ninja, pipe for other programs]
    #[arg(long, value_enum)]
    style: Option<Style>,
    /// Show TEXT instead of CMD in `status`, `top` and `log`
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Report progress on standard error
    #[arg(long)]
    verbose: bool,
    /// The name of the hall
    #[arg(value_name = "NAME")]
    name: String,
    /// The build, such as `make`, `cargo build` or `ninja`
    #[arg(value_name = "CMD", required = true, num_args = 1.., trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// How a build gets its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// Inherited descriptors, for make from version 4.2 on, and cargo
    Pipe,
    /// A named pipe, for make from version 4.4 on, cargo, and ninja from version 1.13 on
    Fifo,
}

impl Style {
    /// Returns the style that works with the most versions of the program.
    fn for_program(program: &str) -> Self {
        match program {
            "ninja" | "ninja-build" | "samu" => Style::Fifo,
            _ => Style::Pipe,
        }
    }
}

pub fn run(args: Args) -> ExitCode {
    match serve(args) {
        Ok(ended) => ended.exit_code(),
        Err(refusal) => refusal.exit_code(),
    }
}

fn serve(args: Args) -> Result<Ended, Refusal> {
    let Location::Machine(dir) = args.location.location()? else {
        let why = "jobserver is for halls of this machine, because machines cannot share the tokens of make: use --dir or \
                   --system, or unset HALLPASS_ON";
        return Err(Refusal::failure(why));
    };
    check_file_system(dir.path())?;
    exit_on_truncated_file(OWN_FAILURE);
    let low = LowDescriptor::reserve()?;
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let hall = open_or_create(
        args.slots,
        processors,
        || HallDir::open_existing(&dir, &args.name),
        |slots| dir.open(&args.name, slots),
    )?;
    let description = args.label.clone().unwrap_or_else(|| shown(&args.command));
    hall.describe_as(&description);
    let arrived = Instant::now();
    let waiting = Waiting { verbose: args.verbose, ..Waiting::default() };
    let passes = waiting.acquire_many(&hall, 1, &Environment::new(Vec::new(), None))?;
    let begun = Instant::now();

    let program = Path::new(&args.command[0]).file_name().unwrap_or_default().to_string_lossy();
    let style = args.style.unwrap_or_else(|| Style::for_program(&program));
    let (tokens, shared) = Tokens::new(style)?;
    let words = without_job_limits(&program, &args.command);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).envs(variables_of_slots(&args.name, passes.slots(), hall.slots()));
    command.envs(flags(hall.slots(), &shared.authority));
    let lifeline = passes.lifeline().expect("the request was for one slot");
    let slot = SlotAfterUs::Kept(low.replace_by(lifeline)?);
    let duties = Duties { kill_with_us: true, kill_jobs: true, ..Duties::default() };
    let served =
        Server::start(hall.clone(), tokens, shared, command, slot, duties).and_then(Server::serve);
    let ended = served.map_err(|failure| match failure {
        Failure::NotStarted(error) => not_started(&args.command[0], &error),
        Failure::Unsupervised(error) => error.into(),
    })?;
    let ran = begun.elapsed();
    exit_on_truncated_file(ended.status());
    let slots = passes.slots().to_vec();
    drop(passes);
    let (waited, status) = (begun.duration_since(arrived), ended.status());
    let entry = log::Entry::of_this_process(slots, waited, ran, status, &description);
    // If the log cannot be written, the build does not fail.
    let _ = log::append(hall.path(), &entry);
    Ok(ended)
}
