//! `hallpass run --on`: the hall is on a cluster, and a keeper process talks to it.
//!
//! The command and the processes that it starts inherit a pipe, the *lifeline*. A process that has the lifeline open
//! needs the slot.

use std::{
    env,
    ffi::OsString,
    io::{self, IsTerminal},
    os::fd::AsFd,
    process::Command,
    time::{Duration, Instant},
};

#[cfg(feature = "postgres")]
use hallpass_cluster::StoreOptions;
use hallpass_cluster::{ClusterOptions, MAX_TOGETHER};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use super::{
    Refusal, RunRequest, SLOT_LOST,
    display::{AT_FIRST, EVERY, StatusLine, in_foreground},
    environment::{Environment, TOKEN, joined},
    guard::{Guard, NOT_RENEWED, Outcome},
    inherited::LowDescriptor,
    loss_hook::LossHook,
    not_started,
    options::{Lease, OnKill},
    shown,
    supervisor::{Ended, Supervisor},
    waiting::{NO_SLOT, TIMED_OUT, Waiting},
};
use crate::{
    keeper::{
        Keeper, lifeline,
        messages::{AcquireRequest, Order, Report, Request},
    },
    output::{can_paint, say},
    tally::{Event, TallyFile},
};

/// The longest command that the keeper gets for `status`, in characters. The rest of a longer command is not shown.
const SHOWN: usize = 4096;

pub fn run(mut options: ClusterOptions, request: RunRequest) -> Result<Ended, Refusal> {
    let RunRequest { args, name, command, environment, waiting } = request;
    if args.no_fork {
        let why = "--no-fork cannot be combined with --on: hallpass must keep running to end CMD in \
                   time if the slot is lost";
        return Err(Refusal::failure(why));
    }
    if args.duties().time_limit.is_some() {
        let why = "--time-limit cannot be combined with --on: put `timeout` before CMD";
        return Err(Refusal::failure(why));
    }
    let take = args.take().unwrap_or(1);
    if take > MAX_TOGETHER {
        let why = format!(
            "--take {take} is more than a command can have on a store: take at most {MAX_TOGETHER}"
        );
        return Err(Refusal::failure(why));
    }
    let Lease { ttl, grace } = args.lease(options.ttl)?;
    options.ttl = ttl;
    #[cfg(feature = "postgres")]
    if let StoreOptions::Postgres(postgres) = &mut options.store {
        postgres.share_connection = true;
    }
    let request = AcquireRequest {
        name: name.clone(),
        slots: args.slots,
        default_slots: environment.slots().unwrap_or(take),
        take,
        command: args.description(&command).chars().take(SHOWN).collect(),
        nonblock: waiting.nonblock,
        limit: waiting.limit,
        verbose: waiting.verbose && !io::stderr().is_terminal(),
        grace,
        survive_kill: args.on_kill == Some(OnKill::Keep),
        close: args.close,
    };
    let low = if args.close { None } else { Some(LowDescriptor::reserve()?) };
    let tally = TallyFile::of_cluster(&options.url(), &name);
    let mut passage = CountedPassage { tally, arrived: Instant::now(), granted: None };
    let (keeper, lifeline) = Keeper::start(&Request { cluster: options.into(), request })
        .map_err(|error| Refusal::failure(format!("cannot start the keeper: {error}")))?;
    let entry = Entry { name: &name, waiting: &waiting, environment: &environment };
    let granted = entry.wait(&keeper).inspect_err(|refusal| passage.refuse(refusal))?;
    passage.granted = Some(Instant::now());

    let mut variables = environment.variables(&name, &granted.held, granted.slots)?;
    let id = keeper.lifeline.variable(env::var_os(lifeline::VARIABLE));
    variables.push((TOKEN.to_string(), granted.token.to_string()));
    let hook = args.on_loss.map(|line| LossHook::new(line, variables.clone())).transpose()?;
    let held = joined(&granted.held);
    let run = prepared(&command, &held, variables, id);
    if args.verbose {
        let token = granted.token;
        say(format_args!("{name}: slot {held}, token {token}: running {}", shown(&command)));
    }
    let inherited = low.map(|low| low.replace_by(lifeline.as_fd())).transpose()?;
    // hallpass may have been suspended for a long time after it got the slot.
    if keeper.deadline.is_near()? {
        passage.end(true);
        return Err(too_late(&name, NOT_RENEWED));
    }
    let mut supervisor = match Supervisor::start(run, inherited, args.on_kill != Some(OnKill::Keep))
    {
        Ok(supervisor) => supervisor,
        Err(error) => {
            // If the release fails too, the slot becomes free when its lease ends.
            let _ = keeper.release();
            return Err(not_started(&command[0], &error));
        }
    };
    supervisor.probe_group();
    // Close this process's copy of the lifeline. Otherwise the keeper would keep the slot as long as hallpass runs.
    drop(lifeline);
    let guard = Guard::new(supervisor, keeper, grace, args.descendants).with_hook(hook);
    let watched = guard.watch();
    // If the guard fails, the command ends together with this process, unless --on-kill keep is given.
    let lost = |error: io::Error| Refusal { code: SLOT_LOST, ..error.into() };
    match watched.map_err(lost)? {
        Outcome::Ended(ended, keeper) => {
            // The command ended in time, so a failed release does not change its exit status.
            let problem = keeper.release().unwrap_or_else(|error| Some(error.to_string()));
            passage.end(false);
            if let Some(why) = problem.filter(|_| args.verbose) {
                say(format_args!(
                    "{name}: the slot was not released and becomes free when its lease ends: {why}"
                ));
            }
            Ok(ended)
        }
        Outcome::Lost(why) => {
            passage.end(true);
            let why = format!("{name}: the pass was lost ({why}): the command was ended");
            Err(Refusal::with_code(SLOT_LOST, why))
        }
    }
}

/// The passage of this run, to be counted when it has ended.
struct CountedPassage {
    tally: Option<TallyFile>,
    arrived: Instant,
    /// When the run got its slot.
    granted: Option<Instant>,
}

impl CountedPassage {
    /// Counts a run that got no slot.
    fn refuse(&self, refusal: &Refusal) {
        if let Some(tally) = &self.tally {
            refusal.count_in(tally);
        }
    }

    /// Counts a run that had a slot until now, or lost it.
    fn end(&self, lost: bool) {
        if let (Some(tally), Some(granted)) = (&self.tally, self.granted) {
            let (waited, held) = (granted.duration_since(self.arrived), granted.elapsed());
            tally.count(Event::Passage { waited, held, lost });
        }
    }
}

fn too_late(name: &str, why: &str) -> Refusal {
    Refusal::failure(format!("{name}: the pass was lost ({why}): the command did not run"))
}

fn prepared(
    command: &[OsString],
    held: &str,
    variables: Vec<(String, String)>,
    id: OsString,
) -> Command {
    let mut run = super::prepared(command, held);
    run.envs(variables).env(lifeline::VARIABLE, id);
    run
}

struct Granted {
    /// The slots of the command, in ascending order.
    held: Vec<usize>,
    /// The number of slots of the hall.
    slots: usize,
    token: u64,
}

/// Waits for a slot through the keeper.
struct Entry<'a> {
    name: &'a str,
    waiting: &'a Waiting,
    environment: &'a Environment,
}

impl Entry<'_> {
    /// Waits until the keeper has a slot. Signals need no handling here: if one kills hallpass, the keeper notices
    /// this and leaves the queue.
    fn wait(&self, keeper: &Keeper) -> Result<Granted, Refusal> {
        let name = self.name;
        let begun = Instant::now();
        let mut display = Display::new();
        loop {
            display.until_readable(keeper)?;
            let Some(report) = keeper.channel.receive()? else {
                return Err(Refusal::failure(format!("{name}: the keeper has died")));
            };
            let waited = begun.elapsed().as_secs_f64();
            match report {
                Report::Opened { slots } => self.environment.check(slots)?,
                Report::Full { waiting } => {
                    say(format_args!("{name}: no slot is free; waiters ahead: {waiting}"));
                }
                Report::Waiting(sentence) => display.show(sentence),
                Report::Granted { held, slots, token } => {
                    drop(display);
                    if self.waiting.verbose {
                        say(format_args!("{name}: got a slot after {waited:.1} s"));
                    }
                    return Ok(Granted { held, slots, token });
                }
                Report::NoSlot if self.waiting.nonblock => {
                    let why = || format!("{name}: no slot is free");
                    return Err(self.waiting.conflict(NO_SLOT, why));
                }
                Report::NoSlot => {
                    let why = || format!("{name}: no slot was free within {waited:.1} s");
                    return Err(self.waiting.conflict(TIMED_OUT, why));
                }
                Report::Failed(why) => return Err(Refusal::failure(why)),
                Report::Lost(why) => return Err(too_late(name, &why)),
                Report::Idle | Report::Released(_) => {}
            }
        }
    }
}

/// The status line on a terminal, shown while hallpass waits.
struct Display {
    /// `None` without a terminal.
    status_line: Option<StatusLine>,
    /// Time until hallpass asks the keeper again; `None` while an answer is pending, and without a terminal.
    pause: Option<Duration>,
}

impl Display {
    fn new() -> Self {
        let watched = io::stderr().is_terminal() && can_paint();
        Display { status_line: watched.then(StatusLine::new), pause: watched.then_some(AT_FIRST) }
    }

    /// Waits until the keeper sends a report or `pause` is over. In the second case, asks the keeper for the state of
    /// the queue.
    fn until_readable(&mut self, keeper: &Keeper) -> io::Result<()> {
        let mut line = [PollFd::new(&keeper.channel, PollFlags::IN)];
        let pause = self.pause.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut line, pause.as_ref()) {
            Ok(0) => {
                self.pause = None;
                keeper.channel.send(&Order::Show)
            }
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn show(&mut self, sentence: String) {
        self.pause = Some(EVERY);
        if let Some(status_line) =
            self.status_line.as_ref().filter(|line| in_foreground() && line.has_terminal())
        {
            status_line.write(&sentence);
        }
    }
}
