//! The fuzz target `hall_file`: opens a hall whose mapped file was changed, and uses it.
//!
//! The changes follow the layout of the file, because random changes would mostly hit unused records. From offset 4096
//! on, each registration (of a process that holds a slot, waits or has done so) has a record of 256 bytes. A record
//! begins with the *card*, the word with the phase of its process, such as waiting. Slots are at the end of the file,
//! 64 bytes each.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    ffi::OsString,
    fs::{self, File, Permissions},
    os::{fd::OwnedFd, unix::fs::FileExt},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use hallpass_processes::{Cancel, Error, HallDir, MAX_SLOTS, SharedHall, SharedPass, SharedPasses};
use rustix::fs::{CWD, FallocateFlags, FileType, Mode, OFlags, fallocate, mknodat, open};
use tempfile::TempDir;

const NAME: &str = "hall";
const SLOTS: usize = 3;
const WAITERS: usize = 2;

/// The processes in the records of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owners {
    None,
    Dead,
    Alive,
}

/// A sound hall, which is changed and then restored.
struct Hall {
    dir: HallDir,
    folder: PathBuf,
    /// The permissions of the directory and of the file.
    permissions: [Permissions; 2],
    file: File,
    len: u64,
    /// The pages of the file that are not zero, with their offsets.
    pages: Vec<(u64, Vec<u8>)>,
    owners: Owners,
    /// The named pipes of the owners, by file name. If the owners are alive, the pipes have readers.
    lifelines: BTreeMap<OsString, Option<OwnedFd>>,
    temp: TempDir,
}

const PAGE: usize = 4096;

impl Hall {
    fn new(owners: Owners) -> Self {
        let temp = temporary_folder();
        let dir = HallDir::at(temp.path());
        let hall = dir.open(NAME, SLOTS).expect("a hall can be created");
        let folder = temp.path().join(NAME);
        let path = folder.join("hall");
        let read = || (fs::read(&path).expect("the file can be read"), lifelines_in(&folder));
        let (bytes, names) = if owners == Owners::None { read() } else { crowded(&hall, read) };
        drop(hall);
        let permissions = [&folder, &path]
            .map(|path| fs::metadata(path).expect("the permissions can be read").permissions());
        let file = File::options().read(true).write(true).open(&path).expect("the file opens");
        let pages = bytes.chunks(PAGE).enumerate().filter(|(_, page)| page.iter().any(|&b| b != 0));
        let pages = pages.map(|(index, page)| ((index * PAGE) as u64, page.to_vec())).collect();
        let lifelines = names.into_iter().map(|name| (name, None)).collect();
        let len = bytes.len() as u64;
        Hall { dir, folder, permissions, file, len, pages, owners, lifelines, temp }
    }

    /// Creates the directory and the file again after a removal. This is much faster than a new hall with a queue.
    fn create_again(&mut self) {
        for left in fs::read_dir(self.temp.path()).expect("the folder can be read").flatten() {
            let _ = fs::remove_dir_all(left.path());
        }
        let [of_folder, of_file] = self.permissions.clone();
        fs::create_dir(&self.folder).expect("a folder can be created");
        fs::set_permissions(&self.folder, of_folder).expect("permissions can be set");
        let path = self.folder.join("hall");
        let new = File::options().read(true).write(true).create_new(true).open(path);
        self.file = new.expect("a file can be created");
        self.file.set_permissions(of_file).expect("permissions can be set");
    }

    /// Restores the file and the lifelines.
    fn restore(&mut self) {
        if !self.folder.join("hall").exists() {
            self.create_again();
        }
        self.file.set_len(self.len).expect("the length can be set");
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&self.file, punch, 0, self.len).expect("the file can be cleared");
        for (offset, page) in &self.pages {
            self.file.write_all_at(page, *offset).expect("the file can be written");
        }
        let there = lifelines_in(&self.folder);
        for name in there.iter().filter(|name| !self.lifelines.contains_key(*name)) {
            let _ = fs::remove_file(self.folder.join(name));
        }
        for (name, reader) in &mut self.lifelines {
            let path = self.folder.join(name);
            if !there.contains(name) {
                *reader = None;
                let mode = Mode::from_raw_mode(0o666);
                mknodat(CWD, &path, FileType::Fifo, mode, 0).expect("a pipe can be created");
            }
            if self.owners == Owners::Alive && reader.is_none() {
                let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
                *reader = Some(open(&path, flags, Mode::empty()).expect("a pipe can be opened"));
            }
        }
    }

    fn word(&self, at: u64) -> u64 {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, at).expect("the file can be read");
        u64::from_le_bytes(bytes)
    }

    /// Returns the offset of a word: in the header, in a record, in a slot, or anywhere.
    fn place(&self, place: u8, index: u8) -> u64 {
        let index = u64::from(index);
        match place % 4 {
            0 => index % 32 * 8,
            1 => 4096 + index / 16 * 256 + index % 16 * 8,
            2 => self.len - MAX_SLOTS as u64 * 64 + index % 64 * 64,
            _ => self.len / 256 * index / 8 * 8,
        }
    }

    /// Changes one word.
    fn change(&self, change: &[u8; CHANGE]) {
        let [place, index, operation, operand @ ..] = change;
        let at = self.place(*place, *index);
        let operand_word = u64::from_le_bytes(*operand);
        let new = match operation % 5 {
            0 => operand_word,
            1 => self.word(at).wrapping_add_signed(i64::from(operand[0] as i8)),
            2 => self.word(at) ^ 1 << (operand[0] % 64),
            3 => self.word(self.place(operand[0], operand[1])),
            // A word with a small number, in the format of a card (phase, slot, number) or of a slot's tag (record,
            // number).
            _ => (operand_word & 0xffff) << 48 | operand_word >> 16 & 0xff,
        };
        self.file.write_all_at(&new.to_le_bytes(), at).expect("the file can be written");
    }
}

/// The number of bytes that describe one change: place, index, operation, and an operand of 8 bytes.
const CHANGE: usize = 11;

/// The largest number of changes.
const MAX_CHANGES: usize = 24;

/// The offset of the number of records that were used.
const RECORDS_USED_AT: u64 = 192;

/// A file that claims to have used more records is only tried if nothing else is changed. hallpass looks at all records
/// that were used, so such files take a hundred times longer than others, and the fuzzer would try little else.
const MAX_RECORDS: i64 = 48;

fn temporary_folder() -> TempDir {
    // Files in memory are faster.
    let folder = tempfile::tempdir_in(Path::new("/dev/shm")).or_else(|_| tempfile::tempdir());
    folder.expect("a folder can be created")
}

/// Returns the names of all files in the directory of a hall, except the mapped file.
fn lifelines_in(folder: &Path) -> Vec<OsString> {
    let files = fs::read_dir(folder).expect("the directory can be read").flatten();
    files.map(|file| file.file_name()).filter(|name| name != "hall").collect()
}

/// Calls `read` while all slots are held and several callers wait.
fn crowded<R>(hall: &SharedHall, read: impl FnOnce() -> R) -> R {
    let passes: Vec<_> = (0..SLOTS).map(|_| hall.acquire().expect("a slot is free")).collect();
    let cancels: [Cancel; WAITERS] = Default::default();
    let result = thread::scope(|scope| {
        for (index, cancel) in cancels.iter().enumerate() {
            // The first waiter needs one slot, the second needs two.
            scope.spawn(move || drop(hall.acquire_many_unless(index + 1, cancel, None)));
        }
        while hall.waiting() < WAITERS {
            thread::sleep(Duration::from_millis(1));
        }
        let result = read();
        cancels.iter().for_each(Cancel::cancel);
        result
    });
    drop(passes);
    result
}

thread_local!(static HALLS: RefCell<[Option<Hall>; 3]> = const { RefCell::new([const { None }; 3]) });

/// Changes the file of a hall as `data` describes, opens the hall, and calls its methods.
///
/// The first byte selects the owners of the records: none, dead processes or living processes. It also selects whether
/// the hall is removed at the end.
///
/// # Panics
/// Panics if no hall can be created for the test, or if a damaged hall has an impossible number of slots or gives out
/// an impossible slot.
pub fn hall_file(data: &[u8]) {
    let Some((selector, data)) = data.split_first() else { return };
    let owners = [Owners::None, Owners::Dead, Owners::Alive][usize::from(selector % 3)];
    HALLS.with_borrow_mut(|halls| {
        let hall = halls[owners as usize].get_or_insert_with(|| Hall::new(owners));
        hall.restore();
        let (changes, rest) = data.as_chunks::<CHANGE>();
        let changes = &changes[..changes.len().min(MAX_CHANGES)];
        changes.iter().for_each(|change| hall.change(change));
        if changes.len() > 1 && hall.word(RECORDS_USED_AT) as i64 > MAX_RECORDS {
            return;
        }
        // If one byte is left after the changes, make the file one byte shorter.
        if rest.len() == 1 {
            hall.file.set_len(hall.len - 1).expect("the file can be made shorter");
        }
        let _ = hall.dir.open_existing_cell::<u64>(NAME);
        if let Ok(damaged) = hall.dir.open_existing(NAME) {
            exercise(&damaged);
        }
        if selector & 0x40 != 0 {
            let _ = hall.dir.remove(NAME, selector & 0x80 != 0);
        }
    });
}

fn exercise(hall: &SharedHall) {
    let soon = Duration::from_micros(1);
    look(hall);
    let first = accepted(hall.try_acquire());
    let second = accepted(hall.try_acquire_for(soon));
    look(hall);
    drop(first);
    drop(accepted_many(hall.try_acquire_many_for(2, soon)));
    let _ = hall.reap();
    let _ = hall.resize(SLOTS - 1);
    let third = accepted(hall.try_acquire_for(soon));
    let _ = hall.resize(SLOTS + 2);
    drop((second, third));
    let several = accepted_many(hall.try_acquire_many(2));
    look(hall);
    drop(several);
    hall.describe_as("fuzz");
    drop(accepted(hall.try_acquire_for(soon)));
    hall.close();
    let _ = hall.try_acquire();
    look(hall);
}

fn look(hall: &SharedHall) {
    assert!(hall.slots() <= MAX_SLOTS && hall.available() <= MAX_SLOTS);
    let _ = (hall.waiting(), hall.is_closed(), hall.status());
}

fn accepted(pass: Result<SharedPass<'_>, Error>) -> Option<SharedPass<'_>> {
    pass.ok().inspect(|pass| assert!(pass.slot() < MAX_SLOTS, "slot {}", pass.slot()))
}

fn accepted_many(passes: Result<SharedPasses<'_>, Error>) -> Option<SharedPasses<'_>> {
    let is_possible = |slots: &[usize]| slots.iter().all(|&slot| slot < MAX_SLOTS);
    passes.ok().inspect(|some| assert!(is_possible(some.slots()), "slots {:?}", some.slots()))
}
