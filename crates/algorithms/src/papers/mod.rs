//! The algorithms of the literature, one folder per paper.

use crate::registry::families;

pub mod timestamps;

// Each line declares a module and registers its algorithms.
families! { in "papers":
    pub mod anderson_moir;
    pub mod omori;
    pub mod choi;
    pub mod afek;
    pub mod zehavi;
}
