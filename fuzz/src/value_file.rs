//! The fuzz target `value_file`: opens a shared cell and a shared queue whose file was changed.

use std::{cell::RefCell, fs, path::PathBuf};

use hallpass_processes::{HallDir, PushError};
use tempfile::TempDir;

const NAME: &str = "cell";

/// The maximum number of items of the queue. Such a queue takes as many bytes as a [`Value`].
const ITEMS: usize = 2;
type Value = [u64; ITEMS + 1];

/// A cell with the path and the content of its file.
struct Cell {
    dir: HallDir,
    path: PathBuf,
    bytes: Vec<u8>,
    _temp: TempDir,
}

impl Cell {
    fn new() -> Self {
        let temp = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let temp = temp.expect("a folder can be created");
        let dir = HallDir::at(temp.path());
        let cell = dir.open_cell::<Value>(NAME, [1, 7, 0]).expect("a cell can be created");
        cell.update(|value| value[2] = 5).expect("nobody else uses the cell");
        let path = temp.path().join(NAME).join("value");
        let bytes = fs::read(&path).expect("the file can be read");
        Cell { dir, path, bytes, _temp: temp }
    }
}

/// The number of bytes that describe one change: an index, and a word.
const CHANGE: usize = 9;

thread_local!(static CELL: RefCell<Option<Cell>> = const { RefCell::new(None) });

/// Changes words of the file of a cell as `data` describes, and opens it as a cell and as a queue.
///
/// # Panics
/// Panics if no cell can be created for the test, or if an opened cell or queue contradicts itself. An example is a
/// queue with more items than it has room for.
pub fn value_file(data: &[u8]) {
    CELL.with_borrow_mut(|cell| {
        let cell = cell.get_or_insert_with(Cell::new);
        let mut bytes = cell.bytes.clone();
        let (changes, rest) = data.as_chunks::<CHANGE>();
        for [index, word @ ..] in changes {
            let words = bytes.as_chunks_mut::<8>().0;
            let index = usize::from(*index) % words.len();
            words[index] = *word;
        }
        // The bytes that are left after the changes change the length of the file.
        match rest {
            [] => {}
            [shorter] => bytes.truncate(usize::from(*shorter)),
            longer => bytes.extend(longer),
        }
        fs::write(&cell.path, &bytes).expect("the file can be written");
        exercise(&cell.dir);
    });
}

fn exercise(dir: &HallDir) {
    let _ = dir.open_existing_cell::<u8>(NAME);
    let _ = dir.open_existing_cell::<[u64; 64]>(NAME);
    if let Ok(cell) = dir.open_existing_cell::<Value>(NAME) {
        let read = cell.read().expect("nobody changes the value");
        let old = cell.update(|value| std::mem::replace(value, read));
        assert_eq!(old.ok(), Some(read));
    }
    let Ok(queue) = dir.open_queue::<ITEMS>(NAME) else { return };
    let len = queue.len().expect("nobody changes the queue");
    assert!(len <= ITEMS && queue.snapshot().is_ok_and(|items| items.len() == len));
    let _ = (queue.peek(), queue.is_empty());
    match queue.push(3) {
        Ok(()) => assert!(len < ITEMS),
        Err(PushError::Full(3)) => assert_eq!(len, ITEMS),
        Err(error) => panic!("{error}"),
    }
    while queue.pop().expect("nobody else uses the queue").is_some() {}
}
