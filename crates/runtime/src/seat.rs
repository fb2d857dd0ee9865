//! The desk of the machine, natively.
#![allow(unsafe_code)]

use std::{
    panic::{RefUnwindSafe, UnwindSafe},
    ptr::NonNull,
};

use hallpass_algorithms::{
    Next, Op, Word,
    hall::{After, Desk, Duty, Job, Line, Manner, Pool, step},
};

use crate::{
    patience::{Limit, Patience, Turn},
    sync::{AtomicI64, UnsafeCell, access},
    waiter::{Bell, Node, Queue},
};

/// What the machine's lines work on. Written by different threads, so `word` has a cache line of its
/// own.
#[repr(C)]
pub(crate) struct Memory {
    pub(crate) word: Apart<AtomicI64>,
    next: Apart<AtomicI64>,
    serving: Apart<AtomicI64>,
    pub(crate) terms: AtomicI64,
    queue: UnsafeCell<Queue>,
}

/// On a cache line of its own, and on the next one too: they are fetched in pairs.
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);

// SAFETY: the queue and what is in the nodes is touched with the lock only (see `waiter`), and all
// the rest is atomic. What a node holds for its owner, a `Thread` or a `Waker`, may be used anywhere.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

// No call of ours that unwinds leaves anything half done, so there is nothing to be poisoned.
impl UnwindSafe for Memory {}
impl RefUnwindSafe for Memory {}

macro_rules! constructor {
    ($($const:tt)?) => {
        pub(crate) $($const)? fn new(word: Word, terms: Word) -> Self {
            Memory {
                word: Apart(AtomicI64::new(word)),
                next: Apart(AtomicI64::new(0)),
                serving: Apart(AtomicI64::new(0)),
                terms: AtomicI64::new(terms),
                queue: UnsafeCell::new(Queue::new()),
            }
        }
    };
}

impl Memory {
    #[cfg(not(loom))]
    constructor!(const);
    #[cfg(loom)]
    constructor!();
}

pub(crate) type Who = NonNull<Node>;

/// The view of somebody who has found that it takes one access: lines 1, 2 and X1, for which nobody
/// has to be a waiter.
pub(crate) struct Quick<'a> {
    pub(crate) word: &'a AtomicI64,
    pub(crate) need: u32,
}

/// The view of somebody who may wait.
pub(crate) struct Seat<'a> {
    memory: &'a Memory,
    /// Of whom was taken off the queue last.
    bell: Option<Bell>,
    /// The own one, after giving up: kept until the lock is given back.
    own: Option<Bell>,
    patience: Patience,
    turn: Turn,
}

impl<'a> Seat<'a> {
    pub(crate) fn new(memory: &'a Memory, limit: Limit) -> Self {
        Seat { memory, bell: None, own: None, patience: Patience::new(limit), turn: Turn::new() }
    }

    /// Runs the machine from `at` on, until it is inside, has left, or is at a line `stops` names.
    ///
    /// # Safety
    /// If `at` is a line of a passage that waits, `me` is its node, alive and in its place until this
    /// has come to an end other than a stop.
    pub(crate) unsafe fn run<P: Pool, M: Manner>(
        &mut self,
        me: Who,
        mut at: Line<Who>,
        stops: impl Fn(&Line<Who>) -> bool,
    ) -> End {
        loop {
            match step::<P, M, _>(self, me, at) {
                Next::Goto(next) if stops(&next) => return End::Stopped(next),
                Next::Goto(next) => at = next,
                Next::Spin(next) => {
                    self.turn.rest();
                    at = next;
                }
                Next::Enter(Line::X1 { take }) => return End::Inside(take),
                Next::Enter(_) => unreachable!("the exit section begins at X1"),
                Next::Leave => return End::Left,
            }
        }
    }

    /// Joins the queue, and waits there until it is in or has given up.
    pub(crate) fn wait<P: Pool, M: Manner>(&mut self, node: &Node) -> Option<Word> {
        // SAFETY: the node is borrowed until this comes to its end.
        match unsafe { self.run::<P, M>(node.into(), Line::L3, |_| false) } {
            End::Inside(take) => Some(take),
            End::Left => None,
            End::Stopped(_) => unreachable!("it stops nowhere"),
        }
    }

    /// Does a job for which one does not wait.
    pub(crate) fn work<P: Pool, M: Manner>(&mut self, at: Line<Who>) {
        // SAFETY: none of these jobs looks at the node of the one who does it.
        let end = unsafe { self.run::<P, M>(NonNull::dangling(), at, |_| false) };
        debug_assert!(matches!(end, End::Left));
    }

    /// Has another task woken for this node, which is in the queue or was.
    pub(crate) fn change_bell<P: Pool, M: Manner>(&mut self, node: &Node, bell: Bell) {
        let lock = Line::L4 { job: Job::Serve(NOTHING) };
        let locked = |line: &Line<Who>| matches!(line, Line::S1 { .. });
        // SAFETY: this job does not look at a node.
        let end = unsafe { self.run::<P, M>(NonNull::dangling(), lock, locked) };
        let End::Stopped(at) = end else { unreachable!("it comes by S1") };
        // SAFETY: S1 is executed with the lock, and it was not yet.
        let old = unsafe { node.set_bell(bell) };
        self.work::<P, M>(at);
        drop(old);
    }
}

/// Takes the lock and gives it back.
const NOTHING: Duty = Duty { grants: 0, after: After::Leave };

/// How a run of the machine ended.
pub(crate) enum End {
    /// Inside, with this.
    Inside(Word),
    /// Outside again.
    Left,
    /// At a line where it was to stop.
    Stopped(Line<Who>),
}

impl Desk for Quick<'_> {
    type Who = ();

    #[inline(always)]
    fn word(&mut self, op: Op) -> Word {
        access(self.word, op)
    }

    #[inline(always)]
    fn needs(&self, (): ()) -> u32 {
        self.need
    }

    fn next(&mut self, _: Op) -> Word {
        unreachable!("{FAST}")
    }

    fn serving(&mut self, _: Op) -> Word {
        unreachable!("{FAST}")
    }

    fn terms(&mut self, _: Op) -> Word {
        unreachable!("{FAST}")
    }

    fn head(&mut self) -> Option<()> {
        unreachable!("{FAST}")
    }

    fn push(&mut self, (): ()) {
        unreachable!("{FAST}")
    }

    fn pop(&mut self) {
        unreachable!("{FAST}")
    }

    fn remove(&mut self, (): ()) {
        unreachable!("{FAST}")
    }

    fn grant(&mut self, (): (), _: Op) -> Word {
        unreachable!("{FAST}")
    }

    fn ring(&mut self, (): ()) {
        unreachable!("{FAST}")
    }

    fn rung(&mut self, (): ()) -> bool {
        unreachable!("{FAST}")
    }

    fn sleeps_lightly(&self) -> bool {
        unreachable!("{FAST}")
    }

    fn expired(&mut self) -> bool {
        unreachable!("{FAST}")
    }
}

const FAST: &str = "lines 1, 2 and X1 access the word only";

impl Desk for Seat<'_> {
    type Who = Who;

    #[inline]
    fn word(&mut self, op: Op) -> Word {
        access(&self.memory.word.0, op)
    }

    fn next(&mut self, op: Op) -> Word {
        access(&self.memory.next.0, op)
    }

    fn serving(&mut self, op: Op) -> Word {
        access(&self.memory.serving.0, op)
    }

    fn terms(&mut self, op: Op) -> Word {
        access(&self.memory.terms, op)
    }

    fn head(&mut self) -> Option<Who> {
        // SAFETY: the machine calls this with the lock.
        self.memory.queue.with_mut(|queue| unsafe { (*queue).head() })
    }

    fn push(&mut self, who: Who) {
        // SAFETY: the machine calls this with the lock, at L7, with the node of the one who runs it;
        // who ran it promised that it is alive and stays in its place.
        self.memory.queue.with_mut(|queue| unsafe { (*queue).push(who) });
    }

    fn pop(&mut self) {
        if let Some(head) = self.head() {
            // SAFETY: the machine calls this with the lock.
            self.bell = self.memory.queue.with_mut(|queue| unsafe { (*queue).remove(head) });
        }
    }

    fn remove(&mut self, who: Who) {
        // SAFETY: the machine calls this with the lock, at C2, where its own node is in the queue.
        self.own = self.memory.queue.with_mut(|queue| unsafe { (*queue).remove(who) });
    }

    fn grant(&mut self, who: Who, op: Op) -> Word {
        // SAFETY: it is the own node, or at S10 that of a waiter who has no grant yet.
        access(unsafe { &who.as_ref().grant }, op)
    }

    fn ring(&mut self, _: Who) {
        // The node may be gone: S9 has taken out what is needed.
        if let Some(bell) = self.bell.take() {
            bell.ring();
        }
    }

    fn rung(&mut self, _: Who) -> bool {
        self.patience.rest()
    }

    fn sleeps_lightly(&self) -> bool {
        true
    }

    fn expired(&mut self) -> bool {
        self.patience.is_over()
    }

    fn needs(&self, who: Who) -> u32 {
        // SAFETY: it is the own node, or with the lock one in the queue.
        unsafe { who.as_ref().need }
    }
}
