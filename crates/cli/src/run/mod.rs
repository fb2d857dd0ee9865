//! `hallpass run`: waits for a slot, and runs a command in it.

mod attendant;
mod cluster;
mod descendants;
mod display;
mod environment;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod gpus;
mod group_probe;
mod guard;
mod inherited;
mod loss_hook;
mod operands;
mod options;
mod script;
mod signal_settings;
mod spawn;
mod supervisor;
mod waiting;
pub mod waker;
mod warden;
mod warden_report;

use std::{
    ffi::OsString,
    io,
    process::{Command, ExitCode},
    time::Instant,
};

use hallpass_processes::HallDir;

pub use self::{
    display::sentence,
    environment::{Environment, variables_of_slots},
    inherited::{LowDescriptor, SlotAfterUs},
    options::{Args, parse_slots},
    supervisor::Ended,
    waiting::Waiting,
    warden::{Duties, Failure, WatchedCommand},
};
use self::{
    environment::joined,
    operands::{Invocation, with_slot},
    supervisor::{Supervisor, become_command},
};
use crate::{
    location::{Error, Location, check_file_system, open_or_create},
    log,
    output::say,
    signals::exit_on_truncated_file,
    snapshot::printable,
    tally::{Event, TallyFile},
};

/// Exit status, with `--on`: the slot was lost and hallpass ended the command, or hallpass can no longer supervise it.
const SLOT_LOST: u8 = 123;
/// Exit status: hallpass failed. The command did not run or, without `--on`, hallpass can no longer supervise it. This
/// status and the next two are the same as those of `timeout(1)` and `env(1)`.
pub const OWN_FAILURE: u8 = 125;
/// Exit status: the command exists but cannot be executed.
const NOT_EXECUTABLE: u8 = 126;
/// Exit status: the command was not found.
const NOT_FOUND: u8 = 127;

/// The reason why the command did not run or did not finish, and the exit status of hallpass in this case.
pub struct Refusal {
    code: u8,
    /// `None` if hallpass prints nothing, as for -n without --verbose.
    why: Option<String>,
    /// Whether the command got no slot because of -n or -w.
    no_slot: bool,
}

impl Refusal {
    pub fn failure(why: impl ToString) -> Self {
        Refusal::with_code(OWN_FAILURE, why.to_string())
    }

    fn with_code(code: u8, why: String) -> Self {
        Refusal { code, why: Some(why), no_slot: false }
    }

    /// Counts a run that got no slot.
    fn count_in(&self, tally: &TallyFile) {
        if self.no_slot {
            tally.count(Event::NoSlot);
        }
    }

    /// Prints the reason and returns the exit status.
    pub fn exit_code(self) -> ExitCode {
        if let Some(why) = self.why {
            say(format_args!("{why}"));
        }
        ExitCode::from(self.code)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match &error {
            Error::Machine(hallpass_processes::Error::System { doing, path, source }) => {
                let (path, source) = (path.display(), explained(source));
                Refusal::failure(format!("cannot {doing} {path}: {source}"))
            }
            _ => Refusal::failure(error),
        }
    }
}

impl From<hallpass_processes::Error> for Refusal {
    fn from(error: hallpass_processes::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Refusal::failure(format!("cannot supervise the command: {}", explained(&error)))
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Refusal::failure(why)
    }
}

pub fn run(args: Args) -> ExitCode {
    match obtain_and_run(args) {
        // `exit_code` may end hallpass by a signal, so it comes last, when hallpass no longer has a pass.
        Ok(ended) => ended.exit_code(),
        Err(refusal) => refusal.exit_code(),
    }
}

/// A request to run a command, at any location.
struct RunRequest {
    args: Args,
    name: String,
    /// The program and its arguments.
    command: Vec<OsString>,
    environment: Environment,
    waiting: Waiting,
}

fn obtain_and_run(mut args: Args) -> Result<Ended, Refusal> {
    let Invocation { name, command } = args.invocation()?;
    let mut mappings = std::mem::take(&mut args.mappings);
    if args.gpus {
        mappings.push(gpus::mapping(&mappings)?);
    }
    let environment = Environment::new(mappings, args.per_device);
    // Check this first, so that hallpass does not create a hall that the command could not use.
    if let Some(slots) = args.slots {
        environment.check(slots)?;
    }
    if let (Some(take), Some(slots)) = (args.take(), args.slots.or(environment.slots()))
        && take > slots
    {
        let why = format!(
            "--take {take} is more than the number of slots, {slots}: take at most {slots}, or give the hall more slots"
        );
        return Err(Refusal::failure(why));
    }
    let waiting = Waiting {
        nonblock: args.nonblock,
        limit: args.wait,
        conflict_code: args.conflict_exit_code,
        verbose: args.verbose,
    };
    let location = args.location.location()?;
    let request = RunRequest { args, name, command, environment, waiting };
    match location {
        Location::Machine(dir) => on_machine(&dir, request),
        Location::Cluster(options) => cluster::run(*options, request),
    }
}

fn on_machine(dir: &HallDir, request: RunRequest) -> Result<Ended, Refusal> {
    let RunRequest { args, name, command, environment, waiting } = request;
    args.no_cluster_options()?;
    check_file_system(dir.path())?;
    exit_on_truncated_file(OWN_FAILURE);
    let count = args.take().unwrap_or(1);
    let low = if args.close { None } else { Some(LowDescriptor::reserve()?) };
    let hall = open_or_create(
        args.slots,
        environment.slots().unwrap_or(count),
        || dir.open_existing(&name),
        |slots| dir.open(&name, slots),
    )?;
    environment.check(hall.slots())?;
    if let Some(unused) = environment.unused_values(hall.slots()) {
        say(format_args!("{name}: {unused}"));
    }
    let description = args.description(&command);
    hall.describe_as(&description);
    let arrived = Instant::now();
    let tally = TallyFile::in_hall(hall.path());
    let passes = waiting.acquire_many(&hall, count, &environment);
    let passes = passes.inspect_err(|refusal| refusal.count_in(&tally))?;
    let held = passes.slots().to_vec();
    let begun = Instant::now();

    let mut run = prepared(&command, &joined(&held));
    run.envs(environment.variables(&name, &held, hall.slots())?);
    if args.verbose {
        say(format_args!("{name}: slot {}: running {}", joined(&held), shown(&command)));
    }
    let lifeline = passes.lifeline().expect("the request was for at least one slot");
    let slot = match low {
        Some(low) => SlotAfterUs::Kept(low.replace_by(lifeline)?),
        None => SlotAfterUs::Freed(lifeline),
    };
    if args.no_fork {
        return Err(not_started(&command[0], &become_command(run)));
    }
    let ended = match run_command(run, slot, args.duties()) {
        Ok(ended) => ended,
        Err(Failure::NotStarted(error)) => return Err(not_started(&command[0], &error)),
        Err(Failure::Unsupervised(error)) => {
            // The command may still run, so it keeps its slots, unless --close was given.
            passes.leave_to_lifeline();
            return Err(error.into());
        }
    };
    let (waited, ran) = (begun.duration_since(arrived), begun.elapsed());
    // The command has ended. Even if the hall was damaged in the meantime, hallpass exits with the command's status.
    exit_on_truncated_file(ended.status());
    if ended == Ended::TimedOut {
        say(format_args!("{name}: the command reached its time limit and was ended"));
    }
    match args.descendants {
        true => passes.leave_to_lifeline(),
        false => drop(passes),
    }
    tally.count(Event::Passage { waited, held: ran, lost: false });
    if !args.no_log {
        let entry = log::Entry::of_this_process(held, waited, ran, ended.status(), &description);
        // A log that cannot be written, as on a full disk, is no failure of the command.
        let _ = log::append(hall.path(), &entry);
    }
    Ok(ended)
}

/// Returns the command with `{slot}` replaced in its arguments.
fn prepared(command: &[OsString], slot: &str) -> Command {
    let mut run = Command::new(&command[0]);
    run.args(command[1..].iter().map(|argument| with_slot(argument, slot)));
    run
}

/// Runs the command, and returns how it ended.
fn run_command(command: Command, slot: SlotAfterUs<'_>, duties: Duties) -> Result<Ended, Failure> {
    if duties.any() {
        return WatchedCommand::start(command, slot, duties)?.wait();
    }
    let started =
        Supervisor::start(command, slot.inherited(), false).map_err(Failure::NotStarted)?;
    Ok(started.wait()?)
}

pub fn not_started(program: &OsString, error: &io::Error) -> Refusal {
    let code = match error.raw_os_error() {
        Some(libc::ENOENT) => NOT_FOUND,
        // These are failures of hallpass, not of the command.
        Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE) => OWN_FAILURE,
        _ => NOT_EXECUTABLE,
    };
    let why = match printable(&program.to_string_lossy()) {
        program if program.is_empty() => "CMD is empty: it must be the name of a program".into(),
        program => format!("cannot run {program}: {}", explained(error)),
    };
    Refusal::with_code(code, why)
}

/// Returns the text of the error. If the limit on open files is too low, the text says how to raise it.
fn explained(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EMFILE) => format!("{error}: raise the limit with `ulimit -n 64`"),
        _ => error.to_string(),
    }
}

/// Returns the command in one line.
pub fn shown(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}
