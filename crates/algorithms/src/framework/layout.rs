//! The shared variables that an algorithm declares.

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

/// A format of words that a module defines for its variables. It says how to print a word, and how the
/// word changes when processes are renamed.
pub trait Codec: Debug + Send + Sync {
    /// Formats `value` for a reader.
    fn show(&self, value: Word) -> String;

    /// Returns the processes that `value` names, in the order in which it names them.
    fn processes(&self, _value: Word) -> Vec<Pid> {
        vec![]
    }

    /// Returns `value` with every process number replaced by the new one.
    fn renamed(&self, value: Word, _new: &dyn Fn(Pid) -> Pid) -> Word {
        value
    }

    /// Returns the number of bits of a register of this format, without the bits that only the lab uses.
    /// `None` means that the variable's domain determines the number of bits.
    fn bits(&self) -> Option<u32> {
        None
    }
}

/// The meaning of a variable's word: how to print it, and how it changes when processes are renamed.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A number that is printed as it is, and that no renaming of processes changes.
    Number,
    /// A boolean, 0 or 1.
    Flag,
    /// A process number.
    Pid,
    /// Two numbers, stored as `width * first + second`. Comparing two words gives the same result as comparing
    /// their pairs.
    Pair {
        /// A number greater than every second number.
        width: Word,
    },
    /// A queue of processes; see [`queue`](mod@crate::framework::queue).
    Queue,
    /// A format that a module defines for its variables.
    Custom(Arc<dyn Codec>),
}

impl Kind {
    /// Returns the kind of words in the format of `codec`.
    pub fn custom(codec: impl Codec + 'static) -> Self {
        Kind::Custom(Arc::new(codec))
    }
}

/// The initial value of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Init {
    /// The variable starts with this value.
    Is(Word),
    /// The paper leaves the initial value open: the algorithm must work from every value of the domain.
    Open,
}

/// The values a variable can hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Domain {
    /// These values, in the order in which the checker numbers them.
    Listed(Vec<Word>),
    /// Every number from 0 that has at most this many bits. There are too many values to list, so the lab can run and
    /// simulate an algorithm with such a variable, but cannot explore it.
    Wide(u32),
}

impl Domain {
    /// Returns the listed values, or an empty slice for a wide domain.
    pub fn listed(&self) -> &[Word] {
        match self {
            Domain::Listed(values) => values,
            Domain::Wide(_) => &[],
        }
    }

    /// Returns whether `value` belongs to the domain.
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
    /// The variable's name in the paper, with the instance that it belongs to: `Q.2` or `P[1]`.
    pub name: String,
    /// The meaning of the word.
    pub kind: Kind,
    /// Every value that the variable can hold. An [unbounded](Decl::unbounded) variable lists the values
    /// that it can hold in a normalized state (see [`normalize`](crate::Algorithm::normalize)) or one
    /// step after such a state.
    pub domain: Domain,
    /// The initial value.
    pub init: Init,
    /// The process whose local memory holds the variable, on a computer with distributed shared memory.
    /// `None` means that the variable is remote to every process.
    pub home: Option<Pid>,
    /// Whether some process may busy-wait on the variable.
    pub waited_on: bool,
    /// Whether the variable counts without bound. In a real run, its value can leave the domain. The checker
    /// keeps the value within the domain by calling [`normalize`](crate::Algorithm::normalize).
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

    /// Declares a word of `bits` bits that can hold too many values to list.
    pub fn wide(name: impl Into<String>, kind: Kind, bits: u32, init: Word) -> Self {
        let domain = Domain::Wide(bits);
        Decl { domain, ..Self::new(name, kind, vec![], Init::Is(init)) }
    }

    /// Declares a number in `lo..=hi`.
    pub fn number(name: impl Into<String>, lo: Word, hi: Word, init: Word) -> Self {
        Self::new(name, Kind::Number, (lo..=hi).collect(), Init::Is(init))
    }

    /// Declares a boolean.
    pub fn flag(name: impl Into<String>, init: bool) -> Self {
        Self::new(name, Kind::Flag, (0..=1).collect(), Init::Is(init.into()))
    }

    /// Declares the number of one of `n` processes.
    pub fn pid(name: impl Into<String>, n: usize, init: Init) -> Self {
        Self::new(name, Kind::Pid, (0..n as Word).collect(), init)
    }

    /// Declares a word of the given kind with exactly these values.
    pub fn listed(name: impl Into<String>, kind: Kind, domain: Vec<Word>, init: Init) -> Self {
        Self::new(name, kind, domain, init)
    }

    /// Places the variable in the local memory of process `home`.
    pub fn at(mut self, home: Pid) -> Self {
        self.home = Some(home);
        self
    }

    /// Marks the variable as counting without bound.
    pub fn unbounded(mut self) -> Self {
        self.unbounded = true;
        self
    }

    /// Marks the variable as one that processes busy-wait on.
    pub fn waited_on(mut self) -> Self {
        self.waited_on = true;
        self
    }

    /// Formats `value` for a reader.
    pub fn show(&self, value: Word) -> String {
        match &self.kind {
            Kind::Number | Kind::Pid => value.to_string(),
            Kind::Flag => (value != 0).to_string(),
            Kind::Pair { width } => format!("({}, {})", value / width, value % width),
            Kind::Queue => format!("{:?}", queue::unpack(value)),
            Kind::Custom(codec) => codec.show(value),
        }
    }

    /// Returns the processes that `value` names, in the order in which it names them.
    pub fn processes(&self, value: Word) -> Vec<Pid> {
        match &self.kind {
            Kind::Number | Kind::Flag | Kind::Pair { .. } => vec![],
            Kind::Pid => Pid::try_from(value).into_iter().collect(), // a negative value names no process
            Kind::Queue => queue::unpack(value),
            Kind::Custom(codec) => codec.processes(value),
        }
    }

    /// Returns `value` with every process number replaced by the new one.
    pub fn renamed(&self, value: Word, new: impl Fn(Pid) -> Pid) -> Word {
        match &self.kind {
            Kind::Number | Kind::Flag | Kind::Pair { .. } => value,
            Kind::Pid => Pid::try_from(value).map_or(value, |p| new(p) as Word),
            Kind::Queue => queue::renamed(value, new),
            Kind::Custom(codec) => codec.renamed(value, &new),
        }
    }

    /// Returns the number of bits that a value of the variable needs, or `None` if the variable is unbounded.
    pub fn bits(&self) -> Option<u32> {
        match &self.domain {
            _ if self.unbounded => None,
            Domain::Listed(values) => Some(values.len().next_power_of_two().trailing_zeros()),
            Domain::Wide(bits) => Some(*bits),
        }
    }

    /// Returns whether the variable may hold this value after a step.
    pub fn allows(&self, value: Word) -> bool {
        self.unbounded || self.domain.contains(value)
    }

    /// Returns the permitted initial values.
    pub fn initial(&self) -> &[Word] {
        match &self.init {
            Init::Is(value) => core::slice::from_ref(value),
            Init::Open => self.domain.listed(),
        }
    }
}

/// A row of variables that are declared together, such as one for each process or for each name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Array {
    first: Var,
    len: u16,
}

impl Array {
    /// Returns the variable at `index`.
    ///
    /// # Panics
    /// Panics if `index` is out of range.
    #[inline]
    pub fn at(self, index: usize) -> Var {
        assert!(
            index < self.len as usize,
            "array index {index} is out of range: the array has {} variables",
            self.len
        );
        Var(self.first.0 + index as u16)
    }
}

/// All variables of an algorithm, in the order of their [`Var`]s.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    decls: Vec<Decl>,
}

impl Layout {
    /// Declares a variable and returns it.
    pub fn add(&mut self, decl: Decl) -> Var {
        let var = Var(u16::try_from(self.decls.len()).expect("fewer than 65536 variables"));
        self.decls.push(decl);
        var
    }

    /// Declares a row of `len` variables and returns it.
    pub fn array(&mut self, len: usize, mut decl: impl FnMut(usize) -> Decl) -> Array {
        let first = Var(self.decls.len() as u16);
        for index in 0..len {
            self.add(decl(index));
        }
        Array { first, len: len as u16 }
    }

    /// Returns all declarations.
    pub fn decls(&self) -> &[Decl] {
        &self.decls
    }

    /// Returns the declaration of `var`.
    pub fn decl(&self, var: Var) -> &Decl {
        &self.decls[var.index()]
    }

    /// Returns the variables in order.
    pub fn vars(&self) -> impl Iterator<Item = Var> + use<> {
        (0..self.decls.len()).map(|index| Var(index as u16))
    }

    /// Returns one permitted initial memory. An open variable starts with the first value of its domain.
    pub fn first_initial(&self) -> Vec<Word> {
        self.decls.iter().map(|decl| decl.initial()[0]).collect()
    }
}
