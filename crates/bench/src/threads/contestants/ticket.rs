//! A ticket semaphore for n threads: first come, first served. Each waiter parks at its own spot.
//!
//! `tickets` is the next ticket. The thread with ticket t holds a slot once t < `granted`, which starts at k. A
//! thread that leaves grants one more ticket, and wakes the thread at the spot of this ticket, if there is one. A
//! waiter reads `granted` for a while and then parks at spot t mod n. In the same way, each waiter of an MCS lock
//! waits at its own node.
//!
//! I1: at most n tickets are taken and not granted yet, because each of them belongs to a different thread. So while t
//!     is not granted, no thread has ticket t + n, and no other thread is parked at the spot of t.
//! I2: a thread registers at a spot only if it sees, under the lock of the spot, that its ticket is not granted.
//! I3: a thread that is parked with ticket t is woken. The thread that grants t looks at the spot afterwards and wakes
//!     the parked thread, unless the thread with ticket t + n has come to the spot first and woken it.
//!
//! Every access is SeqCst. So if the thread that grants t does not yet see that ticket t is taken, the thread that
//! then takes t sees the grant.

use std::{
    hint,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, Thread},
};

use crate::common::{Padded, Semaphore};

/// Number of looks before a waiter parks. They take about as long as a short critical section.
const LOOKS: usize = 100;

/// A ticket, and the thread that waits with it.
type ParkingSpot = Padded<Mutex<Option<(usize, Thread)>>>;

/// The counters and the parking spots.
pub struct Ticket {
    tickets: Padded<AtomicUsize>,
    granted: Padded<AtomicUsize>,
    spots: Box<[ParkingSpot]>,
}

/// A guard; dropping it frees the slot.
pub struct Guard<'a>(&'a Ticket);

impl Ticket {
    /// Makes a semaphore with `k` slots for `threads` threads.
    pub fn new(threads: usize, k: usize) -> Self {
        Ticket {
            tickets: Padded::default(),
            granted: Padded(AtomicUsize::new(k)),
            spots: (0..threads).map(|_| Padded::default()).collect(),
        }
    }

    fn is_granted(&self, ticket: usize) -> bool {
        ticket < self.granted.0.load(SeqCst)
    }

    /// Calls `look` with the parking spot of a ticket, under its lock.
    fn at_spot<T>(&self, ticket: usize, look: impl FnOnce(&mut Option<(usize, Thread)>) -> T) -> T {
        let spot = &self.spots[ticket % self.spots.len()].0;
        look(&mut spot.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[cold]
    fn enter_contended(&self, ticket: usize) {
        for _ in 0..LOOKS {
            if self.is_granted(ticket) {
                return;
            }
            hint::spin_loop();
        }
        let before = self.at_spot(ticket, |spot| {
            let waits = !self.is_granted(ticket); // I2
            waits.then(|| spot.replace((ticket, thread::current())))
        });
        if let Some(Some((_, before))) = before {
            before.unpark(); // I3
        }
        while !self.is_granted(ticket) {
            thread::park();
        }
    }

    #[cold]
    fn wake(&self, ticket: usize) {
        let waiter = self.at_spot(ticket, |spot| spot.take_if(|(theirs, _)| *theirs == ticket));
        if let Some((_, thread)) = waiter {
            thread.unpark();
        }
    }
}

impl Semaphore for Ticket {
    type Guard<'a> = Guard<'a>;

    #[inline]
    fn enter(&self, _: usize) -> Guard<'_> {
        let ticket = self.tickets.0.fetch_add(1, SeqCst);
        if !self.is_granted(ticket) {
            self.enter_contended(ticket);
        }
        Guard(self)
    }
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        let Guard(semaphore) = self;
        let ticket = semaphore.granted.0.fetch_add(1, SeqCst);
        if ticket < semaphore.tickets.0.load(SeqCst) {
            semaphore.wake(ticket);
        }
    }
}
