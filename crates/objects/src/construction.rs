//! The construction on real memory. It runs the step machine of
//! [`hallpass_algorithms::objects::universal`] on atomics and on the copies that the atomics protect.
//!
//! The *head* is the copy that contains the current state of the object. An operation prepares another copy, and then
//! makes it the head. Before a process reads a copy, it *guards* the copy. If the copy is still the head after that, no
//! process writes it while it is guarded.
//!
//! The copies of the object are not atomic. Neither are the *buffers* into which processes put the operations of their
//! requests. Before a process reads a buffer of another process, it *marks* the buffer and checks that the head has not
//! changed. A process puts an operation only into a buffer that has no mark. The lines of the step machine decide which
//! thread may access copies and buffers. The lab has checked every interleaving of small cases: no line writes data
//! that another thread reads or writes at the same time.
#![allow(unsafe_code)]

use std::{
    any::Any,
    cell::UnsafeCell,
    mem,
    panic::{self, AssertUnwindSafe, RefUnwindSafe, UnwindSafe},
    sync::{Arc, atomic::AtomicI64},
};

use crossbeam_utils::CachePadded;
use hallpass_algorithms::{
    Op, Word,
    objects::universal::{Environment, Helped, Intent, NONE, Next, Request, begin, copies, step},
};

use crate::{
    copy::{ObjectCopy, Outcome, SharedOp, discard},
    object::Object,
};

/// An object shared by k processes, numbered 0 to k-1.
pub(crate) struct Construction<O: Object> {
    head: CachePadded<AtomicI64>,
    flips: CachePadded<AtomicI64>,
    processes: Box<[CachePadded<Process<O>>]>,
    copies: Box<[CachePadded<CopyCell<O>>]>,
}

/// The variables that one process writes.
struct Process<O: Object> {
    request: AtomicI64,
    guard: AtomicI64,
    mark: AtomicI64,
    buffers: Box<[UnsafeCell<Option<SharedOp<O>>>]>,
}

struct CopyCell<O: Object> {
    taken: AtomicI64,
    copy: UnsafeCell<ObjectCopy<O>>,
}

// SAFETY: one thread at a time writes the data that is not atomic, and other threads read it only while no thread
// writes it (see the documentation of this file). Several threads may read the same object or operation, and both move
// between threads. An answer moves from the thread that computed it to the thread that requested it.
unsafe impl<O> Sync for Construction<O>
where
    O: Object + Send + Sync,
    O::Op: Send + Sync,
    O::Ret: Send,
{
}
// SAFETY: the reasons for `Sync` also hold for `Send`, and no other thread has access to a construction that is moved.
unsafe impl<O> Send for Construction<O>
where
    O: Object + Send + Sync,
    O::Op: Send + Sync,
    O::Ret: Send,
{
}

// If an operation unwinds, the object is in the state before or after the operation.
impl<O: Object> UnwindSafe for Construction<O> {}
impl<O: Object> RefUnwindSafe for Construction<O> {}

impl<O: Object> Construction<O> {
    /// Creates a construction for `k` processes, 1 to
    /// [`MAX_PROCESSES`](hallpass_algorithms::objects::universal::MAX_PROCESSES).
    pub(crate) fn new(k: usize, object: O) -> Self {
        let process = |_| {
            CachePadded::new(Process {
                request: AtomicI64::new(Request::INITIAL.pack()),
                guard: AtomicI64::new(NONE),
                mark: AtomicI64::new(NONE),
                buffers: (0..k).map(|_| UnsafeCell::new(None)).collect(),
            })
        };
        let cell = |copy, taken| {
            CachePadded::new(CopyCell { taken: AtomicI64::new(taken), copy: UnsafeCell::new(copy) })
        };
        let others = (1..copies(k)).map(|_| cell(ObjectCopy::empty(), 0));
        Construction {
            head: CachePadded::new(AtomicI64::new(0)),
            flips: CachePadded::new(AtomicI64::new(0)),
            processes: (0..k).map(process).collect(),
            copies: std::iter::once(cell(ObjectCopy::of(object), 1)).chain(others).collect(),
        }
    }

    /// Returns the number of processes.
    pub(crate) fn k(&self) -> usize {
        self.processes.len()
    }

    /// Applies the operation as process `me`.
    ///
    /// If this call unwinds, `me` has stopped in the middle of an operation. Threads must not use `me` again.
    ///
    /// # Safety
    /// No other thread uses `me`, and no call with `me` has unwound before.
    pub(crate) unsafe fn apply(&self, me: usize, op: O::Op) -> Outcome<O> {
        let mut environment =
            NativeEnvironment { shared: self, op: Some(op), outcome: None, reader: None };
        environment.run(me, Intent::Apply);
        environment.outcome.expect("the operation is complete")
    }

    /// Calls `read` with the object as it is at one moment of the call, as process `me`. Returns an error with the
    /// payload if `read` panics. If this call unwinds, threads must not use `me` again, as after `apply`.
    ///
    /// # Safety
    /// The same conditions as for `apply` hold.
    pub(crate) unsafe fn read<R>(
        &self,
        me: usize,
        read: impl FnOnce(&O) -> R,
    ) -> Result<R, Box<dyn Any + Send>> {
        let mut read = Some(read);
        let mut result = None;
        let mut reader = |object: &O| {
            let read = read.take().expect("an operation reads once");
            result = Some(panic::catch_unwind(AssertUnwindSafe(|| read(object))));
        };
        let mut environment =
            NativeEnvironment { shared: self, op: None, outcome: None, reader: Some(&mut reader) };
        environment.run(me, Intent::Read);
        result.expect("the operation is complete")
    }

    /// Returns the object. No operation is under way, because the borrow is exclusive.
    pub(crate) fn get_mut(&mut self) -> &mut O {
        let head = *self.head.get_mut() as usize;
        let others = self.copies.iter_mut().enumerate().filter(|&(copy, _)| copy != head);
        for (_, cell) in others {
            cell.copy.get_mut().spoil(); // other copies cannot catch up with the caller's changes
        }
        self.copies[head].copy.get_mut().object_mut()
    }

    /// Returns the object and drops everything else.
    pub(crate) fn into_inner(self) -> O {
        let head = self.head.into_inner().into_inner() as usize;
        let cell = self.copies.into_iter().nth(head).expect("the head is one of the copies");
        cell.into_inner().copy.into_inner().into_object()
    }
}

/// The environment of the step machine on real memory, for one operation of one process.
struct NativeEnvironment<'a, O: Object> {
    shared: &'a Construction<O>,
    op: Option<O::Op>,
    outcome: Option<Outcome<O>>,
    reader: Option<&'a mut dyn FnMut(&O)>,
}

impl<O: Object> NativeEnvironment<'_, O> {
    fn run(&mut self, me: usize, intent: Intent) {
        let mut at = begin(intent);
        while let Next::Goto(next) = step(self, me, intent, at) {
            at = next;
        }
    }

    fn copy(&self, copy: usize) -> *mut ObjectCopy<O> {
        self.shared.copies[copy].copy.get()
    }

    fn buffer(&self, process: usize, buffer: usize) -> *mut Option<SharedOp<O>> {
        self.shared.processes[process].buffers[buffer].get()
    }
}

impl<O: Object> Environment for NativeEnvironment<'_, O> {
    #[inline]
    fn k(&self) -> usize {
        self.shared.k()
    }

    #[inline]
    fn head(&mut self, op: Op) -> Word {
        op.apply(&*self.shared.head)
    }

    #[inline]
    fn flips(&mut self, op: Op) -> Word {
        op.apply(&*self.shared.flips)
    }

    #[inline]
    fn request(&mut self, process: usize, op: Op) -> Word {
        op.apply(&self.shared.processes[process].request)
    }

    #[inline]
    fn guard(&mut self, process: usize, op: Op) -> Word {
        op.apply(&self.shared.processes[process].guard)
    }

    #[inline]
    fn mark(&mut self, process: usize, op: Op) -> Word {
        op.apply(&self.shared.processes[process].mark)
    }

    #[inline]
    fn taken(&mut self, copy: usize, op: Op) -> Word {
        op.apply(&self.shared.copies[copy].taken)
    }

    #[inline]
    fn served(&mut self, copy: usize) -> u64 {
        // SAFETY: the step machine calls this with a copy that `me` guards. The copy was still the head after `me`
        // guarded it, so no thread writes it (lines A4 and G2).
        unsafe { (*self.copy(copy)).served }
    }

    #[inline]
    fn previous(&mut self, copy: usize) -> usize {
        // SAFETY: `me` guards the copy, so no thread writes it (see `served`).
        unsafe { (*self.copy(copy)).previous }
    }

    #[inline]
    fn helped(&mut self, copy: usize, index: usize) -> Option<Helped> {
        // SAFETY: `me` guards the copy, so no thread writes it (see `served`).
        unsafe { &*self.copy(copy) }.helped().nth(index)
    }

    #[inline]
    fn put_begins(&mut self, _: usize, _: usize) {}

    #[inline]
    fn put_ends(&mut self, me: usize, buffer: usize) {
        let op = Some(Arc::new(self.op.take()));
        let buffer = self.buffer(me, buffer);
        // SAFETY: only `me` writes its buffers. No thread reads this buffer now, because line P2 would have
        // seen a mark on it. A thread may still mark it for an earlier request of `me`. That request was
        // served, so the head has changed since. At line B6, the thread notices this change, and does not read
        // the buffer.
        let old = unsafe { mem::replace(&mut *buffer, op) };
        discard(|| drop(old));
    }

    #[inline]
    fn copy_begins(&mut self, _: usize, _: usize) {}

    #[inline]
    fn copy_ends(&mut self, from: usize, copy: usize) {
        // SAFETY: `from` is guarded as in `served`. `copy` is another copy, which `me` has taken. No
        // thread guards it or still has to fetch an answer from it (lines G1 to G3), so no other thread
        // has a reference to it.
        unsafe { (*self.copy(copy)).follow(&*self.copy(from), from, copy) }
    }

    #[inline]
    fn serve_begins(&mut self, _: usize, _: usize, _: Request) {}

    #[inline]
    fn serve_ends(&mut self, me: usize, copy: usize, owner: usize, request: Request) {
        // SAFETY: the buffer belongs to `me`, or `me` has a mark on it and the head has not changed. In
        // the second case, its owner does not write it (lines B6 and P2).
        let op = unsafe { (*self.buffer(owner, request.buffer)).clone() };
        let op = op.expect("a request is made after its operation is in its buffer");
        let keeps_answer = owner == me && self.reader.is_none();
        let helped = (!keeps_answer).then_some(Helped { process: owner, request });
        // SAFETY: `me` has taken `copy` as in `copy_ends`, and still guards the copy from which `copy`
        // was made.
        let own = unsafe {
            let copy = &mut *self.copy(copy);
            let from = &*self.copy(copy.previous);
            copy.serve(from, op, (owner, request.parity()), helped)
        };
        if keeps_answer {
            self.set_outcome(own);
        }
    }

    #[inline]
    fn spoil(&mut self, copy: usize) {
        // SAFETY: `me` has taken `copy`, so no other thread has a reference to it (see `copy_ends`).
        unsafe { (*self.copy(copy)).spoil() }
    }

    #[inline]
    fn read_begins(&mut self, _: usize, _: usize) {}

    #[inline]
    fn read_ends(&mut self, me: usize, copy: usize) {
        // SAFETY: `copy` is guarded as in `served` (line R3), or it holds the answer of `me`. In the
        // second case, no thread writes the copy before the answer is fetched (line G3).
        let copy = unsafe { &*self.copy(copy) };
        match &mut self.reader {
            Some(read) => read(copy.object()),
            None => {
                // SAFETY: the answer is for `me`, and no other thread accesses it.
                let answer = unsafe { (*copy.answer(me).get()).take() };
                self.set_outcome(answer);
            }
        }
    }

    #[inline]
    fn published(&mut self, _: usize) {}
}

impl<O: Object> NativeEnvironment<'_, O> {
    /// Replaces the outcome. An earlier outcome comes from a copy that did not become the head.
    #[inline]
    fn set_outcome(&mut self, outcome: Option<Outcome<O>>) {
        let unused = mem::replace(&mut self.outcome, outcome);
        discard(|| drop(unused));
    }
}
