//! What is shared.

/// A sequential object: a value, operations on it, and what each returns.
///
/// `apply` is called more than once for an operation, by different threads, on copies of the object that
/// must stay equal. So it
///
/// - **is deterministic**: the same operation on an equal object returns an equal value and leaves an equal
///   object, whoever applies it. Nothing in the object is changed but by operations: with a mutex or an
///   atomic inside, copies would drift apart (which is safe, and useless).
/// - **does not block**: others run it too, so an operation that waits, or never returns, holds up
///   everybody who comes. What may stop is a thread, not an operation.
/// - **does not use the object it is applied to through its shared handle**: that would wait for itself.
///   Nor should who looks at one ([`Resilient::read`](crate::Resilient::read)), nor what runs when an item
///   or an operation is dropped.
/// - **may panic**: then it has not happened (unless k = 1, where there is no copy to go back to), and the
///   caller panics. The panic hook may run several times, in other threads.
///
/// An operation is kept for a while after it was done, and dropped by some later one. (A panic while
/// something is dropped there goes to the panic hook and no further.)
pub trait Object: Clone {
    /// An operation with its arguments.
    type Op;
    /// What an operation returns.
    type Ret;

    /// Applies the operation.
    fn apply(&mut self, op: &Self::Op) -> Self::Ret;
}
