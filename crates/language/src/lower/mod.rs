//! Turns the statements of a passage into a flat list of instructions.

mod branches;
mod lines;

use std::collections::HashMap;

use crate::{
    code::Instr,
    diagnostic::{Diagnostic, suggestion},
    names::Names,
    syntax::{Name, Stmt, StmtKind},
    token::Span,
};

/// The deepest nesting of blocks.
const MOST_DEPTH: usize = 40;
/// The maximum number of statements of a passage. Those of a procedure count at each call.
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
    /// The labels and jumps of the passage and of the procedures that are being compiled, innermost last.
    targets: Vec<Targets>,
    /// For each loop around the statement, the jumps that leave it.
    breaks: Vec<Vec<usize>>,
    /// The labels of the calls around the statement.
    prefix: String,
    /// The number of procedures that may be called from here: the first ones of the file.
    callable: usize,
    section: &'static str,
    depth: usize,
    /// The number of statements so far. Those of a procedure count at each call.
    statements: usize,
    /// For each procedure, whether a line calls it.
    pub is_called: Vec<bool>,
    /// The instruction that enters the critical section, with its place in the file, if `critical` was seen.
    pub critical: Option<(usize, Span)>,
    /// The variable that holds the name of a process.
    pub name_variable: Option<usize>,
}

/// The labels of a passage or of a procedure, and the `goto`s that jump to them.
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
            is_called: vec![false; procedures.len()],
            critical: None,
            name_variable: None,
        }
    }

    /// Compiles the whole passage.
    pub fn passage(&mut self, body: &[Stmt], span: &Span) {
        self.scope(body);
        self.emit(Instr::Leave, span.clone());
        // Another error may be a misspelt `critical`.
        if self.critical.is_none() && self.names.diagnostics.iter().all(|one| one.is_warning) {
            self.names.error(
                Diagnostic::new(span.clone(), "the passage has no critical section")
                    .helping("write `critical` between the entry section and the exit section"),
            );
        }
    }

    /// Compiles the statements of a passage or procedure, which has its own labels.
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
                    let help = match suggestion(&label.text, labels.keys().map(String::as_str)) {
                        Some(known) => format!("did you mean `{known}`?"),
                        None => format!("write `{}:` before the line to jump to", label.text),
                    };
                    let message = format!("no line is labelled `{}`", label.text);
                    self.names.error(Diagnostic::new(label.span.clone(), message).helping(help));
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
            if self.depth > MOST_DEPTH {
                let message = format!("blocks nest at most {MOST_DEPTH} levels deep");
                let help = "join conditions with `and`, or leave a loop with `break` or `goto`";
                self.names.error(Diagnostic::new(stmt.span.clone(), message).helping(help));
                break;
            }
            if self.statements > MOST_STATEMENTS {
                let message = format!("a passage has at most {MOST_STATEMENTS} statements");
                let help = "the lines of a procedure count at each call: use a loop instead";
                self.names.error(Diagnostic::new(stmt.span.clone(), message).helping(help));
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
                        Diagnostic::new(
                            span,
                            "this condition is local, so no other process can make it true",
                        )
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
                        self.names.error(
                            Diagnostic::new(stmt.span.clone(), "`break` is in no loop").helping(
                                "`goto` leads to a line, and `leave` ends the exit section",
                            ),
                        );
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
                    let help = "every passage enters the critical section: `goto` leads back to an earlier line";
                    self.names.error(Diagnostic::new(stmt.span.clone(), message).helping(help));
                }
                self.emit(Instr::Leave, stmt.span.clone());
            }
            StmtKind::Skip => {}
            StmtKind::Section(section) => self.enter_section(section, &stmt.span),
            StmtKind::Critical(name) => self.critical(stmt, name.as_ref()),
        }
    }

    fn enter_section(&mut self, section: &'static str, span: &Span) {
        let (message, help) = match (section, &self.critical) {
            ("exit", None) => (
                "`exit` comes before `critical`",
                "move it below `critical`, or remove it: the exit section begins after `critical`",
            ),
            ("doorway" | "waiting", Some(_)) => (
                "the entry section ends at `critical`",
                "remove it: what follows `critical` is the exit section",
            ),
            _ => {
                self.section = section;
                return;
            }
        };
        self.names.error(Diagnostic::new(span.clone(), message).helping(help));
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
                Diagnostic::new(stmt.span.clone(), "`critical` is inside a block").helping(
                    "end the loop or the `if` before `critical`; `break` and `goto` lead out of it",
                ),
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
}
