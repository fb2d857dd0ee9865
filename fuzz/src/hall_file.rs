//! The mapped file of a hall, with bytes that no hall would write.

use std::{
    cell::RefCell,
    fs::{self, File},
    os::unix::fs::FileExt,
    path::Path,
    time::Duration,
};

use hallpass_processes::HallDir;
use tempfile::TempDir;

/// A hall in which another handle holds a slot, and a copy of its file at that moment.
struct Hall {
    folder: TempDir,
    file: File,
    bytes: Vec<u8>,
}

const NAME: &str = "hall";

thread_local!(static HALL: RefCell<Option<Hall>> = const { RefCell::new(None) });

impl Hall {
    fn new() -> Self {
        // In memory if possible, for speed.
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
        // One byte is missing if one byte is left of the changes.
        if data.len() % CHANGE == 1 {
            bytes.pop();
        }
        self.file.set_len(bytes.len() as u64).expect("the file can be made shorter");
        self.file.write_all_at(&bytes, 0).expect("the file can be written");
    }
}

/// The bytes of one change: a region, an offset in it, a word.
const CHANGE: usize = 12;

/// Replaces one word. Half of the changes are in the first words, where the header and the first records are.
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

/// Opens a hall whose file was changed, and does with it what a process does.
///
/// # Panics
/// If the hall for it cannot be created.
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
