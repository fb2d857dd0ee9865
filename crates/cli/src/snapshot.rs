//! Snapshots of halls with their holders and waiters.

use std::{
    collections::{HashMap, HashSet},
    fs,
    os::unix::fs::MetadataExt,
    time::{Duration, SystemTime},
};

use hallpass_common::{Participant, Status};
use serde_json::{Value, json};

use crate::{location::Error, time, users};

/// Names of users. Each name is looked up only once.
#[derive(Default)]
pub struct Users {
    names: HashMap<u32, Option<String>>,
}

impl Users {
    fn name(&mut self, uid: u32) -> Option<String> {
        self.names.entry(uid).or_insert_with(|| users::name_of(uid)).clone()
    }
}

/// Escapes control characters, so that a command of another user cannot control the terminal.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_control() {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    shown
}

/// Returns the machine of a participant; empty in a hall of processes.
pub fn host(one: &Participant) -> String {
    one.host.as_deref().map_or_else(String::new, printable)
}

/// Returns the name of the user of a participant, or the number if the user has no name.
pub fn user(one: &Participant) -> String {
    let number = || one.uid.map_or_else(String::new, |uid| uid.to_string());
    one.user.as_deref().map_or_else(number, printable)
}

/// Formats a time as RFC 3339, which has four digits for the year. A time out of range, as in a damaged
/// hall, is replaced by the nearest one in range.
pub fn rfc3339(time: SystemTime) -> String {
    let end_of_9999 = SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_799);
    humantime::format_rfc3339_millis(time.clamp(SystemTime::UNIX_EPOCH, end_of_9999)).to_string()
}

/// Returns `true` if the process is on this machine and is suspended. The participant may be in another PID
/// namespace, and its PID may belong to another process here. So the process must also belong to the user of the
/// participant.
fn is_stopped(one: &Participant) -> bool {
    let (true, None, Some(uid)) = (one.alive, &one.host, one.uid) else { return false };
    let process = format!("/proc/{}", one.pid);
    let Ok(stat) = fs::read_to_string(format!("{process}/stat")) else { return false };
    // The name of the program, before the last parenthesis, may contain anything.
    let state = stat.rsplit_once(") ").and_then(|(_, fields)| fields.chars().next());
    state == Some('T') && fs::metadata(process).is_ok_and(|entry| entry.uid() == uid)
}

/// A snapshot of a hall.
pub struct View {
    pub status: Status,
    /// The PIDs of processes of this machine that are suspended. `hallpass status` calls them stopped, as ps(1) does.
    pub stopped: HashSet<u32>,
    /// The time at which the snapshot was taken. Ages are counted until then.
    seen: SystemTime,
}

impl View {
    pub fn new(mut status: Status, users: &mut Users) -> Self {
        // A dead waiter may still be in the queue until another process removes it.
        status.waiters.retain(|one| one.alive);
        for one in status.holders.iter_mut().chain(&mut status.waiters) {
            if let (None, Some(uid)) = (&one.user, one.uid) {
                one.user = users.name(uid);
            }
        }
        let stopped = status.holders.iter().chain(&status.waiters).filter(|one| is_stopped(one));
        let stopped = stopped.map(|one| one.pid).collect();
        View { status, stopped, seen: SystemTime::now() }
    }

    /// Returns `true` if the process is suspended, as by Ctrl-Z or SIGSTOP.
    pub fn is_stopped(&self, one: &Participant) -> bool {
        one.alive && one.host.is_none() && self.stopped.contains(&one.pid)
    }

    /// Returns the number of live holders. A dead holder does not count: a newcomer can get its slot.
    pub fn held(&self) -> usize {
        self.status.holders.iter().filter(|one| one.alive).count()
    }

    /// Returns the number of slots that newcomers could take now if nobody waited.
    ///
    /// A hall of processes that has shrunk admits nobody until fewer slots are held than it has, so holders of removed
    /// slots count. A newcomer gets the slot of a dead holder, so dead holders do not count.
    ///
    /// A hall of a cluster admits newcomers to every free slot, even while removed slots are held. The slot of a
    /// vanished holder counts as taken until a process reassigns or frees it.
    fn available(&self) -> usize {
        let Status { slots, closed, holders, .. } = &self.status;
        if *closed {
            return 0;
        }
        let takes_a_slot = |one: &&Participant| match one.host {
            Some(_) => one.slot.is_some_and(|slot| slot < *slots),
            None => one.alive,
        };
        slots.saturating_sub(holders.iter().filter(takes_a_slot).count())
    }

    /// Returns how long a holder has had its slot, or a waiter has waited. Returns zero if the start is in the
    /// future. This happens if the clock was set back, or if the clock of the other machine is ahead.
    pub fn age(&self, one: &Participant) -> Duration {
        self.seen.duration_since(one.since).unwrap_or_default()
    }

    /// Formats the age in a few characters.
    pub fn time(&self, one: &Participant) -> String {
        time::short(self.age(one))
    }

    /// Returns the numbers of the hall as JSON.
    pub fn summary(&self) -> Value {
        json!({
            "name": self.status.name,
            "slots": self.status.slots,
            "available": self.available(),
            "held": self.held(),
            "waiting": self.status.waiters.len(),
            "closed": self.status.closed,
        })
    }

    /// Returns the hall with all holders and waiters as JSON.
    pub fn to_json(&self) -> Value {
        let all = |all: &[Participant]| all.iter().map(|one| self.one_to_json(one)).collect();
        let mut hall = self.summary();
        hall["holders"] = all(&self.status.holders);
        hall["queue"] = all(&self.status.waiters);
        hall
    }

    /// Returns a holder or waiter as JSON.
    pub fn one_to_json(&self, one: &Participant) -> Value {
        let mut object = json!({
            "slot": one.slot,
            "pid": one.pid,
            "user": one.user,
            "command": one.command,
            "since": rfc3339(one.since),
            "seconds": self.age(one).as_millis() as f64 / 1e3,
            "alive": one.alive,
            "stopped": self.is_stopped(one),
        });
        match (&one.host, one.uid) {
            (Some(host), _) => {
                object["host"] = json!(host);
                object["token"] = json!(one.token);
            }
            (None, uid) => object["uid"] = json!(uid),
        }
        object
    }
}

/// Returns JSON for a hall that cannot be read.
pub fn unreadable(name: &str, error: &Error) -> Value {
    json!({ "name": name, "error": error.to_string() })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    const SEEN: Duration = Duration::from_secs(1_700_000_000);

    /// A participant that arrived `seconds` ago; process 12 is dead.
    pub fn participant(slot: Option<usize>, pid: u32, command: &str, seconds: u64) -> Participant {
        let since = SystemTime::UNIX_EPOCH + SEEN - Duration::from_secs(seconds);
        let mut one = Participant::new(pid, command, since);
        (one.slot, one.uid, one.user) = (slot, Some(1000), Some("ann".into()));
        one.alive = pid != 12;
        one
    }

    /// A hall of two slots.
    pub fn view(holders: Vec<Participant>, waiters: Vec<Participant>) -> View {
        let mut status = Status::new("gpu", 2);
        (status.holders, status.waiters) = (holders, waiters);
        View { status, stopped: HashSet::new(), seen: SystemTime::UNIX_EPOCH + SEEN }
    }

    /// A hall of two slots that was larger, with one waiter.
    pub fn hall() -> View {
        let holders = vec![
            participant(Some(1), 7, "python train.py", 192),
            participant(Some(10), 12, "make", 1),
            participant(Some(11), 13, "ls", 1),
        ];
        view(holders, vec![participant(None, 12345, "evil\x1b[2J\nline", 0)])
    }

    #[test]
    fn programs_get_hosts_and_tokens_where_there_are_several_machines() {
        let on = |mut one: Participant, host: &str| {
            one.token = one.slot.map(|_| 77);
            (one.host, one.uid) = (Some(host.into()), None);
            one
        };
        let hall = view(
            vec![on(participant(Some(0), 7, "make", 1), "ant")],
            vec![on(participant(None, 8, "ls", 0), "beetle")],
        );
        let json = hall.to_json();
        assert_eq!(
            (&json["holders"][0]["host"], &json["holders"][0]["token"]),
            (&"ant".into(), &77.into())
        );
        assert_eq!(json["queue"][0]["token"], Value::Null);
        assert!(json["queue"][0].get("uid").is_none());
    }

    #[test]
    fn programs_get_times_and_numbers() {
        let json = hall().to_json();
        assert_eq!(json["available"], 0, "the holder of the removed slot 11 counts, too");
        assert_eq!(json["held"], 2, "a dead holder does not count");
        let mut all_dead = hall();
        all_dead.status.slots = 11;
        all_dead.status.holders.retain(|one| !one.alive);
        assert_eq!(all_dead.summary()["available"], 11);
        assert_eq!(json["holders"][0]["since"], "2023-11-14T22:10:08.000Z");
        assert_eq!(json["holders"][0]["seconds"], 192.0);
        assert_eq!(json["holders"][0]["uid"], 1000);
        assert_eq!(json["holders"][1]["alive"], false);
        assert_eq!(json["queue"][0]["slot"], Value::Null);
        assert_eq!(json["queue"][0]["command"], "evil\x1b[2J\nline");
    }

    #[test]
    fn only_slots_that_a_newcomer_could_take_are_available() {
        let available = |hall: &View| hall.summary()["available"].as_u64().expect("a number");
        let holders = |slots: &[usize], host: Option<&str>| {
            let holder = |&slot: &usize| {
                let mut one = participant(Some(slot), 7, "make", 1);
                one.host = host.map(Into::into);
                one
            };
            slots.iter().map(holder).collect::<Vec<_>>()
        };
        assert_eq!(available(&view(holders(&[3], None), vec![])), 1);
        assert_eq!(available(&view(holders(&[2, 3], None), vec![])), 0);
        assert_eq!(available(&view(holders(&[1, 2, 3], None), vec![])), 0, "never negative");
        assert_eq!(available(&view(holders(&[2, 3], Some("ant")), vec![])), 2);

        let mut vanished = view(holders(&[0], Some("ant")), vec![]);
        vanished.status.holders[0].alive = false;
        assert_eq!(available(&vanished), 1, "nobody gets the slot before the deadline");

        let mut closed = view(vec![], vec![]);
        closed.status.closed = true;
        assert_eq!(available(&closed), 0);
    }

    #[test]
    fn dead_waiters_are_left_out_and_users_are_shown_by_name() {
        let mut status = Status::new("gpu", 1);
        let mut root = participant(Some(0), 7, "make", 1);
        (root.uid, root.user) = (Some(0), None);
        status.holders = vec![root];
        status.waiters = vec![participant(None, 12, "dead", 1), participant(None, 13, "ls", 1)];
        let View { status, .. } = View::new(status, &mut Users::default());
        assert_eq!(user(&status.holders[0]), "root");
        assert!(status.waiters.iter().map(|one| one.pid).eq([13]));
    }

    #[test]
    fn times_out_of_range_are_replaced_by_the_nearest_in_range() {
        let late = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 60);
        assert_eq!(rfc3339(late), "9999-12-31T23:59:59.000Z");
        let early = SystemTime::UNIX_EPOCH - Duration::from_secs(5);
        assert_eq!(rfc3339(early), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn a_user_without_a_name_is_shown_by_number() {
        let nobody = u32::MAX - 7;
        let mut one = participant(Some(0), 1, "x", 0);
        (one.uid, one.user) = (Some(nobody), Users::default().name(nobody));
        assert_eq!(user(&one), "4294967288");
        assert_eq!(view(vec![one], vec![]).to_json()["holders"][0]["user"], Value::Null);
    }
}
