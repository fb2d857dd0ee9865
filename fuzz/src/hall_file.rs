//! The fuzz target `hall_file`: opens a hall whose mapped file was changed.

use std::{
    cell::RefCell,
    fs::{self, File},
    os::unix::fs::FileExt,
    path::Path,
    time::Duration,
};

use hallpass_processes::HallDir;
use tempfile::TempDir;

/// A hall, and the bytes of its file while a slot was held.
struct Hall {
    folder: TempDir,
    file: File,
    bytes: Vec<u8>,
}

const NAME: &str = "hall";

thread_local!(static HALL: RefCell<Option<Hall>> = const { RefCell::new(None) });

impl Hall {
    fn new() -> Self {
        // Files in memory are faster.
        let memory = Path::new("/dev/shm");
        let folder = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir());
        let folder = folder.expect("a folder can be created");
        let hall = HallDir::at(folder.path()).open(NAME, 3).expect("a hall can be created");
        let path = folder.path().join(NAME).join("hall");
        let pass = hall.try_acquire().expect("a slot is free");
        let bytes = fs::read(&path).expect("the file of the hall can be read");
        drop(pass);
        let file = File::options().write(true).open(&path).expect("the file can be written");
        Hall { folder, file, bytes }
    }

    /// Writes the file with the changes that `data` describes.
    fn damage(&self, data: &[u8]) {
        let mut bytes = self.bytes.clone();
        for change in data.as_chunks::<CHANGE>().0 {
            apply(&mut bytes, change);
        }
        // If one byte of `data` is left after the changes, make the file one byte shorter.
        if data.len() % CHANGE == 1 {
            bytes.pop();
        }
        self.file.set_len(bytes.len() as u64).expect("the file can be made shorter");
        self.file.write_all_at(&bytes, 0).expect("the file can be written");
    }
}

/// The number of bytes that describe one change: a region, an offset in the region, and a word.
const CHANGE: usize = 12;

/// Replaces one word. Half of the changes are in the first words, which contain the header and the first records.
fn apply(bytes: &mut [u8], change: &[u8; CHANGE]) {
    let [region, a, b, c, word @ ..] = change;
    let words = bytes.len() / size_of::<i64>();
    let offset = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
    let index = match region % 4 {
        0 => offset % 64.min(words),
        1 => offset % 1024.min(words),
        _ => offset % words,
    };
    bytes[index * size_of::<i64>()..][..size_of::<i64>()].copy_from_slice(word);
}

/// Changes the file of a hall as `data` describes, opens the hall, and calls its methods.
///
/// # Panics
/// Panics if no hall can be created for the test.
pub fn hall_file(data: &[u8]) {
    HALL.with_borrow_mut(|hall| {
        let hall = hall.get_or_insert_with(Hall::new);
        hall.damage(data);
        let dir = HallDir::at(hall.folder.path());
        let _ = dir.open_existing_cell::<u64>(NAME);
        let Ok(damaged) = dir.open_existing(NAME) else { return };
        let _ = (damaged.slots(), damaged.available(), damaged.waiting(), damaged.status());
        let _ = damaged.try_acquire();
        let _ = damaged.try_acquire_for(Duration::from_micros(1));
        let _ = damaged.resize(2);
        let _ = damaged.reap();
        let first = damaged.try_acquire();
        let second = damaged.try_acquire();
        drop((first, second));
    });
}
