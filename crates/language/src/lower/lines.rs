//! Compiles single lines: conditions, assignments, operations and calls of procedures, each with at most one shared
//! access.

use super::Lowering;
use crate::{
    code::{Access, Ex, Instr, Sort, Touch},
    diagnostic::{Diagnostic, suggestion},
    names::{Context, Use},
    syntax::{Expr, ExprKind, Name, Stmt, StmtKind},
};

impl Lowering<'_> {
    /// Emits the access of a line, if it makes one. Reports a line that makes several, or has no label.
    fn line(&mut self, stmt: &Stmt, uses: Vec<Use>) {
        if let [first, second, ..] = &uses[..] {
            let help = match (&first.access.touch, &second.access.touch) {
                (Touch::Read, Touch::Write(_)) if first.name == second.name => format!(
                    "split it in two: read `{0}` into a private variable, then write `{0}`; or use \
                     `fetch_and_add`",
                    first.name
                ),
                (Touch::Read, Touch::Read) if first.name == second.name => format!(
                    "read `{0}` once: into a private variable, or with one test such as `{0} in {{0, 1}}`; a \
                     second element needs its own line",
                    first.name
                ),
                (Touch::Read, Touch::Read) if matches!(stmt.kind, StmtKind::Await(_)) => format!(
                    "split it in two: write a `loop` with a labelled line for `{}` and one for `{}`, and \
                     `break` out of it",
                    first.name, second.name
                ),
                _ => format!("split it in two: give `{}` its own labelled line", first.name),
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
    pub(super) fn condition(&mut self, stmt: &Stmt, condition: &Expr) -> Ex {
        let mut uses = Vec::new();
        let ex = self.names.expect(condition, Sort::Bool, Context::Line, &mut uses);
        self.line(stmt, uses);
        ex
    }

    pub(super) fn assign(&mut self, stmt: &Stmt, target: &Expr, value: &Expr) {
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
                let diagnostic =
                    Diagnostic::new(target.span.clone(), "only a variable can be assigned to");
                self.names.error(match &target.kind {
                    ExprKind::Of(number, _) if matches!(number.kind, ExprKind::Number(_)) => {
                        diagnostic.helping("a label ends with a colon, as in `3: ...`")
                    }
                    _ => diagnostic.helping("write `x := ...`, or `a[i] := ...` for an element"),
                });
                return;
            }
        };
        if let Some(what) = self.fixed(&name.text) {
            let message = format!("`{}` cannot be assigned to: it is {what}", name.text);
            let help = "declare a variable under `private`, and assign to that";
            self.names.error(Diagnostic::new(name.span.clone(), message).helping(help));
            return;
        }
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

    /// Returns what a name stands for, if its value never changes.
    fn fixed(&self, name: &str) -> Option<&'static str> {
        Some(match name {
            "n" => "the number of processes",
            "k" => "the number of slots",
            "me" => "the number of the process itself",
            "others" => "the set of all other processes",
            _ if self.names.constants.iter().any(|constant| constant == name) => "a constant",
            _ => return None,
        })
    }

    /// Compiles an operation whose result is not used, or the call of a procedure.
    pub(super) fn perform(&mut self, stmt: &Stmt, expr: &Expr) {
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
        if self.names.diagnostics.len() == known {
            let changes = uses.iter().any(|used| !matches!(used.access.touch, Touch::Read));
            if !changes || matches!(expr.kind, ExprKind::Binary("=", ..)) {
                self.names.error(without_effect(expr));
            }
        }
        self.line(stmt, uses);
    }

    fn call(&mut self, stmt: &Stmt, name: &Name, arguments: &[Expr], index: usize) {
        if let Some(argument) = arguments.first() {
            let message = "a procedure has no parameters";
            let help = format!(
                "assign to a private variable before the call, and write `{}()`",
                name.text
            );
            self.names.error(Diagnostic::new(argument.span.clone(), message).helping(help));
        }
        if index >= self.callable {
            let diagnostic = |message: String| Diagnostic::new(name.span.clone(), message);
            self.names.error(match index == self.callable {
                true => diagnostic(format!("`{}` calls itself", name.text))
                    .helping("a procedure cannot be recursive: use a `loop`"),
                false => diagnostic(format!("`{}` is declared after this call", name.text))
                    .helping(
                        "move it up: a procedure calls only procedures that are declared before it",
                    ),
            });
            return;
        }
        self.is_called[index] = true;
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
}

/// Explains that a statement computes a value and does nothing with it.
fn without_effect(expr: &Expr) -> Diagnostic {
    let diagnostic = |message: &str| Diagnostic::new(expr.span.clone(), message);
    match &expr.kind {
        ExprKind::Binary("=", target, _) => {
            let diagnostic =
                diagnostic("this compares two values and does nothing with the result");
            match &target.kind {
                ExprKind::Name(name) => diagnostic
                    .helping(format!("`=` compares; to assign to `{name}`, write `{name} := ...`")),
                ExprKind::Index(name, _) => diagnostic.helping(format!(
                    "`=` compares; to assign to an element of `{0}`, write `{0}[...] := ...`",
                    name.text
                )),
                _ => diagnostic.helping("`=` compares; an assignment is `x := ...`"),
            }
        }
        ExprKind::Number(number) => diagnostic("this statement has no effect")
            .helping(format!("a label ends with a colon, as in `{number}: ...`")),
        _ => diagnostic("this statement has no effect")
            .helping("assign the value, as in `v := ...`, or remove the statement"),
    }
}
