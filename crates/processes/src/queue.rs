//! A priority queue that processes share.

use std::{error, fmt};

use bytemuck::{Pod, Zeroable};

use crate::{Error, cell::SharedCell, hall::SharedHall, hall_dir::HallDir};

/// A priority queue of at most `N` numbers that processes share. The smallest number comes first.
///
/// The queue is a [`SharedCell`] and has the same guarantees. If a process is killed during a push or pop, the
/// operation has happened completely or not at all.
///
/// ```
/// use hallpass_processes::{PushError, SharedPriorityQueue};
/// # let dir = tempfile::tempdir().unwrap();
/// # // SAFETY: no other thread reads the environment.
/// # unsafe { std::env::set_var("HALLPASS_DIR", dir.path()) };
///
/// let jobs = SharedPriorityQueue::<2>::open("jobs")?;
/// jobs.push(7)?;
/// jobs.push(3)?;
/// assert!(matches!(jobs.push(5), Err(PushError::Full(5))));
/// assert_eq!((jobs.len()?, jobs.peek()?), (2, Some(3)));
/// assert_eq!([jobs.pop()?, jobs.pop()?, jobs.pop()?], [Some(3), Some(7), None]);
/// # Ok::<(), hallpass_processes::PushError>(())
/// ```
///
/// If a process pops an item and is killed before it has processed the item, the item is lost. If no item may be lost,
/// keep a list of the items in progress in a [`SharedCell`], and push the items of killed processes again.
///
/// Each push and pop copies all `N` numbers, so `N` should be at most a few thousand.
#[derive(Clone, Debug)]
pub struct SharedPriorityQueue<const N: usize> {
    cell: SharedCell<Items<N>>,
}

/// The first `len` items, sorted with the largest first. Every operation copies all items, and inserting into a
/// sorted array takes no longer than this copy. So a heap would not be faster.
#[derive(Clone, Copy)]
#[repr(C)]
struct Items<const N: usize> {
    len: u64,
    items: [u64; N],
}

// SAFETY: all fields are numbers, and zeros are numbers.
unsafe impl<const N: usize> Zeroable for Items<N> {}
// SAFETY: all fields are `u64` in C layout, so there is no padding, and any bits are a `u64`.
unsafe impl<const N: usize> Pod for Items<N> {}

impl<const N: usize> Items<N> {
    /// Returns the number of items, at most `N`. Another program may have written any number.
    fn len(&self) -> usize {
        usize::try_from(self.len).map_or(N, |len| len.min(N))
    }

    fn push(&mut self, item: u64) -> Result<(), u64> {
        let len = self.len();
        if len == N {
            return Err(item);
        }
        let at = self.items[..len].partition_point(|&other| other > item);
        self.items.copy_within(at..len, at + 1);
        self.items[at] = item;
        self.len = len as u64 + 1;
        Ok(())
    }

    fn pop(&mut self) -> Option<u64> {
        let first = self.peek()?;
        self.len = self.len() as u64 - 1;
        Some(first)
    }

    fn peek(&self) -> Option<u64> {
        self.items[..self.len()].last().copied()
    }
}

impl<const N: usize> SharedPriorityQueue<N> {
    /// Opens the queue `name` of this user, or creates an empty one.
    ///
    /// # Errors
    /// Returns the errors of [`SharedCell::open`], among them [`Error::Value`] if the queue was created with
    /// another `N`.
    pub fn open(name: &str) -> Result<Self, Error> {
        HallDir::user()?.open_queue(name)
    }

    /// Waits until no other process changes the queue, and adds an item.
    ///
    /// # Errors
    /// Returns [`PushError::Full`] with the item if the queue has `N` items already, and [`PushError::Failed`]
    /// with the errors of [`SharedCell::update`].
    pub fn push(&self, item: u64) -> Result<(), PushError> {
        self.cell.update(|items| items.push(item))?.map_err(PushError::Full)
    }

    /// Waits until no other process changes the queue, and removes the smallest item. Returns `None` if the
    /// queue is empty.
    ///
    /// # Errors
    /// Returns the errors of [`SharedCell::update`].
    pub fn pop(&self) -> Result<Option<u64>, Error> {
        self.cell.update(Items::pop)
    }

    /// Returns the smallest item without removing it.
    ///
    /// # Errors
    /// Returns the errors of [`SharedCell::read`].
    pub fn peek(&self) -> Result<Option<u64>, Error> {
        Ok(self.cell.read()?.peek())
    }

    /// Returns all items at one moment, the smallest first.
    ///
    /// # Errors
    /// Returns the errors of [`SharedCell::read`].
    pub fn snapshot(&self) -> Result<Vec<u64>, Error> {
        let items = self.cell.read()?;
        Ok(items.items[..items.len()].iter().rev().copied().collect())
    }

    /// Returns the number of items.
    ///
    /// # Errors
    /// Returns the errors of [`SharedCell::read`].
    pub fn len(&self) -> Result<usize, Error> {
        Ok(self.cell.read()?.len())
    }

    /// Returns `true` if there are no items.
    ///
    /// # Errors
    /// Returns the errors of [`SharedCell::read`].
    pub fn is_empty(&self) -> Result<bool, Error> {
        Ok(self.len()? == 0)
    }

    /// Returns the hall of the queue. Every push and pop acquires its slot; see [`SharedCell::hall`].
    pub fn hall(&self) -> &SharedHall {
        self.cell.hall()
    }
}

impl HallDir {
    /// Opens the [queue](SharedPriorityQueue) `name`, or creates an empty one.
    ///
    /// # Errors
    /// Returns the errors of [`SharedPriorityQueue::open`].
    pub fn open_queue<const N: usize>(&self, name: &str) -> Result<SharedPriorityQueue<N>, Error> {
        Ok(SharedPriorityQueue { cell: self.open_cell(name, Items::zeroed())? })
    }
}

/// Error returned by [`SharedPriorityQueue::push`].
#[derive(Debug)]
#[non_exhaustive]
pub enum PushError {
    /// The queue is full. The value is the item that was not added.
    Full(u64),
    /// The queue could not be changed.
    Failed(Error),
}

impl From<Error> for PushError {
    fn from(error: Error) -> Self {
        PushError::Failed(error)
    }
}

impl fmt::Display for PushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PushError::Full(item) => write!(f, "the queue is full: {item} was not added"),
            PushError::Failed(error) => error.fmt(f),
        }
    }
}

impl error::Error for PushError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            PushError::Full(_) => None,
            PushError::Failed(error) => error::Error::source(error),
        }
    }
}
