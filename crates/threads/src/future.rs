//! Getting in as a task.
//!
//! A future is in the queue from its first poll that does not get in at once, until it gets in or is
//! dropped. It runs the same lines as a thread, and stops where a thread would go to sleep (L7).
#![allow(unsafe_code)]

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use hallpass_algorithms::{Word, halls::threads::Line};

use crate::{
    environment::{End, Waiter},
    error::AcquireError,
    hall::Hall,
    instruments::{Outcome, Waiting},
    parking::Deadline,
    pass::{AsHall, One, OwnedPass, OwnedPasses, Pass, Passes, Several},
    waiter::Node,
    wake::WakeHandle,
};

/// Getting in as a task.
impl Hall {
    /// Returns a future that waits until a slot is free, and takes it. It runs on any executor.
    ///
    /// The future joins the queue when it is first polled, and leaves it when it is dropped. Once it was
    /// granted a pass, it holds the slot until it is polled or dropped, so keep it polled.
    ///
    /// # Errors
    /// The future returns [`AcquireError::Closed`] if the hall is closed.
    ///
    /// ```
    /// # use hallpass_threads::Hall;
    /// # pollster::block_on(async {
    /// let hall = Hall::new(2);
    /// let pass = hall.acquire_async().await?;
    /// assert_eq!(pass.slot(), 0);
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// # }).unwrap();
    /// ```
    pub fn acquire_async(&self) -> Acquire<'_> {
        Acquire(Entering::new(self, Ok(1)))
    }

    /// Returns a future like [`acquire_async`](Hall::acquire_async), whose pass owns a reference to the
    /// hall, so that it can be moved to another task.
    ///
    /// ```
    /// # use hallpass_threads::Hall;
    /// # use std::sync::Arc;
    /// # pollster::block_on(async {
    /// let hall = Arc::new(Hall::new(2));
    /// let pass = hall.acquire_owned_async().await?;
    /// std::thread::spawn(move || drop(pass)).join().unwrap();
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// # }).unwrap();
    /// ```
    pub fn acquire_owned_async(self: &Arc<Self>) -> AcquireOwned {
        AcquireOwned(Entering::new(Arc::clone(self), Ok(1)))
    }

    /// Returns a future that waits until `m` slots are free, and takes all of them at once; see
    /// [`acquire_many`](Hall::acquire_many).
    ///
    /// # Errors
    /// The future returns [`AcquireError::TooMany`] if the hall had fewer than `m` slots when this was
    /// called, and [`AcquireError::Closed`] if the hall is closed.
    ///
    /// ```
    /// # use hallpass_threads::Hall;
    /// # pollster::block_on(async {
    /// let hall = Hall::new(4);
    /// let passes = hall.acquire_many_async(3).await?;
    /// assert_eq!(passes.len(), 3);
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// # }).unwrap();
    /// ```
    pub fn acquire_many_async(&self, m: usize) -> AcquireMany<'_> {
        AcquireMany(Entering::new(self, self.check_need(m)))
    }

    /// Returns a future like [`acquire_many_async`](Hall::acquire_many_async), whose passes own a reference
    /// to the hall.
    pub fn acquire_many_owned_async(self: &Arc<Self>, m: usize) -> AcquireManyOwned {
        AcquireManyOwned(Entering::new(Arc::clone(self), self.check_need(m)))
    }
}

/// The state of a future.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The request cannot succeed.
    Refused(AcquireError),
    /// The future was not polled yet.
    New,
    /// The node is in the queue, or was just granted something.
    Queued,
    /// The future has returned.
    Done,
}

/// A future that waits for a grant.
struct Entering<H: AsHall> {
    hall: H,
    phase: Phase,
    /// The task to wake. The node has a copy of its own for the server.
    waker: Option<Waker>,
    /// Since when the future has been waiting.
    waiting: Option<Waiting>,
    node: Node,
}

impl<H: AsHall> Entering<H> {
    fn new(hall: H, need: Result<u32, AcquireError>) -> Self {
        let (phase, need) = match need {
            Ok(need) => (Phase::New, need),
            Err(error) => (Phase::Refused(error), 0),
        };
        Entering { hall, phase, waker: None, waiting: None, node: Node::new(need, None) }
    }

    /// Polls for the grant, and returns it.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Word, AcquireError>> {
        // SAFETY: nothing is moved out of it; the node, to which others point, stays in its place.
        let this = unsafe { self.get_unchecked_mut() };
        let at = match this.phase {
            Phase::Refused(error) => return Poll::Ready(Err(error)),
            Phase::New => {
                if let Some(take) = this.hall.hall().take_any(this.node.need) {
                    this.phase = Phase::Done;
                    return Poll::Ready(Ok(take));
                }
                this.register_waker(context);
                this.waiting = Some(this.hall.hall().instruments.starts_waiting(this.node.need));
                Line::L3
            }
            Phase::Queued => {
                this.update_waker(context);
                Line::L6
            }
            Phase::Done => panic!("the future was polled after it had returned"),
        };
        this.run(context, at)
    }

    /// Runs the machine from `at` until it would sleep. The future is pinned.
    fn run(
        &mut self,
        context: &Context<'_>,
        mut at: Line<Waiter>,
    ) -> Poll<Result<Word, AcquireError>> {
        let given = loop {
            let stops = |line: &Line<Waiter>| matches!(line, Line::L3 | Line::L7);
            // SAFETY: `poll` was called on a pinned future, and `drop` takes the node out of the queue.
            match unsafe { self.hall.hall().run(&self.node, Deadline::Never, at, stops) } {
                // It was told to try again, and failed: it is out of the queue, and joins it again.
                End::Stopped(Line::L3) => {
                    self.phase = Phase::New;
                    self.register_waker(context);
                    at = Line::L3;
                }
                End::Stopped(_) => return Poll::Pending,
                End::Inside(take) => break Ok(take),
                End::Left => break Err(AcquireError::Closed),
            }
        };
        self.phase = Phase::Done;
        self.stop_waiting(if given.is_ok() { Outcome::Granted } else { Outcome::TurnedAway });
        Poll::Ready(given)
    }

    fn stop_waiting(&mut self, outcome: Outcome) {
        if let Some(waiting) = self.waiting.take() {
            self.hall.hall().instruments.stops_waiting(waiting, outcome);
        }
    }

    /// Prepares the node, which is in no queue, for joining one.
    fn register_waker(&mut self, context: &Context<'_>) {
        // Cloning may panic: the node is in no queue then.
        let (waker, copy) = (context.waker().clone(), context.waker().clone());
        self.waker = Some(waker);
        // SAFETY: the node is in no queue.
        drop(unsafe { self.node.set_handle(WakeHandle::Task(copy)) });
        self.phase = Phase::Queued;
    }

    /// Replaces the waker, if it was polled by another task.
    fn update_waker(&mut self, context: &Context<'_>) {
        if !self.waker.as_ref().is_some_and(|old| old.will_wake(context.waker())) {
            // Cloning may panic: both are replaced, or none.
            let (waker, copy) = (context.waker().clone(), context.waker().clone());
            let old = self.waker.replace(waker);
            self.hall.hall().replace_handle(&self.node, WakeHandle::Task(copy));
            drop(old);
        }
    }
}

impl<H: AsHall> Drop for Entering<H> {
    fn drop(&mut self) {
        if self.phase == Phase::Queued {
            let give_up = Line::C1;
            let hall = self.hall.hall();
            // SAFETY: the node is still in its place, and in no queue when this returns.
            let end = unsafe { hall.run(&self.node, Deadline::Now, give_up, |_| false) };
            if let End::Inside(take) = end {
                hall.put_back_any(take); // granted in the meantime: for the next waiter
            }
            self.stop_waiting(Outcome::Cancelled);
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

            fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                // SAFETY: the field is pinned with the whole.
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
