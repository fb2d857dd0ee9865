//! `hallpass wait`: waits until halls are empty, or until the given processes have left them.

use std::{process::ExitCode, time::Duration};

use clap::Args as ClapArgs;

use crate::{
    location::{Error, Halls, LocationArgs},
    looks::{Looks, TIMED_OUT},
    snapshot::Users,
    time,
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// Wait at most this long, such as 10, 1.5m or 2h; then fail with status 124
    #[arg(short, long, value_name = "TIME", value_parser = time::parse)]
    wait: Option<Duration>,
    /// Wait only until this process neither holds a slot nor waits for one; can be repeated
    #[arg(short, long, value_name = "PID")]
    pid: Vec<u32>,
    /// The names of the halls
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    let halls = args.location.open()?;
    let mut looks = Looks::new(&halls, args.wait);
    let mut users = Users::default();
    let mut remaining = args.names;
    // If a hall is missing at the start, this is an error. If it is removed later, it counts as empty.
    let mut seen_all = false;
    loop {
        let mut busy = Vec::new();
        for name in remaining {
            match is_busy(&halls, &name, &args.pid, &mut users) {
                Ok(true) => {
                    looks.succeeded();
                    busy.push(name);
                }
                Ok(false) => looks.succeeded(),
                Err(error) if seen_all && error.is_missing() => {}
                Err(error) if seen_all => {
                    looks.tolerate(error)?;
                    busy.push(name);
                }
                Err(error) => return Err(error),
            }
        }
        (remaining, seen_all) = (busy, true);
        if remaining.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        if !looks.wait() {
            return Ok(ExitCode::from(TIMED_OUT));
        }
    }
}

/// Returns `true` if the hall has a live holder or a live waiter. If `pids` is not empty, only processes with these
/// PIDs count.
fn is_busy(halls: &Halls, name: &str, pids: &[u32], users: &mut Users) -> Result<bool, Error> {
    let status = halls.look(name, users)?.status;
    let mut all = status.holders.iter().chain(&status.waiters).filter(|one| one.alive);
    Ok(all.any(|one| pids.is_empty() || pids.contains(&one.pid)))
}
