//! The states that a breadth-first search still has to expand: those of the current level, and those that it has
//! found for the next level.

use std::{
    collections::VecDeque,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use crate::compact::{Memory, OutOfMemory};

/// The number of entries of a chunk.
const CHUNK: usize = 1024;

/// The entries that a thread has found for the next level. They are in chunks, so that a chunk can be freed
/// as soon as its entries are expanded.
pub(super) struct Frontier<E> {
    full: Vec<Vec<E>>,
    last: Vec<E>,
}

impl<E> Frontier<E> {
    pub fn new() -> Self {
        Frontier { full: Vec::new(), last: Vec::new() }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// Fails if a new chunk would exceed the limit on memory.
    #[inline]
    pub fn push(&mut self, entry: E, memory: &Memory) -> Result<(), OutOfMemory> {
        if self.last.len() == self.last.capacity() {
            self.add_chunk(memory)?;
        }
        self.last.push(entry);
        Ok(())
    }

    #[cold]
    fn add_chunk(&mut self, memory: &Memory) -> Result<(), OutOfMemory> {
        memory.take(Self::chunk_bytes())?;
        let full = std::mem::replace(&mut self.last, Vec::with_capacity(CHUNK));
        if !full.is_empty() {
            self.full.push(full);
        }
        Ok(())
    }

    fn chunk_bytes() -> u64 {
        (CHUNK * size_of::<E>()) as u64
    }

    /// Frees a chunk, and counts its memory as no longer in use.
    pub fn free(chunk: Vec<E>, memory: &Memory) {
        drop(chunk);
        memory.give_back(Self::chunk_bytes());
    }
}

/// The entries of the current level that no thread has taken yet.
pub(super) struct Level<E> {
    chunks: Mutex<VecDeque<Vec<E>>>,
    left: AtomicU64,
}

impl<E> Level<E> {
    pub fn new() -> Self {
        Level { chunks: Mutex::new(VecDeque::new()), left: AtomicU64::new(0) }
    }

    /// Begins the next level. Its entries are those that the threads have found.
    pub fn begin<'a>(&self, found: impl Iterator<Item = &'a mut Frontier<E>>)
    where
        E: 'a,
    {
        let mut chunks = self.chunks.lock().expect("no panic while held");
        for frontier in found {
            chunks.extend(frontier.full.drain(..));
            let last = std::mem::take(&mut frontier.last);
            if !last.is_empty() {
                chunks.push_back(last);
            }
        }
        self.left.store(chunks.iter().map(|chunk| chunk.len() as u64).sum(), Relaxed);
    }

    /// Frees the entries that no thread has taken.
    pub fn free(&self, memory: &Memory) {
        while let Some(chunk) = self.take() {
            Frontier::free(chunk, memory);
        }
    }

    /// Takes a chunk.
    pub fn take(&self) -> Option<Vec<E>> {
        let chunk = self.chunks.lock().expect("no panic while held").pop_front()?;
        self.left.fetch_sub(chunk.len() as u64, Relaxed);
        Some(chunk)
    }

    /// Returns the number of entries that no thread has taken yet.
    pub fn left(&self) -> u64 {
        self.left.load(Relaxed)
    }

    /// Returns whether the level has enough entries for several threads.
    pub fn is_worth_sharing(&self) -> bool {
        self.left() >= 4 * CHUNK as u64
    }
}
