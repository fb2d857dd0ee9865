//! The file is never trusted: whatever is in it, nobody crashes, panics or waits for ever.
//!
//! ```text
//! cargo test -p hallpass-shared --test damage                            # some seconds, always the same
//! HALLPASS_DAMAGE_SECONDS=600 HALLPASS_DAMAGE_SEED=7 \
//!     cargo test -p hallpass-shared --test damage                        # other ones, for longer
//! HALLPASS_DAMAGE_CASE=123 HALLPASS_DAMAGE_SEED=7 \
//!     cargo test -p hallpass-shared --test damage before_it_is_opened    # one that failed
//! ```
//!
//! Everything is tried in a process of its own, which an alarm ends if it hangs. It need not work,
//! but then it has to say so with an error.

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
    fs::{self, File},
    os::unix::{fs::symlink, net::UnixListener},
    path::Path,
    time::{Duration, Instant},
};

use fastrand::Rng;
use rustix::{
    fs::{CWD, FileType, Mode, chmod, mknodat},
    process::WaitStatus,
};

use exercise::{NAME, exercise};
use halls::{Halls, Kind, file_in};
use number::number;

const SEED: &str = "HALLPASS_DAMAGE_SEED";
const CASE: &str = "HALLPASS_DAMAGE_CASE";

fn main() {
    harness::run(&[
        ("before_it_is_opened", before_it_is_opened),
        ("other_things_in_its_place", other_things_in_its_place),
        ("while_it_is_used", while_it_is_used),
        ("cut_while_it_is_used", cut_while_it_is_used),
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
    let how = match (status.exit_status(), status.terminating_signal()) {
        (Some(0), _) => return,
        (Some(process::PANICKED), _) => "it panicked".into(),
        (_, Some(libc::SIGALRM)) => "it hung".into(),
        (_, Some(signal)) => format!("signal {signal}"),
        (code, _) => format!("exit status {code:?}"),
    };
    panic!("{what}: {how}; repeat with {SEED}={}", seed());
}

/// Any bytes changed, or the file cut or made longer; then somebody opens it.
fn before_it_is_opened() {
    const AT_ONCE: usize = 8; // They mostly sleep.
    let folder = tempfile::tempdir().unwrap();
    let halls = Halls::new(folder.path());
    let end = Instant::now() + share(50);
    let single = number(CASE);
    let mut case = single.unwrap_or(0);
    let mut running = Vec::new();
    loop {
        let mut random = random(case);
        let kind = Kind::ALL[random.usize(0..Kind::ALL.len())];
        let mut bytes = halls.bytes(kind);
        let what = mutate::several(&mut bytes, &mut random);
        let what = format!("{CASE}={case}, a hall with {kind:?}, {what}");
        let place = folder.path().join(format!("case-{case}"));
        halls.lay(kind, &bytes, &place);
        running.push((process::fork(|| exercise(&place)), place, what));
        let over = single.is_some() || Instant::now() > end;
        while running.len() > if over { 0 } else { AT_ONCE } {
            let (pid, place, what) = running.remove(0);
            check(process::wait(pid), &what);
            fs::remove_dir_all(place).unwrap();
        }
        case += 1;
        if over {
            return println!("{case} damaged files");
        }
    }
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
fn while_it_is_used() {
    let end = Instant::now() + share(35);
    let mut round = 0;
    while Instant::now() < end {
        users::disturbed(&mut random(round), mutate::live);
        round += 1;
    }
    println!("{round} halls damaged while they were used");
}

/// The file is cut under those who use it.
fn cut_while_it_is_used() {
    let end = Instant::now() + share(15);
    let mut round = 0;
    while Instant::now() < end {
        users::disturbed(&mut random(round), mutate::cut);
        round += 1;
    }
    println!("{round} halls cut while they were used");
}
