//! The operations of the victim, and the other processes.

use std::{fs::rename, path::Path, thread, time::Duration};

use hallpass_processes::{HallDir, SharedHall};

use crate::NAME;

/// The role of a process other than the victim.
#[derive(Clone, Copy)]
pub enum Other {
    /// A holder that leaves when the victim is dead.
    Holder,
    /// A holder that was killed.
    DeadHolder,
    /// A waiter. It gets a slot, and leaves.
    Waiter,
}

/// The state that the hall may have when the victim is dead.
#[derive(PartialEq)]
pub enum Left {
    Same,
    Resized,
    Closed,
    Removed,
}

pub struct Scenario {
    pub name: &'static str,
    pub slots: usize,
    /// The processes that arrive before the victim.
    pub before: &'static [Other],
    /// The processes that arrive when the victim is ready.
    pub after: &'static [Other],
    /// The operation. Its arguments are the directory of the halls, and a function to call before the first
    /// instruction at which the victim may be killed.
    pub victim: fn(&Path, &dyn Fn()),
    /// Whether another slot is free while the victim is stopped.
    pub spare: bool,
    /// The state that the hall may have when the victim is dead.
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

fn open(dir: &Path, slots: usize) -> SharedHall {
    HallDir::at(dir).open(NAME, slots).unwrap()
}

/// The time limit of a wait that times out: long enough for the waiter to go to sleep, which it does after at most
/// four milliseconds.
const SHORT: Duration = Duration::from_millis(10);

pub const SCENARIOS: [Scenario; 18] = [
    Scenario {
        name: "enter and leave a free hall",
        slots: 2,
        spare: true,
        victim: |dir, ready| {
            let hall = open(dir, 2);
            ready();
            drop(hall.acquire().unwrap());
        },
        ..PLAIN
    },
    Scenario {
        name: "enter and leave a free hall for the second time",
        slots: 2,
        spare: true,
        victim: |dir, ready| {
            let hall = open(dir, 2);
            drop(hall.acquire().unwrap());
            ready();
            drop(hall.acquire().unwrap());
        },
        ..PLAIN
    },
    Scenario {
        name: "wait and give up",
        before: &[Other::Holder],
        victim: |dir, ready| {
            let hall = open(dir, 1);
            ready();
            assert!(hall.try_acquire_for(SHORT).is_err());
        },
        ..PLAIN
    },
    Scenario {
        name: "wait behind another waiter and give up",
        before: &[Other::Holder, Other::Waiter],
        victim: |dir, ready| {
            let hall = open(dir, 1);
            ready();
            assert!(hall.try_acquire_for(SHORT).is_err());
        },
        ..PLAIN
    },
    Scenario {
        name: "leave while others wait",
        victim: |dir, ready| {
            let pass = open(dir, 1).acquire_owned().unwrap();
            ready();
            drop(pass);
            // The victim stays alive for a moment, while the waiter that got the slot enters.
            thread::sleep(SHORT);
        },
        after: &[Other::Waiter, Other::Waiter],
        ..PLAIN
    },
    Scenario {
        name: "enter after a dead holder",
        before: &[Other::DeadHolder],
        victim: |dir, ready| {
            let hall = open(dir, 1);
            ready();
            drop(hall.acquire().unwrap());
        },
        ..PLAIN
    },
    Scenario {
        name: "free the slots of dead holders",
        slots: 3,
        spare: true,
        before: &[Other::DeadHolder, Other::Holder, Other::DeadHolder],
        victim: |dir, ready| {
            let hall = open(dir, 3);
            ready();
            hall.reap().unwrap();
        },
        ..PLAIN
    },
    Scenario {
        name: "resize while others wait",
        before: &[Other::Holder, Other::Waiter, Other::Waiter],
        victim: |dir, ready| {
            let hall = open(dir, 1);
            ready();
            hall.resize(2).unwrap();
        },
        left: Left::Resized,
        ..PLAIN
    },
    Scenario {
        name: "create a hall",
        slots: 2,
        spare: true,
        victim: |dir, ready| {
            ready();
            drop(open(dir, 2).acquire().unwrap());
        },
        ..PLAIN
    },
    Scenario {
        name: "close a hall",
        victim: |dir, ready| {
            let hall = open(dir, 1);
            ready();
            hall.close();
        },
        left: Left::Closed,
        ..PLAIN
    },
    Scenario {
        name: "close a hall while others wait",
        before: &[Other::Holder, Other::Waiter, Other::Waiter],
        victim: |dir, ready| {
            let hall = open(dir, 1);
            ready();
            hall.close();
        },
        left: Left::Closed,
        ..PLAIN
    },
    Scenario {
        name: "enter with several slots and leave",
        slots: 3,
        spare: true,
        victim: |dir, ready| {
            let hall = open(dir, 3);
            ready();
            drop(hall.acquire_many(2).unwrap());
        },
        ..PLAIN
    },
    Scenario {
        name: "wait for several slots and give up",
        slots: 2,
        before: &[Other::Holder],
        victim: |dir, ready| {
            let hall = open(dir, 2);
            ready();
            assert!(hall.try_acquire_many_for(2, SHORT).is_err());
        },
        ..PLAIN
    },
    Scenario {
        name: "leave several slots while others wait",
        slots: 2,
        victim: |dir, ready| {
            let passes = open(dir, 2).acquire_many_owned(2).unwrap();
            ready();
            drop(passes);
            thread::sleep(SHORT);
        },
        after: &[Other::Waiter, Other::Waiter, Other::Waiter],
        ..PLAIN
    },
    Scenario {
        name: "shrink while others wait",
        slots: 2,
        before: &[Other::Holder, Other::Holder, Other::Waiter],
        victim: |dir, ready| {
            let hall = open(dir, 2);
            ready();
            hall.resize(1).unwrap();
        },
        left: Left::Resized,
        ..PLAIN
    },
    Scenario {
        name: "remove a hall",
        slots: 2,
        victim: |dir, ready| {
            drop(open(dir, 2));
            ready();
            HallDir::at(dir).remove(NAME, false).unwrap();
        },
        left: Left::Removed,
        ..PLAIN
    },
    Scenario {
        name: "sweep a removed hall while others wait for it",
        before: &[Other::Holder, Other::Waiter],
        victim: |dir, ready| {
            // This is what a removal leaves behind if it is killed right after the rename.
            rename(dir.join(NAME), dir.join(".old-0000000000000001")).unwrap();
            ready();
            drop(open(dir, 1).acquire().unwrap());
        },
        left: Left::Removed,
        ..PLAIN
    },
    Scenario {
        name: "remove a hall by force and create it again",
        slots: 2,
        before: &[Other::Holder],
        victim: |dir, ready| {
            ready();
            HallDir::at(dir).remove(NAME, true).unwrap();
            drop(open(dir, 2).acquire().unwrap());
        },
        left: Left::Removed,
        ..PLAIN
    },
];
