//! The hall, and everything one calls.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use hallpass_algorithms::{
    Next, Op, Word,
    hall::{
        self as machine, Barging, Count, FREE, Fair, Job, Line, MOST_SLOTS, Manner, Pool, Terms,
    },
};

use crate::{
    builder::Builder,
    error::{AcquireError, BuildError, ResizeError, TryAcquireError},
    future::{Acquire, AcquireMany, AcquireManyOwned, AcquireOwned},
    names::Names,
    paper::PaperHall,
    pass::{One, OwnedPass, OwnedPasses, Pass, Passes, Several, Slots},
    patience::Limit,
    seat::{End, Memory, Quick, Seat, Who},
    sync::{access, thread},
    waiter::{Bell, Node},
    watch::{Outcome, Watch},
};

/// The most slots a hall can have.
pub const MAX_SLOTS: usize = machine::MOST;

/// At most k at once, each with a slot of its own.
///
/// See the [crate's page](crate) for what it promises.
pub struct Hall {
    memory: Memory,
    most: u32,
    kind: Kind,
    /// The numbers of slots that do not fit into the word. Allocated when first needed, so that a
    /// static can have many.
    names: OnceLock<Names>,
    pub(crate) watch: Watch,
}

/// How slots are given out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// All of them fit into the word; first in, first enabled. What most people have, and what the
    /// fast path is made for.
    Fair,
    /// All of them fit into the word; who comes may overtake.
    Barging,
    /// The word counts them, their numbers lie beside it; first in, first enabled.
    FairWide,
    /// The word counts them; who comes may overtake.
    BargingWide,
}

/// Calls a method for the kind that the hall is.
macro_rules! by_kind {
    ($hall:expr, $object:ident . $method:ident ($($argument:expr),*)) => {
        match $hall.kind {
            Kind::Fair => $object.$method::<machine::Slots, Fair>($($argument),*),
            Kind::Barging => $object.$method::<machine::Slots, Barging>($($argument),*),
            Kind::FairWide => $object.$method::<Count, Fair>($($argument),*),
            Kind::BargingWide => $object.$method::<Count, Barging>($($argument),*),
        }
    };
}

macro_rules! constructor {
    ($($const:tt)?) => {
        /// A hall with `k` slots: first in, first enabled.
        ///
        /// # Panics
        /// If `k` is 0 or more than [`MAX_SLOTS`]. [`Hall::builder`] returns an error instead.
        ///
        /// ```
        /// # use hallpass_runtime::Hall;
        /// static GPUS: Hall = Hall::new(4);
        /// let pass = GPUS.acquire();
        /// assert_eq!(pass.slot(), 0);
        /// ```
        pub $($const)? fn new(k: usize) -> Self {
            assert!(k > 0, "a hall with no slots lets nobody in");
            assert!(k <= MAX_SLOTS, "a hall has at most 65535 slots");
            Hall::sized(k, if k > MOST_SLOTS { k } else { MOST_SLOTS }, false)
        }

        /// A hall with `k` slots that may become `most`.
        pub(crate) $($const)? fn sized(k: usize, most: usize, barging: bool) -> Self {
            let wide = most > MOST_SLOTS;
            let free = if wide { k as Word } else { (1 << k) - 1 };
            let kind = match (wide, barging) {
                (false, false) => Kind::Fair,
                (false, true) => Kind::Barging,
                (true, false) => Kind::FairWide,
                (true, true) => Kind::BargingWide,
            };
            let memory = Memory::new(free, Terms::new(k as u16).pack());
            Hall { memory, most: most as u32, kind, names: OnceLock::new(), watch: Watch::new() }
        }
    };
}

/// Making one.
impl Hall {
    #[cfg(not(loom))]
    constructor!(const);
    #[cfg(loom)]
    constructor!();

    /// A hall with `k` slots and more to choose.
    pub fn builder(k: usize) -> Builder {
        Builder::new(k)
    }

    /// A hall that runs a paper's algorithm for `n` threads of which `k` may be in. `hallpass lab list`
    /// shows the algorithms and what they promise.
    ///
    /// These have no way to give up, so the hall has only [`acquire`](PaperHall::acquire).
    ///
    /// ```
    /// # use hallpass_runtime::Hall;
    /// let hall = Hall::with("choi", 16, 4)?;
    /// assert!(hall.acquire().slot() < 4);
    /// # Ok::<(), hallpass_runtime::BuildError>(())
    /// ```
    pub fn with(algorithm: &str, n: usize, k: usize) -> Result<PaperHall, BuildError> {
        PaperHall::new(algorithm, n, k)
    }
}

/// Getting in, blocking.
impl Hall {
    /// Waits for a pass. First in, first enabled: nobody who comes later is given one before.
    ///
    /// # Panics
    /// If the hall is [closed](Hall::close). Where that can happen, use
    /// [`blocking_acquire`](Hall::blocking_acquire).
    #[inline]
    pub fn acquire(&self) -> Pass<'_> {
        match self.blocking_acquire() {
            Ok(pass) => pass,
            Err(error) => refused(error),
        }
    }

    /// Waits for a pass, or until the hall is closed.
    #[inline]
    pub fn blocking_acquire(&self) -> Result<Pass<'_>, AcquireError> {
        match self.one(Limit::Never) {
            Some(slot) => Ok(Pass(One { hall: self, slot })),
            None => Err(AcquireError::Closed),
        }
    }

    /// Takes a pass if one is free and nobody waits for it: this does not overtake.
    #[inline]
    pub fn try_acquire(&self) -> Result<Pass<'_>, TryAcquireError> {
        match self.one(Limit::Now) {
            Some(slot) => Ok(Pass(One { hall: self, slot })),
            None => Err(self.why_not()),
        }
    }

    /// Waits for a pass, for at most this long. Who gives up leaves the queue; its place is the next
    /// one's.
    pub fn try_acquire_for(&self, time: Duration) -> Result<Pass<'_>, TryAcquireError> {
        match self.one(Limit::after(time)) {
            Some(slot) => Ok(Pass(One { hall: self, slot })),
            None => Err(self.why_not()),
        }
    }

    /// Waits for a pass, until then at most.
    pub fn try_acquire_until(&self, until: Instant) -> Result<Pass<'_>, TryAcquireError> {
        match self.one(Limit::At(until)) {
            Some(slot) => Ok(Pass(One { hall: self, slot })),
            None => Err(self.why_not()),
        }
    }

    /// Waits for `m` passes at once. Requests for many wait in the same queue as those for one, and
    /// nobody overtakes them: while the first in line needs more than is free, what is free stays
    /// free for it.
    ///
    /// # Errors
    /// If the hall is closed, or has fewer than `m` slots.
    pub fn acquire_many(&self, m: usize) -> Result<Passes<'_>, AcquireError> {
        let need = self.need(m)?;
        let slots = self.several(need, Limit::Never).ok_or(AcquireError::Closed)?;
        Ok(Passes(Several { hall: self, slots }))
    }

    /// Takes `m` passes if they are free and nobody waits.
    pub fn try_acquire_many(&self, m: usize) -> Result<Passes<'_>, TryAcquireError> {
        self.try_acquire_many_within(m, Limit::Now)
    }

    /// Waits for `m` passes at once, for at most this long.
    pub fn try_acquire_many_for(
        &self,
        m: usize,
        time: Duration,
    ) -> Result<Passes<'_>, TryAcquireError> {
        self.try_acquire_many_within(m, Limit::after(time))
    }

    fn try_acquire_many_within(
        &self,
        m: usize,
        limit: Limit,
    ) -> Result<Passes<'_>, TryAcquireError> {
        let need = self.need(m)?;
        let slots = self.several(need, limit).ok_or_else(|| self.why_not())?;
        Ok(Passes(Several { hall: self, slots }))
    }

    /// [`acquire`](Hall::acquire), with a pass that shares the hall.
    ///
    /// # Panics
    /// If the hall is closed.
    pub fn acquire_owned(self: &Arc<Self>) -> OwnedPass {
        match self.one(Limit::Never) {
            Some(slot) => OwnedPass(One { hall: Arc::clone(self), slot }),
            None => refused(AcquireError::Closed),
        }
    }

    /// [`try_acquire`](Hall::try_acquire), with a pass that shares the hall.
    pub fn try_acquire_owned(self: &Arc<Self>) -> Result<OwnedPass, TryAcquireError> {
        match self.one(Limit::Now) {
            Some(slot) => Ok(OwnedPass(One { hall: Arc::clone(self), slot })),
            None => Err(self.why_not()),
        }
    }

    /// [`acquire_many`](Hall::acquire_many), with passes that share the hall.
    pub fn acquire_many_owned(self: &Arc<Self>, m: usize) -> Result<OwnedPasses, AcquireError> {
        let need = self.need(m)?;
        let slots = self.several(need, Limit::Never).ok_or(AcquireError::Closed)?;
        Ok(OwnedPasses(Several { hall: Arc::clone(self), slots }))
    }
}

/// Getting in, as a task.
impl Hall {
    /// A pass, as a future. It takes its place in the queue when it is first polled, and gives it up
    /// when it is dropped. See the [crate's page](crate) on what becomes of a future that is given a
    /// pass and not polled again.
    pub fn acquire_async(&self) -> Acquire<'_> {
        Acquire::new(self)
    }

    /// A pass that shares the hall, as a future.
    pub fn acquire_owned_async(self: &Arc<Self>) -> AcquireOwned {
        AcquireOwned::new(Arc::clone(self))
    }

    /// `m` passes at once, as a future.
    pub fn acquire_many_async(&self, m: usize) -> AcquireMany<'_> {
        AcquireMany::new(self, m)
    }

    /// `m` passes at once that share the hall, as a future.
    pub fn acquire_many_owned_async(self: &Arc<Self>, m: usize) -> AcquireManyOwned {
        AcquireManyOwned::new(Arc::clone(self), m)
    }
}

/// Looking, and changing the terms.
impl Hall {
    /// How many slots there are.
    pub fn slots(&self) -> usize {
        self.terms().k.into()
    }

    /// How many passes are free now. Others may be gone before one takes them.
    pub fn available(&self) -> usize {
        let word = access(&self.memory.word.0, Op::Read);
        let owed = self.terms().owed;
        let count = if self.is_wide() { Count::count } else { machine::Slots::count };
        count(word & FREE).saturating_sub(count(owed)) as usize
    }

    /// How many wait now.
    pub fn waiting(&self) -> usize {
        machine::waiters(access(&self.memory.word.0, Op::Read)) as usize
    }

    /// Lets nobody in any more. Who waits is turned away; who is in stays until it drops its pass.
    pub fn close(&self) {
        self.manage(Job::Close);
        self.watch.closed();
    }

    /// Whether it is closed.
    pub fn is_closed(&self) -> bool {
        self.terms().closed
    }

    /// Gives the hall `k` slots, now. With more, those who wait get in at once. With fewer, whoever is
    /// in stays; nobody gets in before fewer than `k` are, and from then on slots are below `k`.
    ///
    /// A request for more slots than there are any more waits until there are again, and those behind
    /// it wait with it.
    ///
    /// ```
    /// # use hallpass_runtime::Hall;
    /// let hall = Hall::new(2);
    /// let passes = hall.acquire_many(2)?;
    /// hall.resize(3)?;
    /// assert_eq!(hall.acquire().slot(), 2);
    /// hall.resize(1)?;
    /// assert!(hall.try_acquire().is_err()); // two are in
    /// drop(passes);
    /// assert_eq!((hall.acquire().slot(), hall.slots()), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resize(&self, k: usize) -> Result<(), ResizeError> {
        let most = self.most as usize;
        if k == 0 || k > most {
            return Err(ResizeError { asked: k, most });
        }
        self.manage(Job::Resize(k as u16));
        self.watch.resized(k);
        Ok(())
    }

    fn manage(&self, job: Job) {
        let mut seat = Seat::new(&self.memory, Limit::Never);
        by_kind!(self, seat.work(Line::L5 { job }));
    }

    fn terms(&self) -> Terms {
        Terms::unpack(access(&self.memory.terms, Op::Read))
    }

    fn why_not(&self) -> TryAcquireError {
        if self.is_closed() { TryAcquireError::Closed } else { TryAcquireError::NoPermits }
    }

    /// `m` as the machine has it, if there are so many slots.
    pub(crate) fn need(&self, m: usize) -> Result<u32, AcquireError> {
        let slots = self.slots();
        if m > slots {
            return Err(AcquireError::TooMany { asked: m, slots });
        }
        Ok(m as u32)
    }
}

/// The machine.
impl Hall {
    /// A slot, if one comes within the limit.
    #[inline(always)]
    fn one(&self, limit: Limit) -> Option<u32> {
        if self.kind != Kind::Fair {
            return self.one_of_its_kind(limit);
        }
        match self.grab::<machine::Slots, Fair>(1) {
            Some(take) => Some(take.trailing_zeros()),
            None => self.wait::<machine::Slots, Fair>(1, limit).map(Word::trailing_zeros),
        }
    }

    #[inline(never)]
    fn one_of_its_kind(&self, limit: Limit) -> Option<u32> {
        let take = self.grab_any(1).or_else(|| by_kind!(self, self.wait(1, limit)))?;
        Some(self.slot_of(take))
    }

    /// Several slots, if they come within the limit.
    fn several(&self, need: u32, limit: Limit) -> Option<Slots> {
        let take = self.grab_any(need).or_else(|| by_kind!(self, self.wait(need, limit)))?;
        Some(self.slots_of(take))
    }

    fn is_wide(&self) -> bool {
        matches!(self.kind, Kind::FairWide | Kind::BargingWide)
    }

    /// Which slot a grant of one stands for.
    #[inline]
    pub(crate) fn slot_of(&self, take: Word) -> u32 {
        if self.is_wide() { self.names().take() as u32 } else { take.trailing_zeros() }
    }

    /// Which slots a grant stands for.
    pub(crate) fn slots_of(&self, take: Word) -> Slots {
        if !self.is_wide() {
            return Slots::Mask(take);
        }
        let mut list: Box<[u32]> = (0..take).map(|_| self.names().take() as u32).collect();
        list.sort_unstable();
        Slots::List(list)
    }

    #[inline]
    fn names(&self) -> &Names {
        self.names.get_or_init(|| Names::new(self.most as usize))
    }

    /// Lines 1 and 2: one look, and one access that takes.
    #[inline(always)]
    fn grab<P: Pool, M: Manner>(&self, need: u32) -> Option<Word> {
        let mut quick = Quick { word: &self.memory.word.0, need };
        let Next::Goto(look) = machine::step::<P, M, _>(&mut quick, (), Line::L1) else {
            return None;
        };
        let Line::L2 { .. } = look else { return None };
        match machine::step::<P, M, _>(&mut quick, (), look) {
            Next::Enter(Line::X1 { take }) => Some(take),
            _ => None,
        }
    }

    /// [`grab`](Hall::grab), of whatever kind.
    pub(crate) fn grab_any(&self, need: u32) -> Option<Word> {
        if need == 0 { Some(0) } else { by_kind!(self, self.grab(need)) }
    }

    /// From line 1 on.
    #[cold]
    fn wait<P: Pool, M: Manner>(&self, need: u32, limit: Limit) -> Option<Word> {
        let free = access(&self.memory.word.0, Op::Read) & FREE;
        if limit.is_now() && P::choose(free, 0, need).is_none() {
            return None;
        }
        // Who does not wait is not told of.
        let waiting = (!limit.is_now()).then(|| self.watch.queues(need));
        let node = Node::new(need, Some(Bell::Thread(thread::current())));
        let take = Seat::new(&self.memory, limit).wait::<P, M>(&node);
        if let Some(waiting) = waiting {
            let outcome = match take {
                Some(_) => Outcome::Granted,
                None if self.is_closed() => Outcome::TurnedAway,
                None => Outcome::TimedOut,
            };
            self.watch.ends(waiting, outcome);
        }
        take
    }

    /// Runs the machine for a node.
    ///
    /// # Safety
    /// As [`Seat::run`].
    #[allow(unsafe_code)]
    pub(crate) unsafe fn run(
        &self,
        node: &Node,
        limit: Limit,
        at: Line<Who>,
        stops: impl Fn(&Line<Who>) -> bool,
    ) -> End {
        let mut seat = Seat::new(&self.memory, limit);
        // SAFETY: the caller's promise.
        unsafe { by_kind!(self, seat.run(node.into(), at, stops)) }
    }

    /// Has another task woken for a node that is in the queue, or was.
    pub(crate) fn change_bell(&self, node: &Node, bell: Bell) {
        let mut seat = Seat::new(&self.memory, Limit::Never);
        by_kind!(self, seat.change_bell(node, bell));
    }

    /// Gives a slot back.
    #[inline(always)]
    pub(crate) fn release(&self, slot: u32) {
        if self.kind == Kind::Fair {
            self.put::<machine::Slots, Fair>(1 << slot);
        } else {
            self.release_of_its_kind(slot);
        }
    }

    #[inline(never)]
    fn release_of_its_kind(&self, slot: u32) {
        if self.is_wide() {
            self.names().put(slot as usize);
            self.put_any(1);
        } else {
            self.put_any(1 << slot);
        }
    }

    pub(crate) fn release_many(&self, slots: &Slots) {
        match slots {
            Slots::Mask(0) => {}
            &Slots::Mask(mask) => self.put_any(mask),
            Slots::List(list) => {
                list.iter().for_each(|&slot| self.names().put(slot as usize));
                self.put_any(list.len() as Word);
            }
        }
    }

    /// Gives back what was granted, names apart.
    pub(crate) fn put_any(&self, take: Word) {
        by_kind!(self, self.put(take));
    }

    /// Line X1, and handing on if somebody waits.
    #[inline(always)]
    fn put<P: Pool, M: Manner>(&self, take: Word) {
        let mut quick = Quick { word: &self.memory.word.0, need: 0 };
        if let Next::Goto(Line::L5 { job }) =
            machine::step::<P, M, _>(&mut quick, (), Line::X1 { take })
        {
            self.hand_on::<P, M>(job);
        }
    }

    #[cold]
    fn hand_on<P: Pool, M: Manner>(&self, job: Job) {
        let mut seat = Seat::new(&self.memory, Limit::Never);
        seat.work::<P, M>(Line::L5 { job });
        if seat.woke_a_thread {
            // Let it run, if it has to wait for this core. Otherwise this thread would come back, find
            // it still asleep over its slot, and queue up behind it; soon everybody would queue, and
            // each pass would cost a sleep and a wake-up. So the queue dissolves.
            thread::yield_now();
        }
    }
}

#[cold]
fn refused(error: AcquireError) -> ! {
    panic!("{error}; `blocking_acquire` returns this instead of panicking")
}

impl fmt::Debug for Hall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hall")
            .field("slots", &self.slots())
            .field("available", &self.available())
            .field("waiting", &self.waiting())
            .field("closed", &self.is_closed())
            .finish()
    }
}
