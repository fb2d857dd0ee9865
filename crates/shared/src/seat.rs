//! The board as one member sees it: words of the file, wires for bells and lives.

use std::{
    collections::HashMap,
    hint,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use hallpass_algorithms::{
    Next, Op, Word,
    shared::{Board, Card, Life, Line, Stand, step},
};
use rustix::event::{PollFd, PollFlags, poll};

use crate::{
    file::{MOST_MEMBERS, MOST_SLOTS, Words},
    sys, wire,
};

/// One atomic access.
#[inline(always)]
pub(crate) fn access(word: &AtomicI64, op: Op) -> Word {
    match op {
        Op::Read => word.load(SeqCst),
        Op::Write(value) => {
            word.store(value, SeqCst);
            value // no line asks what was there
        }
        Op::FetchAdd(by) => word.fetch_add(by, SeqCst),
        Op::CompareAndSwap { old, new } => {
            word.compare_exchange(old, new, SeqCst, SeqCst).unwrap_or_else(|found| found)
        }
        _ => unreachable!("no line does that"),
    }
}

/// A line of a passage, as it is run here.
pub(crate) type Place = Line<i64, ()>;

/// How long a passage waits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit<'a> {
    /// Not at all.
    Now,
    /// Until then.
    Until(Instant),
    /// Until this is set, and its bell rung.
    Unless(&'a AtomicBool),
    /// For ever.
    Never,
}

/// How it ended.
pub(crate) enum End {
    /// It is in, with this slot.
    In(usize),
    /// It is out.
    Out,
    /// The words are such that it would go on for ever.
    Lost,
}

/// How often a waiter looks before it sleeps.
const LOOKS: u32 = 200;

/// While nobody can be watched for want of descriptors, waiters look this often.
const BLIND: Duration = Duration::from_millis(100);

/// More lines than that at a stretch mean that the words were changed by somebody who does not keep
/// to them.
const MOST_LINES: u32 = 10_000_000;

/// A member's own means.
pub(crate) struct Wires {
    /// Its own wire, for reading.
    pub own: OwnedFd,
    pub id: i64,
    /// Writing ends of others' wires, by identity.
    others: HashMap<i64, OwnedFd>,
    watched: Vec<Watched>,
    /// Somebody who is to be watched could not be reached.
    blind: bool,
}

struct Watched {
    member: usize,
    id: i64,
    /// The kernel has said something about it.
    stirs: bool,
}

impl Wires {
    pub(crate) fn new(own: OwnedFd, id: i64) -> Self {
        Wires { own, id, others: HashMap::new(), watched: Vec::new(), blind: false }
    }
}

/// A member at the board.
pub(crate) struct Seat<'a> {
    pub words: &'a Words,
    pub hall: BorrowedFd<'a>,
    pub me: usize,
    pub wires: &'a mut Wires,
    pub limit: Limit<'a>,
}

impl Seat<'_> {
    /// Goes on from a line until the member is in, or out.
    pub(crate) fn go(&mut self, mut at: Place) -> End {
        let me = self.me;
        let mut lines = 0;
        loop {
            at = match step(self, me, at) {
                Next::Goto(line) => line,
                Next::Spin(line) => {
                    self.sleep();
                    lines = 0;
                    line
                }
                Next::Enter(Line::X2 { j, .. }) => return End::In(j),
                Next::Enter(_) => unreachable!("who waited leaves by line X2"),
                Next::Leave => return End::Out,
            };
            lines += 1;
            if lines > MOST_LINES {
                return End::Lost;
            }
        }
    }

    /// Becomes a member; says with which number, if the record was free.
    pub(crate) fn join(&mut self, at: Place) -> Option<Word> {
        let me = self.me;
        let mut at = at;
        for _ in 0..MOST_LINES {
            at = match step(self, me, at) {
                Next::Goto(Line::E1 { x }) => return Some(x),
                Next::Goto(line) => line,
                _ => return None,
            };
        }
        None
    }

    /// Sleeps until it is rung for, or somebody stirs who is watched, or it is time.
    fn sleep(&mut self) {
        let waiting = |word: Word| matches!(Card::unpack(word).stand, Stand::Waiting);
        if matches!(self.limit, Limit::Now) {
            return;
        }
        for _ in 0..LOOKS {
            if !waiting(self.words.card(self.me).load(SeqCst)) {
                break;
            }
            hint::spin_loop();
        }
        thread::yield_now();

        let Wires { own, others, watched, blind, .. } = &mut *self.wires;
        let mut fds = vec![PollFd::new(own, PollFlags::IN)];
        // Only errors are reported, and those always are.
        let wires = watched.iter().filter_map(|watched| others.get(&watched.id));
        fds.extend(wires.map(|wire| PollFd::new(wire, PollFlags::empty())));
        let left = match self.limit {
            Limit::Until(until) => Some(until.saturating_duration_since(Instant::now())),
            _ => None,
        };
        let most = if *blind { Some(left.unwrap_or(BLIND).min(BLIND)) } else { left };
        let most = most.and_then(|time| time.try_into().ok());
        // Whatever made it end, the lines look again.
        let _ = poll(&mut fds, most.as_ref());
        let stirs: Vec<bool> = fds[1..].iter().map(|fd| !fd.revents().is_empty()).collect();
        for (watched, stirs) in watched.iter_mut().zip(stirs) {
            watched.stirs = stirs || *blind;
        }
    }

    /// Forgets the wires of those who are not watched, if there are many.
    fn forget_some(&mut self) {
        let Wires { others, watched, .. } = &mut *self.wires;
        if others.len() > 2 * watched.len() + 16 {
            others.retain(|id, _| watched.iter().any(|watched| watched.id == *id));
        }
    }

    fn is_gone(wire: &OwnedFd) -> bool {
        let mut fds = [PollFd::new(wire, PollFlags::empty())];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut fds, Some(&now)).is_ok_and(|count| count > 0)
    }
}

impl Board for Seat<'_> {
    type Identity = i64;
    /// The seat remembers.
    type Watch = ();

    fn members(&self) -> usize {
        usize::try_from(self.words.people().load(SeqCst)).map_or(0, |n| n.min(MOST_MEMBERS))
    }

    #[inline]
    fn size(&mut self) -> usize {
        usize::try_from(self.words.size().load(SeqCst)).map_or(0, |k| k.min(MOST_SLOTS))
    }

    #[inline]
    fn next(&mut self, op: Op) -> Word {
        access(self.words.next(), op)
    }

    #[inline]
    fn quiet(&mut self, op: Op) -> Word {
        access(self.words.quiet(), op)
    }

    #[inline]
    fn card(&mut self, member: usize, op: Op) -> Word {
        access(self.words.card(member), op)
    }

    #[inline]
    fn slot(&mut self, slot: usize, op: Op) -> Word {
        access(self.words.slot(slot), op)
    }

    fn link(&mut self, member: usize, op: Op) -> Word {
        // Zero is nobody in a new file.
        match op {
            Op::Write(followed) => access(self.words.link(member), Op::Write(followed + 1)),
            op => access(self.words.link(member), op).wrapping_sub(1),
        }
    }

    fn ring(&mut self, member: usize) {
        let id = self.words.owner(member).load(SeqCst);
        if id == wire::NOBODY {
            return;
        }
        if let Some(wire) = self.wires.others.get(&id) {
            // A full pipe has been rung enough, and one without a reader needs no bell.
            let _ = sys::write_byte(wire.as_fd());
        } else if let wire::Reached::Alive(wire) = wire::reach(self.hall, id) {
            let _ = sys::write_byte(wire.as_fd());
            self.wires.others.insert(id, wire);
            self.forget_some();
        }
    }

    fn rung(&mut self, _: usize) -> bool {
        wire::drain(&self.wires.own)
    }

    fn expired(&mut self, _: usize) -> bool {
        match self.limit {
            Limit::Now => true,
            Limit::Until(until) => Instant::now() >= until,
            Limit::Unless(given_up) => given_up.load(SeqCst),
            Limit::Never => false,
        }
    }

    fn life(&mut self, member: usize) -> Life<i64> {
        let id = self.words.owner(member).load(SeqCst);
        let stirring = |watched: &Watched| watched.member == member && watched.stirs;
        if let Some(index) = self.wires.watched.iter().position(stirring) {
            // Who was watched is gone, even if another has its record by now.
            let gone = self.wires.watched.swap_remove(index);
            if gone.id != id {
                return Life::Nobody;
            }
        }
        if id == wire::NOBODY {
            return Life::Nobody;
        }
        if id == self.wires.id {
            return Life::Alive;
        }
        if let Some(wire) = self.wires.others.get(&id) {
            if !Self::is_gone(wire) {
                return Life::Alive;
            }
            self.wires.others.remove(&id);
            return Life::Dead(id);
        }
        match wire::reach(self.hall, id) {
            wire::Reached::Alive(wire) => {
                self.wires.others.insert(id, wire);
                Life::Alive
            }
            wire::Reached::Dead => Life::Dead(id),
            wire::Reached::Unknown => {
                self.wires.blind = true;
                Life::Alive
            }
        }
    }

    fn claim(&mut self, me: usize) -> bool {
        let new = self.wires.id;
        access(self.words.owner(me), Op::CompareAndSwap { old: wire::NOBODY, new }) == wire::NOBODY
    }

    fn bury(&mut self, member: usize, dead: i64) {
        let gone = Op::CompareAndSwap { old: dead, new: wire::NOBODY };
        if access(self.words.owner(member), gone) == dead {
            wire::remove(self.hall, dead);
        }
    }

    fn no_watch(&mut self) {
        self.wires.watched.clear();
        self.wires.blind = false;
    }

    fn watch(&mut self, (): (), member: usize) {
        let id = self.words.owner(member).load(SeqCst);
        // If another owns the record by now, it came later, and the one before has left in peace.
        if self.wires.others.contains_key(&id) {
            self.wires.watched.push(Watched { member, id, stirs: false });
        }
    }

    fn watched(&mut self, (): (), member: usize) -> Option<usize> {
        let stirring = self.wires.watched.iter().filter(|watched| watched.stirs);
        stirring.map(|watched| watched.member).filter(|&i| i >= member).min()
    }
}
