//! Resilient objects: the universal construction, and the turnstile in front of it.

use crate::registry::families;

pub mod universal;

// A line declares the module and registers its algorithms.
families! { in "objects":
    pub mod turnstile;
}
