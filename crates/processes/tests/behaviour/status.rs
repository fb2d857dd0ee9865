//! Tests of the status of a hall.

use std::time::{Duration, SystemTime};

use rustix::process::getuid;

use crate::support::TestHall;

#[test]
fn the_status_lists_holders_by_slot_and_waiters_in_order() {
    let test = TestHall::new(2);
    let (holder, _) = test.holder();
    let own = test.hall.acquire().unwrap();
    let (first, second) = (test.waiter(), test.waiter());
    let status = test.hall.status();
    assert_eq!((status.name.as_str(), status.slots, status.closed), ("hall", 2, false));
    assert_eq!(test.hall.name(), "hall");
    let of = |list: &[hallpass_processes::Participant]| -> Vec<(Option<usize>, u32)> {
        list.iter().map(|one| (one.slot, one.pid)).collect()
    };
    assert_eq!(of(&status.holders), [(Some(0), holder.pid()), (Some(1), std::process::id())]);
    assert_eq!(of(&status.waiters), [(None, first.pid()), (None, second.pid())]);
    for one in status.holders.iter().chain(&status.waiters) {
        assert!(one.alive);
        assert_eq!(one.uid, Some(getuid().as_raw()));
        let age = SystemTime::now().duration_since(one.since).unwrap_or_default();
        assert!(age < Duration::from_secs(60), "{age:?}");
        assert!(!one.command.is_empty());
    }
    assert!(status.waiters[0].command.contains("puppet::obey"), "{status:#?}");
    drop((holder, own, first, second));
    test.assert_all_slots_free();
}

#[test]
fn a_process_can_choose_the_command_that_the_status_shows() {
    let test = TestHall::new(1);
    for command in ["make -j4", "", "a very long command with umlauts: äöü ".repeat(100).as_str()]
    {
        test.hall.describe_as(command);
        let _pass = test.hall.acquire().unwrap();
        let shown = test.hall.status().holders[0].command.clone();
        // The status shows only the beginning of a long command.
        assert!(command.starts_with(shown.trim_end_matches('…')), "{shown}");
        assert_eq!(shown.is_empty(), command.is_empty());
    }
}
