//! Sound halls, to be damaged.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use hallpass_shared::{Place, SharedHall};
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

/// The files of halls of each kind, and those who live in them.
pub struct Halls {
    files: [Vec<u8>; 3],
    file_name: OsString,
    living: Vec<Pid>,
}

impl Halls {
    pub fn new(folder: &Path) -> Halls {
        let mut living = Vec::new();
        let mut file_name = OsString::new();
        let files = Kind::ALL.map(|kind| {
            let place = folder.join(format!("{kind:?}"));
            let count = if let Kind::Nobody = kind { 0 } else { SLOTS + 2 };
            let pids: Vec<Pid> = (0..count).map(|_| process::fork(|| stay(&place))).collect();
            process::wait(process::fork(|| watch(&place, count)));
            let file = file_in(&place);
            file_name = file.file_name().expect("it has a name").to_owned();
            if let Kind::Dead = kind {
                pids.iter().for_each(end);
            } else {
                living.extend(pids);
            }
            fs::read(file).unwrap()
        });
        Halls { files, file_name, living }
    }

    pub fn bytes(&self, kind: Kind) -> &[u8] {
        &self.files[kind as usize]
    }

    /// What the file is called.
    pub fn file_name(&self) -> &OsStr {
        &self.file_name
    }
}

impl Drop for Halls {
    fn drop(&mut self) {
        self.living.iter().for_each(end);
    }
}

/// Opens the hall.
pub fn open(place: &Path) -> SharedHall {
    Place::at(place).open(NAME, SLOTS).unwrap()
}

/// The hall's file, whatever the library calls it.
pub fn file_in(place: &Path) -> PathBuf {
    let files: Vec<_> = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
    let is_it = |path: &&PathBuf| path.to_string_lossy().contains(NAME) && path.is_file();
    files.iter().find(is_it).unwrap_or_else(|| panic!("no hall among {files:?}")).clone()
}

/// Asks, and stays until it is killed.
fn stay(place: &Path) -> i32 {
    let _pass = open(place).acquire();
    loop {
        thread::park();
    }
}

/// Waits until so many hold or wait.
fn watch(place: &Path, count: usize) -> i32 {
    let hall = open(place);
    let end = Instant::now() + Duration::from_secs(10);
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
