//! The construction on real memory: the machine of [`hallpass_algorithms::objects::universal`] over atomics, and
//! what they protect.
//!
//! Copies and places are not atomic; who may touch them is decided by the
//! machine's lines, and the lab has seen, in every interleaving of small cases, that these let nobody
//! write what another reads or writes.
#![allow(unsafe_code)]

use std::{
    any::Any,
    cell::UnsafeCell,
    marker::PhantomData,
    mem,
    panic::{self, AssertUnwindSafe, RefUnwindSafe, UnwindSafe},
    sync::{Arc, atomic::AtomicI64},
};

use hallpass_algorithms::{
    Op, Word,
    objects::universal::{
        Asked, Errand, Helped, NOBODY, Next, Sound, Workshop, begin, copies, step,
    },
};

use crate::{
    copy::{Copy, Outcome, Request, discard},
    object::Object,
    words::Apart,
};

/// An object shared by k participants.
pub(crate) struct Construction<O: Object> {
    head: Apart<AtomicI64>,
    flips: Apart<AtomicI64>,
    participants: Box<[Apart<Participant<O>>]>,
    copies: Box<[Apart<Cell<O>>]>,
}

/// What a participant writes.
struct Participant<O: Object> {
    request: AtomicI64,
    guard: AtomicI64,
    mark: AtomicI64,
    places: Box<[UnsafeCell<Option<Request<O>>>]>,
}

struct Cell<O: Object> {
    taken: AtomicI64,
    copy: UnsafeCell<Copy<O>>,
}

// SAFETY: what is not atomic is written by one thread at a time, and read by others only while nobody
// writes it (see above). Objects and operations are read by several at once and move between threads; an
// answer moves from who computed it to who asked.
unsafe impl<O> Sync for Construction<O>
where
    O: Object + Send + Sync,
    O::Op: Send + Sync,
    O::Ret: Send,
{
}
// SAFETY: as above; when it is moved, nobody else has it.
unsafe impl<O> Send for Construction<O>
where
    O: Object + Send + Sync,
    O::Op: Send + Sync,
    O::Ret: Send,
{
}

// Whatever unwinds leaves the object as it was, or as it is after an operation.
impl<O: Object> UnwindSafe for Construction<O> {}
impl<O: Object> RefUnwindSafe for Construction<O> {}

impl<O: Object> Construction<O> {
    /// For `k` participants, 1 to [`MOST`](hallpass_algorithms::objects::universal::MOST).
    pub(crate) fn new(k: usize, object: O) -> Self {
        let participant = |_| {
            Apart(Participant {
                request: AtomicI64::new(Asked::NOTHING.pack()),
                guard: AtomicI64::new(NOBODY),
                mark: AtomicI64::new(NOBODY),
                places: (0..k).map(|_| UnsafeCell::new(None)).collect(),
            })
        };
        let cell =
            |copy, taken| Apart(Cell { taken: AtomicI64::new(taken), copy: UnsafeCell::new(copy) });
        let others = (1..copies(k)).map(|_| cell(Copy::empty(), 0));
        Construction {
            head: Apart(AtomicI64::new(0)),
            flips: Apart(AtomicI64::new(0)),
            participants: (0..k).map(participant).collect(),
            copies: std::iter::once(cell(Copy::of(object), 1)).chain(others).collect(),
        }
    }

    /// How many participants there are.
    pub(crate) fn names(&self) -> usize {
        self.participants.len()
    }

    /// Does the operation as participant `me`.
    ///
    /// If it unwinds, `me` has stopped in the middle of it: nobody may take its name any more.
    ///
    /// # Safety
    /// Nobody else is using the name `me`, nor has unwound from here with it.
    pub(crate) unsafe fn operate(&self, me: usize, op: O::Op) -> Outcome<O> {
        let mut part = Part { shared: self, op: Some(op), outcome: None, look: None };
        part.run(me, Errand::Change);
        part.outcome.expect("it has been done")
    }

    /// Shows the object, as it is at one moment of the call, to `look`. The rest as of `operate`.
    ///
    /// # Safety
    /// As of `operate`.
    pub(crate) unsafe fn look<R>(
        &self,
        me: usize,
        look: impl FnOnce(&O) -> R,
    ) -> Result<R, Box<dyn Any + Send>> {
        let mut look = Some(look);
        let mut seen = None;
        let mut once = |object: &O| {
            let look = look.take().expect("one looks once");
            seen = Some(panic::catch_unwind(AssertUnwindSafe(|| look(object))));
        };
        let mut part = Part { shared: self, op: None, outcome: None, look: Some(&mut once) };
        part.run(me, Errand::Look);
        seen.expect("it has been done")
    }

    /// The object, when nobody is at an operation.
    pub(crate) fn get_mut(&mut self) -> &mut O {
        let head = *self.head.0.get_mut() as usize;
        let others = self.copies.iter_mut().enumerate().filter(|&(copy, _)| copy != head);
        for (_, cell) in others {
            cell.0.copy.get_mut().spoil(); // they do not know what will happen to the object
        }
        self.copies[head].0.copy.get_mut().object_mut()
    }

    /// The object in the end.
    pub(crate) fn into_inner(self) -> O {
        let head = self.head.0.into_inner() as usize;
        let cell = self.copies.into_iter().nth(head).expect("the head is one of the copies");
        cell.0.copy.into_inner().into_object()
    }
}

/// One operation of one participant.
struct Part<'a, O: Object> {
    shared: &'a Construction<O>,
    op: Option<O::Op>,
    outcome: Option<Outcome<O>>,
    look: Option<&'a mut dyn FnMut(&O)>,
}

impl<O: Object> Part<'_, O> {
    fn run(&mut self, me: usize, errand: Errand) {
        let mut at = begin(errand);
        while let Next::Goto(next) = step(self, me, errand, at, PhantomData::<Sound>) {
            at = next;
        }
    }

    fn copy(&self, copy: usize) -> *mut Copy<O> {
        self.shared.copies[copy].0.copy.get()
    }

    fn place(&self, name: usize, place: usize) -> *mut Option<Request<O>> {
        self.shared.participants[name].0.places[place].get()
    }
}

impl<O: Object> Workshop for Part<'_, O> {
    #[inline]
    fn names(&self) -> usize {
        self.shared.names()
    }

    #[inline]
    fn head(&mut self, op: Op) -> Word {
        op.apply(&self.shared.head.0)
    }

    #[inline]
    fn flips(&mut self, op: Op) -> Word {
        op.apply(&self.shared.flips.0)
    }

    #[inline]
    fn request(&mut self, name: usize, op: Op) -> Word {
        op.apply(&self.shared.participants[name].0.request)
    }

    #[inline]
    fn guard(&mut self, name: usize, op: Op) -> Word {
        op.apply(&self.shared.participants[name].0.guard)
    }

    #[inline]
    fn mark(&mut self, name: usize, op: Op) -> Word {
        op.apply(&self.shared.participants[name].0.mark)
    }

    #[inline]
    fn taken(&mut self, copy: usize, op: Op) -> Word {
        op.apply(&self.shared.copies[copy].0.taken)
    }

    #[inline]
    fn served(&mut self, copy: usize) -> u64 {
        // SAFETY: the lines ask about a copy that `me` guards, and that was the head after that. Nobody
        // writes it (lines A4 and G2).
        unsafe { (*self.copy(copy)).served }
    }

    #[inline]
    fn previous(&mut self, copy: usize) -> usize {
        // SAFETY: as in `served`.
        unsafe { (*self.copy(copy)).previous }
    }

    #[inline]
    fn helped(&mut self, copy: usize, number: usize) -> Option<Helped> {
        // SAFETY: as in `served`.
        unsafe { &*self.copy(copy) }.helped().nth(number)
    }

    #[inline]
    fn put_begins(&mut self, _: usize, _: usize) {}

    #[inline]
    fn put_ends(&mut self, me: usize, place: usize) {
        let request = Some(Arc::new(self.op.take()));
        let place = self.place(me, place);
        // SAFETY: nobody but `me` writes its places. Nobody reads this one: whoever had a mark on it
        // would have been seen (line P2), and who marks it now finds that the head has changed since that
        // request was open (line B6).
        let old = unsafe { mem::replace(&mut *place, request) };
        discard(|| drop(old));
    }

    #[inline]
    fn copy_begins(&mut self, _: usize, _: usize) {}

    #[inline]
    fn copy_ends(&mut self, from: usize, copy: usize) {
        // SAFETY: `from` as in `served`. `copy` is another one, which `me` has taken; nobody guards it
        // or has an answer to fetch there (lines G1 to G3), so nobody else has a reference to it.
        unsafe { (*self.copy(copy)).follow(&*self.copy(from), from, copy) }
    }

    #[inline]
    fn serve_begins(&mut self, _: usize, _: usize, _: Asked) {}

    #[inline]
    fn serve_ends(&mut self, me: usize, copy: usize, name: usize, asked: Asked) {
        // SAFETY: the place is `me`'s own, or `me` has a mark on it and the head has not changed: its
        // owner does not write it (lines B6 and P2).
        let request = unsafe { (*self.place(name, asked.place)).clone() };
        let request = request.expect("who has asked has put down what for");
        let keeps_its_own = name == me && self.look.is_none();
        let helped = (!keeps_its_own).then_some(Helped { name, asked });
        // SAFETY: `copy` is `me`'s as in `copy_ends`, and what it was made from is still guarded.
        let own = unsafe {
            let copy = &mut *self.copy(copy);
            let from = &*self.copy(copy.previous);
            copy.serve(from, request, (name, asked.parity()), helped)
        };
        if keeps_its_own {
            let in_vain = mem::replace(&mut self.outcome, own);
            discard(|| drop(in_vain));
        }
    }

    #[inline]
    fn spoil(&mut self, copy: usize) {
        // SAFETY: as in `copy_ends`.
        unsafe { (*self.copy(copy)).spoil() }
    }

    #[inline]
    fn look_begins(&mut self, _: usize, _: usize) {}

    #[inline]
    fn look_ends(&mut self, me: usize, copy: usize) {
        // SAFETY: `copy` is guarded as in `served` (line R3), or the answer of `me` is in it: then nobody
        // writes it before it is fetched (line G3).
        let copy = unsafe { &*self.copy(copy) };
        match &mut self.look {
            Some(look) => look(copy.object()),
            None => {
                // SAFETY: the answer is for `me`, and nobody else touches it.
                let answer = unsafe { (*copy.answer(me).get()).take() };
                let in_vain = mem::replace(&mut self.outcome, answer);
                discard(|| drop(in_vain));
            }
        }
    }

    #[inline]
    fn published(&mut self, _: usize) {}
}
