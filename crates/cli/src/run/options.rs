//! The command line of `hallpass run`.

use std::{env, ffi::OsString, iter, num::NonZero, os::unix::ffi::OsStrExt, time::Duration};

use clap::{Args as ClapArgs, Parser, ValueEnum};
use hallpass_common::MAX_SLOTS;

use super::{
    environment::Mapping,
    shown,
    warden::{Duties, TimeLimit},
};
use crate::{
    location::{LocationArgs, ON_A_STORE},
    time,
};

const USAGE: &str = "hallpass run [OPTIONS] NAME [--] CMD [ARG]...
       hallpass run [OPTIONS] NAME -c STRING";

const AFTER: &str = "\
Options go before NAME; everything after NAME belongs to CMD. {slot} in the arguments of CMD stands for its slot, \
or with --take for all its slots, separated by commas.

Without --dir, --system and --on, the hall is in the directory $HALLPASS_DIR, if that variable is set; else in \
$XDG_RUNTIME_DIR/hallpass, if that variable is an absolute path; else in /run/user/UID/hallpass, if /run/user/UID \
belongs to the user; else in /tmp/hallpass-UID. With --system, the hall is in /run/lock/hallpass. Jobs that share a hall \
must use the same directory. If $HALLPASS_ON is set, and neither --dir nor --system is given, it has the effect of --on.

The environment of CMD contains HALLPASS_SLOT (counted from 0), HALLPASS_SLOTS_HELD (all of its slots), \
HALLPASS_SLOTS (the number of slots of the hall), HALLPASS_NAME (the name of the hall) and, with --per-device, \
HALLPASS_DEVICE (the number of its device). With --on, the environment also contains HALLPASS_TOKEN, a fencing token \
(a number larger than that of every earlier holder of the same slot), and HALLPASS_ID, by which hallpass finds the \
processes that CMD started.

With --on, hallpass runs a second process, the keeper, which talks to etcd or PostgreSQL. If the keeper cannot confirm \
in time that the slot is still held, CMD and the processes of this user that CMD started get SIGTERM, and SIGKILL after \
--grace. This happens early enough that they have ended before another holder can get the slot. hallpass then \
exits with 123.

With --on-loss, hallpass also runs another command when it sends SIGTERM because the slot was lost. The environment of \
that command contains the same variables as that of CMD, and the reason in HALLPASS_LOSS. If that command takes longer \
than --grace, hallpass kills it. If hallpass itself is killed, that command does not run. If hallpass is suspended, \
that command runs when hallpass continues.

Exit status: that of CMD, or 128 plus the number of the signal that killed it; 1 if -n found no free slot, \
or 124 if -w timed out (with -E CODE, both are CODE); 123 if hallpass ended CMD because its slot was lost; \
124 if CMD reached its --time-limit; 125 if hallpass itself failed: CMD did not run, or is no longer watched; \
126 if CMD cannot be executed; 127 if CMD was not found.";

/// Reads a number of slots. Whether a hall can have that number is checked later.
pub fn parse_slots(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("a hall can have 1 to {MAX_SLOTS} slots, not {text}"))
}

/// Reads a number from 1 to [`MAX_SLOTS`].
fn parse_count(text: &str) -> Result<NonZero<usize>, String> {
    let count = text.parse().ok().filter(|count: &NonZero<usize>| count.get() <= MAX_SLOTS);
    count.ok_or_else(|| format!("a number from 1 to {MAX_SLOTS} is needed here, not {text}"))
}

/// The default time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(3);

#[derive(ClapArgs, Default, Debug, PartialEq, Eq)]
#[command(override_usage = USAGE, after_long_help = AFTER)]
pub struct Args {
    #[command(flatten)]
    pub location: LocationArgs,
    /// The number of slots [default: that of the existing hall; for a new hall with --env or --gpus, the number of
    /// values or GPUs, times M with --per-device; for any other new hall, N with --take, else 1]
    #[arg(short = 'k', long, value_name = "K", value_parser = parse_slots, allow_negative_numbers = true)]
    pub slots: Option<usize>,
    /// Take N slots together; HALLPASS_SLOTS_HELD lists them, and --env joins their values with commas
    #[arg(long, value_name = "N", value_parser = parse_count)]
    take: Option<NonZero<usize>>,
    /// Fail immediately if no slot is free, with status 1 or that of -E
    #[arg(short, long, visible_alias = "nb", conflicts_with = "wait")]
    pub nonblock: bool,
    /// Wait at most this long, such as 10, 1.5m or 2h; then fail with status 124 or that of -E
    #[arg(short, long, value_name = "TIME", value_parser = time::parse)]
    pub wait: Option<Duration>,
    /// Refused with a hint, because it could mean --wait or --time-limit
    #[arg(long, value_name = "TIME", hide = true)]
    pub timeout: Option<String>,
    /// After this time, end CMD and the processes that it started: SIGTERM, then SIGKILL after --grace; exit
    /// with status 124
    #[arg(long, value_name = "TIME", value_parser = time::parse, conflicts_with = "no_fork")]
    time_limit: Option<Duration>,
    /// Exit with CODE if -n or -w gets no slot
    #[arg(short = 'E', long, value_name = "CODE")]
    pub conflict_exit_code: Option<u8>,
    /// Run STRING with $SHELL, or with /bin/sh; also accepted right after NAME
    #[arg(short = 'c', long = "command", value_name = "STRING")]
    pub shell_line: Option<OsString>,
    /// Set VAR to V0 in slot 0, to V1 in slot 1, and so on; can be repeated
    #[arg(long = "env", value_name = "VAR=V0,V1,...", value_parser = Mapping::parse)]
    pub mappings: Vec<Mapping>,
    /// Give each slot one of the GPUs that nvidia-smi or rocm-smi lists, in CUDA_VISIBLE_DEVICES or
    /// HIP_VISIBLE_DEVICES; if this variable is already set, use only the GPUs that it names
    #[arg(long)]
    pub gpus: bool,
    /// Let M consecutive slots share a device: slot s gets value s / M of each --env, counted from 0 and rounded down
    #[arg(long, value_name = "M", value_parser = parse_count)]
    pub per_device: Option<NonZero<usize>>,
    /// What happens to CMD if hallpass itself is killed by SIGKILL
    /// [default: keep; with --on, kill]
    #[arg(long, value_name = "ACTION", value_enum)]
    pub on_kill: Option<OnKill>,
    /// With --on: CMD ends at most this long after the last contact with the store; SIGTERM is sent --grace
    /// earlier [default: 20s]
    #[arg(long, value_name = "TIME", value_parser = time::parse, help_heading = ON_A_STORE)]
    ttl: Option<Duration>,
    /// The time between SIGTERM and SIGKILL, with --time-limit, or with --on when the slot is lost or hallpass is
    /// killed; with --on, less than half of --ttl [default: 3s, or 3/10 of --ttl if that is less]
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    grace: Option<Duration>,
    /// With --on: if the slot is lost, also run STRING with $SHELL, or with /bin/sh; STRING must end within --grace
    #[arg(long, value_name = "STRING", help_heading = ON_A_STORE)]
    pub on_loss: Option<OsString>,
    /// Keep the slot until CMD and all processes that it left running have exited; with --on, a process that closed all
    /// inherited descriptors counts only if it belongs to this user and has HALLPASS_ID in its environment
    #[arg(long, conflicts_with = "close")]
    pub descendants: bool,
    /// Free the slot as soon as hallpass exits, even if CMD or its children still run
    #[arg(short = 'o', long, conflicts_with = "no_fork")]
    pub close: bool,
    /// Replace hallpass with CMD instead of starting a child; processes that CMD leaves running keep the slot
    #[arg(short = 'F', long, conflicts_with = "on_kill")]
    pub no_fork: bool,
    /// Show TEXT instead of CMD in `status`, `top` and `log`
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Do not add the run to the hall's log
    #[arg(long)]
    pub no_log: bool,
    /// Report progress on standard error
    #[arg(long)]
    pub verbose: bool,
    /// The hall, then the command with its arguments
    // NAME and CMD are one list, so that the parser looks for no options after NAME.
    #[arg(value_names = ["NAME", "CMD"], required = true, num_args = 1.., trailing_var_arg = true)]
    pub operands: Vec<OsString>,
}

/// The command line of `run` alone.
#[derive(Parser)]
struct RunCommandLine {
    #[command(flatten)]
    args: Args,
}

impl Args {
    /// Reads the command line. Returns `None` if it is not that of `run`, or is invalid.
    pub fn of_command_line() -> Option<Self> {
        let mut words = env::args_os().skip(1);
        words.next().filter(|word| word == "run")?;
        let words: Vec<_> = words.collect();
        Args::plain(&words).or_else(|| Args::parsed(words))
    }

    pub(super) fn parsed(words: Vec<OsString>) -> Option<Self> {
        let words = iter::once("run".into()).chain(words);
        Some(RunCommandLine::try_parse_from(words).ok()?.args)
    }

    /// Reads the simplest command lines: `[-k K] [-n] [--dir PATH] NAME ...`. Returns `None` for all others,
    /// which need the parser. For a short command, building the parser would be a noticeable part of the time.
    pub(super) fn plain(words: &[OsString]) -> Option<Self> {
        let mut args = Args::default();
        let mut words = words.iter();
        loop {
            let word = words.next()?;
            match word.to_str()? {
                "-k" if args.slots.is_none() => {
                    args.slots = Some(words.next()?.to_str()?.parse().ok()?);
                }
                "-n" if !args.nonblock => args.nonblock = true,
                "--dir" if args.location == LocationArgs::default() => {
                    let value = words.next()?;
                    let is_plain = !value.is_empty() && !value.as_bytes().starts_with(b"-");
                    args.location = LocationArgs::in_dir(is_plain.then(|| value.into())?);
                }
                name if name.is_empty() || name.starts_with('-') => return None,
                _ => {
                    args.operands = iter::once(word).chain(words).cloned().collect();
                    return Some(args);
                }
            }
        }
    }
}

/// The lease of a pass on a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The command ends at most this long after the last contact with the cluster.
    pub ttl: Duration,
    /// The time between SIGTERM and SIGKILL. It is the last part of `ttl`.
    pub grace: Duration,
}

impl Args {
    /// Returns the lease that the options describe. Without --ttl, the ttl is `default_ttl`.
    pub fn lease(&self, default_ttl: Duration) -> Result<Lease, String> {
        let ttl = self.ttl.unwrap_or(default_ttl);
        let grace = self.grace.unwrap_or_else(|| GRACE.min(ttl / 10 * 3));
        // The default is always short enough, except for a ttl that the store refuses anyway.
        match self.grace.is_none() || grace < ttl / 2 {
            true => Ok(Lease { ttl, grace }),
            false => Err(format!(
                "--grace {} must be less than half of --ttl {}: hallpass needs the rest of the ttl to wait for an \
                 answer of the store",
                humantime::format_duration(grace),
                humantime::format_duration(ttl)
            )),
        }
    }

    /// Fails if an option was given that applies only to halls on a cluster.
    pub fn no_cluster_options(&self) -> Result<(), String> {
        if self.on_loss.is_some() {
            return Err("--on-loss is for halls on etcd or PostgreSQL: add --on URL".into());
        }
        match (self.ttl, self.grace, self.time_limit) {
            (None, None, _) | (None, Some(_), Some(_)) => Ok(()),
            (Some(_), ..) => Err("--ttl is for halls on etcd or PostgreSQL: add --on URL".into()),
            (None, Some(_), None) => {
                Err("--grace is for --time-limit and for halls on etcd or PostgreSQL: add --time-limit TIME \
                     or --on URL"
                    .into())
            }
        }
    }

    /// Returns the number of slots of --take, if it was given.
    pub fn take(&self) -> Option<usize> {
        self.take.map(NonZero::get)
    }

    /// Returns the duties that these options give to a warden.
    pub fn duties(&self) -> Duties {
        let grace = self.grace.unwrap_or(GRACE);
        Duties {
            kill_with_us: self.on_kill == Some(OnKill::Kill),
            kill_jobs: false,
            await_descendants: self.descendants,
            time_limit: self.time_limit.map(|limit| TimeLimit { limit, grace }),
        }
    }

    /// Returns the text that `status` shows for the command.
    pub fn description(&self, command: &[OsString]) -> String {
        self.label.clone().unwrap_or_else(|| shown(command))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnKill {
    /// CMD keeps running; the slot stays taken until CMD and the processes that it started have ended. A process that
    /// closed all inherited descriptors counts only with --descendants; with --on, it counts if it belongs to this user
    /// and has HALLPASS_ID in its environment
    Keep,
    /// CMD and all processes that it started are killed as well; with --on, the processes that CMD started get SIGTERM
    /// first, and SIGKILL after --grace
    Kill,
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::run::operands::Invocation;

    pub fn parse(words: &[&str]) -> Result<(Args, Invocation), String> {
        let line = RunCommandLine::try_parse_from([&["run"], words].concat());
        let mut args = line.map_err(|error| error.to_string())?.args;
        let invocation = args.invocation()?;
        Ok((args, invocation))
    }

    #[test]
    fn options_end_at_the_name() {
        let (args, invocation) =
            parse(&["-k", "4", "gpu", "python", "-n", "-E", "x", "--wait"]).expect("fine");
        assert_eq!(args.slots, Some(4));
        assert!(!args.nonblock && args.wait.is_none() && args.conflict_exit_code.is_none());
        assert_eq!(invocation.command, ["python", "-n", "-E", "x", "--wait"].map(OsString::from));
        let (_, invocation) = parse(&["gpu", "--", "-n", "x"]).expect("fine");
        assert_eq!(invocation.command, ["-n", "x"].map(OsString::from));
        for words in [&["gpu", "-k", "4", "--", "true"][..], &["gpu", "--help"]] {
            let error = parse(words).expect_err("no option follows the name");
            assert!(error.starts_with("options go before NAME"), "{error}");
        }
    }

    #[test]
    fn a_count_of_slots_is_at_most_the_largest_number_of_slots() {
        for option in ["--take", "--per-device"] {
            for (count, is_valid) in [("0", false), ("1", true), ("1024", true), ("1025", false)] {
                let parsed = parse(&[option, count, "gpu", "true"]);
                assert_eq!(parsed.is_ok(), is_valid, "{option} {count}");
                if let Err(error) = parsed {
                    let why = format!("a number from 1 to 1024 is needed here, not {count}");
                    assert!(error.contains(&why), "{error}");
                }
            }
        }
    }

    #[test]
    fn plain_command_lines_are_read_as_the_parser_reads_them() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        for line in [
            &["gpu", "true"][..],
            &["-k", "4", "gpu", "--", "a", "-k", "5"],
            &["-n", "-k", "1", "--dir", "/x y", "gpu", "-c", "a b"],
            &["gpu"],
            &["gpu", "--"],
            &["--dir", "x", "gpu", "--dir", "y"],
        ] {
            let plain = Args::plain(&words(line));
            assert!(plain.is_some() && plain == Args::parsed(words(line)), "{line:?}");
        }
        for line in [
            &[][..],
            &["--", "gpu", "a"],
            &["-k4", "gpu", "a"],
            &["-k", "-1", "gpu", "a"],
            &["-k", "many", "gpu", "a"],
            &["-k", "1", "-k", "2", "gpu", "a"],
            &["-n", "-n", "gpu", "a"],
            &["--dir", "-x", "gpu", "a"],
            &["--dir", "", "gpu", "a"],
            &["--dir", "a", "--dir", "b", "gpu", "a"],
            &["--system", "gpu", "a"],
            &["-nk", "1", "gpu", "a"],
            &["", "a"],
            &["--help"],
        ] {
            assert!(Args::plain(&words(line)).is_none(), "{line:?}");
        }
    }

    #[test]
    fn grace_must_be_less_than_half_of_the_ttl() {
        let lease = |words: &[&str]| {
            let (args, _) = parse(&[words, &["gpu", "a"]].concat())?;
            args.lease(Duration::from_secs(10)).map(|lease| {
                assert!(args.no_cluster_options().is_err() == (args.ttl.or(args.grace).is_some()));
                (lease.ttl.as_millis(), lease.grace.as_millis())
            })
        };
        assert_eq!(lease(&[]), Ok((10_000, 3_000)));
        assert_eq!(lease(&["--ttl", "1m"]), Ok((60_000, 3_000)));
        assert_eq!(lease(&["--ttl", "5"]), Ok((5_000, 1_500)));
        assert_eq!(lease(&["--ttl", "0"]), Ok((0, 0)), "the ttl is refused later");
        assert_eq!(lease(&["--ttl", "5", "--grace", "2.4"]), Ok((5_000, 2_400)));
        let huge = "9".repeat(30);
        assert_eq!(lease(&["--ttl", &huge]), Ok((Duration::MAX.as_millis(), 3_000)));
        let long = lease(&["--ttl", "5", "--grace", "2.5"]).expect_err("too long");
        assert!(long.starts_with("--grace 2s 500ms must be less than half of --ttl 5s"), "{long}");
    }

    #[test]
    fn missing_unknown_and_contradictory_arguments_are_refused() {
        for words in [
            &[][..],
            &["gpu"],
            &["gpu", "--"],
            &["--nonblok", "gpu", "a"],
            &["-z", "gpu", "a"],
            &["-n", "-w", "1", "gpu", "a"],
            &["-F", "-o", "gpu", "a"],
            &["-F", "--on-kill", "kill", "gpu", "a"],
            &["-F", "--time-limit", "1", "gpu", "a"],
            &["--descendants", "-o", "gpu", "a"],
            &["-k", "-1", "gpu", "a"],
            &["-E", "256", "gpu", "a"],
            &["--per-device", "0", "gpu", "a"],
            &["--take", "0", "gpu", "a"],
            &["--env", "X", "gpu", "a"],
            &["--system", "--dir", "/x", "gpu", "a"],
            &["--system", "--on", "etcd://x", "gpu", "a"],
            &["--dir", "/x", "--on", "etcd://x", "gpu", "a"],
            &["--on", "etcd://x", "--key", "/x", "gpu", "a"],
        ] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
