//! Sound halls, to be damaged.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use hallpass_processes::{HallDir, SharedHall};
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    exercise::{NAME, SLOTS},
    process,
};

/// Who is in a hall.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Nobody,
    /// Some hold slots and wait.
    Living,
    /// The same, who were killed.
    Dead,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Nobody, Kind::Living, Kind::Dead];
}

/// Halls of each kind, and those who live in them.
pub struct Halls {
    places: [PathBuf; 3],
    living: Vec<Pid>,
}

impl Halls {
    pub fn new(folder: &Path) -> Halls {
        let mut living = Vec::new();
        let places = Kind::ALL.map(|kind| {
            let place = folder.join(format!("{kind:?}"));
            let count = if let Kind::Nobody = kind { 0 } else { SLOTS + 2 };
            let pids: Vec<Pid> = (0..count).map(|_| process::fork(|| stay(&place))).collect();
            process::wait(process::fork(|| watch(&place, count)));
            if let Kind::Dead = kind {
                pids.iter().for_each(end);
            } else {
                living.extend(pids);
            }
            place
        });
        Halls { places, living }
    }

    /// What is in the file.
    pub fn bytes(&self, kind: Kind) -> Vec<u8> {
        fs::read(file_in(&self.places[kind as usize])).unwrap()
    }

    /// Puts a hall there that has something else in its file, but the same people: all else is linked.
    pub fn lay(&self, kind: Kind, bytes: &[u8], place: &Path) {
        let (from, to) = (self.places[kind as usize].join(NAME), place.join(NAME));
        fs::create_dir_all(&to).unwrap();
        fs::write(to.join(FILE), bytes).unwrap();
        for name in fs::read_dir(from.as_path()).unwrap().map(|entry| entry.unwrap().file_name()) {
            if name != FILE {
                fs::hard_link(from.join(&name), to.join(&name)).unwrap();
            }
        }
    }
}

impl Drop for Halls {
    fn drop(&mut self) {
        self.living.iter().for_each(end);
    }
}

/// Opens the hall.
pub fn open(place: &Path) -> SharedHall {
    HallDir::at(place).open(NAME, SLOTS).unwrap()
}

/// What the file in a hall's folder is called.
const FILE: &str = "hall";

/// The hall's file.
pub fn file_in(place: &Path) -> PathBuf {
    place.join(NAME).join(FILE)
}

/// Asks, and stays until it is killed.
fn stay(place: &Path) -> i32 {
    let _pass = open(place).acquire_owned();
    loop {
        thread::park();
    }
}

/// Waits until so many hold or wait.
fn watch(place: &Path, count: usize) -> i32 {
    let hall = open(place);
    let end = Instant::now() + Duration::from_secs(60);
    let there = || SLOTS - hall.available() + hall.waiting();
    while there() < count {
        assert!(Instant::now() < end, "{} of {count} came", there());
        thread::sleep(Duration::from_millis(1));
    }
    0
}

fn end(pid: &Pid) {
    let _ = kill_process(*pid, Signal::KILL);
    process::wait(*pid);
}
