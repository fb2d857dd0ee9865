//! Checks a syntax tree and compiles it.

use crate::{
    code::{BoundOn, Code, Ex, Instr, Kind, Promises, Sort, Variable},
    diagnostic::Diagnostic,
    flow,
    intern::intern,
    lower::Lowering,
    names::{Context, Names, is_built_in},
    program::{FAULT_VARIABLE, MOST_PRIVATE},
    symmetry,
    syntax::{Decl, Expr, Item, Name, Promise, Range, Start, Stmt, Tree, Type},
    token::Span,
    watch,
};

/// The maximum number of invariants of a file. The lab keeps a bit for each.
const MOST_INVARIANTS: usize = 32;
/// The properties that `check` reports for every algorithm. No invariant may have one of these names.
const RESERVED: [&str; 5] = ["exclusion", "names", "range", "deadlock", "fife"];

/// Compiles a syntax tree. Also returns warnings.
///
/// # Errors
/// Returns every error of the file, and the warnings with them.
pub fn analyse(tree: &Tree, source: &str) -> Result<(Code, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut analysis = Analysis { names: Names::default(), source, all: Vec::new() };
    let code = analysis.file(tree);
    let diagnostics = analysis.names.diagnostics;
    if diagnostics.iter().all(|diagnostic| diagnostic.is_warning) {
        Ok((code, diagnostics))
    } else {
        Err(diagnostics)
    }
}

struct Analysis<'a> {
    names: Names,
    source: &'a str,
    /// Every declared name with its place.
    all: Vec<Name>,
}

impl Analysis<'_> {
    fn declare(&mut self, name: &Name) {
        if matches!(name.text.as_str(), "n" | "k" | "me" | "others" | FAULT_VARIABLE) {
            let message = format!("`{}` has a meaning of its own: choose another name", name.text);
            self.names.error(Diagnostic::new(name.span.clone(), message));
        }
        if let Some(before) = self.all.iter().find(|known| known.text == name.text) {
            let message = format!("`{}` is declared twice", name.text);
            self.names.diagnostics.push(
                Diagnostic::new(name.span.clone(), message)
                    .pointing(before.span.clone(), "first here")
                    .pointing(name.span.clone(), "and again here"),
            );
        }
        self.all.push(name.clone());
    }

    /// Declares a function or a procedure.
    fn declare_callable(&mut self, name: &Name) {
        self.declare(name);
        if is_built_in(&name.text) {
            let message = format!("the language has its own `{}`: choose another name", name.text);
            self.names.error(Diagnostic::new(name.span.clone(), message));
        }
    }

    fn printed(&self, span: &Span) -> String {
        let text = self.source.get(span.clone()).unwrap_or("");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn file(&mut self, tree: &Tree) -> Code {
        let mut code = Code {
            name: tree.name.text.clone(),
            title: None,
            paper: None,
            requires: vec![],
            constants: vec![],
            functions: vec![],
            shared: vec![],
            private: vec![],
            instrs: vec![],
            live: vec![],
            name_variable: None,
            invariants: vec![],
            invariant_texts: vec![],
            is_symmetric: false,
            promises: Promises::default(),
            normal_form_of: None,
        };
        let (mut procedures, mut passage, mut invariants) = (Vec::new(), None, Vec::new());
        for (item, span) in &tree.items {
            match item {
                Item::Title(text) => code.title = Some(text.clone()),
                Item::Paper(text) => code.paper = Some(text.clone()),
                Item::NormalForm(name) => code.normal_form_of = Some(name.text.clone()),
                Item::Requires(condition) => {
                    let printed = self.printed(&condition.span);
                    let ex = self.names.local(condition, Sort::Bool, Context::Size);
                    code.requires.push((ex, printed));
                }
                Item::Constant(name, value) => {
                    let value = self.names.local(value, Sort::Number, Context::Size);
                    self.declare(name);
                    self.names.constants.push(name.text.clone());
                    code.constants.push(value);
                }
                Item::Define(name, parameters, body) => {
                    code.functions.push(self.function(name, parameters, body));
                }
                Item::Shared(decls) => decls.iter().for_each(|decl| self.shared(decl)),
                Item::Private(decls) => decls.iter().for_each(|decl| self.private(decl)),
                Item::Procedure(name, body) => {
                    self.declare_callable(name);
                    self.names.procedures.push(name.text.clone());
                    procedures.push((name.clone(), body.clone()));
                }
                Item::Invariant(name, condition) => invariants.push((name, condition)),
                Item::Promises(promises) => {
                    promises.iter().for_each(|promise| self.promise(promise, &mut code.promises));
                }
                Item::Passage(at, body) => {
                    if passage.replace((at, body)).is_some() {
                        let message = "a file has one `passage`";
                        self.names.error(Diagnostic::new(span.clone(), message));
                    }
                }
            }
        }
        match passage {
            Some((span, body)) => self.passage(span, body, &procedures, &mut code),
            None => self.names.error(
                Diagnostic::new(tree.name.span.clone(), "the file has no `passage`")
                    .helping("the lines of the algorithm stand between `passage` and `end`"),
            ),
        }
        self.invariants(&invariants, &mut code);
        code.shared.clone_from(&self.names.shared);
        code.private.clone_from(&self.names.private);
        if self.names.diagnostics.iter().all(|diagnostic| diagnostic.is_warning) {
            code.is_symmetric = symmetry::is_symmetric(&code);
        }
        code
    }

    fn function(&mut self, name: &Name, parameters: &[Name], body: &Expr) -> (usize, Ex) {
        self.declare_callable(name);
        for parameter in parameters {
            self.names.bound.push((parameter.text.clone(), Sort::Number));
        }
        let mut uses = Vec::new();
        let (ex, sort) = self.names.resolve(body, Context::Function, &mut uses);
        self.names.bound.clear();
        self.names.functions.push((name.text.clone(), parameters.len(), sort));
        (parameters.len(), ex)
    }

    fn kind(&mut self, kind: &Type) -> Kind {
        let mut number = |ex: &Expr| self.names.local(ex, Sort::Number, Context::Size);
        match kind {
            Type::Bool => Kind::Bool,
            Type::Process => Kind::Process,
            Type::Set => Kind::Set,
            Type::Queue => Kind::Queue,
            Type::Counter(limit) => Kind::Counter(limit.as_ref().map(number)),
            Type::Between(lo, hi) => {
                let lo = number(lo);
                Kind::Between(lo, number(hi))
            }
        }
    }

    /// Returns a value of a type, for a hint.
    fn example(&self, kind: &Type) -> String {
        match kind {
            Type::Bool => "false".into(),
            Type::Set => "{}".into(),
            Type::Between(lo, _) => self.printed(&lo.span),
            Type::Process | Type::Queue | Type::Counter(_) => "0".into(),
        }
    }

    fn shared(&mut self, decl: &Decl) {
        self.declare(&decl.name);
        let mut indices = Vec::new();
        for (_, range) in &decl.indices {
            indices.push(match range {
                Range::Up(lo, hi) => (
                    self.names.local(lo, Sort::Number, Context::Size),
                    self.names.local(hi, Sort::Number, Context::Size),
                ),
                Range::Set(Expr { kind: crate::syntax::ExprKind::Everyone, .. }) => {
                    let last = crate::code::Binary::Minus;
                    (Ex::Number(0), Ex::Binary(last, Box::new(Ex::N), Box::new(Ex::Number(1))))
                }
                Range::Set(set) | Range::Down(set, _) => {
                    let message = "an index is `process`, or a range such as `0..n-1`";
                    self.names.error(Diagnostic::new(set.span.clone(), message));
                    (Ex::Number(0), Ex::Number(0))
                }
            });
        }
        for (name, _) in &decl.indices {
            let name = name.as_ref().map_or(String::new(), |name| name.text.clone());
            self.names.bound.push((name, Sort::Number));
        }
        let kind = self.kind(&decl.kind);
        let start = match &decl.start {
            _ if matches!(kind, Kind::Queue) => {
                if !matches!(decl.start, Start::Missing) {
                    let message = "a queue is empty at the start: it has no initial value";
                    self.names.error(Diagnostic::new(decl.name.span.clone(), message));
                }
                Some(Ex::Number(0))
            }
            Start::Is(value) => Some(self.names.local(value, kind.sort(), Context::Size)),
            Start::Open => None,
            Start::Missing => {
                let message = format!("`{}` has no initial value", decl.name.text);
                let value = self.example(&decl.kind);
                let help = format!(
                    "write `= {value}`, or `open` if the algorithm must work from every value"
                );
                self.names.error(Diagnostic::new(decl.name.span.clone(), message).helping(help));
                None
            }
        };
        let home =
            decl.home.as_ref().map(|home| self.names.local(home, Sort::Number, Context::Size));
        self.names.bound.clear();
        self.names.shared.push(Variable {
            name: decl.name.text.clone(),
            indices,
            kind,
            start,
            home,
            span: decl.name.span.clone(),
        });
    }

    fn private(&mut self, decl: &Decl) {
        self.declare(&decl.name);
        let at = |text: &str| Diagnostic::new(decl.name.span.clone(), text.to_string());
        if !decl.indices.is_empty() {
            self.names
                .error(at("a private variable is not an array: use a `set`, or a shared array"));
        }
        if decl.home.is_some() {
            self.names.error(at("only shared variables have a home"));
        }
        if let Start::Open = decl.start {
            self.names.error(at("a private variable starts anew in each passage: give it a value"));
        }
        let kind = self.kind(&decl.kind);
        if matches!(kind, Kind::Queue) {
            self.names.error(at("only shared variables are queues"));
        }
        let start = match &decl.start {
            Start::Is(value) => Some(self.names.local(value, kind.sort(), Context::Line)),
            _ => None,
        };
        self.names.private.push(Variable {
            name: decl.name.text.clone(),
            indices: vec![],
            kind,
            start,
            home: None,
            span: decl.name.span.clone(),
        });
    }

    fn passage(
        &mut self,
        span: &Span,
        body: &[Stmt],
        procedures: &[(Name, Vec<Stmt>)],
        code: &mut Code,
    ) {
        let mut lowering = Lowering::new(&mut self.names, procedures);
        lowering.passage(body, span);
        let (instrs, spans) =
            (std::mem::take(&mut lowering.instrs), std::mem::take(&mut lowering.spans));
        let name_variable = lowering.name_variable;
        if let Some(extra) = self.names.private.get(MOST_PRIVATE) {
            let message = format!(
                "at most {MOST_PRIVATE} private variables are possible, loop variables included"
            );
            let diagnostic = Diagnostic::new(extra.span.clone(), message);
            self.names.error(diagnostic);
            return;
        }
        if self.names.diagnostics.iter().any(|diagnostic| !diagnostic.is_warning) {
            // Jumps may be incomplete.
            return;
        }
        self.warn_unreachable(&instrs, &spans);
        for (at, instr) in instrs.iter().enumerate() {
            let at = at as u16;
            match instr {
                Instr::Access(access) => {
                    let outer = access.label.split('.').next().unwrap_or(&access.label).to_string();
                    match self.names.lines.iter_mut().find(|(label, ..)| *label == outer) {
                        Some((_, first, last)) => {
                            (*first, *last) = ((*first).min(at), (*last).max(at))
                        }
                        None => self.names.lines.push((outer, at, at)),
                    }
                }
                Instr::Enter => self.names.lines.push(("critical".to_string(), at, at)),
                _ => {}
            }
        }
        self.check_name(&instrs, &spans, name_variable);
        code.instrs = instrs;
        code.name_variable = name_variable;
    }

    /// Refuses local lines after `critical naming s` that assign to s: a process executes them when it enters.
    fn check_name(&mut self, instrs: &[Instr], spans: &[Span], name_variable: Option<usize>) {
        for at in flow::after_critical(instrs) {
            if matches!(instrs[at], Instr::Assign(index, _) if Some(index) == name_variable) {
                let message = "this changes the name of a process that is in its critical section";
                self.names.error(Diagnostic::new(spans[at].clone(), message).helping(
                    "change the name only after the first labelled line of the exit section",
                ));
            }
        }
    }

    fn warn_unreachable(&mut self, instrs: &[Instr], spans: &[Span]) {
        let reached = flow::reachable(instrs);
        for (at, instr) in instrs.iter().enumerate() {
            if let (Instr::Access(access), false) = (instr, reached[at]) {
                let message = format!("no run reaches line {}", access.label);
                self.names.error(
                    Diagnostic::warning(spans[at].clone(), message)
                        .helping("the line before it always continues elsewhere"),
                );
            }
        }
        if let Some(at) = instrs.iter().position(|instr| matches!(instr, Instr::Enter))
            && !reached[at]
        {
            let message = "no run reaches the critical section";
            self.names.error(Diagnostic::new(spans[at].clone(), message));
        }
    }

    fn invariants(&mut self, invariants: &[(&Name, &Expr)], code: &mut Code) {
        if code.instrs.is_empty() {
            return; // the labels are not known
        }
        if let Some((extra, _)) = invariants.get(MOST_INVARIANTS) {
            let message = format!("at most {MOST_INVARIANTS} invariants are possible");
            let diagnostic = Diagnostic::new(extra.span.clone(), message);
            self.names.error(diagnostic.helping("join some of them with `and`"));
        }
        for (name, condition) in invariants {
            if RESERVED.contains(&name.text.as_str()) {
                let message =
                    format!("`check` reports `{}` itself: choose another name", name.text);
                self.names.error(Diagnostic::new(name.span.clone(), message));
            }
            if code.invariants.iter().any(|(known, _)| *known == name.text) {
                let message = format!("two invariants are called `{}`", name.text);
                self.names.error(Diagnostic::new(name.span.clone(), message));
            }
            let ex = self.names.local(condition, Sort::Bool, Context::Invariant);
            code.invariants.push((intern(&name.text), ex));
            code.invariant_texts.push(self.printed(&condition.span));
        }
        let watched = watch::watched(&code.instrs, &code.invariants);
        code.live = flow::live(&code.instrs, code.name_variable, &watched);
    }

    fn promise(&mut self, promise: &Promise, promises: &mut Promises) {
        let Promise { words, amount, source, span } = promise;
        match (words.as_str(), amount) {
            ("cc" | "dsm", Some(bound)) => {
                let formula = self.printed(&bound.span);
                self.names.bound.push(("c".to_string(), Sort::Number));
                let bound = self.names.local(bound, Sort::Number, Context::Size);
                self.names.bound.clear();
                let source = source.clone().unwrap_or_else(|| "the file".to_string());
                let bound = Some(BoundOn { source, formula, bound });
                if words == "cc" { promises.cc = bound } else { promises.dsm = bound }
            }
            _ => {
                if promises.properties.contains(words) {
                    self.names.error(Diagnostic::new(span.clone(), "this promise is made twice"));
                }
                promises.properties.push(words.clone());
                if words == "fife-strong" {
                    promises.properties.push("fife".to_string());
                }
                if let Some(stopped) = amount {
                    promises.stopped = Some(self.names.local(stopped, Sort::Number, Context::Size));
                }
            }
        }
    }
}
