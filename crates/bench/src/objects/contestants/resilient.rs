//! The resilient object of hallpass.

use hallpass_objects::Resilient;

use super::Queue;
use crate::objects::heap::{Heap, Op};

impl Queue for Resilient<Heap> {
    type Handle<'a> = ();

    fn join(&self) {}

    #[inline]
    fn apply(&self, (): &mut (), op: Op) -> Option<u64> {
        Resilient::apply(self, op)
    }
}
