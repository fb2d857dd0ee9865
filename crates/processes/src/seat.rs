//! The board as one member sees it: words of the file, wires for bells and lives.

use std::{
    hint, mem,
    os::fd::{BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use hallpass_algorithms::{
    Next, Op, Word,
    halls::processes::{Card, Environment, Life, Line, Phase, step},
};
use hallpass_common::MAX_SLOTS;
use rustix::event::{PollFd, PollFlags, poll};

use crate::{
    file::{MAX_REGISTRATIONS, Words},
    wire,
    wires::{Owner, Wires},
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

/// While somebody cannot be watched, for want of descriptors say, waiters look this often.
const BLIND: Duration = Duration::from_millis(100);

/// And otherwise, in case whoever should have rung could not.
const RARELY: Duration = Duration::from_secs(10);

/// More lines than that at a stretch mean that the words were changed by somebody who does not keep
/// to them.
const MAX_LINES: u32 = 10_000_000;

/// It takes some ten to become a member.
const MAX_LINES_TO_JOIN: u32 = 10_000;

/// What a member needs to sleep and be woken.
pub(crate) struct Means {
    pub id: i64,
    /// Its own wire.
    pub own: Arc<OwnedFd>,
    /// Of whom it was last said that it lives, if it is not of this process.
    seen: Option<Watched>,
    watched: Vec<Watched>,
    /// Who was watched and is gone, until the lines have looked.
    gone: Option<(usize, i64)>,
    /// Somebody who is to be watched could not be reached.
    blind: bool,
    /// It is time to look, though nobody rang.
    look: bool,
}

struct Watched {
    member: usize,
    id: i64,
    wire: Arc<OwnedFd>,
    /// The kernel has said something about it.
    stirs: bool,
}

impl Means {
    pub(crate) fn new(id: i64, own: Arc<OwnedFd>) -> Self {
        let (seen, watched, gone) = (None, Vec::new(), None);
        Means { id, own, seen, watched, gone, blind: false, look: false }
    }

    /// Lets go of the wires of others.
    pub(crate) fn rest(&mut self) {
        self.seen = None;
        self.watched.clear();
    }
}

/// A member at the board.
pub(crate) struct Seat<'a> {
    pub words: &'a Words,
    pub hall: BorrowedFd<'a>,
    pub me: usize,
    pub means: &'a mut Means,
    pub wires: &'a Wires,
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
                    line
                }
                Next::Enter(Line::X2 { j, .. }) => return End::In(j),
                Next::Enter(_) => unreachable!("who waited leaves by line X2"),
                Next::Leave => return End::Out,
            };
            // Whoever gets there has looked at everything once.
            lines = if let Line::W8 { .. } = at { 0 } else { lines + 1 };
            if lines > MAX_LINES {
                return End::Lost;
            }
        }
    }

    /// Becomes a member; says with which number, if the record was free.
    pub(crate) fn join(&mut self, at: Place) -> Option<Word> {
        let me = self.me;
        let mut at = at;
        for _ in 0..MAX_LINES_TO_JOIN {
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
        let waiting = |word: Word| matches!(Card::unpack(word).phase, Phase::Waiting);
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

        let Means { own, watched, blind, .. } = &*self.means;
        let mut fds = vec![PollFd::new(own, PollFlags::IN)];
        // Only errors are reported, and those always are.
        fds.extend(watched.iter().map(|watched| PollFd::new(&watched.wire, PollFlags::empty())));
        let most = if *blind { BLIND } else { RARELY };
        let left = match self.limit {
            Limit::Until(until) => until.saturating_duration_since(Instant::now()),
            _ => most,
        };
        let time = left.min(most).try_into().ok();
        // An interruption ends it as well: whatever it was, the lines look again.
        let stirring = poll(&mut fds, time.as_ref()).unwrap_or(0);
        let stirs: Vec<bool> = fds[1..].iter().map(|fd| !fd.revents().is_empty()).collect();
        self.means.look = *blind || stirring == 0;
        for (watched, stirs) in self.means.watched.iter_mut().zip(stirs) {
            watched.stirs = stirs;
        }
    }
}

impl Environment for Seat<'_> {
    type Identity = i64;
    /// The seat remembers.
    type WatchSet = ();

    fn processes(&self) -> usize {
        usize::try_from(self.words.people().load(SeqCst)).map_or(0, |n| n.min(MAX_REGISTRATIONS))
    }

    #[inline]
    fn size(&mut self) -> usize {
        usize::try_from(self.words.size().load(SeqCst)).map_or(0, |k| k.min(MAX_SLOTS))
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
        if id != wire::NOBODY {
            self.wires.ring(self.hall, id);
        }
    }

    fn rung(&mut self, _: usize) -> bool {
        wire::drain(&self.means.own) | mem::take(&mut self.means.look)
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
        let mut id = self.words.owner(member).load(SeqCst);
        // Who was watched is gone, even if another has its record by now.
        if self.means.gone.take().is_some_and(|(gone, its)| gone == member && its != id) {
            return Life::Nobody;
        }
        loop {
            if id == wire::NOBODY {
                return Life::Nobody;
            }
            self.means.seen = None;
            match self.wires.owner(self.hall, id) {
                _ if id == self.means.id => return Life::Alive,
                Owner::Us => return Life::Alive,
                Owner::Alive(wire) => {
                    self.means.seen = Some(Watched { member, id, wire, stirs: false });
                    return Life::Alive;
                }
                Owner::Dead => return Life::Dead(id),
                Owner::Unknown => {
                    // Its wire is gone if it was buried meanwhile.
                    let now = self.words.owner(member).load(SeqCst);
                    if now == id {
                        self.means.blind = true;
                        return Life::Alive;
                    }
                    id = now;
                }
            }
        }
    }

    fn register(&mut self, me: usize) -> bool {
        let new = self.means.id;
        access(self.words.owner(me), Op::CompareAndSwap { old: wire::NOBODY, new }) == wire::NOBODY
    }

    fn unregister(&mut self, member: usize, dead: i64) {
        let gone = Op::CompareAndSwap { old: dead, new: wire::NOBODY };
        if access(self.words.owner(member), gone) == dead {
            wire::remove(self.hall, dead);
        }
    }

    fn watch_nobody(&mut self) {
        self.means.watched.clear();
        self.means.blind = false;
    }

    /// Of this process nobody dies alone, so nobody need be watched.
    fn watch(&mut self, (): (), member: usize) {
        let seen = self.means.seen.take().filter(|seen| seen.member == member);
        self.means.watched.extend(seen);
    }

    fn next_watched(&mut self, (): (), member: usize) -> Option<usize> {
        let watched = &mut self.means.watched;
        let stirs = |watched: &Watched| watched.stirs && watched.member >= member;
        let index = watched.iter().position(stirs)?;
        let gone = watched.swap_remove(index);
        self.means.gone = Some((gone.member, gone.id));
        Some(gone.member)
    }
}
