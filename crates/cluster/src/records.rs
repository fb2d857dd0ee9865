//! The records that a hall keeps in the store. They are JSON, so that `etcdctl get --prefix` shows them.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use hallpass_common::{MAX_SLOTS, Participant};

use crate::{Clock, Error, slot_set::SlotSet};

/// The version of the format of all records.
pub(crate) const VERSION: u32 = 1;

/// The number of slots of a hall, and whether it is closed.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct Door {
    pub version: u32,
    pub slots: usize,
    pub closed: bool,
    /// A number that a client raises after it has noticed that the store lost history. The epoch is the upper part of
    /// every token, so that tokens grow even if revisions start again.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub epoch: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_one(number: &usize) -> bool {
    *number == 1
}

fn one() -> usize {
    1
}

impl Door {
    pub(crate) fn with(slots: usize) -> Self {
        Door { version: VERSION, slots, closed: false, epoch: 0 }
    }

    /// Returns the number of slots in use: 0 if the hall is closed, and at most [`MAX_SLOTS`].
    pub(crate) fn size(self) -> usize {
        if self.closed { 0 } else { self.slots.min(MAX_SLOTS) }
    }
}

/// A claim. The records below `queue/`, `inside/` and `slots/` have this form.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct ClaimRecord {
    /// Identifies the claim. The keys of the claim below `queue/` and `inside/` end with it.
    #[serde(rename = "claim")]
    pub id: String,
    /// The slot that the claim has, or the smallest of its slots.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slot: Option<usize>,
    /// All slots that the claim has, if there are several.
    #[serde(skip_serializing_if = "SlotSet::is_empty", default)]
    pub slots: SlotSet,
    /// The number of slots that the claim takes together.
    #[serde(skip_serializing_if = "is_one", default = "one")]
    pub take: usize,
    /// The ttl in milliseconds. The owner continues for nine tenths of this time after it last saw the claim in the
    /// store.
    pub ttl: u64,
    pub host: String,
    pub pid: u32,
    pub user: String,
    pub command: String,
    /// The time at which the claim joined the queue or got its slot, in milliseconds since 1970, by the clock of the
    /// writer. It is only for display.
    pub since: u64,
    /// The epoch of the hall when the claim got its slot. It is the upper part of the token.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub epoch: u64,
    /// The token, if the claim was created again after it got its slot. Otherwise, the epoch and the revision in
    /// which the slot was assigned determine the token.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub token: Option<u64>,
}

/// Records when a machine first noticed that the claim of a slot was gone.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct ExpiryRecord {
    pub slot: usize,
    /// The revision of the slot's record, which names the vanished claim.
    pub token: i64,
    /// The identity of the machine's [`Clock`].
    pub clock: String,
    /// The time by that clock, in milliseconds.
    pub at: u64,
    /// The time of day, in milliseconds since 1970.
    pub wall: u64,
}

/// If a record comes from the same clock, the clock and the time of day agree on how long ago the event was, to within
/// this many milliseconds. If they differ more, the record may come from another clock, and readers ignore it. Clocks
/// that differ by less cannot be distinguished, so readers add this tolerance to the recorded time.
const TOLERANCE: u64 = 1000;

impl ExpiryRecord {
    /// Creates the record of an expiry that was noticed at the time `since` of `clock`.
    pub(crate) fn since(slot: usize, token: i64, clock: &Clock, since: Duration) -> Self {
        // Round up: a later time only prolongs the wait, but an earlier time would be unsafe.
        let at = since.as_millis() as u64 + 1;
        let ago = clock.now().saturating_sub(since).as_millis() as u64;
        let wall = now().saturating_sub(ago);
        ExpiryRecord { slot, token, clock: clock.id().into(), at, wall }
    }

    /// Returns a time by `clock` at which the claim was certainly gone. Returns `None` if the expiry was recorded
    /// with another clock. Each boot and each time namespace has its own identity. But a copied virtual machine
    /// may have a clock with the same identity that shows another time. A difference of up to [`TOLERANCE`] does
    /// no harm.
    pub(crate) fn by(&self, clock: &Clock) -> Option<Duration> {
        let ago = (clock.now().as_millis() as u64).checked_sub(self.at)?;
        let ago_by_date = now().checked_sub(self.wall)?;
        let same = self.clock == clock.id() && ago.abs_diff(ago_by_date) < TOLERANCE;
        same.then(|| Duration::from_millis(self.at + TOLERANCE))
    }
}

/// The longest command line that is stored, in characters.
const LONGEST_COMMAND: usize = 1000;

impl ClaimRecord {
    /// Creates the record of a waiting claim for a process of this machine, its user and its command.
    pub(crate) fn of((pid, user): (u32, String), command: &str, id: String, ttl: Duration) -> Self {
        let end = command.char_indices().nth(LONGEST_COMMAND).map_or(command.len(), |(at, _)| at);
        ClaimRecord {
            id,
            slot: None,
            slots: SlotSet::default(),
            take: 1,
            ttl: ttl.as_millis() as u64,
            host: host(),
            pid,
            user,
            command: command[..end].into(),
            since: now(),
            epoch: 0,
            token: None,
        }
    }

    /// Returns the record of the same claim with these slots, held from now on in this epoch of the hall.
    pub(crate) fn inside(&self, slots: SlotSet, epoch: u64) -> Self {
        ClaimRecord { since: now(), epoch, ..self.clone().with_slots(slots) }
    }

    /// Returns this record with these slots.
    pub(crate) fn with_slots(self, slots: SlotSet) -> Self {
        let several = if slots.len() > 1 { slots } else { SlotSet::default() };
        ClaimRecord { slot: slots.first(), slots: several, ..self }
    }

    /// Returns the slots that the claim has.
    pub(crate) fn held(&self) -> SlotSet {
        if self.slots.is_empty() { self.slot.into_iter().collect() } else { self.slots }
    }

    pub(crate) fn participant(self, token: Option<u64>, alive: bool) -> Participant {
        let since = SystemTime::UNIX_EPOCH
            .checked_add(Duration::from_millis(self.since))
            .unwrap_or(SystemTime::UNIX_EPOCH);
        let mut one = Participant::new(self.pid, self.command, since);
        one.slot = self.slot;
        one.token = token;
        one.host = Some(self.host);
        one.user = Some(self.user);
        one.alive = alive;
        one
    }
}

/// Writes a record as JSON.
pub(crate) fn write(record: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(record).expect("records consist of numbers, strings and flags")
}

/// Reads a record from the value of `key`.
pub(crate) fn read<T: DeserializeOwned>(key: &[u8], value: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(value).map_err(|error| Error::Damaged {
        key: String::from_utf8_lossy(key).into_owned(),
        why: error.to_string(),
    })
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as u64
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns the name of the user from the environment, which `sudo` and `su` also set. If there is none, returns the
/// user id.
pub(crate) fn user() -> String {
    let named = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let named = named.filter(|name| !name.is_empty());
    named.unwrap_or_else(|| rustix::process::getuid().as_raw().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_recorded_with_another_clock_is_ignored() {
        let real = Clock::default();
        let since = real.now().saturating_sub(Duration::from_secs(5));
        let expiry = ExpiryRecord::since(1, 7, &real, since);
        let at = expiry.by(&real).expect("the clock is the same");
        let tolerance = Duration::from_millis(TOLERANCE);
        assert!(at >= since && at < since + tolerance + Duration::from_millis(10));
        assert_eq!(expiry.by(&Clock::from_fn(|| Duration::from_secs(9))), None, "another identity");
        let earlier = ExpiryRecord { at: expiry.at - 5000, ..expiry.clone() };
        assert_eq!(earlier.by(&real), None, "the record disagrees with the time of day");
        let later = ExpiryRecord { at: expiry.at + 10_000, ..expiry };
        assert_eq!(later.by(&real), None, "the record is in the future");
    }

    #[test]
    fn an_expiry_of_a_clock_that_differs_by_less_than_a_second_is_not_taken_for_an_earlier_one() {
        let real = Clock::default();
        for ahead in [0, 400, 900] {
            let other = real.ahead_by(Duration::from_millis(ahead));
            let seen = other.now();
            let expiry = ExpiryRecord::since(1, 7, &real, real.now());
            assert!(expiry.by(&other).is_none_or(|at| at >= seen), "{ahead} ms");
        }
    }
}
