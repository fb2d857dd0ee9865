//! What is written in etcd, as JSON, so that `etcdctl get --prefix` shows it.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use hallpass_common::{MAX_SLOTS, Participant};

use crate::{Clock, Error};

/// The version of all that is written.
pub(crate) const VERSION: u32 = 1;

/// How many may be in.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct Door {
    pub version: u32,
    pub slots: usize,
    pub closed: bool,
}

impl Door {
    pub(crate) fn with(slots: usize) -> Self {
        Door { version: VERSION, slots, closed: false }
    }

    /// How many may be in: none if it is closed. More than we can count are none of ours.
    pub(crate) fn size(self) -> usize {
        if self.closed { 0 } else { self.slots.min(MAX_SLOTS) }
    }
}

/// A claim: in the queue, inside, and in the record of its slot.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct Claim {
    /// What its keys end with.
    pub claim: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slot: Option<usize>,
    /// For how long its owner may go on after it has last seen the claim, in milliseconds.
    pub ttl: u64,
    pub host: String,
    pub pid: u32,
    pub user: String,
    pub command: String,
    /// When it came, or got in: milliseconds since 1970 by the clock of whoever wrote this, for people.
    pub since: u64,
}

/// When somebody saw that the owner of a slot was gone.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct Gone {
    pub slot: usize,
    /// The token of that owner.
    pub token: i64,
    /// Whose clock it was.
    pub clock: String,
    /// What it showed, in milliseconds.
    pub at: u64,
    /// What o'clock it was, likewise.
    pub wall: u64,
}

/// Clocks that are one and the same agree on how long ago something was, to within this, with the clock on
/// the wall.
const SAME: u64 = 1000;

impl Gone {
    /// By this clock, since this moment.
    pub(crate) fn since(slot: usize, token: i64, clock: &Clock, since: Duration) -> Self {
        // A little later is safe, a little earlier is not.
        let at = since.as_millis() as u64 + 1;
        let ago = clock.now().saturating_sub(since).as_millis() as u64;
        let wall = now().saturating_sub(ago);
        Gone { slot, token, clock: clock.id().into(), at, wall }
    }

    /// When that was by this clock, if it is the same one. Clocks of other boots have other names; but in a
    /// container, or in a copy of a virtual machine, there may be one by the same name that shows something
    /// else.
    pub(crate) fn by(&self, clock: &Clock) -> Option<Duration> {
        let ago = (clock.now().as_millis() as u64).checked_sub(self.at)?;
        let on_the_wall = now().checked_sub(self.wall)?;
        let same = self.clock == clock.id() && ago.abs_diff(on_the_wall) < SAME;
        same.then(|| Duration::from_millis(self.at))
    }
}

/// Commands may be as long as a system allows; etcd is no place for that.
const LONGEST_COMMAND: usize = 1000;

impl Claim {
    /// One that waits, of this process and user of this machine, and what it runs.
    pub(crate) fn of(
        (pid, user): (u32, String),
        command: &str,
        claim: String,
        ttl: Duration,
    ) -> Self {
        let end = command.char_indices().nth(LONGEST_COMMAND).map_or(command.len(), |(at, _)| at);
        Claim {
            claim,
            slot: None,
            ttl: ttl.as_millis() as u64,
            host: host(),
            pid,
            user,
            command: command[..end].into(),
            since: now(),
        }
    }

    /// The same with a slot, from now on.
    pub(crate) fn inside(&self, slot: usize) -> Self {
        Claim { slot: Some(slot), since: now(), ..self.clone() }
    }

    pub(crate) fn participant(self, token: Option<i64>, alive: bool) -> Participant {
        let since = SystemTime::UNIX_EPOCH
            .checked_add(Duration::from_millis(self.since))
            .unwrap_or(SystemTime::UNIX_EPOCH);
        let mut one = Participant::new(self.pid, self.command, since);
        one.slot = self.slot;
        one.token = token.map(i64::unsigned_abs);
        one.host = Some(self.host);
        one.user = Some(self.user);
        one.alive = alive;
        one
    }
}

/// As etcd keeps it.
pub(crate) fn write(record: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(record).expect("numbers, texts and flags can be written")
}

/// What etcd has kept.
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

/// The name in the environment, which `sudo` and `su` set too; else the number.
pub(crate) fn user() -> String {
    let named = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let named = named.filter(|name| !name.is_empty());
    named.unwrap_or_else(|| rustix::process::getuid().as_raw().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_clock_has_seen_is_not_believed() {
        let real = Clock::default();
        let since = real.now().saturating_sub(Duration::from_secs(5));
        let gone = Gone::since(1, 7, &real, since);
        let at = gone.by(&real).expect("the same clock");
        assert!(at >= since && at < since + Duration::from_millis(10));
        assert_eq!(gone.by(&Clock::from_fn(|| Duration::from_secs(9))), None, "another name");
        let earlier = Gone { at: gone.at - 5000, ..gone.clone() };
        assert_eq!(earlier.by(&real), None, "it disagrees with the clock on the wall");
        let later = Gone { at: gone.at + 10_000, ..gone };
        assert_eq!(later.by(&real), None, "it is of the future");
    }
}
