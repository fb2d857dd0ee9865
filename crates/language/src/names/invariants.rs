//! Resolves what only an invariant may refer to: the private variables and the line of any process.

use super::{Context, Names, Typed};
use crate::{
    code::{Ex, Place, Sort},
    diagnostic::{Diagnostic, suggestion},
    syntax::{Expr, Name},
    token::Span,
};

impl Names {
    pub(super) fn private_of(&mut self, process: &Expr, name: &Name, context: Context) -> Typed {
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

    pub(super) fn at(
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
                "in an invariant, a process can be only at lines that access shared memory",
            ),
        });
        None
    }
}
