//! What is shared.

/// A sequential object: a value, operations on it, and what each returns.
///
/// `apply` must be deterministic: the same operation on an equal object returns an equal value and
/// leaves an equal object, whoever applies it. An operation is applied more than once, by different
/// threads, to copies of the object; it should have no effect but on the object. If it panics, it has
/// not happened, and the caller panics.
pub trait Object: Clone {
    /// An operation with its arguments.
    type Op;
    /// What an operation returns.
    type Ret;

    /// Applies the operation.
    fn apply(&mut self, op: &Self::Op) -> Self::Ret;
}
