//! Who holds, and who waits.

use std::time::{Duration, SystemTime};

use hallpass_algorithms::halls::processes::Phase;
use std::sync::atomic::Ordering::SeqCst;

use crate::{
    file::MAX_SLOTS,
    inner::Inner,
    wire::{self, Reached},
};

/// A hall at one moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status {
    /// Its name.
    pub name: String,
    /// How many slots it has.
    pub slots: usize,
    /// Whether it is closed.
    pub closed: bool,
    /// Who holds a slot, by slot.
    pub holders: Vec<Participant>,
    /// Who waits, in the order in which they will get in.
    pub queue: Vec<Participant>,
}

/// One that holds or waits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Participant {
    /// The slot it holds; none while it waits.
    pub slot: Option<usize>,
    /// Its process, as its own PID namespace numbers it.
    pub pid: u32,
    /// Whose process it is.
    pub uid: u32,
    /// What it runs.
    pub command: String,
    /// Since when it holds the slot, or waits.
    pub since: SystemTime,
    /// Dead ones are there until somebody who waits, or `reap`, frees what they held.
    pub alive: bool,
}

impl Status {
    pub(crate) fn of(hall: &Inner) -> Self {
        // Slots that are no more may still be held.
        let held = (0..MAX_SLOTS).filter_map(|j| Some((hall.holder(j)?, j)));
        let holders = held.map(|(member, j)| Participant::of(hall, member, Some(j))).collect();
        let waiting = |member: &usize| hall.card(*member).phase == Phase::Waiting;
        let mut queue: Vec<(i64, usize)> =
            (0..hall.people()).filter(waiting).map(|i| (hall.card(i).number, i)).collect();
        queue.sort_unstable();
        let slots = hall.size();
        Status {
            name: hall.name.clone(),
            slots,
            closed: slots == 0,
            holders,
            queue: queue.into_iter().map(|(_, i)| Participant::of(hall, i, None)).collect(),
        }
    }
}

impl Participant {
    fn of(hall: &Inner, member: usize, slot: Option<usize>) -> Self {
        let process = hall.words.process(member).load(SeqCst);
        let since = u64::try_from(hall.words.since(member).load(SeqCst)).unwrap_or(0);
        let id = hall.words.owner(member).load(SeqCst);
        let dead = id == wire::NOBODY || matches!(wire::reach(hall.dir(), id), Reached::Dead);
        Participant {
            slot,
            pid: process as u32,
            uid: (process >> 32) as u32,
            command: hall.words.command(member),
            since: SystemTime::UNIX_EPOCH + Duration::from_nanos(since),
            alive: !dead,
        }
    }
}
