//! Resolves names and types of expressions.

mod functions;
mod invariants;
mod variables;

pub use functions::is_built_in;

use crate::{
    code::{Access, Binary, Each, Ex, Over, Sort, Touch, Variable},
    diagnostic::Diagnostic,
    syntax::{Expr, ExprKind, Name, Range},
    token::Span,
};

/// The deepest nesting of an expression. It limits the recursion of the evaluation.
const MOST_DEPTH: usize = 60;

/// Where an expression occurs, which decides what the expression may use. Everywhere, it may use n, k, constants and
/// the variables of quantifiers around it. Each variant says what else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Context {
    /// In `requires`, a constant, a promise or a declaration, except for the initial value of a private variable: the
    /// indices of a declared array, and the contention `c` in a bound.
    Size,
    /// In a function: its parameters.
    Function,
    /// In a statement, or in the initial value of a private variable: `me`, `others`, private variables, and, in a
    /// statement, shared variables.
    Line,
    /// In an invariant: shared variables, and the line and the private variables of every process.
    Invariant,
}

/// An access that an expression makes.
#[derive(Clone, Debug)]
pub struct Use {
    /// The verb for messages: `reads`, `writes` or `changes`.
    pub verb: &'static str,
    /// The name of the variable, for messages.
    pub name: String,
    /// Where the access is in the text of the file.
    pub span: Span,
    /// The access, without its label.
    pub access: Access,
}

/// The names of a file.
#[derive(Default)]
pub struct Names {
    /// The names that `constant` declares.
    pub constants: Vec<String>,
    /// The functions: name, number of parameters, type of the result.
    pub functions: Vec<(String, usize, Sort)>,
    /// The function whose definition is being read.
    pub defining: Option<String>,
    /// The functions that are defined further down.
    pub later_functions: Vec<String>,
    /// The variables that `shared` declares.
    pub shared: Vec<Variable>,
    /// The variables that `private` declares, and loop variables.
    pub private: Vec<Variable>,
    /// The names that `procedure` declares.
    pub procedures: Vec<String>,
    /// The lines: label, first and last instruction. Empty until the passage is compiled.
    pub lines: Vec<(String, u16, u16)>,
    /// The errors and warnings so far.
    pub diagnostics: Vec<Diagnostic>,
    /// Bound variables, innermost last.
    pub bound: Vec<(String, Sort)>,
    depth: usize,
}

type Typed = (Ex, Sort);

fn sort_name(sort: Sort) -> &'static str {
    match sort {
        Sort::Bool => "a condition",
        Sort::Number => "a number",
        Sort::Set => "a set",
        Sort::Queue => "a queue",
    }
}

impl Names {
    /// Records an error.
    pub fn error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Resolves an expression that must have this type. Accesses are added to `uses`.
    pub fn expect(&mut self, expr: &Expr, sort: Sort, context: Context, uses: &mut Vec<Use>) -> Ex {
        let known = self.diagnostics.len();
        let (ex, found) = self.resolve(expr, context, uses);
        // The type of an expression with an error is not known.
        if found != sort && self.diagnostics.len() == known {
            let message = format!("expected {}, found {}", sort_name(sort), sort_name(found));
            let diagnostic = Diagnostic::new(expr.span.clone(), message);
            self.error(match (sort, found) {
                (Sort::Bool, Sort::Number) if matches!(expr.kind, ExprKind::Number(0 | 1)) => {
                    diagnostic.helping("a `bool` is `true` or `false`")
                }
                (Sort::Bool, Sort::Number) => {
                    diagnostic.helping("compare the number, as in `x = 1`")
                }
                (Sort::Number, Sort::Bool) => diagnostic
                    .helping("a `bool` is `true` or `false`; use the type `0..1` for numbers"),
                (Sort::Set, Sort::Number) => {
                    diagnostic.helping("`{x}` is the set with the only element x")
                }
                (_, Sort::Queue) => diagnostic
                    .helping("`position(q, p)` and `length(q)` are numbers that depend on a queue"),
                (Sort::Queue, _) => diagnostic.helping("the type of the variable must be `queue`"),
                _ => diagnostic,
            });
        }
        ex
    }

    /// Resolves an expression that makes no access.
    pub fn local(&mut self, expr: &Expr, sort: Sort, context: Context) -> Ex {
        let mut uses = Vec::new();
        let ex = self.expect(expr, sort, context, &mut uses);
        self.refuse(&uses);
        ex
    }

    /// Reports accesses at a place where no access is allowed.
    pub fn refuse(&mut self, uses: &[Use]) {
        for used in uses {
            let message = format!(
                "this {} the shared variable `{}`, but must be local",
                used.verb, used.name
            );
            self.error(
                Diagnostic::new(used.span.clone(), message)
                    .helping("read it into a private variable first, on a separate labelled line"),
            );
        }
    }

    /// Resolves an expression of any type. Accesses are added to `uses`.
    pub fn resolve(&mut self, expr: &Expr, context: Context, uses: &mut Vec<Use>) -> Typed {
        self.depth += 1;
        let result = if self.depth > MOST_DEPTH {
            self.error(Diagnostic::new(
                expr.span.clone(),
                format!(
                    "this expression is nested more than {MOST_DEPTH} levels deep: use `define`"
                ),
            ));
            (Ex::Number(0), Sort::Number)
        } else {
            self.resolve_kind(expr, context, uses)
        };
        self.depth -= 1;
        result
    }

    fn resolve_kind(&mut self, expr: &Expr, context: Context, uses: &mut Vec<Use>) -> Typed {
        let number = |ex| (ex, Sort::Number);
        match &expr.kind {
            ExprKind::Number(value) => number(Ex::Number(*value)),
            ExprKind::Bool(value) => (Ex::Number((*value).into()), Sort::Bool),
            ExprKind::Everyone => (Ex::Everyone, Sort::Set),
            ExprKind::Set(elements) => {
                let elements =
                    elements.iter().map(|e| self.expect(e, Sort::Number, context, uses)).collect();
                (Ex::Set(elements), Sort::Set)
            }
            ExprKind::Name(text) => self.name(text, &expr.span, context, uses),
            ExprKind::Index(name, indices) => self.shared(name, indices, &expr.span, context, uses),
            ExprKind::Call(name, arguments) => {
                self.call(name, arguments, &expr.span, context, uses)
            }
            ExprKind::Of(process, name) => self.private_of(process, name, context),
            ExprKind::At(process, places) => self.at(process, places, &expr.span, context),
            ExprKind::Unary("not", inner) => {
                (Ex::Not(Box::new(self.expect(inner, Sort::Bool, context, uses))), Sort::Bool)
            }
            ExprKind::Unary(_, inner) => {
                let inner = self.expect(inner, Sort::Number, context, uses);
                number(Ex::Binary(Binary::Minus, Box::new(Ex::Number(0)), Box::new(inner)))
            }
            ExprKind::Binary(op, a, b) => self.binary(op, a, b, context, uses),
            ExprKind::If(condition, yes, no) => {
                let condition = self.expect(condition, Sort::Bool, context, uses);
                let (yes, sort) = self.resolve(yes, context, uses);
                let no = self.expect(no, sort, context, uses);
                (Ex::If(Box::new([condition, yes, no])), sort)
            }
            ExprKind::Each(kind, name, range, body) => {
                let over = match &**range {
                    Range::Up(lo, hi) => Over::Between(
                        self.expect(lo, Sort::Number, context, uses),
                        self.expect(hi, Sort::Number, context, uses),
                    ),
                    Range::Set(set) => Over::Set(self.expect(set, Sort::Set, context, uses)),
                    Range::Down(hi, _) => {
                        self.error(Diagnostic::new(
                            hi.span.clone(),
                            "`downto` is only for loops: write `lo..hi`",
                        ));
                        Over::Set(Ex::Everyone)
                    }
                };
                let before = uses.len();
                self.bound.push((name.text.clone(), Sort::Number));
                let body = self.expect(body, Sort::Bool, context, uses);
                self.bound.pop();
                self.refuse_repeated(name, uses.split_off(before), uses);
                let (kind, sort) = match *kind {
                    "exists" => (Each::Exists, Sort::Bool),
                    "all" => (Each::All, Sort::Bool),
                    _ => (Each::Set, Sort::Set),
                };
                (Ex::Each(kind, Box::new(over), Box::new(body)), sort)
            }
        }
    }

    /// Reports accesses that a quantifier would make once for each value of its variable. Moves the others to `uses`.
    fn refuse_repeated(&mut self, name: &Name, body: Vec<Use>, uses: &mut Vec<Use>) {
        let bound = self.bound.len();
        for used in body {
            let mut repeated = !matches!(used.access.touch, Touch::Read);
            for index in &used.access.indices {
                index.visit(&mut |part| {
                    repeated |= matches!(part, Ex::Bound(index) if *index >= bound);
                });
            }
            if !repeated {
                uses.push(used);
                continue;
            }
            let message = format!("this {} `{}` once for each {}", used.verb, used.name, name.text);
            self.error(
                Diagnostic::new(used.span, message)
                    .helping("a line makes one access: use a `for` loop with a labelled line"),
            );
        }
    }

    fn binary(
        &mut self,
        op: &str,
        a: &Expr,
        b: &Expr,
        context: Context,
        uses: &mut Vec<Use>,
    ) -> Typed {
        let make = |op, a, b| Ex::Binary(op, Box::new(a), Box::new(b));
        match op {
            "or" | "and" => {
                let (a, b) = (
                    self.expect(a, Sort::Bool, context, uses),
                    self.expect(b, Sort::Bool, context, uses),
                );
                (make(if op == "or" { Binary::Or } else { Binary::And }, a, b), Sort::Bool)
            }
            "=" | "<>" => {
                let (a, sort) = self.resolve(a, context, uses);
                let b = self.expect(b, sort, context, uses);
                (make(if op == "=" { Binary::Equal } else { Binary::Unequal }, a, b), Sort::Bool)
            }
            "in" => {
                let a = self.expect(a, Sort::Number, context, uses);
                let b = self.expect(b, Sort::Set, context, uses);
                (make(Binary::In, a, b), Sort::Bool)
            }
            "<" | "<=" | ">" | ">=" => {
                let a = self.expect(a, Sort::Number, context, uses);
                let b = self.expect(b, Sort::Number, context, uses);
                let ex = match op {
                    "<" => make(Binary::Less, a, b),
                    "<=" => make(Binary::LessOrEqual, a, b),
                    ">" => make(Binary::Less, b, a),
                    _ => make(Binary::LessOrEqual, b, a),
                };
                (ex, Sort::Bool)
            }
            "+" | "-" => {
                let first = a;
                let (a, sort) = self.resolve(first, context, uses);
                if matches!(sort, Sort::Bool | Sort::Queue) {
                    let message = format!("expected a number or a set, found {}", sort_name(sort));
                    self.error(Diagnostic::new(first.span.clone(), message));
                }
                let sort = if sort == Sort::Set { Sort::Set } else { Sort::Number };
                let b = self.expect(b, sort, context, uses);
                let op = match (op, sort) {
                    ("+", Sort::Set) => Binary::Union,
                    (_, Sort::Set) => Binary::Without,
                    ("+", _) => Binary::Plus,
                    _ => Binary::Minus,
                };
                (make(op, a, b), sort)
            }
            _ => {
                let a = self.expect(a, Sort::Number, context, uses);
                let b = self.expect(b, Sort::Number, context, uses);
                let op = match op {
                    "*" => Binary::Times,
                    "div" => Binary::Div,
                    _ => Binary::Mod,
                };
                (make(op, a, b), Sort::Number)
            }
        }
    }
}
