//! `hallpass close` and `hallpass drain`: close a hall, so that nobody can enter.

use std::{
    process::ExitCode,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};

use clap::Args as ClapArgs;

use crate::{
    location::{Error, Halls, LocationArgs},
    looks::{Looks, TIMED_OUT},
    output::say,
    snapshot::{Users, printable},
    time,
};

const AFTER_CLOSE: &str = "\
Waiting commands fail with status 125. Holders keep their slots until they exit. `hallpass rm` removes the closed hall.";

const AFTER_DRAIN: &str = "\
Waiting commands fail with status 125. Holders keep their slots until they exit. `hallpass rm` removes the drained \
hall. If this command is interrupted or its time is over, the hall stays closed.";

#[derive(ClapArgs)]
#[command(after_help = AFTER_CLOSE)]
pub struct CloseArgs {
    #[command(flatten)]
    location: LocationArgs,
    /// The name of the hall
    #[arg(value_name = "NAME")]
    name: String,
}

#[derive(ClapArgs)]
#[command(after_help = AFTER_DRAIN)]
pub struct DrainArgs {
    #[command(flatten)]
    location: LocationArgs,
    /// Wait at most this long, such as 10, 1.5m or 2h; then fail with status 124
    #[arg(short, long, value_name = "TIME", value_parser = time::parse)]
    wait: Option<Duration>,
    /// The name of the hall
    #[arg(value_name = "NAME")]
    name: String,
}

pub fn close(args: CloseArgs) -> Result<ExitCode, Error> {
    args.location.open()?.close(&args.name)?;
    Ok(ExitCode::SUCCESS)
}

pub fn drain(args: DrainArgs) -> Result<ExitCode, Error> {
    let halls = Arc::new(args.location.open()?);
    let mut reaper = Reaper { halls: halls.clone(), name: args.name.clone(), running: None };
    let mut looks = Looks::new(&halls, args.wait);
    halls.close(&args.name)?;
    let mut holders = None;
    loop {
        match halls.look(&args.name, &mut Users::default()) {
            Ok(view) if view.status.holders.is_empty() => return Ok(ExitCode::SUCCESS),
            Ok(view) => {
                looks.succeeded();
                let all = view.status.holders.len();
                if view.held() < all {
                    reaper.run(&mut looks)?;
                }
                holders = Some(all);
            }
            Err(error) => looks.tolerate(error)?,
        }
        if !looks.wait() {
            let holders = holders.map_or_else(|| "unknown".into(), |all| all.to_string());
            say(format_args!("{}: slots are still held: {holders}", printable(&args.name)));
            return Ok(ExitCode::from(TIMED_OUT));
        }
    }
}

/// Frees the slots of vanished holders. In an open hall, waiters do this, but a closed hall has no waiters. On a
/// cluster, this can take longer than the ttl of the holders, so it runs on a separate thread.
struct Reaper {
    halls: Arc<Halls>,
    name: String,
    running: Option<JoinHandle<Result<usize, Error>>>,
}

impl Reaper {
    /// Starts to free slots, unless the thread is still running. Returns the error of the previous run, if it is not
    /// [tolerated](Looks::tolerate).
    fn run(&mut self, looks: &mut Looks) -> Result<(), Error> {
        if self.running.as_ref().is_some_and(|running| !running.is_finished()) {
            return Ok(());
        }
        if let Some(Ok(Err(error))) = self.running.take().map(JoinHandle::join) {
            looks.tolerate(error)?;
        }
        let (halls, name) = (self.halls.clone(), self.name.clone());
        self.running = Some(thread::spawn(move || halls.reap(&name)));
        Ok(())
    }
}
