//! The protocols behind hallpass's own halls, one folder per product family.

use crate::registry::families;

// A line declares the module and registers its algorithms.
families! { in "halls":
    pub mod threads;
    pub mod processes;
    pub mod cluster;
}
