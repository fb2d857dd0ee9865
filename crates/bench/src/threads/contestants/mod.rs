//! The contestants. A new contestant needs a small file and one line in [`field`].

mod floor;
mod hall;
mod of_async_lock;
mod of_parking_lot;
mod of_std;
mod of_tokio;
mod paper;
mod posix;
mod ticket;

use std::{fmt, time::Duration};

use hallpass_algorithms::registry::{ENTRIES, Entry, OURS, Standing};
use hallpass_threads::Hall;
use serde::Serialize;

use super::{
    race::{self, Load, Observe},
    tasks::{self, TaskSemaphore},
    workloads::Group,
};
use crate::common::{Order, Sample, Semaphore};

/// Where a contestant comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Camp {
    /// The lower bound with which all others are compared.
    Floor,
    /// `Hall` of hallpass.
    Hallpass,
    /// A semaphore that is neither part of hallpass nor from a paper.
    Rival,
    /// An algorithm of a paper.
    Paper,
}

/// The lower bound with which all others are compared.
pub const FLOOR: &str = "floor";
/// The semaphore of tokio, with which all others are also compared.
pub const TOKIO: &str = "tokio";
/// The semaphore of the crate async-lock.
pub const ASYNC_LOCK: &str = "async-lock";
/// The fair hall.
pub const HALL: &str = "hallpass";
/// The hall in which at most 64 newcomers may overtake a waiter.
pub const BYPASS: &str = "hallpass-bypass64";
/// The hall in which any number of newcomers may overtake a waiter.
pub const BARGING: &str = "hallpass-barging";

type Run = dyn Fn(&Load, Observe<'_>) -> Result<Sample, String>;
type RunTasks = fn(Group, usize, Duration) -> Result<Sample, String>;

/// One semaphore, and how to run it.
pub struct Contestant {
    /// The name, without spaces.
    pub name: &'static str,
    /// Where the semaphore comes from.
    pub camp: Camp,
    /// The order in which the semaphore admits threads.
    pub order: Order,
    run: Box<Run>,
    tasks: Option<RunTasks>,
}

impl fmt::Debug for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Contestant {
    /// Creates a contestant; `make` creates its semaphore for a number of threads and k slots.
    pub fn new<S: Semaphore>(
        name: &'static str,
        camp: Camp,
        order: Order,
        make: impl Fn(usize, usize) -> S + 'static,
    ) -> Self {
        let run = move |load: &Load, observe: Observe<'_>| {
            Ok(race::run(make(load.threads, load.k), load, observe))
        };
        Contestant { name, camp, order, run: Box::new(run), tasks: None }
    }

    /// Adds the workloads for tasks, which run on a semaphore of type `S`.
    fn with_tasks<S: TaskSemaphore>(self) -> Self {
        Contestant { tasks: Some(tasks::run::<S>), ..self }
    }

    fn of_paper(entry: &'static Entry) -> Self {
        let order = if entry.promises_fife { Order::Fifo } else { Order::Everybody };
        let run = move |load: &Load, observe: Observe<'_>| paper::run(entry, load, observe);
        Contestant { name: entry.id, camp: Camp::Paper, order, run: Box::new(run), tasks: None }
    }

    /// Runs the threads on a new semaphore.
    ///
    /// # Errors
    /// Returns the reason if the contestant does not support this number of threads or slots.
    pub fn run(&self, load: &Load, observe: Observe<'_>) -> Result<Sample, String> {
        (self.run)(load, observe)
    }

    /// Runs tasks on a new semaphore with `k` slots.
    ///
    /// # Errors
    /// Returns the reason if the semaphore does not support this workload.
    pub fn run_tasks(&self, group: Group, k: usize, time: Duration) -> Result<Sample, String> {
        match self.tasks {
            Some(run) => run(group, k, time),
            None => Err("not for tasks".into()),
        }
    }
}

/// Returns all contestants except the algorithms of the papers.
pub fn field() -> Vec<Contestant> {
    use Camp::{Floor, Hallpass, Rival};
    use Order::{Barging, Bypass, Fifo, Open};
    vec![
        Contestant::new(FLOOR, Floor, Open, |_, _| floor::Floor::default()),
        Contestant::new(HALL, Hallpass, Fifo, |_, k| Hall::new(k)).with_tasks::<Hall>(),
        Contestant::new(BYPASS, Hallpass, Bypass, |_, k| hall::bypass(k)),
        Contestant::new(BARGING, Hallpass, Barging, |_, k| hall::barging(k)),
        Contestant::new(TOKIO, Rival, Fifo, |_, k| tokio::sync::Semaphore::new(k))
            .with_tasks::<tokio::sync::Semaphore>(),
        Contestant::new(ASYNC_LOCK, Rival, Barging, |_, k| async_lock::Semaphore::new(k))
            .with_tasks::<async_lock::Semaphore>(),
        Contestant::new("std-condvar", Rival, Barging, |_, k| of_std::StdCondvar::new(k)),
        Contestant::new("parking-lot", Rival, Barging, |_, k| of_parking_lot::ParkingLot::new(k)),
        Contestant::new("posix-sem", Rival, Barging, |_, k| posix::Posix::new(k)),
        Contestant::new("ticket", Rival, Fifo, ticket::Ticket::new),
    ]
}

/// Returns the sound algorithms of the papers.
pub fn papers() -> Vec<Contestant> {
    let is_sound = |entry: &&Entry| entry.standing == Standing::Sound;
    let sound = ENTRIES.iter().filter(is_sound).filter(|entry| entry.paper != OURS);
    sound.map(Contestant::of_paper).collect()
}
