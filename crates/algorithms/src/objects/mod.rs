//! Resilient objects: the universal construction, and the turnstile in front of it.

use crate::registry::families;

pub mod universal;

// Each line declares a module and registers its algorithms.
families! { in "objects":
    pub mod turnstile;
}
