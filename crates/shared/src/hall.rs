//! The hall itself.

use std::{
    fmt,
    fs::File,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{
            AtomicBool,
            Ordering::{Relaxed, SeqCst},
        },
    },
    time::{Duration, Instant, SystemTime},
};

use hallpass_algorithms::{
    Next,
    shared::{self as machine, Board, Line, Meaning, Role, Stand, Tag},
};
use rustix::fs::Mode;

use crate::{
    Error,
    file::{MOST_SLOTS, Words},
    future::Acquire,
    member::{self, Member, Pool},
    pass::{OwnedSharedPass, SharedPass},
    place::Place,
    seat::{self, End, Limit, Seat},
    status::Status,
};

/// A hall that processes share: at most k are in at once, each with its own slot, in the order in which
/// they came, whoever is killed.
///
/// Clones are one handle. What a process needs to wait is kept for its next passage until the last
/// clone is dropped.
#[derive(Clone)]
pub struct SharedHall {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    name: String,
    path: PathBuf,
    dir: OwnedFd,
    mode: Mode,
    pub(crate) words: Words,
    pool: Pool,
    command: Mutex<Option<String>>,
}

/// What a passage holds, and how it came by it.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    pub slot: usize,
    /// It waited, and leaves by line X2.
    pub queued: bool,
}

impl SharedHall {
    /// Opens the hall `name` of this user, or makes it with `k` slots.
    ///
    /// # Errors
    /// If it has another number of slots, and whatever else [`Error`] lists.
    pub fn open(name: &str, k: usize) -> Result<SharedHall, Error> {
        Place::user()?.open(name, k)
    }

    /// The hall in this directory.
    pub(crate) fn in_dir(name: &str, path: PathBuf, dir: OwnedFd) -> Result<SharedHall, Error> {
        use rustix::fs::{OFlags, openat};
        let file_path = path.join("hall");
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file: File = openat(&dir, "hall", flags, Mode::empty())
            .map_err(Error::system("open", &file_path))?
            .into();
        let words = Words::open(&file, &file_path)?;
        let stat = rustix::fs::fstat(&file).map_err(Error::system("look at", &file_path))?;
        Ok(SharedHall {
            inner: Arc::new(Inner {
                name: name.into(),
                path,
                dir,
                mode: Mode::from_raw_mode(stat.st_mode & 0o666),
                words,
                pool: Pool::new(),
                command: Mutex::new(None),
            }),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// How many slots it has; none once it is closed.
    pub fn slots(&self) -> usize {
        self.inner.size()
    }

    /// How many slots are free, at this moment and in vain.
    pub fn available(&self) -> usize {
        let words = &self.inner.words;
        (0..self.slots()).filter(|&slot| self.inner.holder(words, slot).is_none()).count()
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.status().queue.len()
    }

    /// Waits its turn.
    ///
    /// # Errors
    /// [`Error::Closed`], and what can go wrong with the first passage of a process: no room for another
    /// participant, on the disk or among the open files.
    #[inline(always)]
    pub fn acquire(&self) -> Result<SharedPass<'_>, Error> {
        self.inner.enter(Limit::Never).map(|(member, held)| SharedPass::new(self, member, held))
    }

    /// A slot, if one is free and nobody waits.
    ///
    /// # Errors
    /// [`Error::NoPermits`] otherwise, and those of [`acquire`](SharedHall::acquire).
    pub fn try_acquire(&self) -> Result<SharedPass<'_>, Error> {
        self.inner.enter(Limit::Now).map(|(member, held)| SharedPass::new(self, member, held))
    }

    /// Waits its turn for so long.
    ///
    /// # Errors
    /// [`Error::NoPermits`] if the time is over, and those of [`acquire`](SharedHall::acquire).
    pub fn try_acquire_for(&self, time: Duration) -> Result<SharedPass<'_>, Error> {
        match Instant::now().checked_add(time) {
            Some(until) => self.try_acquire_until(until),
            None => self.acquire(),
        }
    }

    /// Waits its turn until then.
    ///
    /// # Errors
    /// [`Error::NoPermits`] if the time is over, and those of [`acquire`](SharedHall::acquire).
    pub fn try_acquire_until(&self, until: Instant) -> Result<SharedPass<'_>, Error> {
        let entered = self.inner.enter(Limit::Until(until));
        entered.map(|(member, held)| SharedPass::new(self, member, held))
    }

    /// [`acquire`](SharedHall::acquire) with a pass that does not borrow the hall.
    ///
    /// # Errors
    /// Those of [`acquire`](SharedHall::acquire).
    pub fn acquire_owned(&self) -> Result<OwnedSharedPass, Error> {
        self.owned(self.inner.enter(Limit::Never))
    }

    /// [`try_acquire`](SharedHall::try_acquire) with a pass that does not borrow the hall.
    ///
    /// # Errors
    /// Those of [`try_acquire`](SharedHall::try_acquire).
    pub fn try_acquire_owned(&self) -> Result<OwnedSharedPass, Error> {
        self.owned(self.inner.enter(Limit::Now))
    }

    /// Waits its turn in a task. While it has to wait, a thread waits in its place.
    pub fn acquire_async(&self) -> Acquire {
        Acquire::new(self.clone())
    }

    /// Waits its turn until `given_up` is set and the bell rung that `bell` gets.
    pub(crate) fn acquire_unless(
        &self,
        given_up: &AtomicBool,
        bell: impl FnOnce(OwnedFd),
    ) -> Result<OwnedSharedPass, Error> {
        let member = self.inner.member()?;
        let own = member.lifeline().try_clone_to_owned();
        bell(own.map_err(Error::system("wait at", self.path()))?);
        self.owned(self.inner.wait(member, Limit::Unless(given_up)))
    }

    fn owned(&self, entered: Result<(Box<Member>, Held), Error>) -> Result<OwnedSharedPass, Error> {
        entered.map(|(member, held)| OwnedSharedPass::new(self.clone(), member, held))
    }

    /// Changes the number of slots while the hall is in use. Who holds a slot that is no more keeps it
    /// until it leaves.
    ///
    /// # Errors
    /// [`Error::BadSlots`], [`Error::Closed`], and those of [`acquire`](SharedHall::acquire).
    pub fn resize(&self, k: usize) -> Result<(), Error> {
        check_slots(k)?;
        // Joined first: what is begun then is finished.
        let mut member = self.inner.member()?;
        let size = self.inner.words.size();
        let old = size.load(SeqCst);
        if old == 0 || size.compare_exchange(old, k as i64, SeqCst, SeqCst) == Err(0) {
            self.inner.pool.give(member);
            return Err(Error::Closed);
        }
        let serve = Line::S1 { role: Role::Leaver };
        let _ = member.seat(&self.inner.words, self.inner.dir.as_fd(), Limit::Now).go(serve);
        self.inner.pool.give(member);
        Ok(())
    }

    /// Lets nobody in any more: who waits, and who comes, gets [`Error::Closed`].
    pub fn close(&self) {
        self.inner.words.size().store(0, SeqCst);
        let Ok(mut member) = self.inner.member() else { return };
        let mut seat = member.seat(&self.inner.words, self.inner.dir.as_fd(), Limit::Now);
        for other in 0..seat.members() {
            if self.inner.card(other).stand == Stand::Waiting {
                seat.ring(other);
            }
        }
        self.inner.pool.give(member);
    }

    /// Whether it is closed.
    pub fn is_closed(&self) -> bool {
        self.inner.size() == 0
    }

    /// Who holds and who waits, at this moment.
    pub fn status(&self) -> Status {
        Status::of(&self.inner)
    }

    /// Frees what the dead hold, which otherwise happens when somebody waits for it. Says how many of
    /// those who were known had died.
    ///
    /// # Errors
    /// Those of [`acquire`](SharedHall::acquire) but [`Error::Closed`].
    pub fn reap(&self) -> Result<usize, Error> {
        let mut member = self.inner.member()?;
        let mut seat = member.seat(&self.inner.words, self.inner.dir.as_fd(), Limit::Now);
        let mut found = 0;
        for other in 0..seat.members() {
            if let machine::Life::Dead(_) = seat.life(other) {
                let then = machine::Then::Serve(Role::Leaver);
                let _ = seat.go(Line::R1 { member: other, then });
                found += 1;
            }
        }
        self.inner.pool.give(member);
        self.inner.sweep();
        Ok(found)
    }

    /// What [`status`](SharedHall::status) shows as the command of this process, from its next passage
    /// on. Without it, its command line.
    pub fn describe_as(&self, command: &str) {
        let mut own = self.inner.command.lock().unwrap_or_else(PoisonError::into_inner);
        *own = Some(command.into());
    }
}

/// Whether a hall can have that many slots.
pub(crate) fn check_slots(k: usize) -> Result<(), Error> {
    if (1..=MOST_SLOTS).contains(&k) { Ok(()) } else { Err(Error::BadSlots { asked: k }) }
}

impl fmt::Debug for SharedHall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedHall")
            .field("path", &self.inner.path)
            .field("slots", &self.slots())
            .finish_non_exhaustive()
    }
}

impl Inner {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn dir(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }

    pub(crate) fn size(&self) -> usize {
        usize::try_from(self.words.size().load(SeqCst)).map_or(0, |k| k.min(MOST_SLOTS))
    }

    pub(crate) fn card(&self, member: usize) -> machine::Card {
        machine::Card::unpack(self.words.card(member).load(SeqCst))
    }

    /// Who has this slot, or is offered it.
    pub(crate) fn holder(&self, words: &Words, slot: usize) -> Option<usize> {
        let tag = Tag::unpack(words.slot(slot).load(SeqCst))?;
        let known = tag.member < crate::file::MOST_MEMBERS;
        (known && tag.means(slot, self.card(tag.member)) != Meaning::Void).then_some(tag.member)
    }

    /// A place at the board: one that is not in use, or a new one.
    #[inline(always)]
    fn member(&self) -> Result<Box<Member>, Error> {
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
        let hall = member::Hall {
            name: &self.name,
            path: &self.path,
            dir: self.dir.as_fd(),
            mode: self.mode,
        };
        let member = Member::join(&self.words, hall)?;
        // Not `lock`: in a forked child it may be locked for ever.
        let own = self.command.try_lock().ok().and_then(|own| own.clone());
        self.words.set_command(member.index, own.as_deref().unwrap_or(command_line()));
        Ok(Box::new(member))
    }

    /// One passage's way in.
    #[inline(always)]
    fn enter(&self, limit: Limit<'_>) -> Result<(Box<Member>, Held), Error> {
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
        let held = first_lines(&mut member.seat(&self.words, self.dir.as_fd(), Limit::Now), x)?;
        self.words.since(member.index).store(now_roughly(), Relaxed);
        Some(held)
    }

    #[inline(never)]
    fn wait(
        &self,
        mut member: Box<Member>,
        limit: Limit<'_>,
    ) -> Result<(Box<Member>, Held), Error> {
        self.words.since(member.index).store(now(), SeqCst);
        let line = Line::E6 { x: member.number };
        let end = member.seat(&self.words, self.dir.as_fd(), limit).go(line);
        member.number = self.card(member.index).number;
        match end {
            End::In(slot) => {
                self.words.since(member.index).store(now(), SeqCst);
                Ok((member, Held { slot, queued: true }))
            }
            End::Out => {
                self.pool.give(member);
                Err(if self.size() == 0 { Error::Closed } else { Error::NoPermits })
            }
            End::Lost => {
                let path = self.path.join("hall");
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
        } else if last_lines(&mut member.seat(&self.words, self.dir.as_fd(), Limit::Now), held.slot)
        {
            self.serve(&mut member, Line::S1 { role: Role::Leaver });
        }
        self.pool.give(member);
    }

    #[inline(never)]
    fn serve(&self, member: &mut Member, line: seat::Place) {
        let _ = member.seat(&self.words, self.dir.as_fd(), Limit::Now).go(line);
        member.number = self.card(member.index).number;
    }

    /// Removes wires that nobody has and no record names, if they have been there for a while: those of
    /// processes that died before they were members.
    fn sweep(&self) {
        let Ok(entries) = std::fs::read_dir(&self.path) else { return };
        let people = self.words.people().load(SeqCst).clamp(0, crate::file::MOST_MEMBERS as i64);
        for entry in entries.flatten() {
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.strip_prefix("wire."));
            let Some(id) = id.and_then(|id| u64::from_str_radix(id, 16).ok()) else { continue };
            let id = id as i64;
            let known =
                (0..people as usize).any(|member| self.words.owner(member).load(SeqCst) == id);
            let age = entry.metadata().ok().and_then(|m| m.modified().ok()?.elapsed().ok());
            let old = age.is_some_and(|age| age > Duration::from_secs(60));
            let dead = || matches!(crate::wire::reach(self.dir(), id), crate::wire::Reached::Dead);
            if !known && old && dead() {
                crate::wire::remove(self.dir(), id);
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        while let Some(member) = self.pool.take() {
            member.leave(&self.words, self.dir.as_fd());
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

/// This process's command line.
fn command_line() -> &'static str {
    static LINE: OnceLock<String> = OnceLock::new();
    LINE.get_or_init(|| {
        let words: Vec<_> =
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        words.join(" ")
    })
}
