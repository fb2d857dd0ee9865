//! Explains a syntax error: what was expected, what was found, and a hint for frequent mistakes.

use chumsky::{
    error::{RichPattern, RichReason},
    prelude::*,
};

use super::{
    blocks::{Block, Blocks},
    hints,
};
use crate::{
    diagnostic::{Diagnostic, line_of},
    token::{ITEMS, Span, Token},
};

pub(super) fn explain(
    error: &Rich<'_, Token>,
    tokens: &[(Token, Span)],
    source: &str,
) -> Diagnostic {
    let span = error.span().into_range();
    let RichReason::ExpectedFound { expected, found } = error.reason() else {
        return Diagnostic::new(span, error.to_string());
    };
    let found = found.as_deref();
    if tokens.is_empty() {
        return Diagnostic::new(span, "the file is empty").helping(hints::FIRST_LINE);
    }
    let place = tokens.partition_point(|(_, at)| at.start < span.start);
    let blocks = Blocks::before(tokens, place, source);
    let ends_the_block =
        found.is_none_or(|token| matches!(token, Token::Keyword(word) if ITEMS.contains(word)));
    if let (Some(block), true) = (blocks.unfinished(), ends_the_block) {
        return missing_end(block, found, &span, tokens, source);
    }
    let options = options(expected);
    let expects_name = options.iter().any(|option| option == "a name");
    if let (Some(Token::Keyword("end")), None, false) = (found, blocks.unfinished(), expects_name) {
        return surplus_end(&blocks, &span, source);
    }
    let found_text = found.map_or("the end of the file".to_string(), Token::to_string);
    let here =
        found.map_or("the file ends here".to_string(), |token| format!("unexpected {token}"));
    let mut diagnostic =
        Diagnostic::new(span.clone(), format!("expected {}, found {found_text}", listed(&options)))
            .pointing(span, here);
    if let Some((bracket, close)) = hints::unclosed(tokens, place, &options) {
        let separates = matches!(found, Some(Token::Word(_) | Token::Number(_)))
            && options.iter().any(|option| option == "`,`")
            && line_of(source, bracket.start) == line_of(source, error.span().start);
        let help = match separates {
            true => format!("write `,` or `{close}` before {found_text}"),
            false => format!("write `{close}` before {found_text}"),
        };
        diagnostic = diagnostic.pointing(bracket, format!("no `{close}` closes this"));
        return diagnostic.helping(help);
    }
    let help = hints::for_token(tokens, place, &options, source).or_else(|| {
        // The passage may have ended too early.
        let (block, end) = blocks.ended.as_ref().filter(|_| blocks.unfinished().is_none())?;
        let line = line_of(source, end.start);
        Some(format!(
            "the `end` in line {line} ends the `{}`: is there one `end` too many?",
            block.word
        ))
    });
    match help {
        Some(help) => diagnostic.helping(help),
        None => diagnostic,
    }
}

/// Returns what was expected, without duplicates.
fn options(expected: &[RichPattern<'_, Token>]) -> Vec<String> {
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
    options
}

/// The symbols that can follow a complete expression.
const OPERATORS: [&str; 9] = [
    "`(`",
    "`[`",
    "`.`",
    "`at`",
    "`and`",
    "`or`",
    "`+` or `-`",
    "`*`, `div` or `mod`",
    "a comparison",
];

fn listed(options: &[String]) -> String {
    let is_operator = |option: &&String| OPERATORS.contains(&option.as_str());
    let mut options: Vec<String> = options.to_vec();
    if options.iter().filter(is_operator).count() > 2 {
        options.retain(|option| !is_operator(&option));
        options.push("an operator".into());
    }
    let is_item = |option: &&String| ITEMS.contains(&option.trim_matches('`'));
    if options.iter().filter(is_item).count() > 2 {
        options.retain(|option| !is_item(&option));
        options.insert(0, "a part of the file such as `shared` or `passage`".into());
    }
    match options.split_last() {
        None => "something else".to_string(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

fn missing_end(
    block: &Block,
    found: Option<&Token>,
    place: &Span,
    tokens: &[(Token, Span)],
    source: &str,
) -> Diagnostic {
    if let Some((word, span)) = hints::probable_end(tokens, place.start) {
        return Diagnostic::new(span.clone(), format!("the language has no `{word}`"))
            .helping(format!("write `end` instead of `{word}`: every block ends with `end`"));
    }
    let line = line_of(source, block.span.start);
    let here = match found {
        Some(token) => format!("{token} begins another part of the file"),
        None => "the file ends here".to_string(),
    };
    let help = match &block.else_if {
        Some(_) => "`else if` begins a second `if` with its own `end`: write `elsif`".into(),
        None if matches!(block.word, "passage" | "procedure") => {
            format!("write `end` after the last line of the `{}`, or of a block in it", block.word)
        }
        None => format!("write `end` after the last line of the `{}`", block.word),
    };
    Diagnostic::new(block.span.clone(), format!("the `{}` in line {line} has no `end`", block.word))
        .pointing(block.else_if.clone().unwrap_or(block.span.clone()), "begins here")
        .pointing(place.clone(), here)
        .helping(help)
}

fn surplus_end(blocks: &Blocks, place: &Span, source: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(place.clone(), "this `end` ends nothing");
    match &blocks.ended {
        Some((block, end)) => diagnostic
            .pointing(place.clone(), "one `end` too many")
            .pointing(end.clone(), format!("the `{}` ends here", block.word))
            .helping(format!(
                "remove an `end`: the one in line {} already ends the `{}`",
                line_of(source, end.start),
                block.word
            )),
        None => diagnostic.helping("remove it"),
    }
}
