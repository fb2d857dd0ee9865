//! Members: a process's places at the board, and the pool of those that are not in use.

use std::{
    os::fd::{AsFd, BorrowedFd},
    ptr,
    sync::{
        Mutex, MutexGuard, TryLockError,
        atomic::{AtomicPtr, Ordering::SeqCst},
    },
    thread,
};

use hallpass_algorithms::{
    Word,
    shared::{Board, Card, Life, Line, Then},
};
use rustix::fs::Mode;

use crate::{
    Error,
    file::{MOST_MEMBERS, Words},
    seat::{End, Limit, Seat, Wires},
    sys, wire,
};

/// One place at the board, for one passage at a time.
pub(crate) struct Member {
    pub index: usize,
    /// The number on its card while it does not wait.
    pub number: Word,
    wires: Wires,
    /// The process that it belongs to; in a forked child it is somebody else's.
    generation: u64,
}

/// How many records are tried before more of them are taken into use, unless dead ones are found.
const SWEEP: usize = 16;

impl Member {
    /// Becomes a member of the hall.
    pub(crate) fn join(words: &Words, hall: Hall<'_>) -> Result<Self, Error> {
        let (id, own) = hall.wire(words)?;
        let mut wires = Wires::new(own, id);
        let mut join = |index: usize| {
            let mut seat =
                Seat { words, hall: hall.dir, me: index, wires: &mut wires, limit: Limit::Never };
            let first = match seat.life(index) {
                Life::Nobody => Line::J1,
                Life::Dead(_) => Line::R1 { member: index, then: Then::Join },
                Life::Alive => return None,
            };
            seat.join(first)
        };
        let taken = |index: &usize| words.owner(*index).load(SeqCst) == wire::NOBODY;
        let mut found = None;
        loop {
            let people = words.people().load(SeqCst).clamp(0, MOST_MEMBERS as i64) as usize;
            let mut free = (0..people).filter(taken);
            if let Some(at) = free.find_map(|index| Some((index, join(index)?))) {
                found = Some(at);
            } else if people > 0 && people.is_multiple_of(SWEEP) {
                found = (0..people).find_map(|index| Some((index, join(index)?)));
            }
            if found.is_some() || people == MOST_MEMBERS {
                break;
            }
            // One record more. If somebody else has added one, that one will do.
            let _ =
                words.people().compare_exchange(people as i64, people as i64 + 1, SeqCst, SeqCst);
        }
        let Some((index, number)) = found else {
            wire::remove(hall.dir, id);
            return Err(Error::Full { name: hall.name.into(), most: MOST_MEMBERS });
        };
        let uid = i64::from(rustix::process::getuid().as_raw());
        words.process(index).store(uid << 32 | i64::from(std::process::id()), SeqCst);
        Ok(Member { index, number, wires, generation: sys::generation() })
    }

    /// Whether it belongs to this process, and not to the one that this was forked from.
    #[inline]
    pub(crate) fn is_ours(&self) -> bool {
        self.generation == sys::generation()
    }

    /// While any process has this open, the member is taken to live.
    pub(crate) fn lifeline(&self) -> BorrowedFd<'_> {
        self.wires.own.as_fd()
    }

    /// Its view of the board.
    #[inline]
    pub(crate) fn seat<'a>(
        &'a mut self,
        words: &'a Words,
        hall: BorrowedFd<'a>,
        limit: Limit<'a>,
    ) -> Seat<'a> {
        Seat { words, hall, me: self.index, wires: &mut self.wires, limit }
    }

    /// Leaves the hall. It must not hold anything, or wait.
    pub(crate) fn leave(mut self, words: &Words, hall: BorrowedFd<'_>) {
        if !self.is_ours() {
            return; // only this copy of the wire goes
        }
        let (member, dead) = (self.index, Some(self.wires.id));
        let card = Card::unpack(words.card(member).load(SeqCst));
        // Nobody else rescues one that lives, so it does that for itself.
        let then = Then::Nothing;
        let end = self.seat(words, hall, Limit::Now).go(Line::R3 { member, then, card, dead });
        debug_assert!(matches!(end, End::Out | End::Lost));
    }
}

/// What joining needs to know of a hall.
#[derive(Clone, Copy)]
pub(crate) struct Hall<'a> {
    pub name: &'a str,
    pub path: &'a std::path::Path,
    pub dir: BorrowedFd<'a>,
    /// Who may open its wires.
    pub mode: Mode,
}

impl Hall<'_> {
    /// A new identity, and its wire.
    fn wire(&self, words: &Words) -> Result<(i64, std::os::fd::OwnedFd), Error> {
        let mut tries = 0;
        loop {
            let id = words.ids().fetch_add(1, SeqCst).wrapping_add(1);
            match wire::create(self.dir, id, self.mode) {
                _ if id == wire::NOBODY => {}
                Ok(own) => return Ok((id, own)),
                // Somebody has set the count back: look for one that is new.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && tries < 1000 => {
                    words.ids().fetch_add(far_from(id), SeqCst);
                }
                Err(error) => {
                    return Err(Error::system("make a pipe in", self.path)(error));
                }
            }
            tries += 1;
        }
    }
}

/// Somewhere else, so that a count that was set back is soon beyond what was used.
fn far_from(id: i64) -> i64 {
    (id.wrapping_mul(0x9E37_79B9_7F4A_7C15u64 as i64) >> 40) & 0xFF_FFFF
}

/// Members that are not in use. The one that was used last is at hand without a lock.
pub(crate) struct Pool {
    last: AtomicPtr<Member>,
    /// Boxed, as they are handed out.
    #[allow(clippy::vec_box)]
    others: Mutex<Vec<Box<Member>>>,
}

impl Pool {
    pub(crate) fn new() -> Self {
        Pool { last: AtomicPtr::new(ptr::null_mut()), others: Mutex::new(Vec::new()) }
    }

    /// Takes one out.
    #[inline(always)]
    pub(crate) fn take(&self) -> Option<Box<Member>> {
        let last = self.last.swap(ptr::null_mut(), SeqCst);
        if last.is_null() {
            return self.others()?.pop();
        }
        // SAFETY: `give` made it from a box, and the swap took it for us alone.
        Some(unsafe { Box::from_raw(last) })
    }

    /// Puts one back.
    #[inline(always)]
    pub(crate) fn give(&self, member: Box<Member>) {
        let new = Box::into_raw(member);
        if let Err(_other) = self.last.compare_exchange(ptr::null_mut(), new, SeqCst, SeqCst) {
            // SAFETY: it was made from a box two lines above, and is still ours.
            let member = unsafe { Box::from_raw(new) };
            match self.others() {
                Some(mut others) => others.push(member),
                None => drop(member), // its wire goes, and so it is taken for dead
            }
        }
    }

    /// The others; none in a child that was forked while another thread of its parent had them, where
    /// they stay locked for ever.
    #[inline(never)]
    #[allow(clippy::vec_box)]
    fn others(&self) -> Option<MutexGuard<'_, Vec<Box<Member>>>> {
        const TRIES: usize = 10_000; // it is held for some nanoseconds at a time
        (0..TRIES).find_map(|_| match self.others.try_lock() {
            Ok(others) => Some(others),
            Err(TryLockError::Poisoned(others)) => Some(others.into_inner()),
            Err(TryLockError::WouldBlock) => {
                thread::yield_now();
                None
            }
        })
    }
}
