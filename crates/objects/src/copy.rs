//! A copy of the object, and what becomes of it.

use std::{
    any::Any,
    cell::UnsafeCell,
    mem,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use hallpass_algorithms::objects::universal::Helped;

use crate::object::Object;

/// What is asked for: an operation, or none by who only wants to look.
pub(crate) type Request<O> = Arc<Option<<O as Object>::Op>>;

/// What came of an operation: its value, or what it panicked with.
pub(crate) type Outcome<O> = Result<<O as Object>::Ret, Box<dyn Any + Send>>;

/// A copy of the object, and what it has that the copy did not have that it was made from.
pub(crate) struct Copy<O: Object> {
    /// None before it is first used, and after a panic that left it half made.
    object: Option<O>,
    /// Its number among all that were ever the object; none if it is not one of them.
    version: Option<u64>,
    /// The parities of the requests that it has served.
    pub(crate) served: u64,
    /// The copy that it was made from.
    pub(crate) previous: usize,
    batch: Vec<Entry<O>>,
}

/// A request that was served.
struct Entry<O: Object> {
    request: Request<O>,
    /// Whether there was an operation, and it did not panic.
    happened: bool,
    /// Who will fetch the answer from here.
    helped: Option<Helped>,
    /// The answer. Once others can read the copy, only who was helped touches it.
    answer: UnsafeCell<Option<Outcome<O>>>,
}

impl<O: Object> Copy<O> {
    /// One that nobody has used.
    pub(crate) fn empty() -> Self {
        Copy { object: None, version: None, served: 0, previous: 0, batch: Vec::new() }
    }

    /// The first.
    pub(crate) fn of(object: O) -> Self {
        Copy { object: Some(object), version: Some(0), ..Self::empty() }
    }

    /// The object.
    pub(crate) fn object(&self) -> &O {
        self.object.as_ref().expect("what is read has been written")
    }

    pub(crate) fn object_mut(&mut self) -> &mut O {
        self.object.as_mut().expect("what is read has been written")
    }

    pub(crate) fn into_object(self) -> O {
        self.object.expect("what is read has been written")
    }

    /// It is not going to be the object.
    pub(crate) fn spoil(&mut self) {
        self.version = None;
    }

    /// Becomes what `from` is, which is copy number `index`; this one is number `own`.
    ///
    /// If `from` replaced it, then all it lacks is what `from` has served. Applying that again is
    /// quicker than copying, unless the object is tiny.
    pub(crate) fn follow(&mut self, from: &Self, index: usize, own: usize) {
        let is_next = from.version == self.version.map(|version| version + 1);
        let lacks_a_batch = from.previous == own && self.version.is_some() && is_next;
        self.version = None; // until it is done: something may panic
        for Entry { request, answer, .. } in self.batch.drain(..) {
            discard(|| drop(request)); // one by one: two panics at once would be the end
            discard(|| drop(answer));
        }
        let is_done = match &mut self.object {
            Some(object) if lacks_a_batch => replay(object, &from.batch),
            Some(object) => unharmed(|| object.clone_from(from.object())).is_some(),
            None => false,
        };
        if !is_done {
            self.replace(from); // what is there may be in any state
        }
        self.served = from.served;
        self.previous = index;
        self.version = from.version.map(|version| version + 1);
    }

    /// Serves a request of `name`, the parity of whose number this is. `from` is what this copy was made
    /// from. The answer comes back if nobody is going to fetch it.
    pub(crate) fn serve(
        &mut self,
        from: &Self,
        request: Request<O>,
        (name, parity): (usize, u64),
        helped: Option<Helped>,
    ) -> Option<Outcome<O>> {
        let object = self.object.as_mut().expect("it was made a copy before");
        let outcome = request.as_ref().as_ref().map(|op| attempt(object, op));
        let happened = matches!(outcome, Some(Ok(_)));
        if matches!(outcome, Some(Err(_))) {
            self.restore(from);
        }
        self.served = self.served & !(1 << name) | parity << name;
        let (kept, own) = if helped.is_some() { (outcome, None) } else { (None, outcome) };
        self.batch.push(Entry { request, happened, helped, answer: UnsafeCell::new(kept) });
        own
    }

    /// As it was before an operation that panicked.
    fn restore(&mut self, from: &Self) {
        let version = self.version.take();
        self.replace(from);
        let object = self.object.as_mut().expect("it was put there");
        assert!(
            replay(object, &self.batch),
            "an operation of a shared object panics now, and did not before on an equal object"
        );
        self.version = version;
    }

    /// Another object in the place of this one, of which nothing is used.
    fn replace(&mut self, from: &Self) {
        let old = self.object.take();
        discard(|| drop(old));
        self.object = Some(from.object().clone());
    }

    /// Those whose answers are here.
    pub(crate) fn helped(&self) -> impl Iterator<Item = Helped> {
        self.batch.iter().filter_map(|entry| entry.helped)
    }

    /// Where the answer for `name` is.
    pub(crate) fn answer(&self, name: usize) -> &UnsafeCell<Option<Outcome<O>>> {
        let is_its = |entry: &&Entry<O>| entry.helped.is_some_and(|helped| helped.name == name);
        &self.batch.iter().find(is_its).expect("its answer was assigned to this copy").answer
    }
}

/// Applies the operation. If it panics, the object may be left in any state.
fn attempt<O: Object>(object: &mut O, op: &O::Op) -> Outcome<O> {
    panic::catch_unwind(AssertUnwindSafe(|| object.apply(op)))
}

/// Applies what has been applied to an equal object; says whether nothing panicked.
fn replay<O: Object>(object: &mut O, batch: &[Entry<O>]) -> bool {
    let happened = batch.iter().filter(|entry| entry.happened);
    let mut ops = happened.filter_map(|entry| entry.request.as_ref().as_ref());
    ops.all(|op| match attempt(object, op) {
        Ok(ret) => {
            discard(|| drop(ret));
            true
        }
        Err(why) => {
            discard(|| drop(why));
            false
        }
    })
}

/// Drops something of the user's. Should that panic, it is not the fault of who happens to do it, and
/// must not stop it in the middle of an operation: nobody hears more of it than from the panic hook.
pub(crate) fn discard(drop: impl FnOnce()) {
    let _ = unharmed(drop);
}

/// Runs something of the user's; none if it panicked.
fn unharmed<R>(run: impl FnOnce() -> R) -> Option<R> {
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    result.map_err(mem::forget).ok() // what it panicked with might panic when it is dropped
}
