//! Resolves calls: functions of the language, functions of the file, and atomic operations on shared variables.

use super::{Context, Names, Typed, Use, sort_name};
use crate::{
    code::{Access, Builtin, Ex, Sort, Touch},
    diagnostic::{Diagnostic, suggestion},
    syntax::{Expr, ExprKind, Name},
    token::Span,
};

/// The operations on shared variables, with their numbers of arguments.
const OPERATIONS: &[(&str, &[usize])] = &[
    ("fetch_and_add", &[2, 3]),
    ("fetch_and_increment", &[1]),
    ("fetch_and_decrement", &[1]),
    ("test_and_set", &[1]),
    ("compare_and_swap", &[3]),
    ("swap", &[2]),
    ("enqueue", &[2]),
    ("dequeue", &[1]),
    ("remove", &[2]),
];

/// The functions, with the types of their arguments and results.
const BUILTINS: &[(&str, Builtin, &[Sort], Sort)] = &[
    ("min", Builtin::Min, &[Sort::Number, Sort::Number], Sort::Number),
    ("max", Builtin::Max, &[Sort::Number, Sort::Number], Sort::Number),
    ("size", Builtin::Size, &[Sort::Set], Sort::Number),
    ("lowest", Builtin::Lowest, &[Sort::Set], Sort::Number),
    ("log2", Builtin::Log2, &[Sort::Number], Sort::Number),
    ("power2", Builtin::Power2, &[Sort::Number], Sort::Number),
    ("length", Builtin::Length, &[Sort::Queue], Sort::Number),
    ("position", Builtin::Position, &[Sort::Queue, Sort::Number], Sort::Number),
];

/// Returns whether the language has a function or an operation of this name.
pub fn is_built_in(name: &str) -> bool {
    OPERATIONS.iter().any(|(known, _)| *known == name)
        || BUILTINS.iter().any(|(known, ..)| *known == name)
}

impl Names {
    pub(super) fn call(
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
            "enqueue" => (Touch::Enqueue(argument(1, Sort::Number)), Sort::Number),
            "dequeue" => (Touch::Dequeue, Sort::Number),
            "remove" => (Touch::Remove(argument(1, Sort::Number)), Sort::Bool),
            _ => (Touch::Swap(argument(1, sort)), sort),
        };
        let needed = match touch {
            Touch::FetchAdd(..) => Sort::Number,
            Touch::TestAndSet => Sort::Bool,
            Touch::Enqueue(_) | Touch::Dequeue | Touch::Remove(_) => Sort::Queue,
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
}
