//! What handles and passes of one hall have in common: how passages are run.

use std::{
    fs::File,
    iter,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::PathBuf,
    sync::{
        Mutex,
        atomic::Ordering::{Relaxed, SeqCst},
    },
    time::{Duration, SystemTime},
};

use hallpass_algorithms::{
    Next,
    halls::processes::{self as machine, Line, Meaning, Phase, Role, Tag},
};
use hallpass_common::{MAX_SLOTS, command_line};
use rustix::fs::Mode;

use crate::{
    Error,
    file::{HALL, MAX_REGISTRATIONS, Words, open_in},
    member::{self, Member},
    pool::Pool,
    seat::{self, End, Limit, Seat},
    sys,
    wire::{self, Reached},
    wires::{Wires, lock},
};

/// A hall that is open.
pub(crate) struct Inner {
    pub name: String,
    pub path: PathBuf,
    dir: OwnedFd,
    /// Who may open its wires.
    mode: Mode,
    pub words: Words,
    pool: Pool,
    wires: Wires,
    command: Mutex<Option<String>>,
}

/// What a passage holds, and how it came by it.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    pub slot: usize,
    /// It waited, and leaves by line X2.
    pub queued: bool,
}

impl Inner {
    /// The hall in this directory.
    pub(crate) fn open(name: &str, path: PathBuf, dir: OwnedFd) -> Result<Self, Error> {
        let file_path = path.join(HALL);
        let file: File =
            open_in(dir.as_fd(), HALL).map_err(Error::system("open", &file_path))?.into();
        let words = Words::open(&file, &file_path)?;
        let stat = rustix::fs::fstat(&file).map_err(Error::system("look at", &file_path))?;
        // Now, and not for the first time in a child that was forked while another thread did.
        let _ = (sys::generation(), command_line());
        Ok(Inner {
            name: name.into(),
            path,
            mode: Mode::from_raw_mode(stat.st_mode & 0o666),
            words,
            pool: Pool::new(),
            wires: Wires::new(dir.try_clone().ok()),
            dir,
            command: Mutex::new(None),
        })
    }

    pub(crate) fn dir(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }

    /// How many slots there are; none once it is closed.
    pub(crate) fn size(&self) -> usize {
        usize::try_from(self.words.size().load(SeqCst)).map_or(0, |k| k.min(MAX_SLOTS))
    }

    /// How many records have been in use.
    pub(crate) fn people(&self) -> usize {
        self.words.people().load(SeqCst).clamp(0, MAX_REGISTRATIONS as i64) as usize
    }

    pub(crate) fn card(&self, member: usize) -> machine::Card {
        machine::Card::unpack(self.words.card(member).load(SeqCst))
    }

    /// Who has this slot, or is offered it.
    pub(crate) fn holder(&self, slot: usize) -> Option<usize> {
        self.owner_of(slot, self.words.slot(slot).load(SeqCst))
    }

    /// Who has a slot with this word, or is offered it.
    fn owner_of(&self, slot: usize, word: i64) -> Option<usize> {
        let tag = Tag::unpack(word)?;
        let known = tag.process < MAX_REGISTRATIONS;
        (known && tag.means(slot, self.card(tag.process)) != Meaning::Void).then_some(tag.process)
    }

    /// Says what members that are not in use, and those that are made from now on, run.
    pub(crate) fn describe_as(&self, command: &str) {
        if let Some(mut own) = lock(&self.command) {
            *own = Some(command.into());
        }
        let idle: Vec<_> = iter::from_fn(|| self.pool.take()).collect();
        for member in idle {
            if member.is_ours() {
                self.words.set_command(member.index, command);
                self.pool.give(member);
            }
        }
    }

    /// A place at the board: one that is not in use, or a new one.
    #[inline(always)]
    pub(crate) fn member(&self) -> Result<Box<Member>, Error> {
        loop {
            match self.pool.take() {
                Some(member) if member.is_ours() => return Ok(member),
                Some(inherited) => drop(inherited),
                None => return self.new_member(),
            }
        }
    }

    #[cold]
    fn new_member(&self) -> Result<Box<Member>, Error> {
        let Inner { name, path, wires, mode, .. } = self;
        let hall = member::Hall { name, path, dir: self.dir(), wires, mode: *mode };
        let member = Member::join(&self.words, hall)?;
        let own = lock(&self.command).and_then(|own| own.clone());
        self.words.set_command(member.index, own.as_deref().unwrap_or(command_line()));
        Ok(Box::new(member))
    }

    /// Puts a member back.
    #[inline(always)]
    pub(crate) fn give_back(&self, member: Box<Member>) {
        if member.is_lent() {
            member.leave(&self.words, self.dir(), &self.wires);
        } else {
            self.pool.give(member);
        }
    }

    /// A member's view of the board.
    #[inline(always)]
    pub(crate) fn seat<'a>(&'a self, member: &'a mut Member, limit: Limit<'a>) -> Seat<'a> {
        member.seat(&self.words, self.dir(), &self.wires, limit)
    }

    /// One passage's way in.
    #[inline(always)]
    pub(crate) fn enter(&self, limit: Limit<'_>) -> Result<(Box<Member>, Held), Error> {
        let mut member = self.member()?;
        match self.grab(&mut member) {
            Some(held) => Ok((member, held)),
            None => self.wait(member, limit),
        }
    }

    /// Takes a slot if all is quiet.
    #[inline(always)]
    fn grab(&self, member: &mut Member) -> Option<Held> {
        let x = member.number;
        let held = first_lines(&mut self.seat(member, Limit::Now), x)?;
        // ORDERING: relaxed, for it is only shown to people.
        self.words.since(member.index).store(now_roughly(), Relaxed);
        Some(held)
    }

    /// The way in of one that has to wait.
    #[inline(never)]
    pub(crate) fn wait(
        &self,
        mut member: Box<Member>,
        limit: Limit<'_>,
    ) -> Result<(Box<Member>, Held), Error> {
        self.words.since(member.index).store(now(), SeqCst);
        let end = {
            let line = Line::E6 { x: member.number };
            self.seat(&mut member, limit).go(line)
        };
        self.settle(&mut member);
        match end {
            End::In(slot) => {
                self.words.since(member.index).store(now(), SeqCst);
                Ok((member, Held { slot, queued: true }))
            }
            End::Out => {
                self.give_back(member);
                Err(if self.size() == 0 { Error::Closed } else { Error::NoPermits })
            }
            End::Lost => {
                // Whatever its card says, it is taken for dead once its wire is gone.
                member.abandon(&self.wires);
                let path = self.path.join(HALL);
                Err(Error::Damaged { path, why: "its words make no sense".into() })
            }
        }
    }

    /// A passage's way out.
    #[inline(always)]
    pub(crate) fn exit(&self, mut member: Box<Member>, held: Held) {
        if !member.is_ours() {
            return;
        }
        if held.queued {
            let number = self.card(member.index).number;
            self.serve(&mut member, Line::X2 { number, j: held.slot });
        } else if last_lines(&mut self.seat(&mut member, Limit::Now), held.slot) {
            self.serve(&mut member, Line::S1 { role: Role::Leaver });
        }
        self.give_back(member);
    }

    /// Goes on from a line of one that does not wait.
    #[inline(never)]
    pub(crate) fn serve(&self, member: &mut Member, line: seat::Place) {
        let _ = self.seat(member, Limit::Now).go(line);
        self.settle(member);
    }

    /// Brings what is known of a member up to date when it no longer waits.
    fn settle(&self, member: &mut Member) {
        member.number = self.card(member.index).number;
        member.rest();
    }

    /// Frees slots whose tags mean nothing any more, so that they come before larger ones again. (What
    /// is void stays void, so this may be done at any time.)
    pub(crate) fn tidy(&self) {
        for slot in 0..MAX_SLOTS {
            let word = self.words.slot(slot).load(SeqCst);
            if word != machine::FREE && self.owner_of(slot, word).is_none() {
                let _ = self.words.slot(slot).compare_exchange(word, machine::FREE, SeqCst, SeqCst);
            }
        }
    }

    /// Rings for everybody who waits.
    pub(crate) fn ring_all(&self) {
        for member in (0..self.people()).filter(|&i| self.card(i).phase == Phase::Waiting) {
            let id = self.words.owner(member).load(SeqCst);
            if id != wire::NOBODY {
                self.wires.ring(self.dir(), id);
            }
        }
    }

    /// Removes wires that nobody has and no record names, if they have been there for a while: those of
    /// processes that died before they were members.
    pub(crate) fn sweep(&self) {
        let Ok(entries) = std::fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.strip_prefix("wire."));
            let Some(id) = id.and_then(|id| u64::from_str_radix(id, 16).ok()) else { continue };
            let id = id as i64;
            let known = (0..self.people()).any(|i| self.words.owner(i).load(SeqCst) == id);
            let age = entry.metadata().ok().and_then(|m| m.modified().ok()?.elapsed().ok());
            let old = age.is_some_and(|age| age > Duration::from_secs(60));
            if !known && old && matches!(wire::reach(self.dir(), id), Reached::Dead) {
                wire::remove(self.dir(), id);
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        for member in self.pool.drain() {
            member.leave(&self.words, self.dir.as_fd(), &self.wires);
        }
    }
}

/// Lines E1 to E5: a slot, if all is quiet and one is free. Written out so that each call of `step` is no
/// more than its line.
#[inline(always)]
fn first_lines(seat: &mut Seat<'_>, x: machine::Number) -> Option<Held> {
    let me = seat.me;
    let Next::Goto(look @ Line::E2 { .. }) = machine::step(seat, me, Line::E1 { x }) else {
        return None;
    };
    let Next::Goto(Line::E3 { x }) = machine::step(seat, me, look) else { return None };
    let Next::Goto(mut look) = machine::step(seat, me, Line::E3 { x }) else { return None };
    while let Line::E4 { x, k, j } = look {
        match machine::step(seat, me, Line::E4 { x, k, j }) {
            Next::Goto(Line::E5 { x, k, j }) => {
                match machine::step(seat, me, Line::E5 { x, k, j }) {
                    Next::Enter(_) => return Some(Held { slot: j, queued: false }),
                    Next::Goto(line) => look = line,
                    _ => return None,
                }
            }
            Next::Goto(line) => look = line,
            _ => return None,
        }
    }
    None
}

/// Lines X1, X4 and X5: says whether somebody may wait.
#[inline(always)]
fn last_lines(seat: &mut Seat<'_>, slot: usize) -> bool {
    let me = seat.me;
    let _ = machine::step(seat, me, Line::X1 { j: slot });
    let Next::Goto(Line::X5 { c }) = machine::step(seat, me, Line::X4) else { return true };
    !matches!(machine::step(seat, me, Line::X5 { c }), Next::Leave)
}

/// Nanoseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// The same, to a few milliseconds, in a few nanoseconds.
#[inline]
fn now_roughly() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    now.tv_sec.wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec)
}
