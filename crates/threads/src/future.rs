//! Getting in, as a task.
//!
//! A future lies in the queue from its first poll that does not get in at once until it gets in or is
//! dropped. It runs the same lines as a thread does, and stops where a thread would go to sleep (L7).
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
    error::AcquireError,
    hall::Hall,
    pass::{AsHall, One, OwnedPass, OwnedPasses, Pass, Passes, Several},
    patience::Limit,
    seat::{End, Who},
    waiter::{Bell, Node},
    watch::{Outcome, Waiting},
};

/// Where a future stands.
#[derive(PartialEq, Eq)]
enum Phase {
    /// Not polled yet.
    New,
    /// In the queue, or just granted something.
    Queued,
    /// Out of it.
    Done,
}

/// Waiting for a grant.
struct Entering<H: AsHall> {
    hall: H,
    phase: Phase,
    /// Who is woken. The node's own copy is for whoever serves.
    waker: Option<Waker>,
    /// From when it has had to wait.
    waiting: Option<Waiting>,
    node: Node,
}

impl<H: AsHall> Entering<H> {
    fn new(hall: H, need: u32) -> Self {
        let node = Node::new(need, None);
        Entering { hall, phase: Phase::New, waker: None, waiting: None, node }
    }

    /// What was granted; nothing if the hall is closed.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Word>> {
        // SAFETY: nothing is moved out of it; the node, which others point to, stays in its place.
        let this = unsafe { self.get_unchecked_mut() };
        let mut at = match this.phase {
            Phase::New => {
                if let Some(take) = this.hall.hall().grab_any(this.node.need) {
                    this.phase = Phase::Done;
                    return Poll::Ready(Some(take));
                }
                this.hang_bell(context);
                this.waiting = Some(this.hall.hall().watch.queues(this.node.need));
                Line::L3
            }
            Phase::Queued => {
                if !this.waker.as_ref().is_some_and(|old| old.will_wake(context.waker())) {
                    // Cloning may panic: both are there, or none.
                    let (waker, bell) = (context.waker().clone(), context.waker().clone());
                    let old = this.waker.replace(waker);
                    this.hall.hall().change_bell(&this.node, Bell::Task(bell));
                    drop(old);
                }
                Line::L6
            }
            Phase::Done => panic!("polled after it was done"),
        };
        let given = loop {
            let stops = |line: &Line<Who>| matches!(line, Line::L3 | Line::L7);
            // SAFETY: the node is pinned, and `drop` takes it out of the queue.
            match unsafe { this.hall.hall().run(&this.node, Limit::Never, at, stops) } {
                // It was told to try again, in vain: it is out of the queue, and joins it anew.
                End::Stopped(Line::L3) => {
                    this.phase = Phase::New;
                    this.hang_bell(context);
                    at = Line::L3;
                }
                End::Stopped(_) => return Poll::Pending,
                End::Inside(take) => break Some(take),
                End::Left => break None,
            }
        };
        this.phase = Phase::Done;
        this.ends(if given.is_some() { Outcome::Granted } else { Outcome::TurnedAway });
        Poll::Ready(given)
    }

    fn ends(&mut self, outcome: Outcome) {
        if let Some(waiting) = self.waiting.take() {
            self.hall.hall().watch.ends(waiting, outcome);
        }
    }

    /// Prepares the node for the queue, in which it is not.
    fn hang_bell(&mut self, context: &Context<'_>) {
        // Cloning may panic: it is not in the queue then.
        let (waker, bell) = (context.waker().clone(), context.waker().clone());
        self.waker = Some(waker);
        // SAFETY: the node is in no queue.
        drop(unsafe { self.node.set_bell(Bell::Task(bell)) });
        self.phase = Phase::Queued;
    }
}

impl<H: AsHall> Drop for Entering<H> {
    fn drop(&mut self) {
        if self.phase == Phase::Queued {
            let give_up = Line::C1;
            let hall = self.hall.hall();
            // SAFETY: the node is still in its place, and at the end in no queue.
            let end = unsafe { hall.run(&self.node, Limit::Now, give_up, |_| false) };
            if let End::Inside(take) = end {
                hall.put_any(take); // granted meanwhile: the next one's
            }
            self.ends(Outcome::Cancelled);
        }
    }
}

/// Declares a future.
macro_rules! future {
    ($(#[$doc:meta])* $name:ident $(<$life:lifetime>)? of $hall:ty => $guard:ty,
     |$h:ident, $take:ident| $make:expr) => {
        $(#[$doc])*
        #[must_use = "futures do nothing unless polled"]
        pub struct $name $(<$life>)? (Result<Entering<$hall>, AcquireError>);

        impl $(<$life>)? Future for $name $(<$life>)? {
            type Output = Result<$guard, AcquireError>;

            fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                // SAFETY: the field is pinned with the whole.
                match unsafe { self.map_unchecked_mut(|this| &mut this.0) }.into_pinned() {
                    Err(error) => Poll::Ready(Err(error)),
                    Ok(mut entering) => {
                        let polled = entering.as_mut().poll(context);
                        let $h = &entering.hall;
                        polled.map(|given| match given {
                            Some($take) => Ok($make),
                            None => Err(AcquireError::Closed),
                        })
                    }
                }
            }
        }

        impl $(<$life>)? fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

/// A pinned result as a result of something pinned.
trait IntoPinned<T> {
    fn into_pinned(self) -> Result<T, AcquireError>;
}

impl<'p, H: AsHall> IntoPinned<Pin<&'p mut Entering<H>>>
    for Pin<&'p mut Result<Entering<H>, AcquireError>>
{
    fn into_pinned(self) -> Result<Pin<&'p mut Entering<H>>, AcquireError> {
        // SAFETY: what is inside is pinned with the whole; nothing is moved.
        match unsafe { self.get_unchecked_mut() } {
            // SAFETY: as above.
            Ok(entering) => Ok(unsafe { Pin::new_unchecked(entering) }),
            Err(error) => Err(*error),
        }
    }
}

future! {
    /// What [`Hall::acquire_async`] returns.
    Acquire<'a> of &'a Hall => Pass<'a>,
    |hall, take| Pass(One { hall: *hall, slot: hall.slot_of(take) })
}

future! {
    /// What [`Hall::acquire_owned_async`] returns.
    AcquireOwned of Arc<Hall> => OwnedPass,
    |hall, take| OwnedPass(One { hall: Arc::clone(hall), slot: hall.slot_of(take) })
}

future! {
    /// What [`Hall::acquire_many_async`] returns.
    AcquireMany<'a> of &'a Hall => Passes<'a>,
    |hall, take| Passes(Several { hall: *hall, slots: hall.slots_of(take) })
}

future! {
    /// What [`Hall::acquire_many_owned_async`] returns.
    AcquireManyOwned of Arc<Hall> => OwnedPasses,
    |hall, take| OwnedPasses(Several { hall: Arc::clone(hall), slots: hall.slots_of(take) })
}

impl<'a> Acquire<'a> {
    pub(crate) fn new(hall: &'a Hall) -> Self {
        Acquire(Ok(Entering::new(hall, 1)))
    }
}

impl AcquireOwned {
    pub(crate) fn new(hall: Arc<Hall>) -> Self {
        AcquireOwned(Ok(Entering::new(hall, 1)))
    }
}

impl<'a> AcquireMany<'a> {
    pub(crate) fn new(hall: &'a Hall, m: usize) -> Self {
        AcquireMany(hall.need(m).map(|need| Entering::new(hall, need)))
    }
}

impl AcquireManyOwned {
    pub(crate) fn new(hall: Arc<Hall>, m: usize) -> Self {
        AcquireManyOwned(hall.need(m).map(|need| Entering::new(hall, need)))
    }
}
