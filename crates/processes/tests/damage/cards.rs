//! Tests of cards that hallpass never writes. (A *card* is the word of a record with the phase of its process, such as
//! waiting.) Each test reproduces a bug that random damage found.
//!
//! These tests use the layout of the file: from offset 4096 on, each registration has a record of 256 bytes,
//! which begins with its card. A card has a phase in its six highest bits, then 10 bits for a slot, and a number of 48
//! bits.

use std::{fs::OpenOptions, os::unix::fs::FileExt, path::Path, thread, time::Duration};

use crate::{
    check,
    exercise::{accepted_pass, exercise, set_alarm},
    halls::{Halls, Kind, file_in, open},
    mutate, process,
};

const RECORDS: usize = 4096;
const RECORD: usize = 256;
const WAITING: u64 = 3;
const ASLEEP: u64 = 6;
/// The waiter was given a slot, and the next process that serves wakes it.
const UNRUNG: u64 = 7;
/// The phase and the slot of a card begin at these bits.
const PHASE: u32 = 58;
const SLOT: u32 = 48;

/// A process that rescues a dead one changes the card of the dead one by a compare-and-swap. The expected value must be
/// the word that the process has read. It must not be the word that results from unpacking this word and packing it again:
/// for some damaged cards, that is a different word, and the compare-and-swap would always fail.
pub fn cards_of_dead_processes_are_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let halls = Halls::new(folder.path());
    for (case, card) in [u64::MAX, 0xffff_ffdf_0000_0002, 7 << PHASE | 1].into_iter().enumerate() {
        let mut bytes = halls.bytes(Kind::Dead);
        (0..5).for_each(|record| mutate::set(&mut bytes, RECORDS + record * RECORD, card));
        let dir = folder.path().join(format!("case-{case}"));
        halls.create_damaged(Kind::Dead, &bytes, &dir);
        let what = format!("the cards of the dead are {card:#x}");
        check(process::wait(process::fork(|| exercise(&dir))), &what);
    }
}

/// The card of a waiter names a slot that the hall does not have. The waiter must neither crash nor hang.
pub fn a_waiter_is_given_an_impossible_slot() {
    let folder = tempfile::tempdir().unwrap();
    for slot in [200, 1000, 1023] {
        let dir = folder.path().join(format!("slot-{slot}"));
        let given = || {
            set_alarm();
            given(&dir, slot);
            0
        };
        let what = format!("a waiter is given slot {slot}");
        check(process::wait(process::fork(given)), &what);
    }
}

fn given(dir: &Path, slot: u64) {
    let hall = open(dir);
    let slots = hall.slots();
    let _passes: Vec<_> = (0..slots).map(|_| hall.acquire().unwrap()).collect();
    thread::scope(|scope| {
        scope.spawn(|| drop(accepted_pass(hall.try_acquire_for(Duration::from_secs(5)))));
        while hall.waiting() == 0 {
            thread::sleep(Duration::from_millis(1));
        }
        let file = OpenOptions::new().read(true).write(true).open(file_in(dir)).unwrap();
        let mut damaged = 0;
        for record in 0..=slots {
            let (mut bytes, at) = ([0; 8], (RECORDS + record * RECORD) as u64);
            file.read_exact_at(&mut bytes, at).unwrap();
            let card = u64::from_ne_bytes(bytes);
            if [WAITING, ASLEEP].contains(&(card >> PHASE)) {
                let new = UNRUNG << PHASE | slot << SLOT | card & ((1 << SLOT) - 1);
                file.write_all_at(&new.to_ne_bytes(), at).unwrap();
                damaged += 1;
            }
        }
        assert_eq!(damaged, 1, "the waiter was not found");
        drop(accepted_pass(hall.try_acquire()));
    });
}
