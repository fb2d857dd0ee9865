//! Passes states between threads.
//!
//! The set of states consists of segments (see [`compact`](crate::compact)), and each thread owns a share of the
//! segments. If a thread finds states of a segment that another thread owns, it sends
//! the states to the owner, and the owner inserts them. So the memory of a segment stays in the cache of one
//! core. Ownership is only about speed: every thread may insert into every segment. A thread inserts states itself if
//! the inbox of the owner is full, and at the end of a level.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use crate::compact::{Local, SEGMENTS};

use super::Apart;

/// The maximum number of batches that wait for a thread.
const MOST_WAITING: usize = 512;

/// States to insert into one segment.
pub(super) type Batch<E> = Vec<(Local, E)>;

/// The batches that wait for a thread.
struct Inbox<E> {
    waiting: Vec<(u8, Batch<E>)>,
    /// Batches without states, whose memory can be used again.
    empty: Vec<Batch<E>>,
}

/// The inboxes of all threads.
pub(super) struct Mail<E> {
    inboxes: Vec<Apart<Mutex<Inbox<E>>>>,
    /// The number of threads that may still send batches on this level.
    senders: Apart<AtomicUsize>,
}

/// A thread that may still send batches on this level. The value is dropped when the thread has sent its last batch, or
/// when the thread panics.
pub(super) struct Sender<'a>(&'a AtomicUsize);

impl Drop for Sender<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

impl<E> Mail<E> {
    pub fn new(threads: usize) -> Self {
        let inbox = |_| Apart(Mutex::new(Inbox { waiting: Vec::new(), empty: Vec::new() }));
        Mail { inboxes: (0..threads).map(inbox).collect(), senders: Apart(AtomicUsize::new(0)) }
    }

    /// Returns the thread that owns a segment.
    #[inline]
    pub fn owner(&self, segment: u8) -> usize {
        usize::from(segment) * self.inboxes.len() / SEGMENTS
    }

    /// Sends a batch to a thread and leaves an empty batch in its place. Returns whether the inbox had room. If not,
    /// the batch is unchanged.
    pub fn send(&self, to: usize, segment: u8, batch: &mut Batch<E>) -> bool {
        let mut inbox = self.inboxes[to].0.lock().expect("no panic while held");
        if inbox.waiting.len() >= MOST_WAITING {
            return false;
        }
        let empty = inbox.empty.pop().unwrap_or_else(|| Vec::with_capacity(batch.capacity()));
        inbox.waiting.push((segment, std::mem::replace(batch, empty)));
        true
    }

    /// Exchanges the batches that wait for a thread for those in `received`, which have no states.
    pub fn receive(&self, thread: usize, received: &mut Vec<(u8, Batch<E>)>) {
        let mut inbox = self.inboxes[thread].0.lock().expect("no panic while held");
        inbox.empty.extend(received.drain(..).map(|(_, batch)| batch));
        std::mem::swap(&mut inbox.waiting, received);
    }

    /// Prepares a level on which this many threads send batches.
    pub fn begin(&self, threads: usize) {
        self.senders.0.store(threads, Ordering::Relaxed);
    }

    /// Returns the [`Sender`] of the calling thread. [`begin`](Mail::begin) has already counted the thread.
    pub fn sender(&self) -> Sender<'_> {
        Sender(&self.senders.0)
    }

    /// Returns whether no thread sends batches any more on this level. All their batches are in the inboxes then.
    pub fn all_are_sent(&self) -> bool {
        self.senders.0.load(Ordering::Acquire) == 0
    }
}
