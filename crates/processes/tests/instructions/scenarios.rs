//! What the victim does, and who else is there.

use std::{path::Path, thread, time::Duration};

use hallpass_processes::{HallDir, SharedHall};

use crate::NAME;

/// Another process.
#[derive(Clone, Copy)]
pub enum Other {
    /// Is in, and leaves when the victim is dead.
    Holder,
    /// Was in, and was killed.
    DeadHolder,
    /// Waits; is let in, and leaves.
    Waiter,
}

/// How the hall may be afterwards.
#[derive(PartialEq)]
pub enum Left {
    Same,
    Resized,
    Closed,
}

pub struct Scenario {
    pub name: &'static str,
    pub slots: usize,
    /// Who came before the victim.
    pub before: &'static [Other],
    /// Who came after it was ready.
    pub after: &'static [Other],
    /// Where the halls are; and what to call when it comes to the instructions that count.
    pub victim: fn(&Path, &dyn Fn()),
    /// Whether a slot is left for others while the victim is stopped.
    pub spare: bool,
    /// What the victim may have made of the hall.
    pub left: Left,
}

const PLAIN: Scenario = Scenario {
    name: "",
    slots: 1,
    before: &[],
    after: &[],
    victim: |_, _| {},
    spare: false,
    left: Left::Same,
};

fn open(place: &Path, slots: usize) -> SharedHall {
    HallDir::at(place).open(NAME, slots).unwrap()
}

/// For a wait that is in vain: no longer than is needed to go to sleep.
const SHORT: Duration = Duration::from_millis(1);

pub const SCENARIOS: [Scenario; 10] = [
    Scenario {
        name: "enter and leave a free hall",
        slots: 2,
        spare: true,
        victim: |place, ready| {
            let hall = open(place, 2);
            ready();
            drop(hall.acquire().unwrap());
        },
        ..PLAIN
    },
    Scenario {
        name: "enter and leave it again",
        slots: 2,
        spare: true,
        victim: |place, ready| {
            let hall = open(place, 2);
            drop(hall.acquire().unwrap());
            ready();
            drop(hall.acquire().unwrap());
        },
        ..PLAIN
    },
    Scenario {
        name: "wait in vain",
        before: &[Other::Holder],
        victim: |place, ready| {
            let hall = open(place, 1);
            ready();
            assert!(hall.try_acquire_for(SHORT).is_err());
        },
        ..PLAIN
    },
    Scenario {
        name: "wait in vain behind another",
        before: &[Other::Holder, Other::Waiter],
        victim: |place, ready| {
            let hall = open(place, 1);
            ready();
            assert!(hall.try_acquire_for(SHORT).is_err());
        },
        ..PLAIN
    },
    Scenario {
        name: "leave to who waits",
        victim: |place, ready| {
            let pass = open(place, 1).acquire_owned().unwrap();
            ready();
            drop(pass);
            // Who came in sees to the rest.
            thread::sleep(SHORT);
        },
        after: &[Other::Waiter, Other::Waiter],
        ..PLAIN
    },
    Scenario {
        name: "follow a dead holder",
        before: &[Other::DeadHolder],
        victim: |place, ready| {
            let hall = open(place, 1);
            ready();
            drop(hall.acquire().unwrap());
        },
        ..PLAIN
    },
    Scenario {
        name: "free what the dead held",
        slots: 3,
        spare: true,
        before: &[Other::DeadHolder, Other::Holder, Other::DeadHolder],
        victim: |place, ready| {
            let hall = open(place, 3);
            ready();
            hall.reap().unwrap();
        },
        ..PLAIN
    },
    Scenario {
        name: "make room for who waits",
        before: &[Other::Holder, Other::Waiter, Other::Waiter],
        victim: |place, ready| {
            let hall = open(place, 1);
            ready();
            hall.resize(2).unwrap();
        },
        left: Left::Resized,
        ..PLAIN
    },
    Scenario {
        name: "make a hall",
        slots: 2,
        spare: true,
        victim: |place, ready| {
            ready();
            drop(open(place, 2).acquire().unwrap());
        },
        ..PLAIN
    },
    Scenario {
        name: "close a hall",
        victim: |place, ready| {
            let hall = open(place, 1);
            ready();
            hall.close();
        },
        left: Left::Closed,
        ..PLAIN
    },
];
