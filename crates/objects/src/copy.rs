//! A copy of the object. The *head* is the copy that contains the current state of the object.

use std::{
    any::Any,
    cell::UnsafeCell,
    mem,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use hallpass_algorithms::objects::universal::Helped;

use crate::object::Object;

/// The operation of a request, or `None` if the request only reads.
pub(crate) type SharedOp<O> = Arc<Option<<O as Object>::Op>>;

/// The result of an operation: its return value, or the payload of its panic.
pub(crate) type Outcome<O> = Result<<O as Object>::Ret, Box<dyn Any + Send>>;

/// A copy of the object, with the operations that were applied since the copy was made.
pub(crate) struct ObjectCopy<O: Object> {
    /// The object, or `None` before the first use and after a panic in the middle of copying.
    object: Option<O>,
    /// How many copies were the head before this copy, or `None` if this copy cannot catch up with the head (see
    /// [`follow`](Self::follow)).
    version: Option<u64>,
    /// One bit for each process. Each process numbers its requests. The bit is the parity of the number of the latest
    /// request of this process that this copy has served.
    pub(crate) served: u64,
    /// The copy from which this copy was made.
    pub(crate) previous: usize,
    batch: Vec<ServedRequest<O>>,
}

/// A request that the copy has served.
struct ServedRequest<O: Object> {
    op: SharedOp<O>,
    /// Whether an operation was applied and did not panic.
    applied: bool,
    /// The process that will fetch the answer from this copy, if any.
    helped: Option<Helped>,
    /// The answer. Once other threads can read the copy, only the helped process accesses it.
    answer: UnsafeCell<Option<Outcome<O>>>,
}

impl<O: Object> ObjectCopy<O> {
    /// Creates a copy that was never used.
    pub(crate) fn empty() -> Self {
        ObjectCopy { object: None, version: None, served: 0, previous: 0, batch: Vec::new() }
    }

    /// Creates the first head.
    pub(crate) fn of(object: O) -> Self {
        ObjectCopy { object: Some(object), version: Some(0), ..Self::empty() }
    }

    pub(crate) fn object(&self) -> &O {
        self.object.as_ref().expect("a copy that is read was written before")
    }

    pub(crate) fn object_mut(&mut self) -> &mut O {
        self.object.as_mut().expect("a copy that is read was written before")
    }

    pub(crate) fn into_object(self) -> O {
        self.object.expect("a copy that is read was written before")
    }

    /// Records that this copy will not become the head.
    pub(crate) fn spoil(&mut self) {
        self.version = None;
    }

    /// Makes this copy, which has the index `own`, equal to `from`, which has the index `index`.
    ///
    /// If `from` replaced this copy as the head, this copy lacks only the operations that `from` has served. Then this
    /// copy *catches up*: it applies these operations. This is faster than cloning, except for tiny objects.
    pub(crate) fn follow(&mut self, from: &Self, index: usize, own: usize) {
        let is_next = from.version == self.version.map(|version| version + 1);
        let lacks_a_batch = from.previous == own && self.version.is_some() && is_next;
        self.version = None; // stays so until the copy is complete, because user code below may panic
        for ServedRequest { op, answer, .. } in self.batch.drain(..) {
            discard(|| drop(op)); // one at a time: two panics at once would abort the program
            discard(|| drop(answer));
        }
        let is_done = match &mut self.object {
            Some(object) if lacks_a_batch => replay(object, &from.batch),
            Some(object) => catch(|| object.clone_from(from.object())).is_some(),
            None => false,
        };
        if !is_done {
            self.replace(from); // the object may be in any state
        }
        self.served = from.served;
        self.previous = index;
        self.version = from.version.map(|version| version + 1);
    }

    /// Serves a request of `owner` whose number has this parity. `from` is the copy from which this copy
    /// was made. Returns the answer if no process is going to fetch it.
    pub(crate) fn serve(
        &mut self,
        from: &Self,
        op: SharedOp<O>,
        (owner, parity): (usize, u64),
        helped: Option<Helped>,
    ) -> Option<Outcome<O>> {
        let object = self.object.as_mut().expect("`follow` was called before");
        let outcome = op.as_ref().as_ref().map(|op| attempt(object, op));
        let applied = matches!(outcome, Some(Ok(_)));
        if matches!(outcome, Some(Err(_))) {
            self.restore(from);
        }
        self.served = self.served & !(1 << owner) | parity << owner;
        let (stored, own) = if helped.is_some() { (outcome, None) } else { (None, outcome) };
        self.batch.push(ServedRequest { op, applied, helped, answer: UnsafeCell::new(stored) });
        own
    }

    /// Restores the state that the object had before an operation panicked.
    fn restore(&mut self, from: &Self) {
        let version = self.version.take();
        self.replace(from);
        let object = self.object.as_mut().expect("`replace` sets it");
        assert!(
            replay(object, &self.batch),
            "an operation of a shared object panicked, although the same operation did not panic on an equal object before: operations must be deterministic"
        );
        self.version = version;
    }

    /// Replaces the object with a clone. Does not use the old object.
    fn replace(&mut self, from: &Self) {
        let old = self.object.take();
        discard(|| drop(old));
        self.object = Some(from.object().clone());
    }

    /// Returns the processes whose answers are in this copy.
    pub(crate) fn helped(&self) -> impl Iterator<Item = Helped> {
        self.batch.iter().filter_map(|served| served.helped)
    }

    /// Returns the cell with the answer to the request of `process`.
    pub(crate) fn answer(&self, process: usize) -> &UnsafeCell<Option<Outcome<O>>> {
        let is_for = |served: &&ServedRequest<O>| {
            served.helped.is_some_and(|helped| helped.process == process)
        };
        &self.batch.iter().find(is_for).expect("its answer was assigned to this copy").answer
    }
}

/// Applies the operation. If it panics, the object may be left in any state.
fn attempt<O: Object>(object: &mut O, op: &O::Op) -> Outcome<O> {
    panic::catch_unwind(AssertUnwindSafe(|| object.apply(op)))
}

/// Applies the operations that were applied to an equal object. Returns whether none of them panicked.
fn replay<O: Object>(object: &mut O, batch: &[ServedRequest<O>]) -> bool {
    let applied = batch.iter().filter(|served| served.applied);
    let mut ops = applied.filter_map(|served| served.op.as_ref().as_ref());
    ops.all(|op| match attempt(object, op) {
        Ok(ret) => {
            discard(|| drop(ret));
            true
        }
        Err(payload) => {
            discard(|| drop(payload));
            false
        }
    })
}

/// Runs the destructor of a user's value. If the destructor panics, only the panic hook sees the panic.
/// The thread that happens to run the destructor did not cause the panic, so the panic must not stop
/// this thread in the middle of an operation.
pub(crate) fn discard(drop: impl FnOnce()) {
    let _ = catch(drop);
}

/// Runs user code. Returns `None` if the code panicked.
fn catch<R>(run: impl FnOnce() -> R) -> Option<R> {
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    result.map_err(mem::forget).ok() // dropping the payload might panic again
}
