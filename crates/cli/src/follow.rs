//! `hallpass status --json --follow`: prints changes of halls as a stream of events.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io,
    os::fd::AsFd,
    process::ExitCode,
    thread,
    time::{Duration, SystemTime},
};

use hallpass_common::{Participant, Status};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use crate::{
    halls,
    location::{Error, Halls},
    output::{json_line, outln},
    snapshot::{Users, View, rfc3339},
};

/// The shortest time between two checks. More frequent checks would slow down the users of the halls.
const FASTEST: Duration = Duration::from_millis(50);

/// First prints one line of JSON for each hall, with the state of the hall. Then prints a line for each event, until
/// the reader closes the pipe.
pub fn run(halls: &Halls, names: &[String], delay: Duration) -> Result<ExitCode, Error> {
    let mut users = Users::default();
    let mut before = BTreeMap::new();
    for name in names {
        // If a hall is missing at the start, this is an error. If it is removed later, this is an event.
        halls.look(name, &mut users)?;
    }
    loop {
        let mut now = BTreeMap::new();
        for (name, hall) in halls::look(halls, halls::chosen(halls, names.to_vec())?, &mut users) {
            match hall {
                Ok(hall) => {
                    now.insert(name, hall);
                }
                Err(error) if error.is_missing() => {}
                Err(error) => return Err(error),
            }
        }
        let time = rfc3339(SystemTime::now());
        for mut event in events(&before, &now) {
            event["time"] = json!(time);
            outln!("{}", json_line(&event));
        }
        before = now;
        thread::sleep(delay.max(FASTEST));
        if !has_reader() {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// Returns `false` if standard output is a pipe that nobody reads any more.
fn has_reader() -> bool {
    let stdout = io::stdout();
    let mut file = [PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::empty())];
    let no_wait = Timespec { tv_sec: 0, tv_nsec: 0 };
    let _ = poll(&mut file, Some(&no_wait));
    !file[0].revents().contains(PollFlags::ERR)
}

/// Returns the events between two checks.
fn events(before: &BTreeMap<String, View>, now: &BTreeMap<String, View>) -> Vec<Value> {
    let mut events = Vec::new();
    for (name, hall) in now {
        match before.get(name) {
            Some(old) => events.extend(changes(name, old, hall)),
            None => {
                let mut event = hall.to_json();
                (event["event"], event["hall"]) = (json!("hall"), json!(name));
                events.push(event);
            }
        }
    }
    let removed = before.keys().filter(|name| !now.contains_key(*name));
    events.extend(removed.map(|name| json!({ "event": "removed", "hall": name })));
    events
}

/// Identifies a holder or waiter. The identity of a waiter includes the time at which it joined the queue. The identity
/// of a holder includes no time: hallpass sets the time of a holder when the process wakes up, a moment after the
/// process got the slot.
type Identity<'a> = (Process<'a>, Option<usize>, Option<SystemTime>);
type Process<'a> = (&'a Option<String>, u32);

fn identity(one: &Participant) -> Identity<'_> {
    let since = one.slot.is_none().then_some(one.since);
    (process(one), one.slot, since)
}

fn process(one: &Participant) -> Process<'_> {
    (&one.host, one.pid)
}

fn changes(name: &str, old: &View, new: &View) -> Vec<Value> {
    let event = |hall: &View, what: &str, one: &Participant| {
        let mut event = hall.one_to_json(one);
        (event["event"], event["hall"]) = (json!(what), json!(name));
        event
    };
    let (Status { holders, waiters, .. }, was) = (&new.status, &old.status);
    let known: HashMap<_, _> =
        was.holders.iter().chain(&was.waiters).map(|one| (identity(one), one)).collect();
    let present: HashSet<_> = holders.iter().chain(waiters).map(identity).collect();
    let mut events = Vec::new();
    // Holders that left come before holders that entered, because a slot becomes free before its next holder has
    // it.
    let left = was.holders.iter().filter(|one| !present.contains(&identity(one)));
    events.extend(left.map(|one| event(old, "left", one)));
    let entered: Vec<_> =
        holders.iter().filter(|one| !known.contains_key(&identity(one))).collect();
    events.extend(entered.iter().map(|one| event(new, "entered", one)));
    let entered: HashSet<_> = entered.into_iter().map(process).collect();
    // A waiter that got a slot has also left the queue, but has not given up.
    let gave_up = was
        .waiters
        .iter()
        .filter(|one| !present.contains(&identity(one)) && !entered.contains(&process(one)));
    events.extend(gave_up.map(|one| event(old, "gave_up", one)));
    let joined = waiters.iter().filter(|one| !known.contains_key(&identity(one)));
    events.extend(joined.map(|one| event(new, "joined", one)));
    for one in holders.iter().chain(waiters) {
        let Some(known) = known.get(&identity(one)) else { continue };
        if known.alive && !one.alive {
            events.push(event(new, "died", one));
        }
        match (old.is_stopped(known), new.is_stopped(one)) {
            (false, true) => events.push(event(new, "stopped", one)),
            (true, false) => events.push(event(new, "continued", one)),
            _ => {}
        }
    }
    // A hall of processes has 0 slots when it is closed. This change is not a resize.
    if was.slots != new.status.slots && !new.status.closed {
        events.push(json!({ "event": "resized", "hall": name, "slots": new.status.slots }));
    }
    if !was.closed && new.status.closed {
        events.push(json!({ "event": "closed", "hall": name }));
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::{participant, view};

    fn names(before: Option<View>, now: Option<View>) -> Vec<String> {
        let map =
            |view: Option<View>| view.map(|view| ("gpu".to_string(), view)).into_iter().collect();
        let events = events(&map(before), &map(now));
        let word = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_string();
        assert!(events.iter().all(|event| word(event, "hall") == "gpu"), "{events:?}");
        let shown = |event: &Value| format!("{} {}", word(event, "event"), event["pid"]);
        events.iter().map(shown).collect()
    }

    #[test]
    fn changes_are_events() {
        let holder = |pid, since| participant(Some(0), pid, "a", since);
        let waiter = |pid, since| participant(None, pid, "a", since);
        let first = || view(vec![holder(1, 9)], vec![waiter(2, 8), waiter(3, 7)]);
        assert_eq!(names(None, Some(first())), ["hall null"]);
        assert_eq!(names(Some(first()), Some(first())), [""; 0]);
        let second = view(vec![holder(2, 1)], vec![waiter(4, 0)]);
        let expected = ["left 1", "entered 2", "gave_up 3", "joined 4"];
        assert_eq!(names(Some(first()), Some(second)), expected);
        assert_eq!(names(Some(first()), None), ["removed null"]);
        let woken = view(vec![holder(1, 5)], vec![waiter(2, 8), waiter(3, 7)]);
        assert_eq!(names(Some(first()), Some(woken)), [""; 0], "the same holder, awake");
        let mut third = first();
        (third.status.slots, third.status.holders[0].alive) = (7, false);
        third.stopped.insert(2);
        assert_eq!(names(Some(first()), Some(third)), ["died 1", "stopped 2", "resized null"]);
    }
}
