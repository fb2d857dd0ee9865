//! The algorithms of the literature, one folder per paper.

pub mod afek;
pub mod anderson_moir;
pub mod choi;
pub mod omori;
pub mod timestamps;
pub mod zehavi;
