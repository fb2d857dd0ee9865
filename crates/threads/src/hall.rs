//! The hall, and everything one calls.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use hallpass_algorithms::{
    Op, Word,
    halls::threads::{self as machine, Count, FREE, Job, MOST_SLOTS, Pool, Terms},
};

use crate::{
    builder::Builder,
    error::{AcquireError, BuildError, ResizeError, TryAcquireError},
    future::{Acquire, AcquireMany, AcquireManyOwned, AcquireOwned},
    names::Names,
    paper::PaperHall,
    pass::{One, OwnedPass, OwnedPasses, Pass, Passes, Several},
    passage::Kind,
    patience::Limit,
    seat::Memory,
    sync::access,
    watch::Watch,
};

/// The most slots a hall can have.
pub const MAX_SLOTS: usize = machine::MOST;

/// At most k at once, each with a slot of its own.
///
/// See the [crate's page](crate) for what it promises.
pub struct Hall {
    pub(crate) memory: Memory,
    pub(crate) max: u32,
    pub(crate) kind: Kind,
    /// The numbers of slots that do not fit into the word. Allocated when first needed, so that a
    /// static can have many.
    pub(crate) names: OnceLock<Names>,
    pub(crate) watch: Watch,
}

macro_rules! constructor {
    ($($const:tt)?) => {
        /// A hall with `k` slots: first in, first enabled.
        ///
        /// # Panics
        /// If `k` is 0 or more than [`MAX_SLOTS`]. [`Hall::builder`] returns an error instead.
        ///
        /// ```
        /// # use hallpass_threads::Hall;
        /// static GPUS: Hall = Hall::new(4);
        /// let pass = GPUS.acquire()?;
        /// assert_eq!(pass.slot(), 0);
        /// # Ok::<(), hallpass_threads::AcquireError>(())
        /// ```
        pub $($const)? fn new(k: usize) -> Self {
            assert!(k > 0, "a hall with no slots lets nobody in");
            assert!(k <= MAX_SLOTS, "a hall has at most 65535 slots");
            Hall::sized(k, if k > MOST_SLOTS { k } else { MOST_SLOTS }, false)
        }

        /// A hall with `k` slots that may become `max`.
        pub(crate) $($const)? fn sized(k: usize, max: usize, barging: bool) -> Self {
            let wide = max > MOST_SLOTS;
            let free = if wide { k as Word } else { (1 << k) - 1 };
            let kind = match (wide, barging) {
                (false, false) => Kind::Fair,
                (false, true) => Kind::Barging,
                (true, false) => Kind::FairWide,
                (true, true) => Kind::BargingWide,
            };
            let memory = Memory::new(free, Terms::new(k as u16).pack());
            Hall { memory, max: max as u32, kind, names: OnceLock::new(), watch: Watch::new() }
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
    /// # use hallpass_threads::Hall;
    /// let hall = Hall::with("choi", 16, 4)?;
    /// assert!(hall.acquire().slot() < 4);
    /// # Ok::<(), hallpass_threads::BuildError>(())
    /// ```
    pub fn with(algorithm: &str, n: usize, k: usize) -> Result<PaperHall, BuildError> {
        PaperHall::new(algorithm, n, k)
    }
}

/// Getting in, blocking.
impl Hall {
    /// Blocks until a slot is free, and takes it. Callers get in first in, first enabled, unless the hall
    /// is [barging](Builder::barging).
    ///
    /// # Errors
    /// [`AcquireError::Closed`] if the hall is [closed](Hall::close), or closes while the caller waits.
    #[inline]
    pub fn acquire(&self) -> Result<Pass<'_>, AcquireError> {
        match self.one(Limit::Never) {
            Some(slot) => Ok(Pass(One { hall: self, slot })),
            None => Err(AcquireError::Closed),
        }
    }

    /// Takes a pass if one is free and nobody waits for it: this does not overtake, unless the hall is
    /// [barging](Builder::barging). It does not wait for a pass, but it may wait for a moment until
    /// somebody has handed one out.
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
    pub fn acquire_owned(self: &Arc<Self>) -> Result<OwnedPass, AcquireError> {
        match self.one(Limit::Never) {
            Some(slot) => Ok(OwnedPass(One { hall: Arc::clone(self), slot })),
            None => Err(AcquireError::Closed),
        }
    }

    /// [`try_acquire`](Hall::try_acquire), with a pass that shares the hall.
    pub fn try_acquire_owned(self: &Arc<Self>) -> Result<OwnedPass, TryAcquireError> {
        match self.one(Limit::Now) {
            Some(slot) => Ok(OwnedPass(One { hall: Arc::clone(self), slot })),
            None => Err(self.why_not()),
        }
    }

    /// [`try_acquire_many`](Hall::try_acquire_many), with passes that share the hall.
    pub fn try_acquire_many_owned(
        self: &Arc<Self>,
        m: usize,
    ) -> Result<OwnedPasses, TryAcquireError> {
        let need = self.need(m)?;
        let slots = self.several(need, Limit::Now).ok_or_else(|| self.why_not())?;
        Ok(OwnedPasses(Several { hall: Arc::clone(self), slots }))
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
    /// # use hallpass_threads::Hall;
    /// let hall = Hall::new(2);
    /// let passes = hall.acquire_many(2)?;
    /// hall.resize(3)?;
    /// assert_eq!(hall.acquire()?.slot(), 2);
    /// hall.resize(1)?;
    /// assert!(hall.try_acquire().is_err()); // two are in
    /// drop(passes);
    /// assert_eq!((hall.acquire()?.slot(), hall.slots()), (0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resize(&self, k: usize) -> Result<(), ResizeError> {
        let max = self.max as usize;
        if k == 0 || k > max {
            return Err(ResizeError { asked: k, max });
        }
        self.manage(Job::Resize(k as u16));
        self.watch.resized(k);
        Ok(())
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
        if m == 0 && self.is_closed() {
            return Err(AcquireError::Closed);
        }
        if m > slots {
            return Err(AcquireError::TooMany { asked: m, slots });
        }
        Ok(m as u32)
    }
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
