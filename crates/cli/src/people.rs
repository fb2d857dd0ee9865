//! Halls with their holders and waiters, as people and programs see them.

use std::{
    collections::HashMap,
    fmt::Write,
    time::{Duration, SystemTime},
};

use nix::unistd::{Uid, User};
use serde_json::{Value, json};

use crate::{place::Error, time};

/// Names of users; each is looked up once.
#[derive(Default)]
pub struct Users {
    names: HashMap<u32, Option<String>>,
}

impl Users {
    fn name(&mut self, uid: u32) -> Option<String> {
        let look_up = || Some(User::from_uid(Uid::from_raw(uid)).ok()??.name);
        self.names.entry(uid).or_insert_with(look_up).clone()
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

/// One that holds a slot or waits for one.
pub struct Person {
    /// The slot it holds; none while it waits.
    pub slot: Option<usize>,
    /// The fencing token that came with the slot; halls of one machine have none.
    token: Option<u64>,
    /// Its machine, where there may be several.
    pub host: Option<String>,
    pub pid: u32,
    /// Means something on its machine only.
    uid: Option<u32>,
    user: Option<String>,
    command: String,
    /// Since when it holds the slot, or waits.
    since: SystemTime,
    /// For how long that is.
    time: Duration,
    alive: bool,
}

impl Person {
    fn here(one: hallpass_processes::Participant, users: &mut Users) -> Self {
        Person {
            slot: one.slot,
            token: None,
            host: None,
            pid: one.pid,
            uid: Some(one.uid),
            user: users.name(one.uid),
            command: one.command,
            since: one.since,
            time: time_since(one.since),
            alive: one.alive,
        }
    }

    fn on_cluster(one: hallpass_cluster::Participant) -> Self {
        Person {
            slot: one.slot,
            token: one.token,
            host: Some(one.host),
            pid: one.pid,
            uid: None,
            user: Some(one.user),
            command: one.command,
            since: one.since,
            time: time_since(one.since),
            alive: one.alive,
        }
    }

    pub fn host(&self) -> String {
        self.host.as_deref().map_or_else(String::new, printable)
    }

    /// The user's name, or number if there is none.
    pub fn user(&self) -> String {
        let number = || self.uid.map_or_else(String::new, |uid| uid.to_string());
        self.user.as_deref().map_or_else(number, printable)
    }

    pub fn command(&self) -> String {
        printable(&self.command)
    }

    /// For how long it has held the slot, or waited.
    pub fn time(&self) -> String {
        time::short(self.time)
    }

    fn to_json(&self) -> Value {
        let mut person = json!({
            "slot": self.slot,
            "pid": self.pid,
            "user": self.user,
            "command": self.command,
            "since": rfc3339(self.since),
            "seconds": self.time.as_millis() as f64 / 1e3,
            "alive": self.alive,
        });
        match (&self.host, self.uid) {
            (Some(host), _) => {
                person["host"] = json!(host);
                person["token"] = json!(self.token);
            }
            (None, uid) => person["uid"] = json!(uid),
        }
        person
    }
}

/// A clock that was set back shows nothing negative, nor does another machine's.
fn time_since(then: SystemTime) -> Duration {
    SystemTime::now().duration_since(then).unwrap_or_default()
}

/// The time as RFC 3339 writes it, which has four digits for the year; a damaged one is shown as
/// the nearest that can be written.
fn rfc3339(time: SystemTime) -> String {
    let end_of_9999 = SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_799);
    humantime::format_rfc3339_millis(time.clamp(SystemTime::UNIX_EPOCH, end_of_9999)).to_string()
}

/// A hall at one moment.
pub struct View {
    pub name: String,
    pub slots: usize,
    pub closed: bool,
    /// By slot.
    pub holders: Vec<Person>,
    /// In the order in which they will get in.
    pub queue: Vec<Person>,
}

impl View {
    pub fn here(status: hallpass_processes::Status, users: &mut Users) -> Self {
        let mut everybody = |all: Vec<hallpass_processes::Participant>| {
            all.into_iter().map(|one| Person::here(one, users)).collect()
        };
        View {
            holders: everybody(status.holders),
            // The dead do not wait, though somebody has yet to strike them off.
            queue: everybody(status.queue.into_iter().filter(|one| one.alive).collect()),
            name: status.name,
            slots: status.slots,
            closed: status.closed,
        }
    }

    pub fn on_cluster(status: hallpass_cluster::Status) -> Self {
        let everybody = |all: Vec<hallpass_cluster::Participant>| {
            all.into_iter().map(Person::on_cluster).collect()
        };
        View {
            holders: everybody(status.holders),
            queue: everybody(status.queue),
            name: status.name,
            slots: status.slots,
            closed: status.closed,
        }
    }

    /// How many hold a slot. What the dead hold is for the next one who comes.
    pub fn held(&self) -> usize {
        self.holders.iter().filter(|one| one.alive).count()
    }

    /// How many slots one could have. Who holds one that is no more takes nobody's place.
    fn available(&self) -> usize {
        let counts = |one: &&Person| one.alive && one.slot.is_some_and(|slot| slot < self.slots);
        self.slots.saturating_sub(self.holders.iter().filter(counts).count())
    }

    /// Lines of text: a headline, and one line for everybody.
    pub fn table(&self) -> Vec<String> {
        let closed = if self.closed { ", closed" } else { "" };
        let (name, slots, held) = (&self.name, self.slots, self.held());
        let waiting = self.queue.len();
        let mut lines =
            vec![format!("{name}: {held} of {slots} slots held, {waiting} waiting{closed}")];
        if self.holders.len() + waiting > 0 {
            lines.extend(aligned(&self.rows()));
        }
        lines
    }

    fn rows(&self) -> Vec<[String; 6]> {
        let hosts = self.holders.iter().chain(&self.queue).any(|one| one.host.is_some());
        let host = if hosts { "HOST" } else { "" };
        let row = |place: String, one: &Person| {
            let dead = if one.alive { "" } else { " (dead)" };
            let command = one.command() + dead;
            [place, one.host(), one.pid.to_string(), one.user(), one.time(), command]
        };
        let place = |one: &Person| one.slot.map_or_else(String::new, |slot| slot.to_string());
        let holders = self.holders.iter().map(|one| row(place(one), one));
        let queue = self.queue.iter().zip(1..).map(|(one, number)| row(format!("#{number}"), one));
        let head = ["SLOT", host, "PID", "USER", "SINCE", "COMMAND"].map(str::to_string);
        [head].into_iter().chain(holders).chain(queue).collect()
    }

    /// The hall in numbers, for programs.
    pub fn summary(&self) -> Value {
        json!({
            "name": self.name,
            "slots": self.slots,
            "available": self.available(),
            "held": self.held(),
            "waiting": self.queue.len(),
            "closed": self.closed,
        })
    }

    /// The hall with everybody in it, for programs.
    pub fn to_json(&self) -> Value {
        let everybody = |all: &[Person]| all.iter().map(Person::to_json).collect::<Value>();
        let mut hall = self.summary();
        hall["holders"] = everybody(&self.holders);
        hall["queue"] = everybody(&self.queue);
        hall
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

    pub fn person(slot: Option<usize>, pid: u32, command: &str, seconds: u64) -> Person {
        let time = Duration::from_secs(seconds);
        let since = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000) - time;
        let (command, user) = (command.to_string(), Some("ann".to_string()));
        let alive = pid != 12;
        let (token, host, uid) = (None, None, Some(1000));
        Person { slot, token, host, pid, uid, user, command, since, time, alive }
    }

    fn hall() -> View {
        View {
            name: "gpu".into(),
            slots: 2,
            closed: false,
            holders: vec![
                person(Some(1), 7, "python train.py", 192),
                person(Some(10), 12, "make", 1),
                person(Some(11), 13, "ls", 1),
            ],
            queue: vec![person(None, 12345, "evil\x1b[2J\nline", 0)],
        }
    }

    #[test]
    fn columns_are_aligned_and_nothing_escapes() {
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
        let there = |one: Person, host: &str| Person {
            token: one.slot.map(|_| 77),
            host: Some(host.into()),
            uid: None,
            ..one
        };
        let hall = View {
            holders: vec![there(person(Some(0), 7, "make", 1), "ant")],
            queue: vec![there(person(None, 8, "ls", 0), "beetle")],
            ..hall()
        };
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
        let empty = View { holders: vec![], queue: vec![], closed: true, ..hall() };
        assert_eq!(empty.table(), ["gpu: 0 of 2 slots held, 0 waiting, closed"]);
    }

    #[test]
    fn programs_get_times_and_numbers() {
        let json = hall().to_json();
        assert_eq!(json["available"], 1, "slots 10 and 11 are none of the two");
        assert_eq!(json["held"], 2, "the dead hold nothing");
        let all_dead = View { slots: 11, holders: hall().holders.drain(1..2).collect(), ..hall() };
        assert_eq!(all_dead.summary()["available"], 11);
        assert_eq!(json["holders"][0]["since"], "2023-11-14T22:10:08.000Z");
        assert_eq!(json["holders"][0]["seconds"], 192.0);
        assert_eq!(json["holders"][1]["alive"], false);
        assert_eq!(json["queue"][0]["slot"], Value::Null);
        assert_eq!(json["queue"][0]["command"], "evil\x1b[2J\nline");
    }

    #[test]
    fn times_out_of_range_are_no_reason_to_panic() {
        let late = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 60);
        assert_eq!(rfc3339(late), "9999-12-31T23:59:59.000Z");
        let early = SystemTime::UNIX_EPOCH - Duration::from_secs(5);
        assert_eq!(rfc3339(early), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn a_user_without_a_name_is_a_number() {
        let nobody = u32::MAX - 7;
        let one = Person {
            uid: Some(nobody),
            user: Users::default().name(nobody),
            ..person(Some(0), 1, "x", 0)
        };
        assert_eq!(one.user(), "4294967288");
        assert_eq!(one.to_json()["user"], Value::Null);
    }
}
