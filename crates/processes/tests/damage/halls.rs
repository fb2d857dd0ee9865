//! Sound halls. The tests damage copies of them.

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

/// The processes of a hall.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// No processes.
    Nobody,
    /// Live holders and waiters.
    Living,
    /// Killed holders and waiters.
    Dead,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Nobody, Kind::Living, Kind::Dead];
}

/// A hall of each kind, with its processes.
pub struct Halls {
    dirs: [PathBuf; 3],
    living: Vec<Pid>,
}

impl Halls {
    pub fn new(folder: &Path) -> Halls {
        let mut living = Vec::new();
        let dirs = Kind::ALL.map(|kind| {
            let dir = folder.join(format!("{kind:?}"));
            let count = if let Kind::Nobody = kind { 0 } else { SLOTS + 2 };
            let pids: Vec<Pid> = (0..count).map(|_| process::fork(|| stay(&dir))).collect();
            process::wait(process::fork(|| watch(&dir, count)));
            if let Kind::Dead = kind {
                pids.iter().for_each(end);
            } else {
                living.extend(pids);
            }
            dir
        });
        Halls { dirs, living }
    }

    /// Returns the content of the file.
    pub fn bytes(&self, kind: Kind) -> Vec<u8> {
        fs::read(file_in(&self.dirs[kind as usize])).unwrap()
    }

    /// Creates a hall with these bytes in its file and with the same processes. The pipes are hard links.
    pub fn create_damaged(&self, kind: Kind, bytes: &[u8], dir: &Path) {
        let (from, to) = (self.dirs[kind as usize].join(NAME), dir.join(NAME));
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

/// Opens the hall in `dir`, or creates it.
pub fn open(dir: &Path) -> SharedHall {
    HallDir::at(dir).open(NAME, SLOTS).unwrap()
}

/// The name of the file in a hall's directory.
const FILE: &str = "hall";

/// Returns the path of the hall's file.
pub fn file_in(dir: &Path) -> PathBuf {
    dir.join(NAME).join(FILE)
}

/// Acquires a slot, and keeps it until the process is killed.
fn stay(dir: &Path) -> i32 {
    let _pass = open(dir).acquire_owned();
    loop {
        thread::park();
    }
}

/// Waits until there are `count` holders and waiters.
fn watch(dir: &Path, count: usize) -> i32 {
    let hall = open(dir);
    let end = Instant::now() + Duration::from_secs(60);
    let there = || SLOTS - hall.available() + hall.waiting();
    while there() < count {
        assert!(Instant::now() < end, "{} of {count} arrived", there());
        thread::sleep(Duration::from_millis(1));
    }
    0
}

fn end(pid: &Pid) {
    let _ = kill_process(*pid, Signal::KILL);
    process::wait(*pid);
}
