//! The parts that several families share.
//!
//! | module | contents |
//! |---|---|
//! | [`semaphore`] | [`Semaphore`], the trait that a contestant implements, and [`Order`] |
//! | [`work`] | work of a known length, inside and outside the critical section |
//! | [`sample`] | the passages of one contestant in one round |
//! | [`rounds`] | rounds over workloads and contestants |
//! | [`statistics`], [`quartiles`] | medians, spreads and quartiles over rounds |
//! | [`ranking`] | warnings where the spread makes a ranking meaningless |
//! | [`select`] | contestants by the names on a command line |
//! | [`text`] | figures as tables |
//! | [`plot`] | figures as pictures |

pub mod plot;
pub mod quartiles;
pub mod ranking;
pub mod rounds;
pub mod sample;
pub mod select;
pub mod semaphore;
pub mod statistics;
pub mod text;
pub mod work;

pub use sample::Sample;
pub use semaphore::{Order, Padded, Semaphore};

/// Returns the number of threads that this machine can run at once.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}
