//! Halls with their holders and waiters, as people and programs see them.

use std::{
    collections::HashMap,
    fmt::Write,
    time::{Duration, SystemTime},
};

use hallpass_common::{Participant, Status};
use serde_json::{Value, json};

use crate::{location::Error, time, users};

/// Names of users; each is looked up once.
#[derive(Default)]
pub struct Users {
    names: HashMap<u32, Option<String>>,
}

impl Users {
    fn name(&mut self, uid: u32) -> Option<String> {
        self.names.entry(uid).or_insert_with(|| users::name_of(uid)).clone()
    }
}

/// The text in one line, and nothing in it that a terminal would obey: commands are other people's.
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

/// The machine of a participant; empty in a hall of one machine.
pub fn host(one: &Participant) -> String {
    one.host.as_deref().map_or_else(String::new, printable)
}

/// The name of a participant's user, or the number if the user has no name.
pub fn user(one: &Participant) -> String {
    let number = || one.uid.map_or_else(String::new, |uid| uid.to_string());
    one.user.as_deref().map_or_else(number, printable)
}

/// The time as RFC 3339 writes it, which has four digits for the year; a damaged one is shown as
/// the nearest that can be written.
fn rfc3339(time: SystemTime) -> String {
    let end_of_9999 = SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_799);
    humantime::format_rfc3339_millis(time.clamp(SystemTime::UNIX_EPOCH, end_of_9999)).to_string()
}

/// A hall as people and programs see it.
pub struct View {
    pub status: Status,
    /// When we looked: times are counted until then.
    seen: SystemTime,
}

impl View {
    pub fn new(mut status: Status, users: &mut Users) -> Self {
        // A dead waiter does not wait, although nobody has removed it from the queue yet.
        status.waiters.retain(|one| one.alive);
        for one in status.holders.iter_mut().chain(&mut status.waiters) {
            if let (None, Some(uid)) = (&one.user, one.uid) {
                one.user = users.name(uid);
            }
        }
        View { status, seen: SystemTime::now() }
    }

    /// How many live processes hold a slot. The next process that comes gets what the dead hold.
    pub fn held(&self) -> usize {
        self.status.holders.iter().filter(|one| one.alive).count()
    }

    /// How many slots a newcomer could have. Holders of removed slots do not count.
    fn available(&self) -> usize {
        let Status { slots, holders, .. } = &self.status;
        let counts = |one: &&Participant| one.alive && one.slot.is_some_and(|slot| slot < *slots);
        slots.saturating_sub(holders.iter().filter(counts).count())
    }

    /// For how long a holder has had its slot, or a waiter has waited. A clock that was set back, or
    /// another machine's, shows nothing negative.
    fn age(&self, one: &Participant) -> Duration {
        self.seen.duration_since(one.since).unwrap_or_default()
    }

    /// The same in a few characters.
    pub fn time(&self, one: &Participant) -> String {
        time::short(self.age(one))
    }

    /// Lines of text: a headline, and one line for each holder and waiter.
    pub fn table(&self) -> Vec<String> {
        let Status { name, slots, holders, waiters, closed, .. } = &self.status;
        let closed = if *closed { ", closed" } else { "" };
        let (held, waiting) = (self.held(), waiters.len());
        let mut lines =
            vec![format!("{name}: {held} of {slots} slots held, {waiting} waiting{closed}")];
        if holders.len() + waiting > 0 {
            lines.extend(aligned(&self.rows()));
        }
        lines
    }

    fn rows(&self) -> Vec<[String; 6]> {
        let Status { holders, waiters, .. } = &self.status;
        let hosts = holders.iter().chain(waiters).any(|one| one.host.is_some());
        let hosts = if hosts { "HOST" } else { "" };
        let row = |slot: String, one: &Participant| {
            let dead = if one.alive { "" } else { " (dead)" };
            let command = printable(&one.command) + dead;
            [slot, host(one), one.pid.to_string(), user(one), self.time(one), command]
        };
        let slot = |one: &Participant| one.slot.map_or_else(String::new, |slot| slot.to_string());
        let holders = holders.iter().map(|one| row(slot(one), one));
        let waiters = waiters.iter().zip(1..).map(|(one, number)| row(format!("#{number}"), one));
        let head = ["SLOT", hosts, "PID", "USER", "SINCE", "COMMAND"].map(str::to_string);
        [head].into_iter().chain(holders).chain(waiters).collect()
    }

    /// The hall in numbers, for programs.
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

    /// The hall with all holders and waiters, for programs.
    pub fn to_json(&self) -> Value {
        let all = |all: &[Participant]| all.iter().map(|one| self.one_to_json(one)).collect();
        let mut hall = self.summary();
        hall["holders"] = all(&self.status.holders);
        hall["queue"] = all(&self.status.waiters);
        hall
    }

    fn one_to_json(&self, one: &Participant) -> Value {
        let mut object = json!({
            "slot": one.slot,
            "pid": one.pid,
            "user": one.user,
            "command": one.command,
            "since": rfc3339(one.since),
            "seconds": self.age(one).as_millis() as f64 / 1e3,
            "alive": one.alive,
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

/// A hall that cannot be read, for programs.
pub fn unreadable(name: &str, error: &Error) -> Value {
    json!({ "name": name, "error": error.to_string() })
}

/// The columns of hosts and users.
const LEFT: [usize; 2] = [1, 3];

/// Names begin, numbers end below each other; commands are last, and as long as they are.
fn aligned(rows: &[[String; 6]]) -> Vec<String> {
    let width = console::measure_text_width;
    let widths: [usize; 5] = std::array::from_fn(|column| {
        rows.iter().map(|row| width(&row[column])).max().unwrap_or_default()
    });
    let line = |row: &[String; 6]| {
        let mut line = String::new();
        for (column, widest) in widths.into_iter().enumerate() {
            let gap = widest - width(&row[column]);
            let (before, after) = if LEFT.contains(&column) { (0, gap) } else { (gap, 0) };
            // There are no hosts where all is on one.
            if widest > 0 {
                let _ = write!(line, "  {:before$}{}{:after$}", "", row[column], "");
            }
        }
        line + "  " + &row[5]
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    const SEEN: Duration = Duration::from_secs(1_700_000_000);

    /// A participant that has been there for this time; process 12 is dead.
    pub fn person(slot: Option<usize>, pid: u32, command: &str, seconds: u64) -> Participant {
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
        View { status, seen: SystemTime::UNIX_EPOCH + SEEN }
    }

    fn hall() -> View {
        let holders = vec![
            person(Some(1), 7, "python train.py", 192),
            person(Some(10), 12, "make", 1),
            person(Some(11), 13, "ls", 1),
        ];
        view(holders, vec![person(None, 12345, "evil\x1b[2J\nline", 0)])
    }

    #[test]
    fn columns_are_aligned_and_no_control_character_is_printed() {
        let expected = [
            "gpu: 2 of 2 slots held, 1 waiting",
            "  SLOT    PID  USER  SINCE  COMMAND",
            "     1      7  ann   3m12s  python train.py",
            "    10     12  ann      1s  make (dead)",
            "    11     13  ann      1s  ls",
            "    #1  12345  ann      0s  evil\\u{1b}[2J\\nline",
        ];
        assert_eq!(hall().table(), expected);
    }

    #[test]
    fn hosts_and_tokens_are_shown_where_there_are_several_machines() {
        let there = |mut one: Participant, host: &str| {
            one.token = one.slot.map(|_| 77);
            (one.host, one.uid) = (Some(host.into()), None);
            one
        };
        let hall = view(
            vec![there(person(Some(0), 7, "make", 1), "ant")],
            vec![there(person(None, 8, "ls", 0), "beetle")],
        );
        let expected = [
            "  SLOT  HOST    PID  USER  SINCE  COMMAND",
            "     0  ant       7  ann      1s  make",
            "    #1  beetle    8  ann      0s  ls",
        ];
        assert_eq!(hall.table()[1..], expected);
        let json = hall.to_json();
        assert_eq!(
            (&json["holders"][0]["host"], &json["holders"][0]["token"]),
            (&"ant".into(), &77.into())
        );
        assert_eq!(json["queue"][0]["token"], Value::Null);
        assert!(json["queue"][0].get("uid").is_none());
    }

    #[test]
    fn an_empty_hall_is_one_line() {
        let mut empty = view(vec![], vec![]);
        empty.status.closed = true;
        assert_eq!(empty.table(), ["gpu: 0 of 2 slots held, 0 waiting, closed"]);
    }

    #[test]
    fn programs_get_times_and_numbers() {
        let json = hall().to_json();
        assert_eq!(json["available"], 1, "slots 10 and 11 are none of the two");
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
    fn a_dead_waiter_is_not_shown_and_users_get_their_names() {
        let mut status = Status::new("gpu", 1);
        let mut root = person(Some(0), 7, "make", 1);
        (root.uid, root.user) = (Some(0), None);
        status.holders = vec![root];
        status.waiters = vec![person(None, 12, "dead", 1), person(None, 13, "ls", 1)];
        let View { status, .. } = View::new(status, &mut Users::default());
        assert_eq!(user(&status.holders[0]), "root");
        assert!(status.waiters.iter().map(|one| one.pid).eq([13]));
    }

    #[test]
    fn times_out_of_range_are_shown_as_the_nearest_that_can_be_written() {
        let late = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 60);
        assert_eq!(rfc3339(late), "9999-12-31T23:59:59.000Z");
        let early = SystemTime::UNIX_EPOCH - Duration::from_secs(5);
        assert_eq!(rfc3339(early), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn a_user_without_a_name_is_a_number() {
        let nobody = u32::MAX - 7;
        let mut one = person(Some(0), 1, "x", 0);
        (one.uid, one.user) = (Some(nobody), Users::default().name(nobody));
        assert_eq!(user(&one), "4294967288");
        assert_eq!(view(vec![one], vec![]).to_json()["holders"][0]["user"], Value::Null);
    }
}
