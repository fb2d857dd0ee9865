//! Declares functions, and shared and private variables.

use super::Analysis;
use crate::{
    code::{Binary, Ex, Kind, Sort, Variable},
    diagnostic::Diagnostic,
    names::Context,
    syntax::{Decl, Expr, ExprKind, Name, Range, Start, Type},
};

impl Analysis<'_> {
    pub(super) fn function(
        &mut self,
        name: &Name,
        parameters: &[Name],
        body: &Expr,
    ) -> (usize, Ex) {
        self.declare_callable(name);
        for parameter in parameters {
            self.names.bound.push((parameter.text.clone(), Sort::Number));
        }
        let mut uses = Vec::new();
        self.names.defining = Some(name.text.clone());
        let (ex, sort) = self.names.resolve(body, Context::Function, &mut uses);
        self.names.defining = None;
        self.names.later_functions.retain(|later| *later != name.text);
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

    pub(super) fn shared(&mut self, decl: &Decl) {
        self.declare(&decl.name);
        let mut indices = Vec::new();
        for (_, range) in &decl.indices {
            indices.push(match range {
                Range::Up(lo, hi) => (
                    self.names.local(lo, Sort::Number, Context::Size),
                    self.names.local(hi, Sort::Number, Context::Size),
                ),
                Range::Set(Expr { kind: ExprKind::Everyone, .. }) => {
                    let last = Binary::Minus;
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

    pub(super) fn private(&mut self, decl: &Decl) {
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
}
