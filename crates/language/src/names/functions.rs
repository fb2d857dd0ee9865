//! Resolves calls: functions of the language, functions of the file, and atomic operations on shared variables.

use super::{Context, Names, Typed, Use, sort_name};
use crate::{
    code::{Access, Builtin, Ex, Sort, Touch},
    diagnostic::{Diagnostic, suggestion},
    syntax::{Expr, ExprKind, Name},
    token::Span,
};

/// The operations on shared variables, with their numbers of arguments and a call for a hint.
const OPERATIONS: &[(&str, &[usize], &str)] = &[
    ("fetch_and_add", &[2, 3], "fetch_and_add(x, 1)` or `fetch_and_add(x, 1, modulus)"),
    ("fetch_and_increment", &[1], "fetch_and_increment(x)"),
    ("fetch_and_decrement", &[1], "fetch_and_decrement(x)"),
    ("test_and_set", &[1], "test_and_set(b)"),
    ("compare_and_swap", &[3], "compare_and_swap(x, old, new)"),
    ("swap", &[2], "swap(x, new)"),
    ("enqueue", &[2], "enqueue(Q, me)"),
    ("dequeue", &[1], "dequeue(Q)"),
    ("remove", &[2], "remove(Q, me)"),
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
    OPERATIONS.iter().any(|(known, ..)| *known == name)
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
        if OPERATIONS.iter().any(|(operation, ..)| *operation == text) {
            return self.operation(name, arguments, span, context, uses);
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
        self.unknown_function(name);
        (Ex::Number(0), Sort::Number)
    }

    /// Explains why a call is not possible.
    fn unknown_function(&mut self, name: &Name) {
        let text = name.text.as_str();
        let known = (OPERATIONS.iter().map(|(name, ..)| *name))
            .chain(BUILTINS.iter().map(|(name, ..)| *name))
            .chain(self.functions.iter().map(|(name, ..)| name.as_str()))
            .chain(self.procedures.iter().map(String::as_str));
        let hint = suggestion(text, known).map(|known| format!("did you mean `{known}`?"));
        let (message, help) = if self.defining.as_deref() == Some(text) {
            (
                format!("`{text}` calls itself"),
                "a function cannot be recursive: use a loop in the `passage`".to_string(),
            )
        } else if self.later_functions.iter().any(|later| later == text) {
            (
                format!("`{text}` is defined after this call"),
                format!("move `define {text}` up: an expression uses only earlier functions"),
            )
        } else if self.procedures.iter().any(|procedure| procedure == text) {
            (
                format!("the procedure `{text}` has no value"),
                "call it on a separate line".to_string(),
            )
        } else {
            let define = format!("write `define {text}(...) = ...` above, or `procedure {text}`");
            (format!("no function is called `{text}`"), hint.unwrap_or(define))
        };
        self.error(Diagnostic::new(name.span.clone(), message).helping(help));
    }

    fn check_count(&mut self, name: &Name, wanted: usize, given: usize) {
        if wanted != given {
            let arguments = if wanted == 1 { "argument" } else { "arguments" };
            let message =
                format!("`{}` takes {wanted} {arguments}, and {given} are given", name.text);
            self.error(Diagnostic::new(name.span.clone(), message));
        }
    }

    /// Resolves an atomic operation on a shared variable.
    fn operation(
        &mut self,
        name: &Name,
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
        let operation = OPERATIONS.iter().find(|(known, ..)| *known == name.text);
        if let Some((_, counts, example)) = operation
            && !counts.contains(&arguments.len())
        {
            let takes = match counts {
                [1] => "1 argument".to_string(),
                [only] => format!("{only} arguments"),
                _ => {
                    let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
                    format!("{} arguments", counts.join(" or "))
                }
            };
            let message =
                format!("`{}` takes {takes}, and {} are given", name.text, arguments.len());
            let help = format!("write `{example}`");
            self.error(Diagnostic::new(name.span.clone(), message).helping(help));
            return nothing;
        }
        let target = &arguments[0];
        let resolved = match &target.kind {
            ExprKind::Name(text) if self.private.iter().any(|private| private.name == *text) => {
                let message =
                    format!("`{text}` is private, and `{}` needs a shared variable", name.text);
                self.error(Diagnostic::new(target.span.clone(), message).helping(format!(
                    "declare `{text}` under `shared`, or assign to it, as in `{text} := {text} + 1`"
                )));
                None
            }
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
            let help = match needed {
                Sort::Bool => format!("declare `{target}` with the type `bool`, or use `swap`"),
                Sort::Queue => format!("declare `{target}` with the type `queue`"),
                _ => format!("declare `{target}` with a range, such as `0..n`, or use `swap`"),
            };
            let (needed, found) = (sort_name(needed), sort_name(sort));
            let message = format!("`{}` needs {needed}, and `{target}` is {found}", name.text);
            self.error(Diagnostic::new(span.clone(), message).helping(help));
        }
        let access = Access { variable, indices, touch, label: String::new(), waits: false };
        uses.push(Use { verb: "changes", name: target, span: span.clone(), access });
        (Ex::Found, result)
    }
}
