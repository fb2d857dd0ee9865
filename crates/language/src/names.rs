//! Resolves names and types of expressions.

use crate::{
    code::{Access, Binary, Builtin, Each, Ex, Kind, Over, Place, Sort, Touch, Variable},
    diagnostic::{Diagnostic, suggestion},
    program::FAULT_VARIABLE,
    syntax::{Expr, ExprKind, Name, Range},
    token::Span,
};

/// The deepest nesting of an expression. It limits the recursion of the evaluation.
const MOST_DEPTH: usize = 60;

/// The operations on shared variables, with their numbers of arguments.
const OPERATIONS: &[(&str, &[usize])] = &[
    ("fetch_and_add", &[2, 3]),
    ("fetch_and_increment", &[1]),
    ("fetch_and_decrement", &[1]),
    ("test_and_set", &[1]),
    ("compare_and_swap", &[3]),
    ("swap", &[2]),
];

/// The functions, with the types of their arguments and results.
const BUILTINS: &[(&str, Builtin, &[Sort], Sort)] = &[
    ("min", Builtin::Min, &[Sort::Number, Sort::Number], Sort::Number),
    ("max", Builtin::Max, &[Sort::Number, Sort::Number], Sort::Number),
    ("size", Builtin::Size, &[Sort::Set], Sort::Number),
    ("lowest", Builtin::Lowest, &[Sort::Set], Sort::Number),
    ("log2", Builtin::Log2, &[Sort::Number], Sort::Number),
    ("power2", Builtin::Power2, &[Sort::Number], Sort::Number),
];

/// Returns whether the language has a function or an operation of this name.
pub fn is_built_in(name: &str) -> bool {
    OPERATIONS.iter().any(|(known, _)| *known == name)
        || BUILTINS.iter().any(|(known, ..)| *known == name)
}

/// Where an expression stands, which decides what it may refer to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Context {
    /// In a declaration, a constant or a promise: n, k and constants.
    Size,
    /// In a function: also its parameters.
    Function,
    /// In a statement: also `me`, private variables, and shared variables.
    Line,
    /// In an invariant: also the state of every process.
    Invariant,
}

/// An access that an expression makes.
#[derive(Clone, Debug)]
pub struct Use {
    /// The verb for messages: `reads`, `writes` or `changes`.
    pub verb: &'static str,
    /// The variable for messages.
    pub name: String,
    /// The place.
    pub span: Span,
    /// The access, without its label.
    pub access: Access,
}

/// The names of a file.
#[derive(Default)]
pub struct Names {
    /// The constants.
    pub constants: Vec<String>,
    /// The functions: name, number of parameters, type of the result.
    pub functions: Vec<(String, usize, Sort)>,
    /// The shared variables.
    pub shared: Vec<Variable>,
    /// The private variables.
    pub private: Vec<Variable>,
    /// The procedures.
    pub procedures: Vec<String>,
    /// The lines: label, first and last instruction. Known only once the passage is compiled.
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
    }
}

impl Names {
    /// Records an error.
    pub fn error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Resolves an expression that must have this type. Accesses are added to `uses`.
    pub fn expect(&mut self, expr: &Expr, sort: Sort, context: Context, uses: &mut Vec<Use>) -> Ex {
        let (ex, found) = self.resolve(expr, context, uses);
        if found != sort {
            let message = format!("expected {}, found {}", sort_name(sort), sort_name(found));
            let diagnostic = Diagnostic::new(expr.span.clone(), message);
            self.error(match (sort, found) {
                (Sort::Bool, Sort::Number) => {
                    diagnostic.helping("compare the number, as in `x = 1`")
                }
                (Sort::Number, Sort::Bool) => diagnostic
                    .helping("a `bool` is `true` or `false`; use the type `0..1` for numbers"),
                (Sort::Set, Sort::Number) => {
                    diagnostic.helping("`{x}` is the set with the only element x")
                }
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

    /// Reports accesses where none may be.
    pub fn refuse(&mut self, uses: &[Use]) {
        for used in uses {
            let message = format!(
                "this {} the shared variable `{}`, but must be local",
                used.verb, used.name
            );
            self.error(
                Diagnostic::new(used.span.clone(), message).helping(
                    "read it into a private variable first, on a labelled line of its own",
                ),
            );
        }
    }

    /// Resolves an expression.
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
                if sort == Sort::Bool {
                    let message = "expected a number or a set, found a condition";
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

    fn name(&mut self, text: &str, span: &Span, context: Context, uses: &mut Vec<Use>) -> Typed {
        if let Some(index) = self.bound.iter().rposition(|(name, _)| name == text) {
            return (Ex::Bound(index), self.bound[index].1);
        }
        match text {
            "n" => return (Ex::N, Sort::Number),
            "k" => return (Ex::K, Sort::Number),
            "me" if context == Context::Line => return (Ex::Me, Sort::Number),
            "others" if context == Context::Line => {
                let me = Ex::Set(vec![Ex::Me]);
                return (
                    Ex::Binary(Binary::Without, Box::new(Ex::Everyone), Box::new(me)),
                    Sort::Set,
                );
            }
            _ => {}
        }
        if let Some(index) = self.constants.iter().position(|name| name == text) {
            return (Ex::Constant(index), Sort::Number);
        }
        if context == Context::Line
            && let Some(index) = self.private.iter().position(|variable| variable.name == text)
        {
            return (Ex::Private(index), self.private[index].kind.sort());
        }
        if self.shared.iter().any(|variable| variable.name == text) {
            let name = Name { text: text.to_string(), span: span.clone() };
            return self.shared(&name, &[], span, context, uses);
        }
        self.unknown(text, span, context);
        (Ex::Number(0), Sort::Number)
    }

    fn unknown(&mut self, text: &str, span: &Span, context: Context) {
        let mut known: Vec<&str> = vec!["n", "k"];
        known.extend(self.constants.iter().map(String::as_str));
        known.extend(self.bound.iter().map(|(name, _)| name.as_str()));
        if matches!(context, Context::Line | Context::Invariant) {
            known.extend(self.shared.iter().map(|variable| variable.name.as_str()));
        }
        if context == Context::Line {
            known.extend(["me", "others", "process"]);
            // A misspelt statement looks like a name.
            known.extend(["critical", "waiting", "doorway", "exit", "break", "leave", "skip"]);
            known.extend(self.private.iter().map(|variable| variable.name.as_str()));
        }
        let diagnostic = Diagnostic::new(span.clone(), format!("no variable is called `{text}`"));
        let private = self.private.iter().any(|variable| variable.name == text);
        let help = match suggestion(text, known) {
            Some(known) => format!("did you mean `{known}`?"),
            None if private && context == Context::Invariant => {
                format!("write `p.{text}` for the private variable of process p")
            }
            None if matches!(text, "me" | "others") || private => {
                format!(
                    "`{text}` belongs to a process and is known only in `passage` and `procedure`"
                )
            }
            None => "declare it under `shared` or `private`".to_string(),
        };
        self.error(diagnostic.helping(help));
    }

    /// Resolves an element of an array, or a plain shared variable.
    pub fn shared(
        &mut self,
        name: &Name,
        indices: &[Expr],
        span: &Span,
        context: Context,
        uses: &mut Vec<Use>,
    ) -> Typed {
        let Some((variable, indices)) = self.element(name, indices, context) else {
            return (Ex::Number(0), Sort::Number);
        };
        let sort = self.shared[variable].kind.sort();
        match context {
            Context::Invariant => (Ex::Shared(variable, indices), sort),
            Context::Line => {
                let access = Access {
                    variable,
                    indices,
                    touch: Touch::Read,
                    label: String::new(),
                    waits: false,
                };
                uses.push(Use {
                    verb: "reads",
                    name: name.text.clone(),
                    span: span.clone(),
                    access,
                });
                (Ex::Found, sort)
            }
            Context::Size | Context::Function => {
                let message =
                    format!("`{}` is shared, and this depends on n and k only", name.text);
                self.error(Diagnostic::new(span.clone(), message));
                (Ex::Number(0), sort)
            }
        }
    }

    /// Resolves a shared variable and its indices.
    pub fn element(
        &mut self,
        name: &Name,
        indices: &[Expr],
        context: Context,
    ) -> Option<(usize, Vec<Ex>)> {
        let Some(variable) = self.shared.iter().position(|variable| variable.name == name.text)
        else {
            let arrays =
                self.shared.iter().filter(|v| !v.indices.is_empty()).map(|v| v.name.as_str());
            let hint =
                suggestion(&name.text, arrays).map(|known| format!("did you mean `{known}`?"));
            let message = format!("no shared array is called `{}`", name.text);
            let diagnostic = Diagnostic::new(name.span.clone(), message);
            self.error(match hint {
                Some(hint) => diagnostic.helping(hint),
                None => diagnostic.helping("declare it under `shared`"),
            });
            return None;
        };
        let wanted = self.shared[variable].indices.len();
        if wanted != indices.len() {
            let message = match wanted {
                0 => format!("`{}` is not an array", name.text),
                _ => {
                    format!("`{}` has {wanted} indices, and {} are given", name.text, indices.len())
                }
            };
            let declared = self.shared[variable].span.clone();
            self.error(
                Diagnostic::new(name.span.clone(), message)
                    .pointing(name.span.clone(), "used here")
                    .pointing(declared, "declared here"),
            );
            return None;
        }
        let indices =
            indices.iter().map(|index| self.local(index, Sort::Number, context)).collect();
        Some((variable, indices))
    }

    fn call(
        &mut self,
        name: &Name,
        arguments: &[Expr],
        span: &Span,
        context: Context,
        uses: &mut Vec<Use>,
    ) -> Typed {
        let text = name.text.as_str();
        if let Some((_, counts)) = OPERATIONS.iter().find(|(operation, _)| *operation == text) {
            return self.operation(name, counts, arguments, span, context, uses);
        }
        if let Some(&(_, builtin, sorts, sort)) = BUILTINS.iter().find(|(name, ..)| *name == text) {
            self.check_count(name, sorts.len(), arguments.len());
            let arguments: Vec<Ex> = sorts
                .iter()
                .zip(arguments)
                .map(|(&sort, argument)| self.expect(argument, sort, context, uses))
                .collect();
            if arguments.len() < sorts.len() {
                return (Ex::Number(0), sort);
            }
            return (Ex::Builtin(builtin, arguments), sort);
        }
        if let Some(index) = self.functions.iter().position(|(name, ..)| name == text) {
            let (_, count, sort) = self.functions[index];
            self.check_count(name, count, arguments.len());
            if arguments.len() != count {
                return (Ex::Number(0), sort);
            }
            let arguments = arguments
                .iter()
                .map(|argument| self.expect(argument, Sort::Number, context, uses))
                .collect();
            return (Ex::Call(index, arguments), sort);
        }
        let known = (OPERATIONS.iter().map(|(name, _)| *name))
            .chain(BUILTINS.iter().map(|(name, ..)| *name))
            .chain(self.functions.iter().map(|(name, ..)| name.as_str()))
            .chain(self.procedures.iter().map(String::as_str));
        let hint = suggestion(text, known).map(|known| format!("did you mean `{known}`?"));
        let is_procedure = self.procedures.iter().any(|procedure| procedure == text);
        let diagnostic = match is_procedure {
            true => {
                Diagnostic::new(name.span.clone(), format!("the procedure `{text}` has no value"))
                    .helping("call it on a line of its own")
            }
            false => Diagnostic::new(name.span.clone(), format!("no function is called `{text}`")),
        };
        self.error(match hint {
            Some(hint) => diagnostic.helping(hint),
            None => diagnostic,
        });
        (Ex::Number(0), Sort::Number)
    }

    fn check_count(&mut self, name: &Name, wanted: usize, given: usize) {
        if wanted != given {
            let message =
                format!("`{}` takes {wanted} arguments, and {given} are given", name.text);
            self.error(Diagnostic::new(name.span.clone(), message));
        }
    }

    /// Resolves an atomic operation on a shared variable.
    fn operation(
        &mut self,
        name: &Name,
        counts: &[usize],
        arguments: &[Expr],
        span: &Span,
        context: Context,
        uses: &mut Vec<Use>,
    ) -> Typed {
        let nothing = (Ex::Number(0), Sort::Number);
        if context != Context::Line {
            let message =
                format!("`{}` changes shared memory and is possible only on a line", name.text);
            self.error(Diagnostic::new(span.clone(), message));
            return nothing;
        }
        if !counts.contains(&arguments.len()) {
            let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
            let message = format!(
                "`{}` takes {} arguments, and {} are given",
                name.text,
                counts.join(" or "),
                arguments.len()
            );
            self.error(Diagnostic::new(name.span.clone(), message));
            return nothing;
        }
        let target = &arguments[0];
        let resolved = match &target.kind {
            ExprKind::Name(text) => {
                let name = Name { text: text.clone(), span: target.span.clone() };
                self.element(&name, &[], context).map(|element| (name.text, element))
            }
            ExprKind::Index(name, indices) => {
                self.element(name, indices, context).map(|element| (name.text.clone(), element))
            }
            _ => {
                let message =
                    format!("the first argument of `{}` must be a shared variable", name.text);
                self.error(Diagnostic::new(target.span.clone(), message));
                None
            }
        };
        let Some((target, (variable, indices))) = resolved else { return nothing };
        let sort = self.shared[variable].kind.sort();
        let mut argument = |index: usize, sort| self.expect(&arguments[index], sort, context, uses);
        let (touch, result) = match name.text.as_str() {
            "fetch_and_add" => {
                let by = argument(1, Sort::Number);
                let modulus = (arguments.len() == 3).then(|| argument(2, Sort::Number));
                (Touch::FetchAdd(by, modulus), Sort::Number)
            }
            "fetch_and_increment" => (Touch::FetchAdd(Ex::Number(1), None), Sort::Number),
            "fetch_and_decrement" => (Touch::FetchAdd(Ex::Number(-1), None), Sort::Number),
            "test_and_set" => (Touch::TestAndSet, Sort::Bool),
            "compare_and_swap" => {
                (Touch::CompareAndSwap(argument(1, sort), argument(2, sort)), Sort::Bool)
            }
            _ => (Touch::Swap(argument(1, sort)), sort),
        };
        let needed = match touch {
            Touch::FetchAdd(..) => Sort::Number,
            Touch::TestAndSet => Sort::Bool,
            _ => sort,
        };
        if sort != needed {
            let (needed, found) = (sort_name(needed), sort_name(sort));
            let message = format!("`{}` needs {needed}, and `{target}` is {found}", name.text);
            self.error(Diagnostic::new(span.clone(), message));
        }
        let access = Access { variable, indices, touch, label: String::new(), waits: false };
        uses.push(Use { verb: "changes", name: target, span: span.clone(), access });
        (Ex::Found, result)
    }

    fn private_of(&mut self, process: &Expr, name: &Name, context: Context) -> Typed {
        if context != Context::Invariant {
            let message = "only an invariant can look at the private variables of a process";
            self.error(Diagnostic::new(name.span.clone(), message));
            return (Ex::Number(0), Sort::Number);
        }
        let process = self.local(process, Sort::Number, context);
        match self.private.iter().position(|variable| variable.name == name.text) {
            Some(index) => (Ex::Of(Box::new(process), index), self.private[index].kind.sort()),
            None => {
                let known = self.private.iter().map(|variable| variable.name.as_str());
                let hint =
                    suggestion(&name.text, known).map(|known| format!("did you mean `{known}`?"));
                let message = format!("no private variable is called `{}`", name.text);
                let diagnostic = Diagnostic::new(name.span.clone(), message);
                self.error(match hint {
                    Some(hint) => diagnostic.helping(hint),
                    None => diagnostic,
                });
                (Ex::Number(0), Sort::Number)
            }
        }
    }

    fn at(
        &mut self,
        process: &Expr,
        places: &[(Name, Name)],
        span: &Span,
        context: Context,
    ) -> Typed {
        if context != Context::Invariant {
            let message = "only an invariant can ask where a process is";
            self.error(Diagnostic::new(span.clone(), message));
            return (Ex::Number(0), Sort::Bool);
        }
        let process = self.local(process, Sort::Number, context);
        let mut resolved = Vec::new();
        for (from, to) in places {
            use hallpass_algorithms::Section;
            let section = match from.text.as_str() {
                "remainder" => Some(Section::Remainder),
                "doorway" => Some(Section::Doorway),
                "waiting" => Some(Section::Waiting),
                "critical" => Some(Section::Critical),
                "exit" => Some(Section::Exit),
                _ => None,
            };
            match section {
                Some(section) if from == to => resolved.push(Place::Section(section)),
                _ => {
                    if let (Some((first, _)), Some((_, last))) = (self.line(from), self.line(to)) {
                        if first > last {
                            let message =
                                format!("line {} comes after line {}", from.text, to.text);
                            let help = format!("write `{}..{}`", to.text, from.text);
                            self.error(Diagnostic::new(from.span.clone(), message).helping(help));
                        }
                        resolved.push(Place::Lines(first, last));
                    }
                }
            }
        }
        (Ex::At(Box::new(process), resolved), Sort::Bool)
    }

    fn line(&mut self, label: &Name) -> Option<(u16, u16)> {
        let line = self.lines.iter().find(|(known, ..)| *known == label.text);
        if let Some(&(_, first, last)) = line {
            return Some((first, last));
        }
        let known = self.lines.iter().map(|(label, ..)| label.as_str());
        let hint = suggestion(&label.text, known).map(|known| format!("did you mean `{known}`?"));
        let diagnostic =
            Diagnostic::new(label.span.clone(), format!("no line is labelled `{}`", label.text));
        self.error(match hint {
            Some(hint) => diagnostic.helping(hint),
            None => diagnostic.helping(
                "in an invariant, a process stands only at lines that access shared memory",
            ),
        });
        None
    }

    /// Returns the number of a private variable, and declares it if it is new.
    pub fn loop_variable(&mut self, name: &Name) -> Option<usize> {
        let text = name.text.as_str();
        let shared = self.shared.iter().find(|variable| variable.name == text);
        if shared.is_some()
            || matches!(text, "n" | "k" | "me" | "others" | FAULT_VARIABLE)
            || self.constants.iter().any(|constant| constant == text)
        {
            let message =
                format!("`{text}` is declared already: choose another name for the loop variable");
            let mut diagnostic = Diagnostic::new(name.span.clone(), message);
            if let Some(shared) = shared {
                diagnostic = diagnostic
                    .pointing(name.span.clone(), "used here")
                    .pointing(shared.span.clone(), "declared here");
            }
            self.error(diagnostic);
            return None;
        }
        if let Some(index) = self.private.iter().position(|variable| variable.name == name.text) {
            if self.private[index].kind.sort() != Sort::Number {
                let message = format!("a loop counts with numbers, and `{}` is none", name.text);
                self.error(Diagnostic::new(name.span.clone(), message));
                return None;
            }
            return Some(index);
        }
        self.private.push(Variable {
            name: name.text.clone(),
            indices: vec![],
            kind: Kind::Any,
            start: None,
            home: None,
            span: name.span.clone(),
        });
        Some(self.private.len() - 1)
    }
}
