//! The trait of sequential objects.

/// A sequential object: a value, operations on it, and the return values of these operations.
///
/// If k > 1, an operation is applied more than once, by different threads, to copies of the object that must stay
/// equal. Therefore `apply` must follow these rules:
///
/// - **Deterministic**: the same operation on an equal object returns an equal value and leaves an equal
///   object, no matter which thread applies it. Only operations change the object. If the object
///   contained a mutex or an atomic, the copies would diverge (which is memory-safe, but useless).
/// - **Non-blocking**: other threads also apply the operation. If the operation waits or never returns, it blocks all
///   of them. A thread may stop, but the operation itself must not.
/// - **No access to the same object through its shared handle**: the operation would wait for itself. Neither may the
///   closure passed to [`Resilient::read`](crate::Resilient::read), nor the destructors of items and operations,
///   access the object in this way.
/// - **Panics are allowed**: the operation then has no effect, and the caller panics. (With k = 1, there
///   is no copy to return to, so the effect so far stays.) The panic hook may run several times, in
///   other threads.
///
/// An operation is kept for a while after it is complete, and a later operation drops it. If a
/// destructor panics then, only the panic hook sees the panic.
///
/// ```
/// use hallpass_objects::{Object, Resilient};
///
/// #[derive(Clone)]
/// struct Sum(u64);
///
/// impl Object for Sum {
///     type Op = u64;
///     type Ret = u64;
///     fn apply(&mut self, by: &u64) -> u64 {
///         self.0 += by;
///         self.0
///     }
/// }
///
/// let sum = Resilient::new(2, Sum(0));
/// assert_eq!(sum.apply(2), 2);
/// assert_eq!(sum.apply(3), 5);
/// ```
pub trait Object: Clone {
    /// An operation with its arguments.
    type Op;
    /// The return value of an operation.
    type Ret;

    /// Applies the operation.
    fn apply(&mut self, op: &Self::Op) -> Self::Ret;
}
