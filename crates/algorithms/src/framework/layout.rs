//! What shared variables an algorithm declares.

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec,
    vec::Vec,
};
use core::fmt::Debug;

use crate::framework::{
    memory::{Pid, Var, Word},
    queue,
};

/// A format of words that the module that uses it supplies: how to print a word, and what renaming
/// processes does to it.
pub trait Codec: Debug + Send + Sync {
    /// The value as a person would write it.
    fn show(&self, value: Word) -> String;

    /// The processes that `value` names, in the order it names them.
    fn processes(&self, _value: Word) -> Vec<Pid> {
        vec![]
    }

    /// `value` after each process has got a new identifier.
    fn renamed(&self, value: Word, _new: &dyn Fn(Pid) -> Pid) -> Word {
        value
    }

    /// How many bits a register of this format has, without those that only the lab uses. With `None`,
    /// as many as its domain needs.
    fn bits(&self) -> Option<u32> {
        None
    }
}

/// What a variable's word stands for: how to print it, and what renaming processes does to it.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A number.
    Number,
    /// A boolean.
    Flag,
    /// The identifier of a process.
    Pid,
    /// Two numbers, as `width * first + second`: words are ordered as the pairs are.
    Pair {
        /// More than the second number can be.
        width: Word,
    },
    /// A queue of processes; see [`queue`](crate::framework::queue).
    Queue,
    /// A format that the module that uses it supplies.
    Custom(Arc<dyn Codec>),
}

impl Kind {
    /// A word in the format of `codec`.
    pub fn custom(codec: impl Codec + 'static) -> Self {
        Kind::Custom(Arc::new(codec))
    }
}

/// The initial value of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Init {
    /// This one.
    Is(Word),
    /// The paper leaves it open: an algorithm must work from every value the variable can have.
    Open,
}

/// The values a variable can hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Domain {
    /// These, in the order the checker numbers them.
    Listed(Vec<Word>),
    /// Any number of that many bits: more than can be listed. Such a machine can be run and
    /// simulated, but not explored.
    Wide(u32),
}

impl Domain {
    /// The values; none of a wide domain.
    pub fn listed(&self) -> &[Word] {
        match self {
            Domain::Listed(values) => values,
            Domain::Wide(_) => &[],
        }
    }

    /// Whether `value` is one of them.
    pub fn contains(&self, value: Word) -> bool {
        match self {
            Domain::Listed(values) => values.contains(&value),
            Domain::Wide(bits) => value >= 0 && (value as u64) >> bits == 0,
        }
    }
}

/// One declared variable.
#[derive(Clone, Debug)]
pub struct Decl {
    /// Its name in the paper, and which instance it belongs to: `Q.2`, `P[1]`.
    pub name: String,
    /// What its word stands for.
    pub kind: Kind,
    /// Every value it can hold; of an [unbounded](Decl::unbounded) one, in a normal state or one
    /// step from it.
    pub domain: Domain,
    /// What it holds at first.
    pub init: Init,
    /// The process in whose memory it lies on a distributed-shared-memory machine; with none, it
    /// is remote to everybody.
    pub home: Option<Pid>,
    /// Whether some process may busy-wait on it.
    pub waited_on: bool,
    /// Whether it counts without bound. Only the explorer keeps it within its domain, by
    /// [`normalize`](crate::Algorithm::normalize).
    pub unbounded: bool,
}

impl Decl {
    fn new(name: impl Into<String>, kind: Kind, domain: Vec<Word>, init: Init) -> Self {
        let domain = Domain::Listed(domain);
        Decl {
            name: name.into(),
            kind,
            domain,
            init,
            home: None,
            waited_on: false,
            unbounded: false,
        }
    }

    /// A word of so many bits, of which too many can occur to list them.
    pub fn wide(name: impl Into<String>, kind: Kind, bits: u32, init: Word) -> Self {
        let domain = Domain::Wide(bits);
        Decl { domain, ..Self::new(name, kind, vec![], Init::Is(init)) }
    }

    /// A number in `lo..=hi`.
    pub fn number(name: impl Into<String>, lo: Word, hi: Word, init: Word) -> Self {
        Self::new(name, Kind::Number, (lo..=hi).collect(), Init::Is(init))
    }

    /// A boolean.
    pub fn flag(name: impl Into<String>, init: bool) -> Self {
        Self::new(name, Kind::Flag, (0..=1).collect(), Init::Is(init.into()))
    }

    /// The identifier of one of `n` processes.
    pub fn pid(name: impl Into<String>, n: usize, init: Init) -> Self {
        Self::new(name, Kind::Pid, (0..n as Word).collect(), init)
    }

    /// A word of the given kind with exactly these values.
    pub fn listed(name: impl Into<String>, kind: Kind, domain: Vec<Word>, init: Init) -> Self {
        Self::new(name, kind, domain, init)
    }

    /// Places the variable in `home`'s memory.
    pub fn at(mut self, home: Pid) -> Self {
        self.home = Some(home);
        self
    }

    /// Says that it counts without bound.
    pub fn unbounded(mut self) -> Self {
        self.unbounded = true;
        self
    }

    /// Says that processes busy-wait on it.
    pub fn waited_on(mut self) -> Self {
        self.waited_on = true;
        self
    }

    /// The value as a person would write it.
    pub fn show(&self, value: Word) -> String {
        match &self.kind {
            Kind::Number | Kind::Pid => value.to_string(),
            Kind::Flag => (value != 0).to_string(),
            Kind::Pair { width } => format!("({}, {})", value / width, value % width),
            Kind::Queue => format!("{:?}", queue::unpack(value)),
            Kind::Custom(codec) => codec.show(value),
        }
    }

    /// The processes that `value` names, in the order it names them.
    pub fn processes(&self, value: Word) -> Vec<Pid> {
        match &self.kind {
            Kind::Number | Kind::Flag | Kind::Pair { .. } => vec![],
            Kind::Pid => Pid::try_from(value).into_iter().collect(), // below 0: nobody
            Kind::Queue => queue::unpack(value),
            Kind::Custom(codec) => codec.processes(value),
        }
    }

    /// `value` after each process has got a new identifier.
    pub fn renamed(&self, value: Word, new: impl Fn(Pid) -> Pid) -> Word {
        match &self.kind {
            Kind::Number | Kind::Flag | Kind::Pair { .. } => value,
            Kind::Pid => Pid::try_from(value).map_or(value, |p| new(p) as Word),
            Kind::Queue => queue::renamed(value, new),
            Kind::Custom(codec) => codec.renamed(value, &new),
        }
    }

    /// How many bits it takes; none if no number of bits is enough.
    pub fn bits(&self) -> Option<u32> {
        match &self.domain {
            _ if self.unbounded => None,
            Domain::Listed(values) => Some(values.len().next_power_of_two().trailing_zeros()),
            Domain::Wide(bits) => Some(*bits),
        }
    }

    /// Whether a step may leave this value in it.
    pub fn allows(&self, value: Word) -> bool {
        self.unbounded || self.domain.contains(value)
    }

    /// The values it may hold at first.
    pub fn initial(&self) -> &[Word] {
        match &self.init {
            Init::Is(value) => core::slice::from_ref(value),
            Init::Open => self.domain.listed(),
        }
    }
}

/// A row of variables declared together, one per process or per name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Array {
    first: Var,
    len: u16,
}

impl Array {
    /// The `index`-th of them.
    ///
    /// # Panics
    /// If there are not that many.
    #[inline]
    pub fn at(self, index: usize) -> Var {
        assert!(index < self.len as usize, "array index {index} out of {}", self.len);
        Var(self.first.0 + index as u16)
    }
}

/// All variables of an algorithm, in the order of their [`Var`]s.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    decls: Vec<Decl>,
}

impl Layout {
    /// Declares one more variable.
    pub fn add(&mut self, decl: Decl) -> Var {
        let var = Var(u16::try_from(self.decls.len()).expect("fewer than 65536 variables"));
        self.decls.push(decl);
        var
    }

    /// Declares a row of `len` variables.
    pub fn array(&mut self, len: usize, mut decl: impl FnMut(usize) -> Decl) -> Array {
        let first = Var(self.decls.len() as u16);
        for index in 0..len {
            self.add(decl(index));
        }
        Array { first, len: len as u16 }
    }

    /// The declarations.
    pub fn decls(&self) -> &[Decl] {
        &self.decls
    }

    /// The declaration of one variable.
    pub fn decl(&self, var: Var) -> &Decl {
        &self.decls[var.index()]
    }

    /// The variables in order.
    pub fn vars(&self) -> impl Iterator<Item = Var> + use<> {
        (0..self.decls.len()).map(|index| Var(index as u16))
    }

    /// One permitted initial memory: of an open variable, its smallest value.
    pub fn first_initial(&self) -> Vec<Word> {
        self.decls.iter().map(|decl| decl.initial()[0]).collect()
    }
}
