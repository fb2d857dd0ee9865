//! What the lines read and write.

use crate::framework::memory::{Op, Word};

/// The most participants there can be: they are bits of a word.
pub const MOST: usize = 64;

/// How many copies `k` participants need. Another participant keeps at most three from being free, by
/// writing one, guarding one, and having its answer in one; there is the head, and the one that is
/// looked for.
pub const fn copies(k: usize) -> usize {
    3 * k
}

/// No copy is guarded, nothing is marked.
pub const NOBODY: Word = 0;

/// Where the answer to a request is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Answer {
    /// Nowhere yet, as far as has been assigned.
    None,
    /// In this copy.
    In(usize),
    /// It was fetched.
    Fetched,
}

/// A participant's latest request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Asked {
    /// Its number; these grow by one.
    pub number: u64,
    /// In which of the participant's places the operation lies.
    pub place: usize,
    /// Where the answer is.
    pub answer: Answer,
}

const PLACE_BITS: u32 = 6;
const ANSWER_BITS: u32 = 9;

impl Asked {
    /// Before the first.
    pub const NOTHING: Asked = Asked { number: 0, place: 0, answer: Answer::Fetched };

    /// In a word.
    pub const fn pack(self) -> Word {
        let answer = match self.answer {
            Answer::None => 0,
            Answer::Fetched => 1,
            Answer::In(copy) => 2 + copy as Word,
        };
        (((self.number as Word) << PLACE_BITS | self.place as Word) << ANSWER_BITS) | answer
    }

    /// From a word.
    pub const fn unpack(word: Word) -> Self {
        let answer = match word & ((1 << ANSWER_BITS) - 1) {
            0 => Answer::None,
            1 => Answer::Fetched,
            copy => Answer::In(copy as usize - 2),
        };
        let place = (word >> ANSWER_BITS) & ((1 << PLACE_BITS) - 1);
        let number = word as u64 >> (ANSWER_BITS + PLACE_BITS);
        Asked { number, place: place as usize, answer }
    }

    /// The same request with this answer.
    pub const fn answered(self, answer: Answer) -> Self {
        Asked { answer, ..self }
    }

    /// The parity of its number, as a bit.
    pub const fn parity(self) -> u64 {
        self.number & 1
    }
}

/// An operation that is being read: whose, and in which of its places it lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mark {
    /// Whose.
    pub name: usize,
    /// In which place.
    pub place: usize,
}

impl Mark {
    /// In a word.
    pub const fn pack(self) -> Word {
        1 + (self.name << PLACE_BITS | self.place) as Word
    }
}

/// Somebody whose answer is in a copy, and its request as it was before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Helped {
    /// Who.
    pub name: usize,
    /// Its request.
    pub asked: Asked,
}

/// The state of a shared object, as a participant sees it. Each call is one access.
///
/// In the lab all of it is a model. Natively the first part are atomic words; the second is what the
/// words protect, and not atomic: a copy that is read is not written, and one that is written is not
/// read. The lab checks that, from where an access begins to where it ends.
pub trait Workshop {
    /// How many participants there are.
    fn names(&self) -> usize;

    /// Which copy is the object.
    fn head(&mut self, op: Op) -> Word;
    /// The parities of all requests.
    fn flips(&mut self, op: Op) -> Word;
    /// A participant's request, [`Asked`].
    fn request(&mut self, name: usize, op: Op) -> Word;
    /// One more than the copy that a participant guards.
    fn guard(&mut self, name: usize, op: Op) -> Word;
    /// The operation that a participant reads, a [`Mark`].
    fn mark(&mut self, name: usize, op: Op) -> Word;
    /// Whether a copy is taken.
    fn taken(&mut self, copy: usize, op: Op) -> Word;

    /// The parities of the requests that a copy has served.
    fn served(&mut self, copy: usize) -> u64;
    /// The copy that this one replaced.
    fn previous(&mut self, copy: usize) -> usize;
    /// Of those whose answers are in this copy to be fetched, the one with this number.
    fn helped(&mut self, copy: usize, number: usize) -> Option<Helped>;

    /// `me` begins to put its operation into this place,
    fn put_begins(&mut self, me: usize, place: usize);
    /// and has done so.
    fn put_ends(&mut self, me: usize, place: usize);
    /// `copy` begins to become what `from` is,
    fn copy_begins(&mut self, from: usize, copy: usize);
    /// and is it. If `from` replaced it and nobody has written it since, it is enough to apply what
    /// `from` has served.
    fn copy_ends(&mut self, from: usize, copy: usize);
    /// The operation that this request of `name` is about begins to be applied to `copy`,
    fn serve_begins(&mut self, copy: usize, name: usize, asked: Asked);
    /// and has been. The answer of `me` itself, if it does not only look, is kept aside; others
    /// will have to fetch theirs.
    fn serve_ends(&mut self, me: usize, copy: usize, name: usize, asked: Asked);
    /// The copy will not become the head: what it holds is good for nothing.
    fn spoil(&mut self, copy: usize);
    /// `me` begins to look at the object, or to fetch its answer from this copy,
    fn look_begins(&mut self, me: usize, copy: usize);
    /// and has done so.
    fn look_ends(&mut self, me: usize, copy: usize);
    /// The copy is the head from now on; who wrote it does so no more.
    fn published(&mut self, copy: usize);
}
