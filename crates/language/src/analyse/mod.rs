//! Checks a syntax tree and compiles it.

mod declarations;

use crate::{
    code::{BoundOn, Code, Instr, Promises, Sort},
    diagnostic::Diagnostic,
    flow,
    intern::intern,
    lower::Lowering,
    names::{Context, Names, is_built_in},
    program::{FAULT_VARIABLE, MOST_PRIVATE},
    symmetry,
    syntax::{Expr, Item, Name, Promise, Stmt, Tree},
    token::Span,
    watch,
};

/// The maximum number of invariants of a file. The lab keeps a bit for each.
const MOST_INVARIANTS: usize = 32;
/// Names of violations that the lab itself reports. An invariant must not have one of these names.
const RESERVED: [&str; 5] = ["exclusion", "names", "range", "deadlock", "fife"];

/// Compiles a syntax tree. Also returns warnings.
///
/// # Errors
/// Returns the errors that were found, and the warnings with them.
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
            let message = format!("`{}` is a word of the language: choose another name", name.text);
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
        let defined = |(item, _): &(Item, Span)| match item {
            Item::Define(name, ..) => Some(name.text.clone()),
            _ => None,
        };
        self.names.later_functions = tree.items.iter().filter_map(defined).collect();
        for (item, _) in &tree.items {
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
                    code.constants.push((name.text.clone(), value));
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
                        self.names.error(
                            Diagnostic::new(at.clone(), message)
                                .helping("`procedure NAME ... end` gives lines a name"),
                        );
                    }
                }
            }
        }
        match passage {
            Some((span, body)) => self.passage(span, body, &procedures, &mut code),
            None => self.names.error(
                Diagnostic::new(tree.name.span.clone(), "the file has no `passage`")
                    .helping("write the lines of the algorithm between `passage` and `end`"),
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
        let is_called = std::mem::take(&mut lowering.is_called);
        for ((name, _), _) in procedures.iter().zip(is_called).filter(|(_, is_called)| !is_called) {
            let message =
                format!("no line calls the procedure `{}`, so it is not checked", name.text);
            self.names.error(
                Diagnostic::warning(name.span.clone(), message)
                    .helping(format!("write `{}()` on a line of the passage", name.text)),
            );
        }
        if let Some(extra) = self.names.private.get(MOST_PRIVATE) {
            let message = format!(
                "at most {MOST_PRIVATE} private variables are possible, loop variables included"
            );
            let diagnostic = Diagnostic::new(extra.span.clone(), message);
            self.names.error(diagnostic);
            return;
        }
        if self.names.diagnostics.iter().any(|diagnostic| !diagnostic.is_warning) {
            // After an error, some jumps may have no target yet.
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
        if name_variable.is_none() && code.promises.properties.iter().any(|name| name == "names") {
            let message = "the file promises `names`, and its processes have none";
            self.names.error(Diagnostic::new(span.clone(), message).helping(
                "write `critical naming v` if the private variable v holds the name of the process",
            ));
        }
        code.instrs = instrs;
        code.name_variable = name_variable;
    }

    /// Refuses local lines directly after `critical naming s` that assign to s. A process executes these lines when it
    /// enters the critical section, so they would change its name there.
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
            self.names.error(
                Diagnostic::new(spans[at].clone(), message)
                    .helping("a `loop` before it has no `break`, or a `goto` leads past it"),
            );
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
