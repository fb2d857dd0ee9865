//! The construction behind a door that gives out names.
#![allow(unsafe_code)]

use std::{
    cell::UnsafeCell,
    fmt,
    panic::{self, RefUnwindSafe, UnwindSafe},
};

use hallpass_algorithms::objects::universal::MOST;

use crate::{
    construction::Construction,
    error::BuildError,
    object::Object,
    turnstile::{self, Turnstile},
};

/// A shared object for any number of threads. An operation completes as long as fewer than k others
/// have stopped inside theirs.
///
/// ```
/// use hallpass_objects::{Object, Resilient};
///
/// /// The highest bid so far, and by whom.
/// #[derive(Clone, Default)]
/// struct Auction(Option<(u64, String)>);
///
/// impl Object for Auction {
///     type Op = (u64, String);
///     type Ret = bool;
///     fn apply(&mut self, (bid, who): &(u64, String)) -> bool {
///         let wins = self.0.as_ref().is_none_or(|(highest, _)| bid > highest);
///         if wins {
///             self.0 = Some((*bid, who.clone()));
///         }
///         wins
///     }
/// }
///
/// let auction = Resilient::new(2, Auction::default());
/// std::thread::scope(|scope| {
///     scope.spawn(|| auction.apply((10, "Ann".into())));
///     scope.spawn(|| auction.apply((12, "Bob".into())));
/// });
/// assert_eq!(auction.read(|auction| auction.0.clone()), Some((12, "Bob".into())));
/// ```
///
/// With k = 1 it is a lock: there is one copy, nothing is applied twice, and one that stops inside stops
/// all. An operation that panics then leaves the object as it is at that moment.
pub struct Resilient<O: Object> {
    turnstile: Turnstile,
    inside: Inside<O>,
}

enum Inside<O: Object> {
    /// With k = 1: nobody else is in.
    Alone(UnsafeCell<O>),
    Together(Box<Construction<O>>),
}

// SAFETY: with k = 1 the object is touched by who is inside the turnstile only, one at a time; otherwise
// see `Construction`.
unsafe impl<O> Sync for Resilient<O>
where
    O: Object + Send + Sync,
    O::Op: Send + Sync,
    O::Ret: Send,
{
}

// With k = 1, an operation that panics leaves the object as it left it; that is for its author to know.
impl<O: Object> UnwindSafe for Resilient<O> {}
impl<O: Object> RefUnwindSafe for Resilient<O> {}

impl<O> Resilient<O>
where
    O: Object + Send + Sync,
    O::Op: Send + Sync,
    O::Ret: Send,
{
    /// The most that can be in at once.
    pub const MOST: usize = MOST;

    /// An object that at most `k` threads work on at once, 1 to [`MOST`](Self::MOST).
    ///
    /// # Panics
    /// If k is 0 or too large; see [`try_new`](Self::try_new).
    #[track_caller]
    pub fn new(k: usize, object: O) -> Self {
        Self::try_new(k, object).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same, with an error for a k that cannot be.
    pub fn try_new(k: usize, object: O) -> Result<Self, BuildError> {
        BuildError::unless_possible(k)?;
        let inside = match k {
            1 => Inside::Alone(UnsafeCell::new(object)),
            _ => Inside::Together(Box::new(Construction::new(k, object))),
        };
        Ok(Resilient { turnstile: Turnstile::new(k), inside })
    }

    /// Applies the operation.
    ///
    /// # Panics
    /// If the operation does; then it has not happened (k > 1). If copying the object panics, the
    /// operation may have happened or not, and the thread counts as one that has stopped inside: after k
    /// of these, nobody gets in.
    pub fn apply(&self, op: O::Op) -> O::Ret {
        match &self.inside {
            // SAFETY: of those who visit, one is in at a time.
            Inside::Alone(object) => self.visit(|| unsafe { &mut *object.get() }.apply(&op)),
            Inside::Together(construction) => {
                // SAFETY: nobody else who is in has this name.
                let outcome = self.join(|name| unsafe { construction.operate(name, op) });
                outcome.unwrap_or_else(|why| panic::resume_unwind(why))
            }
        }
    }

    /// Looks at the object as it is at one moment of the call, while others go on (k > 1). Nothing is
    /// copied.
    pub fn read<R>(&self, look: impl FnOnce(&O) -> R) -> R {
        match &self.inside {
            // SAFETY: of those who visit, one is in at a time.
            Inside::Alone(object) => self.visit(|| look(unsafe { &*object.get() })),
            Inside::Together(construction) => {
                // SAFETY: nobody else who is in has this name.
                let seen = self.join(|name| unsafe { construction.look(name, look) });
                seen.unwrap_or_else(|why| panic::resume_unwind(why))
            }
        }
    }

    /// A copy of the object.
    pub fn snapshot(&self) -> O {
        self.read(O::clone)
    }

    /// How many may be in at once: one more than may stop.
    pub fn k(&self) -> usize {
        self.turnstile.k()
    }

    /// The object, while nobody else can use it.
    pub fn get_mut(&mut self) -> &mut O {
        match &mut self.inside {
            Inside::Alone(object) => object.get_mut(),
            Inside::Together(construction) => construction.get_mut(),
        }
    }

    /// The object, when nobody shares it any more.
    pub fn into_inner(self) -> O {
        match self.inside {
            Inside::Alone(object) => object.into_inner(),
            Inside::Together(construction) => construction.into_inner(),
        }
    }

    /// Is in while it does something. Who unwinds gets out too.
    fn visit<R>(&self, inside: impl FnOnce() -> R) -> R {
        let _visit = Visit { turnstile: &self.turnstile, inside: self.turnstile.enter() };
        inside()
    }

    /// Is in, under a name, while it does something. Who unwinds stays in, and keeps its name: it was in
    /// the middle of an operation.
    fn join<R>(&self, inside: impl FnOnce(usize) -> R) -> R {
        let here = self.turnstile.enter();
        let result = inside(here.name);
        self.turnstile.leave(here);
        result
    }
}

/// Somebody inside.
struct Visit<'a> {
    turnstile: &'a Turnstile,
    inside: turnstile::Inside,
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        self.turnstile.leave(self.inside);
    }
}

impl<O: Object> fmt::Debug for Resilient<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resilient").field("k", &self.turnstile.k()).finish_non_exhaustive()
    }
}
