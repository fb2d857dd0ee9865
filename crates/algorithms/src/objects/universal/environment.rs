//! The shared state of the construction, as the lines see it. The [parent module](super) explains copies, guards and
//! marks.

use crate::framework::memory::{Op, Word};

/// The maximum k. The parities of all requests are bits of one word, which has 64 bits.
pub const MAX_PROCESSES: usize = 64;

/// Returns the number of copies that `k` processes need.
///
/// The reason: a process p that looks for a free copy must find one. Each of the k - 1 other processes blocks
/// at most three copies: the copy that it writes, the copy that it guards, and the copy that holds its
/// answer. Three more copies are needed: the head, the copy that holds the answer of p, and the copy that p
/// takes.
pub const fn copies(k: usize) -> usize {
    3 * k
}

/// The value of a guard that protects no copy, and of a mark that protects no operation.
pub const NONE: Word = 0;

/// The location of the answer to a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Answer {
    /// No answer is assigned yet.
    None,
    /// The answer is in this copy.
    In(usize),
    /// The process that made the request has fetched the answer.
    Fetched,
}

/// The latest request of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Request {
    /// The number of the request. Each process counts its own requests, one by one.
    pub number: u64,
    /// The index of the buffer that holds the operation. Each process has k buffers.
    pub buffer: usize,
    /// The location of the answer.
    pub answer: Answer,
}

const BUFFER_BITS: u32 = 6;
const ANSWER_BITS: u32 = 9;

impl Request {
    /// The state before the first request.
    pub const INITIAL: Request = Request { number: 0, buffer: 0, answer: Answer::Fetched };

    /// Packs the request into a word.
    pub const fn pack(self) -> Word {
        let answer = match self.answer {
            Answer::None => 0,
            Answer::Fetched => 1,
            Answer::In(copy) => 2 + copy as Word,
        };
        (((self.number as Word) << BUFFER_BITS | self.buffer as Word) << ANSWER_BITS) | answer
    }

    /// Restores a request from a word made by [`pack`](Request::pack).
    pub const fn unpack(word: Word) -> Self {
        let answer = match word & ((1 << ANSWER_BITS) - 1) {
            0 => Answer::None,
            1 => Answer::Fetched,
            copy => Answer::In(copy as usize - 2),
        };
        let buffer = (word >> ANSWER_BITS) & ((1 << BUFFER_BITS) - 1);
        let number = word as u64 >> (ANSWER_BITS + BUFFER_BITS);
        Request { number, buffer: buffer as usize, answer }
    }

    /// Returns the same request with this answer.
    pub const fn answered(self, answer: Answer) -> Self {
        Request { answer, ..self }
    }

    /// Returns the parity of the number, as a bit.
    pub const fn parity(self) -> u64 {
        self.number & 1
    }
}

/// An operation that a process is reading.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mark {
    /// The process whose operation it is.
    pub owner: usize,
    /// The owner's buffer that holds the operation.
    pub buffer: usize,
}

impl Mark {
    /// Packs the mark into a word other than [`NONE`].
    pub const fn pack(self) -> Word {
        1 + (self.owner << BUFFER_BITS | self.buffer) as Word
    }

    /// Restores a mark from a word made by [`pack`](Mark::pack). Returns `None` for [`NONE`].
    pub const fn unpack(word: Word) -> Option<Self> {
        match word {
            NONE => None,
            word => {
                let word = word as usize - 1;
                Some(Mark { owner: word >> BUFFER_BITS, buffer: word & ((1 << BUFFER_BITS) - 1) })
            }
        }
    }
}

/// A process whose answer is in a copy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Helped {
    /// The process that gets the answer.
    pub process: usize,
    /// The request of the process before the answer was assigned.
    pub request: Request,
}

/// The state of a shared object, as one process sees it. Each method call is one access.
///
/// In the lab, all of this is a model. On real memory, the methods from `head` to `taken` access atomic words. The
/// methods after `taken` access the data that these words protect. These accesses need not be atomic, because no
/// process writes data while another process reads or writes them. An access that reads or writes an operation or an
/// object has one method for its beginning and one for its end, so that the lab sees every overlap.
pub trait Environment {
    /// Returns k, the number of processes.
    fn k(&self) -> usize;

    /// Accesses the number of the copy that is currently the object.
    fn head(&mut self, op: Op) -> Word;
    /// Accesses the parities of all requests, one bit for each process.
    fn flips(&mut self, op: Op) -> Word;
    /// Accesses a process's [`Request`].
    fn request(&mut self, process: usize, op: Op) -> Word;
    /// Accesses a process's guard: [`NONE`], or 1 + the copy that it protects.
    fn guard(&mut self, process: usize, op: Op) -> Word;
    /// Accesses a process's mark: [`NONE`], or the operation that it reads, as a [`Mark`].
    fn mark(&mut self, process: usize, op: Op) -> Word;
    /// Accesses the flag that says whether a copy is taken.
    fn taken(&mut self, copy: usize, op: Op) -> Word;

    /// Returns the parities of the requests that a copy has served.
    fn served(&mut self, copy: usize) -> u64;
    /// Returns the copy that this copy replaced.
    fn previous(&mut self, copy: usize) -> usize;
    /// Returns the `index`th of the processes whose answers are in this copy, or `None` if there are fewer.
    fn helped(&mut self, copy: usize, index: usize) -> Option<Helped>;

    /// Begins to write the operation of `me` to one of its buffers.
    fn put_begins(&mut self, me: usize, buffer: usize);
    /// Finishes writing the operation of `me` to one of its buffers.
    fn put_ends(&mut self, me: usize, buffer: usize);
    /// Begins to make `copy` equal to `from`.
    fn copy_begins(&mut self, from: usize, copy: usize);
    /// Finishes making `copy` equal to `from`. If `from` replaced `copy` and no process has written
    /// `copy` since, it is enough to apply the operations that `from` has served.
    fn copy_ends(&mut self, from: usize, copy: usize);
    /// Begins to apply the operation of this request of `owner` to `copy`.
    fn serve_begins(&mut self, copy: usize, owner: usize, request: Request);
    /// Finishes applying the operation of this request of `owner` to `copy`. The answer stays in the
    /// copy until its owner fetches it. Exception: if `me` is the owner and its
    /// [`Intent`](super::Intent) is `Apply`, `me` keeps the answer itself.
    fn serve_ends(&mut self, me: usize, copy: usize, owner: usize, request: Request);
    /// Records that `copy` will not become the head, so that no process catches up from its contents.
    fn spoil(&mut self, copy: usize);
    /// Begins to read the object, or the answer of `me`, from this copy.
    fn read_begins(&mut self, me: usize, copy: usize);
    /// Finishes reading the object, or the answer of `me`, from this copy.
    fn read_ends(&mut self, me: usize, copy: usize);
    /// Records that `copy` has become the head and is no longer written.
    fn published(&mut self, copy: usize);
}
