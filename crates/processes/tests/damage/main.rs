//! Tests of damaged files. Whatever a file contains, processes must not crash, panic or hang.
//!
//! ```text
//! cargo test -p hallpass-processes --test damage                            # some seconds, always the same damage
//! HALLPASS_DAMAGE_SECONDS=600 HALLPASS_DAMAGE_SEED=7 \
//!     cargo test -p hallpass-processes --test damage                        # other damage, for longer
//! HALLPASS_DAMAGE_CASE=123 HALLPASS_DAMAGE_SEED=7 \
//!     cargo test -p hallpass-processes --test damage damaged_before_it_is_opened    # one case that failed
//! ```
//!
//! Each case runs in a separate process, which an alarm ends if it hangs. An operation may fail, but then it must
//! return an error.

mod cards;
mod exercise;
mod halls;
mod mutate;
mod users;

#[path = "../common/harness.rs"]
mod harness;
#[path = "../common/number.rs"]
mod number;
#[path = "../common/process.rs"]
mod process;

use std::{
    collections::VecDeque,
    fs::{self, File},
    os::unix::{fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use fastrand::Rng;
use rustix::{
    fs::{CWD, FileType, Mode, chmod, mknodat},
    process::{Pid, WaitStatus},
};

use exercise::{NAME, exercise};
use halls::{Halls, Kind, file_in};
use number::number;

const SEED: &str = "HALLPASS_DAMAGE_SEED";
const CASE: &str = "HALLPASS_DAMAGE_CASE";

fn main() {
    harness::run(&[
        ("impossible_counts", impossible_counts),
        ("cards_of_dead_processes_are_damaged", cards::cards_of_dead_processes_are_damaged),
        ("a_waiter_is_given_an_impossible_slot", cards::a_waiter_is_given_an_impossible_slot),
        ("damaged_before_it_is_opened", damaged_before_it_is_opened),
        ("other_things_in_place_of_the_hall", other_things_in_place_of_the_hall),
        ("damaged_while_in_use", damaged_while_in_use),
        ("truncated_while_in_use", truncated_while_in_use),
    ]);
}

/// Returns the random numbers of a case.
fn random(case: u64) -> Rng {
    Rng::with_seed(seed() << 32 | case)
}

fn seed() -> u64 {
    number(SEED).unwrap_or(1)
}

/// Returns this percentage of the time of the test.
fn share(percent: u64) -> Duration {
    Duration::from_millis(10 * percent * number("HALLPASS_DAMAGE_SECONDS").unwrap_or(4))
}

/// Fails unless the process ended normally.
fn check(status: WaitStatus, what: &str) {
    if let Some(how) = wrong(status) {
        panic!("{what}: {how}; repeat with {SEED}={}", seed());
    }
}

/// Returns how the process ended, or `None` if it ended normally.
fn wrong(status: WaitStatus) -> Option<String> {
    Some(match (status.exit_status(), status.terminating_signal()) {
        (Some(0), _) => return None,
        (Some(process::PANICKED), _) => "it panicked".into(),
        (_, Some(libc::SIGALRM)) => "it hung".into(),
        (_, Some(signal)) => format!("signal {signal}"),
        (code, _) => format!("exit status {code:?}"),
    })
}

/// Trials with damaged halls. Several run at the same time, because they mostly sleep.
struct Trials<'a> {
    folder: &'a Path,
    halls: Halls,
    running: VecDeque<(Pid, PathBuf, String)>,
    begun: usize,
    /// The failures.
    wrong: Vec<String>,
}

impl<'a> Trials<'a> {
    const AT_ONCE: usize = 8;

    fn new(folder: &'a Path) -> Self {
        let halls = Halls::new(folder);
        Trials { folder, halls, running: VecDeque::new(), begun: 0, wrong: Vec::new() }
    }

    /// Starts a process that opens and uses a hall with these bytes.
    fn begin(&mut self, kind: Kind, bytes: &[u8], what: String) {
        let dir = self.folder.join(format!("case-{}", self.begun));
        self.halls.create_damaged(kind, bytes, &dir);
        self.begun += 1;
        self.running.push_back((process::fork(|| exercise(&dir)), dir, what));
        self.wait(Self::AT_ONCE);
    }

    /// Waits until at most `left` trials run.
    fn wait(&mut self, left: usize) {
        while self.running.len() > left {
            let Some((pid, dir, what)) = self.running.pop_front() else { return };
            self.wrong.extend(wrong(process::wait(pid)).map(|how| format!("{what}: {how}")));
            fs::remove_dir_all(dir).unwrap();
        }
    }

    /// Waits for all trials, and fails unless all of them ended normally.
    fn end(mut self) {
        self.wait(0);
        println!("{} damaged files", self.begun);
        let wrong = self.wrong.join("\n");
        assert!(wrong.is_empty(), "repeat with {SEED}={}\n{wrong}", seed());
    }
}

/// Changes bytes of the file, or truncates or extends it, before a process opens it.
fn damaged_before_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let mut trials = Trials::new(folder.path());
    let end = Instant::now() + share(40);
    let single = number(CASE);
    let mut case = single.unwrap_or(0);
    while single.map_or(Instant::now() < end, |single| case == single) {
        let mut random = random(case);
        let kind = Kind::ALL[random.usize(0..Kind::ALL.len())];
        let mut bytes = trials.halls.bytes(kind);
        let what = mutate::several(&mut bytes, &mut random);
        trials.begin(kind, &bytes, format!("{CASE}={case}, a hall with {kind:?}, {what}"));
        case += 1;
    }
    trials.end();
}

/// Replaces words of the header, one at a time, with numbers at the limits of arithmetic and of tables.
fn impossible_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut trials = Trials::new(folder.path());
    let sound = trials.halls.bytes(Kind::Living);
    for (at, value) in mutate::edges_of_header(&sound) {
        let mut bytes = sound.clone();
        mutate::set(&mut bytes, at, value);
        trials.begin(Kind::Living, &bytes, format!("word {at:#x} = {value:#x}"));
    }
    trials.end();
}

/// Puts other files where the hall should be.
fn other_things_in_place_of_the_hall() {
    type Thing = (&'static str, fn(&Path));
    let things: [Thing; 14] = [
        ("nothing", |_| {}),
        ("an empty file", |path| fs::write(path, []).unwrap()),
        ("text", |path| fs::write(path, "no hall at all\n".repeat(500)).unwrap()),
        ("a program", |path| assert!(fs::copy("/proc/self/exe", path).unwrap() > 0)),
        ("a page of zeros", |path| fs::write(path, [0; 4096]).unwrap()),
        ("many zeros", |path| File::create(path).unwrap().set_len(1 << 40).unwrap()),
        ("a directory", |path| fs::create_dir(path).unwrap()),
        ("a symlink to nowhere", |path| symlink("nowhere", path).unwrap()),
        ("a symlink to itself", |path| symlink(path, path).unwrap()),
        ("a symlink to a device", |path| symlink("/dev/zero", path).unwrap()),
        ("a symlink to another file", |path| {
            fs::write(path.with_extension("other"), "mine").unwrap();
            symlink(path.with_extension("other"), path).unwrap();
        }),
        ("a FIFO", |path| {
            mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        }),
        ("a socket", |path| drop(UnixListener::bind(path).unwrap())),
        ("a file without permissions", |path| {
            fs::write(path, []).unwrap();
            chmod(path, Mode::empty()).unwrap();
        }),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (index, (what, put)) in things.iter().enumerate() {
        // Put the thing in place of the hall's directory, and then in place of the file in this directory.
        for file in [false, true] {
            let dir = folder.path().join(format!("dir-{index}-{file}"));
            let path = if file { file_in(&dir) } else { dir.join(NAME) };
            fs::create_dir_all(path.parent().expect("it has a parent")).unwrap();
            put(&path);
            check(process::wait(process::fork(|| exercise(&dir))), what);
            if let Ok(text) = fs::read(path.with_extension("other")) {
                assert_eq!(text, b"mine", "{what}: the other file was written to");
            }
        }
    }
    // Also put a file in place of the directory that contains the halls.
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for dir in [&file, Path::new("/proc/self/mem"), Path::new("/proc/no/such/dir")] {
        let what = format!("{} as a directory of halls", dir.display());
        check(process::wait(process::fork(|| exercise(dir))), &what);
    }
}

/// Changes words of the file while processes use the hall.
fn damaged_while_in_use() {
    let end = Instant::now() + share(30);
    let mut round = 0;
    while Instant::now() < end {
        users::disturbed(&mut random(round), mutate::live, None);
        round += 1;
    }
    println!("{round} halls damaged while in use");
}

/// Truncates the file while processes use the hall. A bus error may end them, as with every mapped file. They must not
/// crash, panic or hang in any other way.
fn truncated_while_in_use() {
    let end = Instant::now() + share(15);
    let (mut round, mut ended) = (0, 0);
    while Instant::now() < end {
        ended += users::disturbed(&mut random(round), mutate::truncate, Some(libc::SIGBUS));
        round += 1;
    }
    println!("{round} halls truncated while in use: {ended} users ended by a bus error");
}
