//! A priority queue that processes share.

use std::{error, fmt};

use bytemuck::{Pod, Zeroable};

use crate::{Error, cell::SharedCell, hall::SharedHall, place::Place};

/// A priority queue of at most `N` numbers that processes share: the smallest comes first. Whoever is
/// killed, an item is in it or it is not; what can be said of a [`SharedCell`], which it is made of, holds
/// for it.
///
/// ```
/// use hallpass_processes::{PushError, SharedPriorityQueue};
/// # let dir = tempfile::tempdir().unwrap();
/// # // SAFETY: nobody else reads the environment.
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
/// Who pops an item and is killed takes it along. To have it done again, push it anew until it is done,
/// or keep what is being done in a [`SharedCell`] of one's own.
///
/// Every push and pop copies the whole queue, whose `N` numbers should not be too many: some thousands.
#[derive(Clone, Debug)]
pub struct SharedPriorityQueue<const N: usize> {
    cell: SharedCell<Items<N>>,
}

/// The first `len` items, the largest first. (That takes as long as copying them, which is done anyway,
/// and so there is nothing to be gained by a heap.)
#[derive(Clone, Copy)]
#[repr(C)]
struct Items<const N: usize> {
    len: u64,
    items: [u64; N],
}

// SAFETY: all zeros are numbers.
unsafe impl<const N: usize> Zeroable for Items<N> {}
// SAFETY: it is numbers of one size in the order of C, so nothing is between them; any bits are numbers.
unsafe impl<const N: usize> Pod for Items<N> {}

impl<const N: usize> Items<N> {
    /// How many there are; more than there is room for was not written by us.
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
    /// Opens the queue `name` of this user, or makes it, without items.
    ///
    /// # Errors
    /// Those of [`SharedCell::open`]; another `N` is another type.
    pub fn open(name: &str) -> Result<Self, Error> {
        Place::user()?.open_queue(name)
    }

    /// Waits its turn, and adds an item.
    ///
    /// # Errors
    /// [`PushError::Full`] with the item; those of [`SharedCell::update`].
    pub fn push(&self, item: u64) -> Result<(), PushError> {
        self.cell.update(|items| items.push(item))?.map_err(PushError::Full)
    }

    /// Waits its turn, and takes the smallest item; none if there is none.
    ///
    /// # Errors
    /// Those of [`SharedCell::update`].
    pub fn pop(&self) -> Result<Option<u64>, Error> {
        self.cell.update(Items::pop)
    }

    /// The smallest item, which stays where it is.
    ///
    /// # Errors
    /// Those of [`SharedCell::read`].
    pub fn peek(&self) -> Result<Option<u64>, Error> {
        Ok(self.cell.read()?.peek())
    }

    /// All items at one moment, the smallest first.
    ///
    /// # Errors
    /// Those of [`SharedCell::read`].
    pub fn snapshot(&self) -> Result<Vec<u64>, Error> {
        let items = self.cell.read()?;
        Ok(items.items[..items.len()].iter().rev().copied().collect())
    }

    /// How many items there are.
    ///
    /// # Errors
    /// Those of [`SharedCell::read`].
    pub fn len(&self) -> Result<usize, Error> {
        Ok(self.cell.read()?.len())
    }

    /// Whether there are none.
    ///
    /// # Errors
    /// Those of [`SharedCell::read`].
    pub fn is_empty(&self) -> Result<bool, Error> {
        Ok(self.len()? == 0)
    }

    /// The hall that pushes and pops go through, as [`SharedCell::hall`] says.
    pub fn hall(&self) -> &SharedHall {
        self.cell.hall()
    }
}

impl Place {
    /// Opens the [queue](SharedPriorityQueue) `name`, or makes it, without items.
    ///
    /// # Errors
    /// Those of [`SharedPriorityQueue::open`].
    pub fn open_queue<const N: usize>(&self, name: &str) -> Result<SharedPriorityQueue<N>, Error> {
        Ok(SharedPriorityQueue { cell: self.open_cell(name, Items::zeroed())? })
    }
}

/// Why an item was not added.
#[derive(Debug)]
#[non_exhaustive]
pub enum PushError {
    /// The queue is full; here is the item.
    Full(u64),
    /// Whatever else went wrong.
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
