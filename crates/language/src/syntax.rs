//! The syntax tree of a file.

use crate::token::Span;

/// A name with its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Name {
    /// The characters of the name.
    pub text: String,
    /// Where this is in the text of the file.
    pub span: Span,
}

/// An expression with its place.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The form of the expression, with its parts.
    pub kind: ExprKind,
    /// Where this is in the text of the file.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number in the text.
    Number(i64),
    /// `true` or `false`.
    Bool(bool),
    /// `process`: the set of all processes.
    Everyone,
    /// `{}` or `{a, b}`.
    Set(Vec<Expr>),
    /// The name of a variable or a constant, or `n`, `k`, `me` or `others`.
    Name(String),
    /// An element of an array.
    Index(Name, Vec<Expr>),
    /// A function or an operation on a variable.
    Call(Name, Vec<Expr>),
    /// A private variable of a process, in an invariant.
    Of(Box<Expr>, Name),
    /// A prefix operator.
    Unary(&'static str, Box<Expr>),
    /// An infix operator.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `if a then b else c`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `exists`, `all`, or `set` for `{x in r : c}`.
    Each(&'static str, Name, Box<Range>, Box<Expr>),
    /// Whether a process is at one of these places (lines, ranges of lines or sections), in an invariant.
    At(Box<Expr>, Vec<(Name, Name)>),
}

/// The values that a loop or a quantifier goes through.
#[derive(Clone, Debug)]
pub enum Range {
    /// `lo..hi`.
    Up(Expr, Expr),
    /// `hi downto lo`.
    Down(Expr, Expr),
    /// The elements of a set, ascending.
    Set(Expr),
}

/// A statement with its label.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The label, if there is one. A statement that makes a shared access needs one.
    pub label: Option<Name>,
    /// The effect of the statement.
    pub kind: StmtKind,
    /// Where the statement is in the text of the file.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// An assignment.
    Assign(Expr, Expr),
    /// An operation whose result is not used, or the call of a procedure.
    Do(Expr),
    /// `if`: the condition, the statements if it holds, and the statements if it does not hold.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// A loop with a condition.
    While(Expr, Vec<Stmt>),
    /// Waits for a condition.
    Await(Expr),
    /// A loop that only `break`, `goto` or `leave` ends.
    Loop(Vec<Stmt>),
    /// A loop over values.
    For(Name, Range, Vec<Stmt>),
    /// Leaves the innermost loop.
    Break,
    /// Continues at a label.
    Goto(Name),
    /// Returns to the remainder.
    Leave,
    /// Does nothing.
    Skip,
    /// The lines from here on belong to this section: `doorway`, `waiting` or `exit`.
    Section(&'static str),
    /// The critical section, with the variable that holds the name of the process.
    Critical(Option<Name>),
}

/// The type of a variable.
#[derive(Clone, Debug)]
pub enum Type {
    /// True or false.
    Bool,
    /// A process number.
    Process,
    /// A set of processes.
    Set,
    /// A queue of processes.
    Queue,
    /// A number that grows without bound. The lab explores it up to this limit.
    Counter(Option<Expr>),
    /// A number in a range.
    Between(Expr, Expr),
}

/// The initial value of a variable.
#[derive(Clone, Debug)]
pub enum Start {
    /// The variable starts with this value.
    Is(Expr),
    /// `open`: the variable may start with any value.
    Open,
    /// The declaration has no initial value.
    Missing,
}

/// The declaration of a variable.
#[derive(Clone, Debug)]
pub struct Decl {
    /// The name of the variable.
    pub name: Name,
    /// For each index of an array: its name, if it has one, and its values.
    pub indices: Vec<(Option<Name>, Range)>,
    /// The type of the variable.
    pub kind: Type,
    /// The initial value of the variable.
    pub start: Start,
    /// The process in whose memory the variable is.
    pub home: Option<Expr>,
}

/// A promise of the author.
#[derive(Clone, Debug)]
pub struct Promise {
    /// The name of the promised property, such as `starvation`. For a bound: `cc` or `dsm`.
    pub words: String,
    /// The number of stopped processes, or the bound.
    pub amount: Option<Expr>,
    /// Where the paper states the promise.
    pub source: Option<String>,
    /// Where this is in the text of the file.
    pub span: Span,
}

/// A part of a file.
#[derive(Clone, Debug)]
pub enum Item {
    /// A short description of the algorithm.
    Title(String),
    /// `paper`: the publication, as readers should see it.
    Paper(String),
    /// The condition on n and k under which the algorithm exists.
    Requires(Expr),
    /// A number that depends on n and k.
    Constant(Name, Expr),
    /// A function of local values.
    Define(Name, Vec<Name>, Expr),
    /// `shared`: declarations of shared variables.
    Shared(Vec<Decl>),
    /// `private`: declarations of private variables.
    Private(Vec<Decl>),
    /// A procedure: its name, and the lines that a call of it executes.
    Procedure(Name, Vec<Stmt>),
    /// A condition on every state.
    Invariant(Name, Expr),
    /// The promises of the author.
    Promises(Vec<Promise>),
    /// The registered algorithm whose normal form the file uses.
    NormalForm(Name),
    /// The lines of a passage.
    Passage(Span, Vec<Stmt>),
}

/// A whole file.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The name of the algorithm.
    pub name: Name,
    /// The items of the file, each with its place in the text.
    pub items: Vec<(Item, Span)>,
}
