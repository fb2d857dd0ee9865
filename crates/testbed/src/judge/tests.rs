//! Checks the judge with hand-made histories: it catches each bad history, and for the right reason.

use super::{Promise, Promise::*, Violation, agreement, keys, visits};
use crate::{Event, KeyChange, KeyState, Observation, Visit};

/// Creates a record. In a line, `+VISIT SLOT TOKEN` means that a visitor enters, `-VISIT` that it leaves, `?VISIT` that
/// it is excused, and `!0` that the store is wiped.
fn record(lines: &[&str]) -> Vec<Event> {
    let event = |(at, line): (usize, &&str)| {
        let (kind, rest) = line.split_at(1);
        let numbers: Vec<u64> = rest.split(' ').map(|word| word.parse().unwrap()).collect();
        let visit = numbers[0];
        let what = match kind {
            "+" => Observation::Enter(Visit {
                visit,
                name: "x".into(),
                slot: numbers[1] as usize,
                token: numbers[2],
                pid: 1,
            }),
            "-" => Observation::Leave { visit },
            "!" => Observation::Wiped,
            _ => Observation::Excused { visit },
        };
        Event { at: at as u64, what }
    };
    lines.iter().enumerate().map(event).collect()
}

/// Makes a history: each line is a transaction that writes `+KEY` and deletes `-KEY`.
fn history(lines: &[&str]) -> Vec<KeyChange> {
    let mut created = std::collections::HashMap::new();
    let mut changes = Vec::new();
    for (revision, line) in (1..).zip(lines) {
        for word in line.split(' ') {
            let (kind, key) = word.split_at(1);
            if kind == "-" {
                created.remove(key);
            }
            let now = (kind == "+").then(|| KeyState {
                created: *created.entry(key).or_insert(revision),
                value: String::new(),
            });
            changes.push(KeyChange { revision, key: format!("h/{key}"), now });
        }
    }
    changes
}

fn promises(violations: &[Violation]) -> Vec<Promise> {
    violations.iter().map(|violation| violation.promise).collect()
}

#[track_caller]
fn visits_break(lines: &[&str], expected: &[Promise]) {
    assert_eq!(promises(&visits(2, &record(lines)).violations), expected);
}

#[track_caller]
fn keys_break(lines: &[&str], expected: &[Promise]) {
    assert_eq!(promises(&keys(2, &history(lines), "h/")), expected);
}

#[test]
fn good_visits_are_accepted() {
    let verdict = visits(2, &record(&["+0 0 5", "+1 1 4", "-0", "+2 0 7", "-1", "-2", "+3 0 8"]));
    assert_eq!((verdict.violations.len(), verdict.visits, verdict.max_running), (0, 4, 2));
}

#[test]
fn tokens_begin_again_if_the_store_was_wiped() {
    visits_break(&["+0 0 5", "-0", "+1 0 4"], &[TokensGrow]);
    visits_break(&["+0 0 5", "-0", "!0", "+1 0 4"], &[]);
    // A holder still has its slot after the store was wiped.
    visits_break(&["+0 0 5", "!0", "+1 0 4"], &[OwnSlot]);
}

#[test]
fn too_many_visitors_are_caught() {
    visits_break(&["+0 0 5", "+1 1 6", "+2 2 7"], &[SlotsBelowK, AtMostK]);
}

#[test]
fn two_visitors_in_one_slot_are_caught() {
    visits_break(&["+0 0 5", "+1 0 6"], &[OwnSlot]);
}

#[test]
fn a_slot_beyond_the_last_is_caught() {
    visits_break(&["+0 2 5"], &[SlotsBelowK]);
}

#[test]
fn tokens_that_do_not_grow_are_caught() {
    visits_break(&["+0 0 5", "-0", "+1 0 4"], &[TokensGrow]);
    visits_break(&["+0 0 5", "-0", "+1 0 5"], &[TokensGrow]);
    visits_break(&["+0 0 5", "+1 1 5"], &[TokensGrow]);
}

#[test]
fn an_excused_visit_is_over_and_counted() {
    let lines = ["+0 0 5", "?0", "+1 0 6", "-0", "-1"];
    let verdict = visits(1, &record(&lines));
    assert_eq!((verdict.violations, verdict.excused), (Vec::new(), 1));
    visits_break(&["+0 0 5", "+1 0 6", "?0"], &[OwnSlot]);
    visits_break(&["+0 0 5", "?0", "+1 0 4"], &[TokensGrow]);
    assert_eq!(
        visits(1, &record(&["+0 0 5", "-0", "?0"])).excused,
        0,
        "the visit had already ended"
    );
}

#[test]
fn good_changes_of_keys_are_accepted() {
    keys_break(
        &[
            "+door",
            "+inside/a +slots/0",
            "+inside/b +slots/1",
            "+queue/c",
            "+queue/d",
            // A slot is handed over.
            "-inside/a +slots/0 -queue/c +inside/c",
            // A holder vanishes, and after a while its slot goes to the next waiter.
            "-inside/b",
            "+slots/1 -queue/d +inside/d",
            // A waiter vanishes, and the next waiter gets the slot.
            "+queue/e",
            "+queue/f",
            "-queue/e",
            "+queue/f",
            "-inside/c +slots/0 -queue/f +inside/f",
            "-inside/f -slots/0",
            "+inside/g +slots/0",
        ],
        &[],
    );
}

#[test]
fn overtaking_a_waiter_is_caught() {
    keys_break(&["+queue/a", "+queue/b", "+slots/0 -queue/b +inside/b"], &[FirstComeFirstIn]);
    keys_break(&["+queue/a", "+slots/0 +inside/b"], &[FirstComeFirstIn]);
    // A claim that is written again keeps its position in the queue.
    let changed = ["+queue/a", "+queue/b", "+queue/a", "+slots/0 -queue/b +inside/b"];
    keys_break(&changed, &[FirstComeFirstIn]);
}

#[test]
fn taking_a_slot_that_is_not_the_smallest_is_caught() {
    keys_break(&["+slots/1 +inside/a"], &[SmallestSlot]);
    let freed = "-slots/0 -inside/a";
    let full = ["+slots/0 +inside/a", "+slots/1 +inside/b", "+queue/c"];
    let later = [&full[..], &["-slots/1 -inside/b +door", freed]].concat();
    // The giver could not see that slot 0 is free, but the waiters should have been notified.
    keys_break(&[&later[..], &["+slots/1 -queue/c +inside/c"]].concat(), &[NoIdleSlot]);
    let both = [&full[..], &[freed, "-slots/1 -inside/b +door"]].concat();
    keys_break(
        &[&both[..], &["+slots/1 -queue/c +inside/c"]].concat(),
        &[NoIdleSlot, SmallestSlot],
    );
}

#[test]
fn taking_a_slot_from_its_holder_is_caught() {
    keys_break(&["+slots/0 +inside/a", "+slots/0 +inside/b"], &[NoTheft]);
    keys_break(&["+slots/0 +inside/a", "-slots/0"], &[NoTheft]);
}

#[test]
fn a_slot_that_stays_free_while_claims_wait_is_caught() {
    keys_break(&["+slots/0 +inside/a", "+queue/b", "-slots/0 -inside/a"], &[NoIdleSlot]);
    keys_break(&["+slots/0 +inside/a", "+queue/b", "-slots/0 -inside/a +door"], &[]);
}

#[test]
fn claims_and_slots_that_do_not_match_are_caught() {
    keys_break(&["+slots/0"], &[OneSlotOneClaim]);
    keys_break(&["+inside/a"], &[OneSlotOneClaim]);
    keys_break(&["+queue/a", "+slots/0 +inside/a"], &[OneSlotOneClaim]);
    keys_break(&["+slots/2 +inside/a"], &[SlotsBelowK, SmallestSlot]);
}

#[test]
fn tokens_must_be_the_revisions_of_assignments() {
    let changes = history(&["+slots/0 +inside/a", "+slots/1 +inside/b"]);
    assert_eq!(agreement(&record(&["+0 0 1", "+1 1 2"]), &changes, "h/"), []);
    for wrong in ["+0 0 2", "+0 1 1", "+0 0 3"] {
        assert_eq!(
            promises(&agreement(&record(&[wrong]), &changes, "h/")),
            [TokensAreRevisions],
            "{wrong}"
        );
    }
}
