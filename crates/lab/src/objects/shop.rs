//! The workshop as one participant sees it during one step, and who gets in whose way there.
//!
//! Words are atomic; goods are not. Natively a copy or a place is read or written for a while, so both
//! take two steps here, a begin and an end, and whatever others do in between with the same thing is a
//! race unless all of them read. Where participants stand says who is in the middle of what; nothing
//! needs to be kept for it.

use hallpass_algorithms::{
    Op, Word,
    objects::universal::{Asked, Errand, Helped, Line, Workshop},
};

use super::{
    observe::Fault,
    state::{Entry, Good, Shared, held, read, written},
    toys::{Deed, Toy},
};
use crate::linear::Specification;

/// One access, for who reads a run.
#[derive(Clone, Debug)]
pub struct Access {
    /// What was accessed.
    pub what: String,
    /// What it was.
    pub old: Word,
    /// What it is; the same if it was only read.
    pub new: Word,
}

/// The workshop.
pub struct Shop<'a> {
    pub(super) shared: &'a mut Shared,
    /// The lines of all, before the step.
    pub(super) lines: &'a [Option<Line>],
    pub(super) toy: &'a Toy,
    pub(super) me: usize,
    pub(super) errand: Errand,
    pub(super) which: u8,
    pub(super) aside: Option<u8>,
    pub(super) fault: Option<Fault>,
    /// Whether writing a copy that another holds is a fault even if it does not read it then.
    pub(super) strict: bool,
    /// What was accessed, if anybody wants to know.
    pub(super) log: Option<Vec<Access>>,
}

impl Shop<'_> {
    fn note(&mut self, what: impl FnOnce() -> String, old: Word, new: Word) {
        if let Some(log) = &mut self.log {
            log.push(Access { what: what(), old, new });
        }
    }

    fn fault(&mut self, fault: Fault) {
        self.fault = self.fault.or(Some(fault));
    }

    /// The lines of all others.
    fn others(&self) -> impl Iterator<Item = (usize, Line)> + '_ {
        let lines = self.lines.iter().enumerate().filter(|&(name, _)| name != self.me);
        lines.filter_map(|(name, line)| line.map(|line| (name, line)))
    }

    /// This participant reads a copy.
    fn reads(&mut self, copy: usize) {
        if self.others().any(|(_, at)| written(at) == Some(copy)) {
            self.fault(Fault::Race);
        }
    }

    /// This participant begins to write a copy.
    fn writes(&mut self, copy: usize) {
        if self.others().any(|(_, at)| written(at) == Some(copy) || read(at) == Some(copy)) {
            self.fault(Fault::Race);
        }
        if self.strict && self.others().any(|(_, at)| held(at, false) == Some(copy)) {
            self.fault(Fault::Held);
        }
    }

    fn good(&mut self, copy: usize) -> &mut Good {
        &mut self.shared.goods[copy]
    }

    fn place(&self, name: usize, place: usize) -> usize {
        name * self.lines.len() + place
    }

    fn deed(&self) -> Deed {
        Deed { name: self.me as u8, which: self.which }
    }
}

macro_rules! word {
    ($shop:ident, $op:ident, $word:expr, $($what:tt)*) => {{
        let word = &mut $word;
        let old = *word;
        *word = $op.leaves(old);
        let new = *word;
        $shop.note(|| format!($($what)*), old, new);
        old
    }};
}

impl Workshop for Shop<'_> {
    fn names(&self) -> usize {
        self.lines.len()
    }

    fn head(&mut self, op: Op) -> Word {
        word!(self, op, self.shared.head, "head")
    }
    fn flips(&mut self, op: Op) -> Word {
        word!(self, op, self.shared.flips, "flips")
    }
    fn request(&mut self, name: usize, op: Op) -> Word {
        word!(self, op, self.shared.requests[name], "request[{name}]")
    }
    fn guard(&mut self, name: usize, op: Op) -> Word {
        word!(self, op, self.shared.guards[name], "guard[{name}]")
    }
    fn mark(&mut self, name: usize, op: Op) -> Word {
        word!(self, op, self.shared.marks[name], "mark[{name}]")
    }
    fn taken(&mut self, copy: usize, op: Op) -> Word {
        let mut word = Word::from(self.shared.taken >> copy & 1);
        let old = word!(self, op, word, "taken[{copy}]");
        self.shared.taken = self.shared.taken & !(1 << copy) | ((word as u16) << copy);
        old
    }

    fn served(&mut self, copy: usize) -> u64 {
        self.reads(copy);
        let served = self.good(copy).served;
        self.note(|| format!("copy {copy}.served"), served.into(), served.into());
        served.into()
    }
    fn previous(&mut self, copy: usize) -> usize {
        self.reads(copy);
        let previous = self.good(copy).previous;
        self.note(|| format!("copy {copy}.previous"), previous.into(), previous.into());
        previous.into()
    }
    fn helped(&mut self, copy: usize, number: usize) -> Option<Helped> {
        self.reads(copy);
        let entry = self.good(copy).helped.get(number)?;
        Some(Helped { name: entry.name.into(), asked: Asked::unpack(entry.asked) })
    }

    fn put_begins(&mut self, me: usize, place: usize) {
        let reads = |at| match at {
            Line::B8 { todo, asked, .. } => {
                (todo.trailing_zeros() as usize, asked.place) == (me, place)
            }
            _ => false,
        };
        if self.others().any(|(_, at)| reads(at)) {
            self.fault(Fault::Race);
        }
    }
    fn put_ends(&mut self, me: usize, place: usize) {
        let (place, deed) = (self.place(me, place), self.deed());
        self.shared.places[place] = Some(deed);
    }

    fn copy_begins(&mut self, from: usize, copy: usize) {
        self.reads(from);
        self.writes(copy);
        if from == copy {
            self.fault(Fault::Race); // two views of one thing, and one of them writes
        }
    }
    fn copy_ends(&mut self, from: usize, copy: usize) {
        let (source, old) = (&self.shared.goods[from], &self.shared.goods[copy]);
        let is_next = old.version != 0 && old.version + 1 == source.version;
        let object = if usize::from(source.previous) == copy && is_next {
            // Natively this is what makes it quick: nothing is copied.
            old.object.map(|object| {
                source.batch.iter().fold(object, |object, deed| self.toy.apply(&object, deed).0)
            })
        } else {
            source.object
        };
        self.shared.goods[copy] = Good {
            object,
            served: source.served,
            previous: from as u8,
            version: source.version + 1,
            batch: Vec::new(),
            helped: Vec::new(),
        };
    }

    fn serve_begins(&mut self, _copy: usize, name: usize, asked: Asked) {
        let writes = |at| matches!(at, Line::P4 { place, .. } if place == asked.place);
        if self.others().any(|(other, at)| other == name && writes(at)) {
            self.fault(Fault::Race);
        }
    }
    fn serve_ends(&mut self, me: usize, copy: usize, name: usize, asked: Asked) {
        let deed = self.shared.places[self.place(name, asked.place)];
        let toy = self.toy;
        let errand = self.errand;
        let good = self.good(copy);
        let bit = 1 << name;
        good.served = good.served & !bit | (asked.parity() as u8) << name;
        let done = good.object.zip(deed).map(|(object, deed)| toy.apply(&object, &deed));
        good.object = done.map(|(object, _)| object);
        let ret = done.map(|(_, ret)| ret);
        good.batch.extend(deed);
        if name == me && errand == Errand::Change {
            self.aside = ret;
        } else {
            let entry =
                Entry { name: name as u8, asked: asked.pack(), ret: ret.unwrap_or_default() };
            good.helped.push(entry);
        }
    }

    fn spoil(&mut self, copy: usize) {
        *self.good(copy) = Good::default();
    }

    fn look_begins(&mut self, _me: usize, copy: usize) {
        self.reads(copy);
    }
    fn look_ends(&mut self, me: usize, copy: usize) {
        let ret = if matches!(self.lines[me], Some(Line::R5 { .. })) {
            let (toy, deed) = (self.toy, self.deed());
            self.good(copy).object.map(|object| toy.apply(&object, &deed).1)
        } else {
            let number = Asked::unpack(self.shared.requests[me]).number;
            let is_mine = |entry: &&Entry| {
                usize::from(entry.name) == me && Asked::unpack(entry.asked).number == number
            };
            self.good(copy).helped.iter().find(is_mine).map(|entry| entry.ret)
        };
        match ret {
            Some(ret) => self.aside = Some(ret),
            None => self.fault(Fault::Missing),
        }
    }

    fn published(&mut self, copy: usize) {
        if self.good(copy).object.is_none() {
            self.fault(Fault::Missing); // nobody knows what the object is now
        }
    }
}
