//! The file is never trusted: whatever is in it, nobody crashes, panics or waits for ever.
//!
//! ```text
//! cargo test -p hallpass-processes --test damage                            # some seconds, always the same
//! HALLPASS_DAMAGE_SECONDS=600 HALLPASS_DAMAGE_SEED=7 \
//!     cargo test -p hallpass-processes --test damage                        # other ones, for longer
//! HALLPASS_DAMAGE_CASE=123 HALLPASS_DAMAGE_SEED=7 \
//!     cargo test -p hallpass-processes --test damage before_it_is_opened    # one that failed
//! ```
//!
//! Everything is tried in a process of its own, which an alarm ends if it hangs. It need not work,
//! but then it has to say so with an error.

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
        ("absurd_counts", absurd_counts),
        ("a_dead_ones_card_makes_no_sense", cards::a_dead_ones_card_makes_no_sense),
        ("one_is_given_a_slot_that_cannot_be", cards::one_is_given_a_slot_that_cannot_be),
        ("before_it_is_opened", before_it_is_opened),
        ("other_things_in_its_place", other_things_in_its_place),
        ("changed_under_its_users", changed_under_its_users),
        ("cut_under_its_users", cut_under_its_users),
    ]);
}

/// Randomness for one of many cases.
fn random(case: u64) -> Rng {
    Rng::with_seed(seed() << 32 | case)
}

fn seed() -> u64 {
    number(SEED).unwrap_or(1)
}

/// A part of the time that is there.
fn share(percent: u64) -> Duration {
    Duration::from_millis(10 * percent * number("HALLPASS_DAMAGE_SECONDS").unwrap_or(8))
}

/// Nothing but an orderly end will do.
fn check(status: WaitStatus, what: &str) {
    if let Some(how) = wrong(status) {
        panic!("{what}: {how}; repeat with {SEED}={}", seed());
    }
}

/// How it ended, if not in an orderly way.
fn wrong(status: WaitStatus) -> Option<String> {
    Some(match (status.exit_status(), status.terminating_signal()) {
        (Some(0), _) => return None,
        (Some(process::PANICKED), _) => "it panicked".into(),
        (_, Some(libc::SIGALRM)) => "it hung".into(),
        (_, Some(signal)) => format!("signal {signal}"),
        (code, _) => format!("exit status {code:?}"),
    })
}

/// Tries damaged halls, some at a time: they mostly sleep.
struct Trials<'a> {
    folder: &'a Path,
    halls: Halls,
    running: VecDeque<(Pid, PathBuf, String)>,
    begun: usize,
    /// What went wrong.
    wrong: Vec<String>,
}

impl<'a> Trials<'a> {
    const AT_ONCE: usize = 8;

    fn new(folder: &'a Path) -> Self {
        let halls = Halls::new(folder);
        Trials { folder, halls, running: VecDeque::new(), begun: 0, wrong: Vec::new() }
    }

    /// Somebody opens a hall with these bytes, and uses it.
    fn begin(&mut self, kind: Kind, bytes: &[u8], what: String) {
        let place = self.folder.join(format!("case-{}", self.begun));
        self.halls.lay(kind, bytes, &place);
        self.begun += 1;
        self.running.push_back((process::fork(|| exercise(&place)), place, what));
        self.wait(Self::AT_ONCE);
    }

    /// Waits until no more than so many run.
    fn wait(&mut self, left: usize) {
        while self.running.len() > left {
            let Some((pid, place, what)) = self.running.pop_front() else { return };
            self.wrong.extend(wrong(process::wait(pid)).map(|how| format!("{what}: {how}")));
            fs::remove_dir_all(place).unwrap();
        }
    }

    /// All must have ended in an orderly way.
    fn end(mut self) {
        self.wait(0);
        println!("{} damaged files", self.begun);
        let wrong = self.wrong.join("\n");
        assert!(wrong.is_empty(), "repeat with {SEED}={}\n{wrong}", seed());
    }
}

/// Any bytes changed, or the file cut or made longer; then somebody opens it.
fn before_it_is_opened() {
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

/// Counts that cannot be, one at a time.
fn absurd_counts() {
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

/// Something that is not a file, or not a hall.
fn other_things_in_its_place() {
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
        ("a symlink to somebody's file", |path| {
            fs::write(path.with_extension("other"), "mine").unwrap();
            symlink(path.with_extension("other"), path).unwrap();
        }),
        ("a FIFO", |path| {
            mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        }),
        ("a socket", |path| drop(UnixListener::bind(path).unwrap())),
        ("nothing one may read", |path| {
            fs::write(path, []).unwrap();
            chmod(path, Mode::empty()).unwrap();
        }),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (index, (what, put)) in things.iter().enumerate() {
        // In place of the hall's folder, and in place of the file in it.
        for file in [false, true] {
            let place = folder.path().join(format!("place-{index}-{file}"));
            let path = if file { file_in(&place) } else { place.join(NAME) };
            fs::create_dir_all(path.parent().expect("it is in the place")).unwrap();
            put(&path);
            check(process::wait(process::fork(|| exercise(&place))), what);
            if let Ok(text) = fs::read(path.with_extension("other")) {
                assert_eq!(text, b"mine", "{what}: it was written to");
            }
        }
    }
    // The place itself.
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for place in [&file, Path::new("/proc/self/mem"), Path::new("/proc/no/such/place")] {
        let what = format!("{} as a place", place.display());
        check(process::wait(process::fork(|| exercise(place))), &what);
    }
}

/// Words change under those who use it.
fn changed_under_its_users() {
    let end = Instant::now() + share(30);
    let mut round = 0;
    while Instant::now() < end {
        users::disturbed(&mut random(round), mutate::live, None);
        round += 1;
    }
    println!("{round} halls damaged while they were used");
}

/// The file is cut under those who use it, which may end them by a bus error, as it does with every
/// mapped file; but nothing else may happen.
fn cut_under_its_users() {
    let end = Instant::now() + share(15);
    let (mut round, mut ended) = (0, 0);
    while Instant::now() < end {
        ended += users::disturbed(&mut random(round), mutate::cut, Some(libc::SIGBUS));
        round += 1;
    }
    println!("{round} halls cut while they were used: {ended} users ended by a bus error");
}
