//! The status of a hall, read from its file.

use std::{
    sync::atomic::Ordering::SeqCst,
    time::{Duration, SystemTime},
};

use hallpass_common::{Participant, Status};

use crate::{
    shared_state::SharedState,
    sys::lifeline::{self, Reached},
};

/// Returns the hall with its holders and waiters at this moment.
pub(crate) fn of(hall: &SharedState) -> Status {
    // Slots beyond the hall's size may still be held.
    let held = (0..hall.file.slots_ready()).filter_map(|slot| Some((hall.holder(slot)?, slot)));
    let waits = |record: &usize| hall.card(*record).waits();
    let mut queue: Vec<(i64, usize)> = (0..hall.records_used())
        .filter(waits)
        .map(|record| (hall.card(record).number, record))
        .collect();
    queue.sort_unstable();
    let slots = hall.size();
    let mut status = Status::new(hall.name.clone(), slots);
    status.closed = slots == 0;
    status.holders = held.map(|(record, slot)| participant(hall, record, Some(slot))).collect();
    status.waiters = queue.into_iter().map(|(_, record)| participant(hall, record, None)).collect();
    status
}

fn participant(hall: &SharedState, record: usize, slot: Option<usize>) -> Participant {
    let process = hall.file.process(record).load(SeqCst);
    let since = u64::try_from(hall.file.since(record).load(SeqCst)).unwrap_or(0);
    let since = SystemTime::UNIX_EPOCH + Duration::from_nanos(since);
    let id = hall.file.owner(record).load(SeqCst);
    let dead = id == lifeline::NOBODY || matches!(lifeline::reach(hall.dir(), id), Reached::Dead);
    let mut one = Participant::new(process as u32, hall.file.command(record), since);
    one.slot = slot;
    one.uid = Some((process >> 32) as u32);
    one.alive = !dead;
    one.own = hall.lifelines.is_own(id);
    one
}
