//! Turns the statements of a passage into a flat list of instructions.

use std::collections::HashMap;

use crate::{
    code::{Access, Binary, Builtin, Ex, Instr, Sort, Touch},
    diagnostic::{Diagnostic, suggestion},
    names::{Context, Names, Use},
    syntax::{Expr, ExprKind, Name, Range, Stmt, StmtKind},
    token::Span,
};

/// The deepest nesting of blocks.
const MOST_DEPTH: usize = 40;
/// The most statements of a passage, those of procedures counted at each call.
const MOST_STATEMENTS: usize = 10_000;

/// The target of a jump that is not known yet.
const LATER: usize = usize::MAX;

/// Compiles the statements of a passage.
pub struct Lowering<'a> {
    names: &'a mut Names,
    procedures: &'a [(Name, Vec<Stmt>)],
    /// The instructions so far.
    pub instrs: Vec<Instr>,
    /// The place of each instruction.
    pub spans: Vec<Span>,
    /// The labels that are goto targets, innermost procedure last.
    targets: Vec<Targets>,
    /// For each loop around the statement, the jumps that leave it.
    breaks: Vec<Vec<usize>>,
    /// The labels of the calls around the statement, and the procedures that may not be called from here.
    prefix: String,
    callable: usize,
    section: &'static str,
    depth: usize,
    /// The number of statements so far, those of procedures counted at each call.
    statements: usize,
    /// The critical section, if it was seen.
    pub critical: Option<(usize, Span)>,
    /// The variable that holds the name of a process.
    pub name_variable: Option<usize>,
}

/// The labels of a passage or of a procedure.
#[derive(Default)]
struct Targets {
    labels: HashMap<String, (usize, Span)>,
    gotos: Vec<(Name, usize)>,
}

impl<'a> Lowering<'a> {
    /// Starts a passage that may call these procedures.
    pub fn new(names: &'a mut Names, procedures: &'a [(Name, Vec<Stmt>)]) -> Self {
        Lowering {
            names,
            procedures,
            instrs: Vec::new(),
            spans: Vec::new(),
            targets: Vec::new(),
            breaks: Vec::new(),
            prefix: String::new(),
            callable: procedures.len(),
            section: "doorway",
            depth: 0,
            statements: 0,
            critical: None,
            name_variable: None,
        }
    }

    /// Compiles the whole passage.
    pub fn passage(&mut self, body: &[Stmt], span: &Span) {
        self.scope(body);
        self.emit(Instr::Leave, span.clone());
        if self.critical.is_none() {
            self.names.error(
                Diagnostic::new(span.clone(), "the passage has no critical section")
                    .helping("write `critical` between the entry section and the exit section"),
            );
        }
    }

    /// Compiles statements with labels of their own.
    fn scope(&mut self, body: &[Stmt]) {
        self.targets.push(Targets::default());
        self.block(body);
        let Targets { labels, gotos } = self.targets.pop().unwrap_or_default();
        for (label, jump) in gotos {
            match labels.get(&label.text) {
                Some(&(to, _)) => {
                    self.check_side(&label, jump, to);
                    self.instrs[jump] = Instr::Jump(to);
                }
                None => {
                    self.instrs[jump] = Instr::Jump(jump + 1);
                    let hint = suggestion(&label.text, labels.keys().map(String::as_str))
                        .map(|known| format!("did you mean `{known}`?"));
                    let message = format!("no line is labelled `{}`", label.text);
                    let diagnostic = Diagnostic::new(label.span.clone(), message);
                    self.names.error(match hint {
                        Some(hint) => diagnostic.helping(hint),
                        None => diagnostic,
                    });
                }
            }
        }
    }

    /// Refuses a jump over the critical section, in either direction.
    fn check_side(&mut self, label: &Name, from: usize, to: usize) {
        let Some((critical, _)) = self.critical else { return };
        if (from < critical) != (to <= critical) {
            self.names.error(
                Diagnostic::new(label.span.clone(), "this jumps over the critical section")
                    .helping("the entry section ends at `critical`; `leave` ends the exit section"),
            );
        }
    }

    fn emit(&mut self, instr: Instr, span: Span) -> usize {
        self.instrs.push(instr);
        self.spans.push(span);
        self.instrs.len() - 1
    }

    fn patch(&mut self, at: usize) {
        let here = self.instrs.len();
        match &mut self.instrs[at] {
            Instr::Unless(_, to) | Instr::Jump(to) => *to = here,
            _ => {}
        }
    }

    fn block(&mut self, body: &[Stmt]) {
        self.depth += 1;
        for stmt in body {
            self.statements += 1;
            if self.depth > MOST_DEPTH || self.statements > MOST_STATEMENTS {
                let message = format!(
                    "a passage has at most {MOST_STATEMENTS} statements, procedures included, and blocks nest at \
                     most {MOST_DEPTH} levels deep"
                );
                self.names.error(Diagnostic::new(stmt.span.clone(), message));
                break;
            }
            self.statement(stmt);
        }
        self.depth -= 1;
    }

    fn statement(&mut self, stmt: &Stmt) {
        if let Some(label) = &stmt.label {
            let here = self.instrs.len();
            let targets = self.targets.last_mut().map(|targets| &mut targets.labels);
            let known = targets
                .and_then(|labels| labels.insert(label.text.clone(), (here, label.span.clone())));
            if let Some((_, before)) = known {
                let message = format!("two lines are labelled `{}`", label.text);
                self.names.error(
                    Diagnostic::new(label.span.clone(), message)
                        .pointing(before, "first here")
                        .pointing(label.span.clone(), "and again here"),
                );
            }
        }
        match &stmt.kind {
            StmtKind::Assign(target, value) => self.assign(stmt, target, value),
            StmtKind::Do(expr) => self.perform(stmt, expr),
            StmtKind::If(condition, yes, no) => self.branch(stmt, condition, yes, no),
            StmtKind::While(condition, body) => {
                let start = self.instrs.len();
                let condition = self.condition(stmt, condition);
                let exit = self.emit(Instr::Unless(condition, LATER), stmt.span.clone());
                self.repeat(body, start, stmt);
                self.patch(exit);
                self.end_loop();
            }
            StmtKind::Await(condition) => {
                let start = self.instrs.len();
                let span = condition.span.clone();
                let known = self.names.diagnostics.len();
                let condition = self.condition(stmt, condition);
                if self.instrs.len() == start && self.names.diagnostics.len() == known {
                    self.names.error(
                        Diagnostic::new(span, "this condition is local: waiting for it never ends")
                            .helping("await a condition on a shared variable"),
                    );
                }
                self.emit(Instr::Unless(condition, start), stmt.span.clone());
            }
            StmtKind::Loop(body) => {
                let start = self.instrs.len();
                self.repeat(body, start, stmt);
                self.end_loop();
            }
            StmtKind::For(name, range, body) => self.for_loop(stmt, name, range, body),
            StmtKind::Break => {
                let jump = self.emit(Instr::Jump(LATER), stmt.span.clone());
                match self.breaks.last_mut() {
                    Some(breaks) => breaks.push(jump),
                    None => {
                        self.instrs[jump] = Instr::Jump(jump + 1);
                        self.names
                            .error(Diagnostic::new(stmt.span.clone(), "`break` is in no loop"));
                    }
                }
            }
            StmtKind::Goto(label) => {
                let jump = self.emit(Instr::Jump(LATER), stmt.span.clone());
                if let Some(targets) = self.targets.last_mut() {
                    targets.gotos.push((label.clone(), jump));
                }
            }
            StmtKind::Leave => {
                if self.critical.is_none() {
                    let message = "`leave` returns to the remainder without a critical section";
                    self.names.error(Diagnostic::new(stmt.span.clone(), message));
                }
                self.emit(Instr::Leave, stmt.span.clone());
            }
            StmtKind::Skip => {}
            StmtKind::Section(section) => self.enter_section(section, &stmt.span),
            StmtKind::Critical(name) => self.critical(stmt, name.as_ref()),
        }
    }

    fn enter_section(&mut self, section: &'static str, span: &Span) {
        let message = match (section, &self.critical) {
            ("exit", None) => "`exit` comes after `critical`",
            ("doorway" | "waiting", Some(_)) => "the entry section ends at `critical`",
            _ => {
                self.section = section;
                return;
            }
        };
        self.names.error(Diagnostic::new(span.clone(), message));
    }

    fn critical(&mut self, stmt: &Stmt, name: Option<&Name>) {
        if let Some((_, before)) = &self.critical {
            let diagnostic =
                Diagnostic::new(stmt.span.clone(), "a passage has one critical section")
                    .pointing(before.clone(), "first here")
                    .pointing(stmt.span.clone(), "and again here");
            self.names.error(diagnostic);
            return;
        }
        if self.depth > 1 {
            self.names.error(
                Diagnostic::new(stmt.span.clone(), "`critical` is inside a block")
                    .helping("end the loop or the `if` before it; `break` and `goto` lead there"),
            );
        }
        let at = self.emit(Instr::Enter, stmt.span.clone());
        self.critical = Some((at, stmt.span.clone()));
        self.section = "exit";
        let Some(name) = name else { return };
        self.name_variable =
            self.names.private.iter().position(|variable| variable.name == name.text);
        if self.name_variable.is_none() {
            let known = self.names.private.iter().map(|variable| variable.name.as_str());
            let hint =
                suggestion(&name.text, known).map(|known| format!("did you mean `{known}`?"));
            let message = format!("no private variable is called `{}`", name.text);
            let diagnostic = Diagnostic::new(name.span.clone(), message);
            self.names
                .error(diagnostic.helping(hint.unwrap_or("declare it under `private`".into())));
        }
    }

    /// Emits the access of a line, if it makes one. Reports a line that makes several, or has no label.
    fn line(&mut self, stmt: &Stmt, uses: Vec<Use>) {
        if let [first, second, ..] = &uses[..] {
            let help = match (&first.access.touch, &second.access.touch) {
                (Touch::Read, Touch::Write(_)) if first.name == second.name => format!(
                    "split it in two: read `{0}` into a private variable, then write `{0}`; or use `fetch_and_add`",
                    first.name
                ),
                _ => format!("split it in two: give `{}` a labelled line of its own", first.name),
            };
            let message = format!(
                "this line {} `{}` and {} `{}`: a line makes one shared access",
                first.verb, first.name, second.verb, second.name
            );
            self.names.error(
                Diagnostic::new(stmt.span.clone(), message)
                    .pointing(first.span.clone(), format!("{} `{}`", first.verb, first.name))
                    .pointing(second.span.clone(), format!("{} `{}`", second.verb, second.name))
                    .helping(help),
            );
        }
        let Some(Use { verb, name, span, access }) = uses.into_iter().next() else { return };
        let Some(label) = &stmt.label else {
            self.names.error(
                Diagnostic::new(
                    stmt.span.clone(),
                    format!("this line {verb} `{name}` and has no label"),
                )
                .pointing(span, format!("{verb} `{name}`"))
                .helping("a line that accesses shared memory begins with a label, as in `3: ...`"),
            );
            return;
        };
        let label = format!("{}{}", self.prefix, label.text);
        let waits = self.section == "waiting";
        self.emit(Instr::Access(Access { label, waits, ..access }), stmt.span.clone());
    }

    /// Compiles a condition and the access that it makes.
    fn condition(&mut self, stmt: &Stmt, condition: &Expr) -> Ex {
        let mut uses = Vec::new();
        let ex = self.names.expect(condition, Sort::Bool, Context::Line, &mut uses);
        self.line(stmt, uses);
        ex
    }

    fn assign(&mut self, stmt: &Stmt, target: &Expr, value: &Expr) {
        let private = match &target.kind {
            ExprKind::Name(text) => {
                self.names.private.iter().position(|variable| variable.name == *text)
            }
            _ => None,
        };
        let mut uses = Vec::new();
        if let Some(index) = private {
            let sort = self.names.private[index].kind.sort();
            let value = self.names.expect(value, sort, Context::Line, &mut uses);
            self.line(stmt, uses);
            self.emit(Instr::Assign(index, value), stmt.span.clone());
            return;
        }
        let (name, indices): (Name, &[Expr]) = match &target.kind {
            ExprKind::Name(text) => (Name { text: text.clone(), span: target.span.clone() }, &[]),
            ExprKind::Index(name, indices) => (name.clone(), indices),
            _ => {
                let message = "only a variable can be assigned to";
                self.names.error(Diagnostic::new(target.span.clone(), message));
                return;
            }
        };
        if !self.names.shared.iter().any(|variable| variable.name == name.text) {
            let known =
                (self.names.private.iter().chain(&self.names.shared)).map(|v| v.name.as_str());
            let hint =
                suggestion(&name.text, known).map(|known| format!("did you mean `{known}`?"));
            let message = format!("no variable is called `{}`", name.text);
            let help = hint.unwrap_or("declare it under `shared` or `private`".into());
            self.names.error(Diagnostic::new(name.span.clone(), message).helping(help));
            return;
        }
        let Some((variable, indices)) = self.names.element(&name, indices, Context::Line) else {
            return;
        };
        let sort = self.names.shared[variable].kind.sort();
        let value = self.names.expect(value, sort, Context::Line, &mut uses);
        let access = Access {
            variable,
            indices,
            touch: Touch::Write(value),
            label: String::new(),
            waits: false,
        };
        uses.push(Use { verb: "writes", name: name.text, span: target.span.clone(), access });
        self.line(stmt, uses);
    }

    /// Compiles an operation whose result is not used, or the call of a procedure.
    fn perform(&mut self, stmt: &Stmt, expr: &Expr) {
        if let ExprKind::Call(name, arguments) = &expr.kind
            && let Some(index) =
                self.procedures.iter().position(|(known, _)| known.text == name.text)
        {
            self.call(stmt, name, arguments, index);
            return;
        }
        let mut uses = Vec::new();
        let known = self.names.diagnostics.len();
        self.names.resolve(expr, Context::Line, &mut uses);
        if uses.is_empty() && self.names.diagnostics.len() == known {
            let message = "this statement has no effect";
            self.names.error(
                Diagnostic::new(expr.span.clone(), message)
                    .helping("assign the value, as in `x := ...`, or remove the statement"),
            );
        }
        self.line(stmt, uses);
    }

    fn call(&mut self, stmt: &Stmt, name: &Name, arguments: &[Expr], index: usize) {
        if let Some(argument) = arguments.first() {
            let message = "a procedure has no parameters: it uses the private variables";
            self.names.error(Diagnostic::new(argument.span.clone(), message));
        }
        if index >= self.callable {
            let message = format!(
                "`{}` is declared after this call: a procedure calls only earlier ones",
                name.text
            );
            self.names.error(Diagnostic::new(name.span.clone(), message));
            return;
        }
        let prefix = match &stmt.label {
            Some(label) => format!("{}{}.", self.prefix, label.text),
            None => self.prefix.clone(),
        };
        let (outer_prefix, outer_callable) = (
            std::mem::replace(&mut self.prefix, prefix),
            std::mem::replace(&mut self.callable, index),
        );
        let outer_breaks = std::mem::take(&mut self.breaks);
        let body = &self.procedures[index].1;
        self.scope(body);
        (self.prefix, self.callable, self.breaks) = (outer_prefix, outer_callable, outer_breaks);
    }

    fn branch(&mut self, stmt: &Stmt, condition: &Expr, yes: &[Stmt], no: &[Stmt]) {
        let condition = self.condition(stmt, condition);
        let otherwise = self.emit(Instr::Unless(condition, LATER), stmt.span.clone());
        self.block(yes);
        if no.is_empty() {
            self.patch(otherwise);
            return;
        }
        let end = self.emit(Instr::Jump(LATER), stmt.span.clone());
        self.patch(otherwise);
        self.block(no);
        self.patch(end);
    }

    /// Compiles the body of a loop that continues at `start`.
    fn repeat(&mut self, body: &[Stmt], start: usize, stmt: &Stmt) {
        self.breaks.push(Vec::new());
        self.block(body);
        self.emit(Instr::Jump(start), stmt.span.clone());
    }

    fn end_loop(&mut self) {
        for jump in self.breaks.pop().unwrap_or_default() {
            self.patch(jump);
        }
    }

    fn for_loop(&mut self, stmt: &Stmt, name: &Name, range: &Range, body: &[Stmt]) {
        let Some(index) = self.names.loop_variable(name) else { return };
        let mut local = |expr: &Expr, sort| self.names.local(expr, sort, Context::Line);
        let binary = |op, a: Ex, b: Ex| Ex::Binary(op, Box::new(a), Box::new(b));
        let variable = Ex::Private(index);
        // Whether there is a first value, the first value, whether there is another one, the next value.
        let (some, first, more, next) = match range {
            Range::Up(lo, hi) => {
                let (lo, hi) = (local(lo, Sort::Number), local(hi, Sort::Number));
                (
                    binary(Binary::LessOrEqual, lo.clone(), hi.clone()),
                    lo,
                    binary(Binary::Less, variable.clone(), hi),
                    binary(Binary::Plus, variable, Ex::Number(1)),
                )
            }
            Range::Down(hi, lo) => {
                let (hi, lo) = (local(hi, Sort::Number), local(lo, Sort::Number));
                (
                    binary(Binary::LessOrEqual, lo.clone(), hi.clone()),
                    hi,
                    binary(Binary::Less, lo, variable.clone()),
                    binary(Binary::Minus, variable, Ex::Number(1)),
                )
            }
            Range::Set(set) => {
                let set = local(set, Sort::Set);
                let next = Ex::Builtin(Builtin::NextAfter, vec![set.clone(), variable]);
                (
                    binary(Binary::Unequal, set.clone(), Ex::Number(0)),
                    Ex::Builtin(Builtin::Lowest, vec![set]),
                    binary(Binary::LessOrEqual, Ex::Number(0), next.clone()),
                    next,
                )
            }
        };
        let span = stmt.span.clone();
        let none = self.emit(Instr::Unless(some, LATER), span.clone());
        self.emit(Instr::Assign(index, first), span.clone());
        let start = self.instrs.len();
        self.breaks.push(Vec::new());
        self.block(body);
        let last = self.emit(Instr::Unless(more, LATER), span.clone());
        self.emit(Instr::Assign(index, next), span.clone());
        self.emit(Instr::Jump(start), span);
        self.patch(none);
        self.patch(last);
        self.end_loop();
    }
}
