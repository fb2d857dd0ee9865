//! Tests of shared values.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::{FileExt, MetadataExt, symlink},
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use hallpass_processes::{Error, HallDir, Pod, SharedCell};
use tempfile::TempDir;

const NAME: &str = "cell";

fn dir() -> (TempDir, HallDir) {
    let folder = tempfile::tempdir().unwrap();
    let dir = HallDir::at(folder.path());
    (folder, dir)
}

fn file_in(dir: &HallDir) -> PathBuf {
    dir.path().join(NAME).join("value")
}

/// Writes a word of the value file. These tests use its layout.
fn set(path: &Path, at: u64, word: u64) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&word.to_ne_bytes(), at).unwrap();
}

/// Opens the cell, which must fail, and returns the error with its text.
fn refused<T: Pod + Send>(dir: &HallDir, initial: T) -> (Error, String) {
    let error = dir.open_cell(NAME, initial).unwrap_err();
    let text = error.to_string();
    (error, text)
}

#[test]
fn a_value_outlives_the_handles_of_its_cell() {
    let (_folder, dir) = dir();
    let cell = dir.open_cell(NAME, 5_u64).unwrap();
    assert_eq!(cell.update(|value| std::mem::replace(value, 6)).unwrap(), 5);
    let other: SharedCell<u64> = dir.open_cell(NAME, 7).unwrap();
    assert_eq!(other.read().unwrap(), 6);
    drop((cell, other));
    assert_eq!(dir.open_existing_cell::<u64>(NAME).unwrap().read().unwrap(), 6);
    assert!(matches!(dir.open_existing_cell::<u64>("other"), Err(Error::Missing { .. })));
    assert!(matches!(dir.open_cell("a/b", 0_u64), Err(Error::BadName { .. })));
}

#[test]
fn a_cell_holds_values_of_any_size() {
    fn try_with<const N: usize>(dir: &HallDir) {
        let name = format!("{N}-bytes");
        let cell = dir.open_cell(&name, [1_u8; N]).unwrap();
        for round in 0..3 {
            assert_eq!(cell.read().unwrap(), [1 + round; N]);
            cell.update(|bytes| bytes.iter_mut().for_each(|byte| *byte += 1)).unwrap();
        }
    }
    let (_folder, dir) = dir();
    try_with::<0>(&dir);
    try_with::<1>(&dir);
    try_with::<8>(&dir);
    try_with::<13>(&dir);
    try_with::<64>(&dir);
    try_with::<65>(&dir);
    try_with::<10_001>(&dir);
    dir.open_cell(NAME, 1_u128 << 100).unwrap().update(|value| *value += 1).unwrap();
    assert_eq!(dir.open_cell(NAME, 0_u128).unwrap().read().unwrap(), (1 << 100) + 1);
}

#[test]
fn updates_of_several_threads_are_not_lost() {
    let (_folder, dir) = dir();
    let cell = dir.open_cell(NAME, [0_u64; 2]).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            let cell = cell.clone();
            scope.spawn(move || {
                for _ in 0..1000 {
                    cell.update(|[one, other]| (*one += 1, *other += 1)).unwrap();
                    let [one, other] = cell.read().unwrap();
                    assert_eq!(one, other);
                }
            });
        }
    });
    assert_eq!(cell.read().unwrap(), [4000; 2]);
}

#[test]
fn a_closure_that_panics_does_not_change_the_value() {
    let (_folder, dir) = dir();
    let cell = dir.open_cell(NAME, [1_u64; 2]).unwrap();
    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        cell.update(|numbers| {
            numbers[0] = 2;
            panic::resume_unwind(Box::new("on purpose"))
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(cell.read().unwrap(), [1; 2]);
    cell.try_update(|numbers| numbers[1] = 3).unwrap();
    assert_eq!(cell.read().unwrap(), [1, 3]);
}

#[test]
fn updates_wait_for_the_holder_and_reads_do_not() {
    let (_folder, dir) = dir();
    let cell = dir.open_cell(NAME, 1_u64).unwrap();
    let pass = cell.hall().acquire().unwrap();
    let busy = |answer: Result<(), Error>| assert!(matches!(answer, Err(Error::NoPermits)));
    let short = Duration::from_millis(20);
    busy(cell.try_update(|value| *value = 2));
    busy(cell.try_update_for(short, |value| *value = 2));
    busy(cell.try_update_until(Instant::now() + short, |value| *value = 2));
    assert_eq!(cell.read().unwrap(), 1, "reading does not wait");
    drop(pass);
    cell.try_update_for(short, |value| *value = 2).unwrap();
    assert_eq!(cell.read().unwrap(), 2);
}

#[test]
fn a_cell_of_another_type_is_refused() {
    let (_folder, dir) = dir();
    dir.open_cell(NAME, [1_u32; 4]).unwrap();
    let (error, text) = refused(&dir, [1_u64; 3]);
    assert!(matches!(error, Error::Value { .. }));
    assert!(text.contains("16 bytes aligned to 4, but 24 bytes aligned to 8"), "{text}");
    assert!(matches!(refused(&dir, [1_u64; 2]).0, Error::Value { .. }));
    assert_eq!(dir.open_cell(NAME, [2_i32; 4]).unwrap().read().unwrap(), [1; 4]);
}

#[test]
fn a_cell_of_another_version_is_refused() {
    let (_folder, dir) = dir();
    dir.open_cell(NAME, 1_u64).unwrap();
    set(&file_in(&dir), 8, 77);
    assert!(matches!(refused(&dir, 1_u64).0, Error::Version { found: 77, .. }));
}

#[test]
fn anything_else_in_place_of_the_value_file_is_refused() {
    type Thing = (&'static str, fn(&Path));
    let things: [Thing; 8] = [
        ("an empty file", |path| fs::write(path, []).unwrap()),
        ("text", |path| fs::write(path, "no value at all\n".repeat(500)).unwrap()),
        ("a cut file", |path| {
            OpenOptions::new().write(true).open(path).unwrap().set_len(200).unwrap()
        }),
        ("a longer file", |path| {
            OpenOptions::new().write(true).open(path).unwrap().set_len(10_000).unwrap();
        }),
        ("an impossible size", |path| set(path, 16, u64::MAX)),
        ("an impossible alignment", |path| set(path, 24, 3)),
        ("a directory", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
        ("a symlink", |path| {
            fs::rename(path, path.with_extension("old")).unwrap();
            symlink(path.with_extension("old"), path).unwrap();
        }),
    ];
    for (what, put) in things {
        let (_folder, dir) = dir();
        dir.open_cell(NAME, 1_u64).unwrap();
        put(&file_in(&dir));
        let (error, text) = refused(&dir, 1_u64);
        assert!(matches!(error, Error::Damaged { .. } | Error::System { .. }), "{what}: {error:?}");
        assert!(text.contains("value"), "{what}: {text}");
        dir.remove(NAME, true).unwrap();
        assert_eq!(dir.open_cell(NAME, 1_u64).unwrap().read().unwrap(), 1);
    }
}

#[test]
fn an_impossible_count_does_no_harm() {
    let (_folder, dir) = dir();
    let cell = dir.open_cell(NAME, [0_u64; 3]).unwrap();
    for count in [2, 2_u64.pow(40), i64::MAX as u64 - 1, i64::MAX as u64, u64::MAX - 1, u64::MAX] {
        set(&file_in(&dir), 64, count);
        cell.update(|numbers| numbers.fill(count)).unwrap();
        assert_eq!(cell.read().unwrap(), [count; 3]);
        cell.update(|numbers| numbers[0] = 1).unwrap();
        assert_eq!(cell.read().unwrap(), [1, count, count]);
    }
}

#[test]
fn a_cell_is_a_hall_but_a_hall_is_not_a_cell() {
    let (_folder, dir) = dir();
    let cell = dir.open_cell(NAME, 1_u64).unwrap();
    assert_eq!(dir.names().unwrap(), [NAME]);
    let hall = dir.open(NAME, 1).unwrap();
    assert_eq!(hall.slots(), 1);
    let mode = |name: &str| fs::metadata(cell.hall().path().join(name)).unwrap().mode();
    assert_eq!(mode("value"), mode("hall"));
    dir.remove(NAME, false).unwrap();
    assert!(dir.names().unwrap().is_empty() && !file_in(&dir).exists());
    assert!(matches!(cell.read(), Err(Error::Closed)));
    assert!(matches!(cell.update(|value| *value = 2), Err(Error::Closed)));

    dir.open(NAME, 1).unwrap();
    let (error, text) = refused(&dir, 1_u64);
    assert!(matches!(error, Error::NoValue { .. }) && text.contains(NAME), "{text}");
}

#[test]
fn only_one_process_at_a_time_changes_the_value_of_a_resized_hall() {
    let (_folder, dir) = dir();
    let cell = dir.open_cell(NAME, 1_u64).unwrap();
    cell.hall().resize(2).unwrap();
    cell.update(|value| *value = 2).unwrap();
    let pass = cell.hall().acquire().unwrap();
    assert_eq!(pass.slot(), 0);
    let refused = cell.update(|value| *value = 3);
    assert!(matches!(refused, Err(Error::Slots { asked: 1, found: 2, .. })));
    drop(pass);
    assert_eq!(cell.read().unwrap(), 2);
}
