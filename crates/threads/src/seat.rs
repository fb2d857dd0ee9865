//! The desk of the machine, natively.
#![allow(unsafe_code)]

use std::{
    panic::{RefUnwindSafe, UnwindSafe},
    ptr::NonNull,
};

use hallpass_algorithms::{
    Next, Op, Word,
    halls::threads::{After, Desk, HELD, Line, Manner, Pool, SERVE, Turn, step},
};

use crate::{
    patience::{Limit, Patience, Pause},
    sync::{AtomicI64, UnsafeCell, access},
    waiter::{Arrivals, Bell, Node, Queue},
};

/// What the machine's lines work on. Written by different threads, so `word` has a cache line of its
/// own.
#[repr(C)]
pub(crate) struct Memory {
    pub(crate) word: Apart<AtomicI64>,
    lock: Apart<AtomicI64>,
    arrivals: Apart<Arrivals>,
    pub(crate) terms: AtomicI64,
    queue: UnsafeCell<Queue>,
}

/// On a cache line of its own, and on the next one too: they are fetched in pairs.
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);

// SAFETY: the queue and what is in the nodes is touched by whoever serves only (see `waiter`), and all
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
                lock: Apart(AtomicI64::new(0)),
                arrivals: Apart(Arrivals::new()),
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
    /// Of tasks that were granted something, to be rung when this one does not serve any more.
    later: Vec<Bell>,
    /// The own one, after giving up: kept until the lock is given back.
    own: Option<Bell>,
    patience: Patience,
    pause: Pause,
    /// Whether it has rung for a thread.
    pub(crate) woke_a_thread: bool,
}

impl<'a> Seat<'a> {
    pub(crate) fn new(memory: &'a Memory, limit: Limit) -> Self {
        Seat {
            memory,
            bell: None,
            later: Vec::new(),
            own: None,
            patience: Patience::new(limit),
            pause: Pause::new(),
            woke_a_thread: false,
        }
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
        let end = loop {
            match step::<P, M, _>(self, me, at) {
                Next::Goto(next) if stops(&next) => break End::Stopped(next),
                Next::Goto(next) => at = next,
                Next::Spin(next) => {
                    self.pause.rest();
                    at = next;
                }
                Next::Enter(Line::X1 { take }) => break End::Inside(take),
                Next::Enter(_) => unreachable!("the exit section begins at X1"),
                Next::Leave => break End::Left,
            }
        };
        self.ring_later();
        end
    }

    /// Wakes the tasks that were granted something. It does not serve here.
    fn ring_later(&mut self) {
        self.later.drain(..).for_each(Bell::ring);
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
        // To be the one who serves, nobody else may: as for giving up, which this is the beginning of.
        while self.lock(Op::Set(HELD)) & HELD != 0 {
            self.pause.rest();
        }
        // SAFETY: nobody else serves.
        let old = unsafe { node.set_bell(bell) };
        self.work::<P, M>(Line::S1 { turn: Turn { left: MOST_GRANTS, after: After::Leave } });
        drop(old);
    }

    /// The queue, with everybody who has come in it.
    fn queue<R>(&mut self, f: impl FnOnce(&mut Queue) -> R) -> R {
        self.memory.queue.with_mut(|queue| {
            // SAFETY: the machine calls what needs this only while it serves, and nobody else does.
            let queue = unsafe { &mut *queue };
            // SAFETY: as above.
            unsafe { self.memory.arrivals.0.join(queue) };
            f(queue)
        })
    }
}

/// How many grants one thread makes for others before it asks the next in line to go on.
const MOST_GRANTS: u32 = 64;

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

    fn lock(&mut self, _: Op) -> Word {
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

    fn may_serve(&self, (): ()) -> bool {
        unreachable!("{FAST}")
    }

    fn patience(&self) -> u32 {
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

    fn lock(&mut self, op: Op) -> Word {
        access(&self.memory.lock.0, op)
    }

    fn terms(&mut self, op: Op) -> Word {
        access(&self.memory.terms, op)
    }

    fn head(&mut self) -> Option<Who> {
        self.queue(|queue| queue.head())
    }

    fn push(&mut self, who: Who) {
        // SAFETY: the machine calls this at L4, with the node of the one who runs it; who ran it
        // promised that it is alive and stays in its place.
        unsafe { self.memory.arrivals.0.push(who) };
    }

    fn pop(&mut self) {
        // SAFETY: the machine calls this while it serves, and the head is in the queue.
        self.bell = self.queue(|queue| queue.head().and_then(|head| unsafe { queue.remove(head) }));
    }

    fn remove(&mut self, who: Who) {
        // SAFETY: the machine calls this at C3, while it serves, and its own node is in the queue.
        self.own = self.queue(|queue| unsafe { queue.remove(who) });
    }

    fn grant(&mut self, who: Who, op: Op) -> Word {
        // SAFETY: it is the own node, or at S11 and S19 that of a waiter who has no grant yet.
        let node = unsafe { who.as_ref() };
        if let Op::Write(SERVE) = op {
            // SAFETY: the machine writes this at S19, while it serves.
            self.bell = unsafe { node.bell_of_thread() };
        }
        access(&node.grant, op)
    }

    fn ring(&mut self, _: Who) {
        // The node may be gone: what is needed was taken out before the grant was written.
        match self.bell.take() {
            Some(bell @ Bell::Thread(_)) => {
                self.woke_a_thread = true;
                bell.ring();
            }
            // A waker is somebody else's code, which may come back to this hall: not while serving.
            Some(bell) => self.later.push(bell),
            None => {}
        }
    }

    fn rung(&mut self, _: Who) -> bool {
        self.ring_later();
        self.patience.rest()
    }

    fn sleeps_lightly(&self) -> bool {
        true
    }

    fn expired(&mut self) -> bool {
        self.patience.is_over()
    }

    fn needs(&self, who: Who) -> u32 {
        // SAFETY: it is the own node, or one in the queue of one who serves.
        unsafe { who.as_ref().need }
    }

    fn may_serve(&self, who: Who) -> bool {
        // SAFETY: the machine calls this while it serves, with a node in the queue.
        unsafe { who.as_ref().bell_of_thread().is_some() }
    }

    fn patience(&self) -> u32 {
        MOST_GRANTS
    }
}
