//! Members: a process's places at the board.

use std::{
    io::ErrorKind,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use hallpass_algorithms::{
    Word,
    halls::processes::{Environment, Life, Line, Then},
};
use rustix::fs::Mode;

use crate::{
    Error,
    file::{MAX_REGISTRATIONS, Words},
    seat::{Limit, Means, Seat},
    sys, wire,
    wires::Wires,
};

/// One place at the board, for one passage at a time.
pub(crate) struct Member {
    pub index: usize,
    /// The number on its card while it does not wait.
    pub number: Word,
    means: Means,
    /// The process that it belongs to; in a forked child it is somebody else's.
    generation: u64,
    /// Others may have its wire.
    lent: AtomicBool,
}

/// How many records are tried before more of them are taken into use, unless dead ones are found.
const SWEEP: usize = 16;

impl Member {
    /// Becomes a member of the hall.
    pub(crate) fn join(words: &Words, hall: Hall<'_>) -> Result<Self, Error> {
        let (id, own) = hall.wire(words)?;
        let own = Arc::new(own);
        hall.wires.add_own(id, own.clone());
        let mut means = Means::new(id, own);
        let mut join = |me: usize| {
            let Hall { dir, wires, .. } = hall;
            let limit = Limit::Never;
            let mut seat = Seat { words, hall: dir, me, means: &mut means, wires, limit };
            let first = match seat.life(me) {
                Life::Nobody => Line::J1,
                Life::Dead(_) => Line::R1 { process: me, then: Then::Join },
                Life::Alive => return None,
            };
            seat.join(first)
        };
        let free = |index: &usize| words.owner(*index).load(SeqCst) == wire::NOBODY;
        let mut found = None;
        // Every time but the last there is a record more.
        for _ in 0..=MAX_REGISTRATIONS {
            let raw = words.people().load(SeqCst);
            let people = raw.clamp(0, MAX_REGISTRATIONS as i64) as usize;
            found = (0..people).filter(free).find_map(|index| Some((index, join(index)?)));
            if found.is_none() && people > 0 && people.is_multiple_of(SWEEP) {
                found = (0..people).find_map(|index| Some((index, join(index)?)));
            }
            if found.is_some() || people == MAX_REGISTRATIONS {
                break;
            }
            // If somebody else has added one, that one will do.
            let _ = words.people().compare_exchange(raw, people as i64 + 1, SeqCst, SeqCst);
        }
        let Some((index, number)) = found else {
            hall.wires.remove_own(id);
            wire::remove(hall.dir, id);
            return Err(Error::Full { name: hall.name.into(), most: MAX_REGISTRATIONS });
        };
        let uid = i64::from(rustix::process::getuid().as_raw());
        words.process(index).store(uid << 32 | i64::from(std::process::id()), SeqCst);
        let lent = AtomicBool::new(false);
        Ok(Member { index, number, means, generation: sys::generation(), lent })
    }

    /// Whether it belongs to this process, and not to the one that this was forked from.
    #[inline]
    pub(crate) fn is_ours(&self) -> bool {
        self.generation == sys::generation()
    }

    /// While any process has this open, the member is taken to live.
    pub(crate) fn lifeline(&self) -> BorrowedFd<'_> {
        self.lent.store(true, SeqCst);
        self.means.own.as_fd()
    }

    /// What wakes it.
    pub(crate) fn bell(&self) -> Arc<OwnedFd> {
        self.means.own.clone()
    }

    /// Goes without leaving: others see that it is dead.
    pub(crate) fn abandon(self, wires: &Wires) {
        wires.remove_own(self.means.id);
    }

    /// Whether others may have its wire, so that it must not be used for another passage: they would
    /// keep that one's slot.
    #[inline]
    pub(crate) fn is_lent(&self) -> bool {
        self.lent.load(SeqCst)
    }

    /// Its view of the board.
    #[inline]
    pub(crate) fn seat<'a>(
        &'a mut self,
        words: &'a Words,
        hall: BorrowedFd<'a>,
        wires: &'a Wires,
        limit: Limit<'a>,
    ) -> Seat<'a> {
        Seat { words, hall, me: self.index, means: &mut self.means, wires, limit }
    }

    /// Lets go of what it needed to wait.
    pub(crate) fn rest(&mut self) {
        self.means.rest();
    }

    /// Leaves the hall. It must not hold anything, or wait.
    pub(crate) fn leave(mut self, words: &Words, hall: BorrowedFd<'_>, wires: &Wires) {
        if !self.is_ours() {
            return; // only this copy of the wire goes
        }
        let id = self.means.id;
        let (process, dead, then) = (self.index, Some(id), Then::Nothing);
        let card = words.card(process).load(SeqCst);
        // Nobody else rescues one that lives, so it does that for itself.
        let leave = Line::R3 { process, then, card, dead };
        let _ = self.seat(words, hall, wires, Limit::Now).go(leave);
        wires.remove_own(id);
    }
}

/// What joining needs to know of a hall.
#[derive(Clone, Copy)]
pub(crate) struct Hall<'a> {
    pub name: &'a str,
    pub path: &'a Path,
    pub dir: BorrowedFd<'a>,
    pub wires: &'a Wires,
    /// Who may open its wires.
    pub mode: Mode,
}

impl Hall<'_> {
    /// A new identity, and its wire.
    fn wire(&self, words: &Words) -> Result<(i64, OwnedFd), Error> {
        let mut tries = 0;
        loop {
            let id = words.ids().fetch_add(1, SeqCst).wrapping_add(1);
            match wire::create(self.dir, id, self.mode) {
                _ if id == wire::NOBODY => {}
                Ok(own) => return Ok((id, own)),
                // Somebody has set the count back: look for one that is new.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && tries < 1000 => {
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
