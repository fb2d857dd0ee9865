//! The compiled form of a file, before its size is known: expressions with resolved names, and a flat list of
//! instructions.

use crate::token::Span;

/// A value: a number, a boolean as 0 or 1, a set of processes as bits, or a queue of processes in the format of
/// [`queue`](hallpass_algorithms::framework::queue).
pub type Value = i64;

/// The type of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sort {
    /// A condition.
    Bool,
    /// A number, which may be a process number.
    Number,
    /// A set of small numbers, such as processes.
    Set,
    /// A queue of processes.
    Queue,
}

/// An infix operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Binary {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    In,
    Plus,
    Minus,
    Times,
    Div,
    Mod,
    Union,
    Without,
}

/// A function of the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Builtin {
    /// The smaller of two numbers.
    Min,
    /// The larger of two numbers.
    Max,
    /// The number of elements of a set.
    Size,
    /// The smallest element of a set, or -1 if the set is empty.
    Lowest,
    /// The smallest element of a set above a number, or -1 if there is none.
    NextAfter,
    /// The smallest d with 2^d >= x.
    Log2,
    /// 2 to the power of x.
    Power2,
    /// The number of processes in a queue.
    Length,
    /// The number of processes before a process in a queue, or -1 if the process is not in the queue.
    Position,
}

/// The kind of a quantifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Each {
    Exists,
    All,
    Set,
}

/// The values of a quantifier.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Over {
    Between(Ex, Ex),
    Set(Ex),
}

/// A place of a process, in an invariant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The instructions from the first to the second.
    Lines(u16, u16),
    /// All lines of a section.
    Section(hallpass_algorithms::Section),
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Ex {
    /// A constant number.
    Number(Value),
    /// The number of processes.
    N,
    /// The number of slots.
    K,
    /// The process that executes the line.
    Me,
    /// A constant of the file.
    Constant(usize),
    /// A private variable.
    Private(usize),
    /// The value that the line has found in shared memory.
    Found,
    /// The variable of a quantifier, or the parameter of a function.
    Bound(usize),
    /// The set of all processes.
    Everyone,
    /// The set of these elements.
    Set(Vec<Ex>),
    /// A shared variable, in an invariant.
    Shared(usize, Vec<Ex>),
    /// A private variable of a process, in an invariant.
    Of(Box<Ex>, usize),
    /// Whether a process is at one of these places, in an invariant.
    At(Box<Ex>, Vec<Place>),
    /// Negation of a condition.
    Not(Box<Ex>),
    /// An infix operator.
    Binary(Binary, Box<Ex>, Box<Ex>),
    /// The second expression if the first holds, otherwise the third.
    If(Box<[Ex; 3]>),
    /// A quantifier. Its variable is the next bound variable.
    Each(Each, Box<Over>, Box<Ex>),
    /// A function of the file.
    Call(usize, Vec<Ex>),
    /// A function of the language.
    Builtin(Builtin, Vec<Ex>),
    /// One expression for each place that a process can be at, and one more. The bound variable stands for a process.
    /// The place of this process selects the expression. If the process is at none of the places, the last expression
    /// applies. Only [`Program`](crate::Program) makes such an expression.
    ByPlace(usize, Vec<Ex>),
    /// One expression for each value of a bound variable, from the given value on. Only
    /// [`Program`](crate::Program) makes such an expression.
    ByValue(usize, Value, Vec<Ex>),
    /// A condition on a private variable that is decided in advance. Only [`Program`](crate::Program) makes such an
    /// expression.
    ByPrivate(Box<ByPrivate>),
}

/// A condition that depends only on one private variable of one process.
#[derive(Clone, Debug)]
pub struct ByPrivate {
    /// The bound variable that stands for the process.
    pub process: usize,
    /// The private variable.
    pub variable: usize,
    /// Bit i says whether the condition holds for the value [`FIRST`](Self::FIRST) + i.
    pub holds: u64,
    /// The condition, for all other values.
    pub otherwise: Ex,
}

impl ByPrivate {
    /// The smallest value for which the condition is decided in advance.
    pub const FIRST: i32 = -1;

    /// Returns whether the condition holds for a value of the private variable, if this is decided in advance.
    pub fn decided(&self, value: i32) -> Option<bool> {
        let bit = u32::try_from(i64::from(value) - i64::from(Self::FIRST)).ok()?;
        Some(self.holds.checked_shr(bit)? & 1 != 0)
    }
}

impl Ex {
    /// Calls `each` with this expression and every part of it.
    pub fn visit(&self, each: &mut dyn FnMut(&Ex)) {
        each(self);
        self.visit_parts(&mut |part| part.visit(each));
    }

    /// Calls `each` with the expressions directly below this one, in the order of the text.
    pub(crate) fn visit_parts(&self, each: &mut dyn FnMut(&Ex)) {
        match self {
            Ex::Set(list)
            | Ex::Shared(_, list)
            | Ex::Call(_, list)
            | Ex::Builtin(_, list)
            | Ex::ByPlace(_, list)
            | Ex::ByValue(_, _, list) => list.iter().for_each(each),
            Ex::ByPrivate(condition) => each(&condition.otherwise),
            Ex::Of(ex, _) | Ex::At(ex, _) | Ex::Not(ex) => each(ex),
            Ex::Binary(_, a, b) => {
                each(a);
                each(b);
            }
            Ex::If(parts) => parts.iter().for_each(each),
            Ex::Each(_, over, body) => {
                match &**over {
                    Over::Between(lo, hi) => {
                        each(lo);
                        each(hi);
                    }
                    Over::Set(set) => each(set),
                }
                each(body);
            }
            Ex::Number(_)
            | Ex::N
            | Ex::K
            | Ex::Me
            | Ex::Constant(_)
            | Ex::Private(_)
            | Ex::Found
            | Ex::Bound(_)
            | Ex::Everyone => {}
        }
    }
}

/// The kind of an access to a shared variable.
#[derive(Clone, Debug)]
pub enum Touch {
    /// A read of the variable.
    Read,
    /// A write of this value.
    Write(Ex),
    /// Adds the first number. If there is a second number, it is the modulus of the addition.
    FetchAdd(Ex, Option<Ex>),
    /// Sets a boolean.
    TestAndSet,
    /// Writes the second value if the variable has the first.
    CompareAndSwap(Ex, Ex),
    /// Replaces the value.
    Swap(Ex),
    /// Appends a process to a queue.
    Enqueue(Ex),
    /// Removes the first process of a queue.
    Dequeue,
    /// Removes a process from a queue.
    Remove(Ex),
}

/// One access.
#[derive(Clone, Debug)]
pub struct Access {
    /// The index of the variable among the shared variables of the file.
    pub variable: usize,
    /// The indices, if the variable is an array.
    pub indices: Vec<Ex>,
    /// The effect of the access on the variable.
    pub touch: Touch,
    /// The label of the line. If the line is in a procedure and the call has a label, the label of the call and a dot
    /// precede it, as in `3.read`.
    pub label: String,
    /// Whether the line belongs to the waiting room.
    pub waits: bool,
}

/// An instruction.
#[derive(Clone, Debug)]
pub enum Instr {
    /// A line: one access to shared memory.
    Access(Access),
    /// Assigns to a private variable.
    Assign(usize, Ex),
    /// Continues at another instruction unless the condition holds.
    Unless(Ex, usize),
    /// Continues at another instruction.
    Jump(usize),
    /// Enters the critical section.
    Enter,
    /// Returns to the remainder.
    Leave,
}

/// The type of a variable.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Bool,
    Process,
    Set,
    Queue,
    Counter(Option<Ex>),
    Between(Ex, Ex),
    /// Any number: an undeclared loop variable.
    Any,
}

impl Kind {
    /// Returns the type of the variable's value.
    pub fn sort(&self) -> Sort {
        match self {
            Kind::Bool => Sort::Bool,
            Kind::Set => Sort::Set,
            Kind::Queue => Sort::Queue,
            _ => Sort::Number,
        }
    }
}

/// A declared variable. The indices of an array are bound variables in the other parts of its declaration.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name in the file.
    pub name: String,
    /// The first and the last value of each index.
    pub indices: Vec<(Ex, Ex)>,
    /// The type of the variable.
    pub kind: Kind,
    /// The initial value. With `None`, a shared variable is open, and a private variable starts with its default.
    pub start: Option<Ex>,
    /// The process in whose memory the variable is.
    pub home: Option<Ex>,
    /// Where the variable is declared.
    pub span: Span,
}

/// A bound on remote references.
#[derive(Clone, Debug)]
pub struct BoundOn {
    /// Where the paper states the bound, or `the file`.
    pub source: String,
    /// The bound as the file prints it.
    pub formula: String,
    /// The bound as an expression. Bound variable 0 is the contention.
    pub bound: Ex,
}

/// The promises of the author.
#[derive(Clone, Debug, Default)]
pub struct Promises {
    /// The names of the properties.
    pub properties: Vec<String>,
    /// How many processes may stop without starving another.
    pub stopped: Option<Ex>,
    /// A bound on remote references of cache-coherent machines.
    pub cc: Option<BoundOn>,
    /// A bound on remote references with distributed shared memory.
    pub dsm: Option<BoundOn>,
}

/// A file that has been checked.
#[derive(Clone, Debug)]
pub struct Code {
    /// The name of the algorithm.
    pub name: String,
    /// A short description.
    pub title: Option<String>,
    /// The publication.
    pub paper: Option<String>,
    /// The conditions on n and k, each as printed.
    pub requires: Vec<(Ex, String)>,
    /// The constants by their names; each may use those before it.
    pub constants: Vec<(String, Ex)>,
    /// The functions, with their numbers of parameters; each may use those before it.
    pub functions: Vec<(usize, Ex)>,
    /// The shared variables, in the order of the file.
    pub shared: Vec<Variable>,
    /// The private variables, including loop variables.
    pub private: Vec<Variable>,
    /// The instructions of a passage.
    pub instrs: Vec<Instr>,
    /// For each instruction, the private variables whose values matter there, as bits.
    pub live: Vec<u32>,
    /// The private variable that holds the name of a process in its critical section.
    pub name_variable: Option<usize>,
    /// The invariants by their names.
    pub invariants: Vec<(&'static str, Ex)>,
    /// The invariants as the file prints them, with single spaces.
    pub invariant_texts: Vec<String>,
    /// Whether every renaming of the processes maps runs to runs.
    pub is_symmetric: bool,
    /// The promises of the file.
    pub promises: Promises,
    /// The registered algorithm that is the same step machine and whose normal form is used.
    pub normal_form_of: Option<String>,
}
