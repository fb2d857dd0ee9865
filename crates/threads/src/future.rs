//! Acquiring a slot from a task.
//!
//! If the first poll of a future finds no slot, the future joins the queue. It stays in the queue until it gets a
//! slot, the hall is closed, or the future is dropped. It runs the same lines of the [step
//! machine](hallpass_algorithms::halls::threads) as a thread, and stops at the line at which a thread would go to sleep
//! (L7). The *server*, the caller that holds the lock of the queue, gives slots to a waiter by writing a *grant* to the
//! waiter's node.
#![allow(unsafe_code)]

use std::{
    fmt,
    future::Future,
    num::NonZero,
    pin::Pin,
    ptr::NonNull,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use hallpass_algorithms::{Word, halls::threads::Stage};

use crate::{
    contended::Pause,
    environment::End,
    error::AcquireError,
    hall::Hall,
    instruments::{Outcome, Waiting},
    many::clamp_need,
    mode::by_mode,
    pass::{AsHall, One, OwnedPass, OwnedPasses, Pass, Passes, Several},
    waiter::Node,
    wake::WakeHandle,
};

/// Acquiring a slot from a task.
impl Hall {
    /// Returns a future that waits until a slot is free, and takes it. It runs on any executor.
    ///
    /// The future joins the queue when it is first polled, and leaves the queue when it is dropped. Once it has got a
    /// pass, it holds the slot until it is polled or dropped. So poll it until it is ready, or drop it.
    ///
    /// # Errors
    /// The future returns [`AcquireError::Closed`] if the hall is closed.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # pollster::block_on(async {
    /// let hall = Hall::new(2);
    /// let pass = hall.acquire_async().await?;
    /// assert_eq!(pass.slot(), 0);
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// # }).unwrap();
    /// ```
    #[inline]
    pub fn acquire_async(&self) -> Acquire<'_> {
        Acquire(Entering::new(self, 1))
    }

    /// Returns a future like [`acquire_async`](Hall::acquire_async). Its pass owns a reference to the hall, so the
    /// pass can be moved to another task.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # use std::sync::Arc;
    /// # pollster::block_on(async {
    /// let hall = Arc::new(Hall::new(2));
    /// let pass = hall.acquire_owned_async().await?;
    /// std::thread::spawn(move || drop(pass)).join().unwrap();
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// # }).unwrap();
    /// ```
    #[inline]
    pub fn acquire_owned_async(self: &Arc<Self>) -> AcquireOwned {
        AcquireOwned(Entering::new(Arc::clone(self), 1))
    }

    /// Returns a future that waits until `m` slots are free, and takes all of them together; see
    /// [`acquire_many`](Hall::acquire_many).
    ///
    /// # Errors
    /// The future returns [`AcquireError::Closed`] if the hall is closed, and [`AcquireError::TooMany`] if the
    /// hall has fewer than `m` slots when the future is first polled.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # pollster::block_on(async {
    /// let hall = Hall::new(4);
    /// let passes = hall.acquire_many_async(3).await?;
    /// assert_eq!(passes.len(), 3);
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// # }).unwrap();
    /// ```
    #[inline]
    pub fn acquire_many_async(&self, m: usize) -> AcquireMany<'_> {
        AcquireMany(Entering::new(self, m))
    }

    /// Returns a future like [`acquire_many_async`](Hall::acquire_many_async). Its passes own a reference to the hall.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # use std::sync::Arc;
    /// # pollster::block_on(async {
    /// let hall = Arc::new(Hall::new(4));
    /// let passes = hall.acquire_many_owned_async(3).await?;
    /// std::thread::spawn(move || drop(passes)).join().unwrap();
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// # }).unwrap();
    /// ```
    #[inline]
    pub fn acquire_many_owned_async(self: &Arc<Self>, m: usize) -> AcquireManyOwned {
        AcquireManyOwned(Entering::new(Arc::clone(self), m))
    }
}

/// The state of a future.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The future has not been polled yet.
    New,
    /// The node is in the queue, or has just got a grant.
    Queued,
    /// The future has returned.
    Done,
}

/// A future that waits for a grant.
struct Entering<H: AsHall> {
    hall: H,
    /// The number of slots that the caller asked for. If it is larger than `u32::MAX`, this is `u32::MAX`: no hall has
    /// that many slots.
    asked: u32,
    phase: Phase,
    /// The observation of this waiter, while the future waits.
    waiting: Option<Waiting>,
    /// Where the future waits, from the moment at which it joins the queue. A new future has no place: if it
    /// had one, moving the future would take as long as finding a free slot.
    place: Option<Place>,
}

/// The place of a future in the queue.
struct Place {
    node: Node,
    /// The waker in the node.
    waker: WakerId,
}

/// Identifies a waker, like [`Waker::will_wake`], without owning it.
///
/// The waker in a node belongs to the server from line S10 on. It lives until the server wakes it, after the grant was
/// written. So if a later poll has a waker of the same identity, there are two cases: the waker of the node is alive
/// and wakes the same task, or the poll finds the grant.
#[derive(Clone, Copy, PartialEq, Eq)]
struct WakerId {
    data: usize,
    vtable: NonZero<usize>,
}

impl WakerId {
    fn of(waker: &Waker) -> Self {
        WakerId { data: waker.data().addr(), vtable: NonNull::from(waker.vtable()).addr() }
    }
}

impl<H: AsHall> Entering<H> {
    #[inline]
    fn new(hall: H, asked: usize) -> Self {
        let asked = u32::try_from(asked).unwrap_or(u32::MAX);
        Entering { hall, asked, phase: Phase::New, waiting: None, place: None }
    }

    /// Returns the number of slots that the future waits for.
    #[inline]
    fn need(&self) -> u32 {
        clamp_need(self.asked as usize)
    }

    /// Polls for the grant, and returns it.
    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Word, AcquireError>> {
        // SAFETY: nothing is moved out of the future. So the node, to which other nodes point, does not move.
        let this = unsafe { self.get_unchecked_mut() };
        #[cfg(feature = "tokio")]
        let budget = std::task::ready!(tokio::task::coop::poll_proceed(context));
        let polled = this.poll_in_place(context);
        #[cfg(feature = "tokio")]
        if polled.is_ready() {
            budget.made_progress();
        }
        polled
    }

    /// Polls the future, which is pinned.
    #[inline(always)]
    fn poll_in_place(&mut self, context: &Context<'_>) -> Poll<Result<Word, AcquireError>> {
        if self.phase == Phase::New
            && self.asked != 0
            && let Some(take) = self.hall.hall().take_any(self.need())
        {
            self.phase = Phase::Done;
            return Poll::Ready(Ok(take));
        }
        self.poll_contended(context)
    }

    /// Polls a future that finds no slot on the fast path. The future is pinned.
    #[inline(never)]
    fn poll_contended(&mut self, context: &Context<'_>) -> Poll<Result<Word, AcquireError>> {
        let end = match self.phase {
            Phase::New => {
                if let Some(done) = self.before_joining() {
                    self.phase = Phase::Done;
                    return Poll::Ready(done);
                }
                let (node, waker) = self.new_node(context);
                self.waiting = Some(self.hall.hall().instruments.starts_waiting(node.need));
                let place = self.place.insert(Place { node, waker });
                self.phase = Phase::Queued;
                // SAFETY: `poll` was called on a pinned future, and `drop` takes the node out of the queue.
                unsafe { self.hall.hall().run_task(&place.node, Stage::Join) }
            }
            Phase::Queued => {
                let (hall, place) = self.place();
                if let Some(take) = place.node.take_grant() {
                    return self.finish(Ok(take));
                }
                place.update_waker(hall, context);
                // SAFETY: `poll` was called on a pinned future, and `drop` takes the node out of the queue.
                unsafe { hall.run_task(&place.node, Stage::Check) }
            }
            Phase::Done => panic!("the future was polled after it had returned"),
        };
        match end {
            End::Stopped(Stage::Wait) => Poll::Pending,
            End::Entered(take) => self.finish(Ok(take)),
            End::Left => self.finish(Err(AcquireError::Closed)),
            End::Stopped(_) => self.join_again(context),
        }
    }

    /// Returns the result of the future, or `None` if the future must join the queue.
    #[inline(always)]
    fn before_joining(&self) -> Option<Result<Word, AcquireError>> {
        let hall = self.hall.hall();
        if self.asked != 1
            && let done @ (Err(_) | Ok(0)) = hall.check_need(self.asked as usize)
        {
            return Some(done.map(Word::from));
        }
        by_mode!(hall.mode, hall.overtake(self.need(), Pause::Queue)).map(Ok)
    }

    /// Joins the queue again. The future was woken to try again, got no slots, and has left the queue. It is pinned.
    #[cold]
    fn join_again(&mut self, context: &Context<'_>) -> Poll<Result<Word, AcquireError>> {
        loop {
            self.phase = Phase::New;
            let (node, waker) = self.new_node(context);
            let (_, place) = self.place();
            (place.node, place.waker) = (node, waker);
            self.phase = Phase::Queued;
            let (hall, place) = self.place();
            // SAFETY: the future is pinned, and `drop` takes the node out of the queue.
            match unsafe { hall.run_task(&place.node, Stage::Join) } {
                End::Stopped(Stage::Join) => {}
                End::Stopped(_) => return Poll::Pending,
                End::Entered(take) => return self.finish(Ok(take)),
                End::Left => return self.finish(Err(AcquireError::Closed)),
            }
        }
    }

    #[inline(always)]
    fn finish(&mut self, given: Result<Word, AcquireError>) -> Poll<Result<Word, AcquireError>> {
        self.phase = Phase::Done;
        self.stop_waiting(if given.is_ok() { Outcome::Granted } else { Outcome::TurnedAway });
        Poll::Ready(given)
    }

    fn stop_waiting(&mut self, outcome: Outcome) {
        if let Some(waiting) = self.waiting.take() {
            self.hall.hall().instruments.stops_waiting(waiting, outcome);
        }
    }

    /// Returns the hall, and the place of a future that has joined the queue.
    #[inline(always)]
    fn place(&mut self) -> (&Hall, &mut Place) {
        let place = self.place.as_mut().expect("a future that has joined the queue has a place");
        (self.hall.hall(), place)
    }

    /// Creates a node that wakes the task of this poll.
    #[inline(always)]
    fn new_node(&self, context: &Context<'_>) -> (Node, WakerId) {
        let waker = context.waker().clone(); // may panic; the future is in no queue
        let id = WakerId::of(&waker);
        (Node::new(self.need(), Some(WakeHandle::Task(waker))), id)
    }

    /// Leaves the queue. A slot that the future has got goes to the next waiter.
    #[inline(never)]
    fn give_up(&mut self) {
        let (hall, place) = self.place();
        // SAFETY: the node has not moved, and is in no queue when this returns.
        let end = unsafe { hall.give_up_task(&place.node) };
        if let End::Entered(take) = end {
            hall.put_back_any(take); // a slot was granted in the meantime: it goes to the next waiter
        }
        self.stop_waiting(Outcome::Cancelled);
    }
}

impl Place {
    /// Replaces the waker, if this poll has a different waker than the poll before it.
    #[inline]
    fn update_waker(&mut self, hall: &Hall, context: &Context<'_>) {
        if self.waker != WakerId::of(context.waker()) {
            let waker = context.waker().clone(); // may panic; then the old waker stays
            self.waker = WakerId::of(&waker);
            hall.replace_handle(&self.node, WakeHandle::Task(waker));
        }
    }
}

impl<H: AsHall> Drop for Entering<H> {
    #[inline]
    fn drop(&mut self) {
        if self.phase == Phase::Queued {
            self.give_up();
        }
    }
}

/// Declares a future.
macro_rules! future {
    ($(#[$doc:meta])* $name:ident $(<$life:lifetime>)? of $hall:ty => $guard:ty,
     |$h:ident, $take:ident| $make:expr) => {
        $(#[$doc])*
        #[must_use = "futures do nothing unless polled"]
        pub struct $name $(<$life>)? (Entering<$hall>);

        impl $(<$life>)? Future for $name $(<$life>)? {
            type Output = Result<$guard, AcquireError>;

            #[inline]
            fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                // SAFETY: the field is pinned together with the future.
                let mut entering = unsafe { self.map_unchecked_mut(|this| &mut this.0) };
                let polled = entering.as_mut().poll(context);
                let $h = &entering.hall;
                polled.map_ok(|$take| $make)
            }
        }

        impl $(<$life>)? fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

future! {
    /// Future returned by [`Hall::acquire_async`].
    Acquire<'a> of &'a Hall => Pass<'a>,
    |hall, take| Pass(One { hall: *hall, slot: hall.slot_of(take) })
}

future! {
    /// Future returned by [`Hall::acquire_owned_async`].
    AcquireOwned of Arc<Hall> => OwnedPass,
    |hall, take| OwnedPass(One { hall: Arc::clone(hall), slot: hall.slot_of(take) })
}

future! {
    /// Future returned by [`Hall::acquire_many_async`].
    AcquireMany<'a> of &'a Hall => Passes<'a>,
    |hall, take| Passes(Several { hall: *hall, slots: hall.slots_of(take) })
}

future! {
    /// Future returned by [`Hall::acquire_many_owned_async`].
    AcquireManyOwned of Arc<Hall> => OwnedPasses,
    |hall, take| OwnedPasses(Several { hall: Arc::clone(hall), slots: hall.slots_of(take) })
}
