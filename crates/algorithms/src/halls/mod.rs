//! The protocols behind the halls of hallpass, one folder per product family.

#[cfg(feature = "full")]
use crate::registry::families;

#[cfg(not(feature = "full"))]
pub mod threads;

// Each line declares a module and registers its algorithms.
#[cfg(feature = "full")]
families! { in "halls":
    pub mod threads;
    pub mod processes;
    pub mod cluster;
}
