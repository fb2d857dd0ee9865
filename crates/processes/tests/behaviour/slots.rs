//! Tests of the slots that processes and handles get, and of the numbers of slots that a hall can have.

use std::fs;

use hallpass_processes::{Error, HallDir, MAX_SLOTS, SharedPass};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::{NAME, TestHall, is_full};

#[test]
fn a_process_can_hold_all_slots_of_the_largest_hall() {
    // Each pass needs at least one descriptor.
    let limit = getrlimit(Resource::Nofile);
    let needed = 3 * MAX_SLOTS as u64;
    if limit.maximum.is_some_and(|most| most < needed) {
        return println!("skipped: a process may not open {needed} files here");
    }
    if limit.current.is_some_and(|most| most < needed) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(needed), ..limit }).unwrap();
    }
    let test = TestHall::new(MAX_SLOTS);
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    let (mut passes, before) = (Vec::new(), open());
    while passes.len() < MAX_SLOTS {
        passes.push(test.hall.acquire().unwrap());
        // Other tests of this program open files at the same time. The 400 allows for them.
        let taken = open().saturating_sub(before);
        assert!(taken < 2 * passes.len() + 400, "{taken} files for {} passes", passes.len());
    }
    assert!(passes.iter().map(SharedPass::slot).eq(0..MAX_SLOTS));
    assert!(is_full(&test.hall));
    drop(passes);
    assert_eq!(test.hall.available(), MAX_SLOTS);
}

#[test]
fn processes_have_distinct_slots_and_the_smallest_comes_first() {
    let test = TestHall::new(4);
    let mut puppets: Vec<_> = (0..4).map(|_| test.holder()).collect();
    assert!(puppets.iter().map(|(_, slot)| *slot).eq(0..4));
    assert!(is_full(&test.hall));
    puppets[2].0.leave(2);
    puppets[1].0.leave(1);
    assert_eq!(puppets[0].0.try_acquire(), Ok(1));
    assert_eq!(puppets[1].0.try_acquire(), Ok(2));
    assert_eq!(puppets[2].0.try_acquire(), Err("NoPermits".into()));
    drop(puppets);
    test.assert_all_slots_free();
}

#[test]
fn a_hall_of_an_impossible_size_is_refused_and_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let dir = HallDir::at(folder.path());
    for k in [0, MAX_SLOTS + 1, usize::MAX] {
        match dir.open(NAME, k).err() {
            Some(error @ Error::BadSlots { asked }) => {
                assert_eq!(asked, k);
                assert!(error.to_string().contains(&k.to_string()), "{error}");
            }
            other => panic!("k = {k}: {other:?}"),
        }
    }
    // No hall was created.
    assert!(matches!(dir.open_existing(NAME).err(), Some(Error::Missing { .. })));
    assert!(dir.names().unwrap().is_empty());
    let hall = dir.open(NAME, 1).unwrap();
    for k in [0, MAX_SLOTS + 1] {
        assert!(matches!(hall.resize(k), Err(Error::BadSlots { .. })), "resized to {k}");
    }
    assert_eq!(hall.slots(), 1);
}

#[test]
fn opening_a_hall_with_another_size_names_both_sizes() {
    let test = TestHall::new(3);
    match test.dir().open(NAME, 5).err() {
        Some(error @ Error::Slots { .. }) => {
            let text = error.to_string();
            assert!(text.contains('3') && text.contains('5') && text.contains(NAME), "{text}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(test.dir().open(NAME, 3).unwrap().slots(), 3);
    assert_eq!(test.dir().open_existing(NAME).unwrap().slots(), 3);
}

#[test]
fn handles_that_are_opened_separately_share_one_hall() {
    let test = TestHall::new(2);
    let (clone, other) = (test.hall.clone(), test.dir().open(NAME, 2).unwrap());
    let (a, b) = (clone.acquire_owned().unwrap(), other.acquire_owned().unwrap());
    assert_eq!((a.slot(), b.slot()), (0, 1));
    assert!(is_full(&test.hall) && is_full(&other));
    // A pass keeps its handle alive.
    drop((clone, other));
    assert!(is_full(&test.hall));
    drop(a);
    assert_eq!(test.hall.available(), 1);
    drop(b);
    test.assert_all_slots_free();
}

#[test]
fn halls_in_one_directory_do_not_affect_each_other() {
    let test = TestHall::new(1);
    let dir = test.dir();
    let others: Vec<_> = (0..20).map(|i| dir.open(&format!("other-{i}"), 1).unwrap()).collect();
    let passes: Vec<_> = others.iter().map(|hall| hall.try_acquire().unwrap()).collect();
    assert!(passes.iter().all(|pass| pass.slot() == 0));
    test.assert_all_slots_free();
}
