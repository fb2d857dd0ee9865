//! Explains a syntax error: what was expected, what was found, and a hint for frequent mistakes.

use chumsky::{
    error::{RichPattern, RichReason},
    prelude::*,
};

use crate::{
    diagnostic::{Diagnostic, suggestion},
    token::Token,
};

pub(super) fn explain(error: &Rich<'_, Token>) -> Diagnostic {
    let span = error.span().into_range();
    let RichReason::ExpectedFound { expected, found } = error.reason() else {
        return Diagnostic::new(span, error.to_string());
    };
    let mut options: Vec<String> = expected
        .iter()
        .filter_map(|pattern| match pattern {
            RichPattern::Token(token) => Some(token.to_string()),
            RichPattern::Label(label) => Some(label.to_string()),
            RichPattern::EndOfInput => Some("the end of the file".to_string()),
            _ => None,
        })
        .collect();
    options.sort();
    options.dedup();
    let found_text = found.as_deref().map_or("the end of the file".to_string(), Token::to_string);
    let wanted = match options.split_last() {
        None => "something else".to_string(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    };
    let diagnostic =
        Diagnostic::new(span.clone(), format!("expected {wanted}, found {found_text}"))
            .pointing(span, format!("unexpected {found_text}"));
    match help(found.as_deref(), &options) {
        Some(help) => diagnostic.helping(help),
        None => diagnostic,
    }
}

/// Explains frequent mistakes.
fn help(found: Option<&Token>, options: &[String]) -> Option<String> {
    let expects = |token: &str| options.iter().any(|option| option == token);
    match found {
        None if expects("`end`") => {
            Some("`if`, `while`, `for`, `loop`, `procedure` and `passage` end with `end`".into())
        }
        Some(Token::Symbol("=")) if expects("`:=`") => {
            Some("`=` compares; an assignment is `:=`".into())
        }
        Some(Token::Symbol(":=")) => Some("`:=` assigns; a comparison or a start is `=`".into()),
        Some(Token::Keyword(word)) if options.iter().any(|option| option == "a name") => {
            Some(format!("`{word}` has a meaning of its own: choose another name"))
        }
        Some(Token::Word(word)) => {
            let keywords = options.iter().filter_map(|option| {
                option.strip_prefix('`').and_then(|option| option.strip_suffix('`'))
            });
            suggestion(word, keywords).map(|known| format!("did you mean `{known}`?"))
        }
        _ => None,
    }
}
