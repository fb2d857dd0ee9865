//! A semaphore of tickets: first come, first served, each waiter at a place of its own.
//!
//! `tickets` is the next ticket; who holds ticket t is in once t < `granted`, which starts at k.
//! A leaver grants one more and wakes the thread at that ticket's place, if one is there. A
//! waiter looks at `granted` for a while and then parks at place t mod n, as in MCS each waits at
//! its own node.
//!
//! I1: at most n tickets are not granted yet, for each belongs to another thread. So while t is not
//!     granted, no ticket t + n is out, and no other thread is parked at t's place.
//! I2: who registers at a place sees, under the place's lock, that its ticket is not granted.
//! I3: who is parked with ticket t is woken: by who grants t, which looks at the place afterwards;
//!     or, if t + n has come to the place before that, by t + n.
//!
//! Every access is SeqCst: who grants and then sees no such ticket is seen by who takes it later.

use std::{
    hint,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, Thread},
};

use crate::common::{Padded, Semaphore};

/// Number of looks before a waiter parks: about the length of a short critical section.
const LOOKS: usize = 100;

/// A ticket, and who waits with it.
type ParkingSpot = Padded<Mutex<Option<(usize, Thread)>>>;

/// The counters and the places to wait at.
pub struct Ticket {
    tickets: Padded<AtomicUsize>,
    granted: Padded<AtomicUsize>,
    places: Box<[ParkingSpot]>,
}

/// Leaves when dropped.
pub struct Guard<'a>(&'a Ticket);

impl Ticket {
    /// For `threads` threads, `k` of them at once.
    pub fn new(threads: usize, k: usize) -> Self {
        Ticket {
            tickets: Padded::default(),
            granted: Padded(AtomicUsize::new(k)),
            places: (0..threads).map(|_| Padded::default()).collect(),
        }
    }

    fn is_granted(&self, ticket: usize) -> bool {
        ticket < self.granted.0.load(SeqCst)
    }

    /// The parking spot of a ticket.
    fn at_place<T>(
        &self,
        ticket: usize,
        look: impl FnOnce(&mut Option<(usize, Thread)>) -> T,
    ) -> T {
        let place = &self.places[ticket % self.places.len()].0;
        look(&mut place.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[cold]
    fn enter_contended(&self, ticket: usize) {
        for _ in 0..LOOKS {
            if self.is_granted(ticket) {
                return;
            }
            hint::spin_loop();
        }
        let before = self.at_place(ticket, |place| {
            let waits = !self.is_granted(ticket); // I2
            waits.then(|| place.replace((ticket, thread::current())))
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
        let waiter = self.at_place(ticket, |place| place.take_if(|(theirs, _)| *theirs == ticket));
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
