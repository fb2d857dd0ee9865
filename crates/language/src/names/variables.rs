//! Resolves names of variables and constants, elements of shared arrays, and loop variables.

use super::{Context, Names, Typed, Use};
use crate::{
    code::{Access, Binary, Ex, Kind, Sort, Touch, Variable},
    diagnostic::{Diagnostic, suggestion},
    grammar::for_word,
    program::FAULT_VARIABLE,
    syntax::{Expr, Name},
    token::{Span, is_keyword},
};

impl Names {
    pub(super) fn name(
        &mut self,
        text: &str,
        span: &Span,
        context: Context,
        uses: &mut Vec<Use>,
    ) -> Typed {
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
            known.extend(["end", "else", "loop", "true", "false"]);
            known.extend(self.private.iter().map(|variable| variable.name.as_str()));
        }
        let diagnostic = Diagnostic::new(span.clone(), format!("no variable is called `{text}`"));
        let private = self.private.iter().any(|variable| variable.name == text);
        let lower = text.to_lowercase();
        let help = match (for_word(text), suggestion(text, known)) {
            (Some(help), _) => help.to_string(),
            _ if is_keyword(&lower) => {
                format!("did you mean `{lower}`? The words of the language are in lower case")
            }
            _ if text.starts_with(|first: char| first.is_ascii_digit()) => {
                "a name begins with a letter, and a number has only the digits 0 to 9".to_string()
            }
            (None, Some(known)) => format!("did you mean `{known}`?"),
            _ if private && context == Context::Invariant => {
                format!("write `p.{text}` for the private variable of process p")
            }
            _ if matches!(text, "me" | "others") || private => {
                format!(
                    "`{text}` belongs to a process and is known only in `passage` and `procedure`"
                )
            }
            _ => "declare it under `shared` or `private`".to_string(),
        };
        self.error(diagnostic.helping(help));
    }

    /// Resolves an element of an array, or a plain shared variable.
    pub(super) fn shared(
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
                    format!("`{}` is shared, and this may depend only on n and k", name.text);
                self.error(Diagnostic::new(span.clone(), message));
                (Ex::Number(0), sort)
            }
        }
    }

    /// Resolves a shared variable and its indices. Returns `None` after an error.
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
            let message = match (wanted, indices.len()) {
                (0, _) => format!("`{}` is not an array", name.text),
                (_, 0) => format!("`{0}` is an array: write `{0}[...]`", name.text),
                (1, given) => format!("`{}` has one index, and the line gives {given}", name.text),
                (_, given) => {
                    format!("`{}` has {wanted} indices, and the line gives {given}", name.text)
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

    /// Returns the index of the private variable over which a loop goes, and declares the variable if it is new.
    /// Returns `None` after an error.
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
                let message =
                    format!("a loop counts with numbers, but `{}` is not a number", name.text);
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
