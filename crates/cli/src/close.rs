//! `hallpass close` and `hallpass drain`: close a hall, so that nobody can enter.

use std::{
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use clap::Args as ClapArgs;

use crate::{
    location::{Error, Halls, LocationArgs},
    output::say,
    snapshot::{Users, printable},
    time,
};

/// The exit status when the time of `-w` is over. It is the same as that of `timeout(1)`.
const TIMED_OUT: u8 = 124;
/// Time between two looks at the holders.
const EVERY: Duration = Duration::from_millis(200);

/// Waiters give up. Holders keep their slots until they exit. `hallpass rm` removes the closed hall.
#[derive(ClapArgs)]
pub struct CloseArgs {
    #[command(flatten)]
    location: LocationArgs,
    /// The hall
    #[arg(value_name = "NAME")]
    name: String,
}

/// Waiters give up. Holders keep their slots until they exit. `hallpass rm` removes the drained hall.
#[derive(ClapArgs)]
pub struct DrainArgs {
    #[command(flatten)]
    location: LocationArgs,
    /// Wait at most this long, such as 10, 1.5m or 2h; then fail with status 124
    #[arg(short, long, value_name = "TIME", value_parser = time::parse)]
    wait: Option<Duration>,
    /// The hall
    #[arg(value_name = "NAME")]
    name: String,
}

pub fn close(args: CloseArgs) -> Result<ExitCode, Error> {
    args.location.open()?.close(&args.name)?;
    Ok(ExitCode::SUCCESS)
}

pub fn drain(args: DrainArgs) -> Result<ExitCode, Error> {
    let halls = args.location.open()?;
    let until = args.wait.and_then(|time| Instant::now().checked_add(time));
    halls.close(&args.name)?;
    while let Some(holders) = holders(&halls, &args.name)? {
        if until.is_some_and(|until| Instant::now() >= until) {
            say(format_args!("{}: slots are still held: {holders}", printable(&args.name)));
            return Ok(ExitCode::from(TIMED_OUT));
        }
        thread::sleep(EVERY);
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the number of holders; `None` if there are none. Frees the slots of vanished holders, which no waiter does
/// in a closed hall.
fn holders(halls: &Halls, name: &str) -> Result<Option<usize>, Error> {
    let view = halls.look(name, &mut Users::default())?;
    let holders = view.status.holders.len();
    if holders > 0 && view.held() == 0 {
        halls.reap(name)?;
    }
    Ok(Some(holders).filter(|holders| *holders > 0))
}
