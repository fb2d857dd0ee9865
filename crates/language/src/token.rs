//! Splits a file into tokens.

use std::{fmt, ops::Range};

use logos::Logos;

use crate::diagnostic::Diagnostic;

/// A range of bytes of a file.
pub type Span = Range<usize>;

/// The most bytes a file may have.
pub const MOST_BYTES: usize = 256 << 10;
/// The most tokens a file may have.
const MOST_TOKENS: usize = 10_000;

/// Words with a meaning of their own.
const KEYWORDS: &[&str] = &[
    "algorithm",
    "title",
    "paper",
    "requires",
    "constant",
    "define",
    "shared",
    "private",
    "procedure",
    "invariant",
    "promises",
    "passage",
    "end",
    "if",
    "then",
    "elsif",
    "else",
    "while",
    "do",
    "await",
    "loop",
    "break",
    "for",
    "in",
    "downto",
    "goto",
    "leave",
    "skip",
    "doorway",
    "waiting",
    "critical",
    "exit",
    "remainder",
    "bool",
    "process",
    "set",
    "counter",
    "open",
    "home",
    "true",
    "false",
    "and",
    "or",
    "not",
    "div",
    "mod",
    "exists",
    "all",
    "at",
    "normal",
    "naming",
];

const SYMBOLS: &[&str] = &[
    ":=", "<=", ">=", "<>", "..", ":", "=", "<", ">", "+", "-", "*", "(", ")", "[", "]", "{", "}",
    ",", ".",
];

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub enum Token {
    /// A name, or a label such as `4a`.
    Word(String),
    /// A word with a meaning of its own.
    Keyword(&'static str),
    /// An operator or bracket.
    Symbol(&'static str),
    /// A number.
    Number(i64),
    /// A text in quotes.
    Text(String),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(f, "`{word}`"),
            Token::Keyword(word) | Token::Symbol(word) => write!(f, "`{word}`"),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::Text(_) => f.write_str("a text in quotes"),
        }
    }
}

/// The kinds of tokens as the lexer finds them.
#[derive(Logos, Clone, Copy, PartialEq, Debug)]
#[logos(skip r"[ \t\r\n]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
enum Raw {
    #[regex(r"[0-9]+")]
    Number,
    #[regex(r"[0-9]*[A-Za-z_][A-Za-z0-9_']*")]
    Word,
    #[regex(r#""[^"\n]*""#)]
    Text,
    #[regex(r":=|<=|>=|<>|\.\.|[:=<>+\-*()\[\]{},.]")]
    Symbol,
}

fn token(raw: Raw, text: &str) -> Result<Token, String> {
    let known = |list: &'static [&'static str]| list.iter().copied().find(|&word| word == text);
    Ok(match raw {
        Raw::Number => Token::Number(
            text.parse::<i32>()
                .map_err(|_| format!("numbers are at most {}, got {text}", i32::MAX))?
                .into(),
        ),
        Raw::Word => match known(KEYWORDS) {
            Some(keyword) => Token::Keyword(keyword),
            None => Token::Word(text.to_string()),
        },
        Raw::Text => Token::Text(text.trim_matches('"').to_string()),
        Raw::Symbol => Token::Symbol(known(SYMBOLS).unwrap_or("?")),
    })
}

/// Splits `source` into tokens.
///
/// # Errors
/// Fails on characters that begin no token, and on a file that is too long or too deeply nested.
pub fn tokens(source: &str) -> Result<Vec<(Token, Span)>, Diagnostic> {
    if source.len() > MOST_BYTES {
        return Err(Diagnostic::new(
            0..0,
            format!("the file has {} bytes, and at most {MOST_BYTES} are allowed", source.len()),
        ));
    }
    let mut tokens = Vec::new();
    let mut lexer = Raw::lexer(source);
    while let Some(raw) = lexer.next() {
        let (span, text) = (lexer.span(), lexer.slice());
        let Ok(raw) = raw else {
            return Err(unknown(span, text));
        };
        let token = token(raw, text).map_err(|message| Diagnostic::new(span.clone(), message))?;
        tokens.push((token, span));
    }
    check_size(&tokens)?;
    Ok(tokens)
}

fn unknown(span: Span, text: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(span, format!("no word or operator begins with `{text}`"));
    match text.chars().next() {
        Some('!') => diagnostic.helping("unequal is `<>`, and negation is `not`"),
        Some('#') => diagnostic.helping("a comment begins with `//`"),
        Some('"') => diagnostic.helping("a text ends with a second `\"` on the same line"),
        Some('&' | '|') => diagnostic.helping("write `and`, `or`, and `size(s)` for a set s"),
        Some('%' | '/') => diagnostic.helping("write `mod` and `div`"),
        Some(';') => diagnostic.helping("statements need no separator: remove the `;`"),
        _ => diagnostic,
    }
}

/// Refuses a file that would take the compiler too long.
fn check_size(tokens: &[(Token, Span)]) -> Result<(), Diagnostic> {
    match tokens.get(MOST_TOKENS) {
        None => Ok(()),
        Some((_, span)) => Err(Diagnostic::new(
            span.clone(),
            format!(
                "the file has more than {MOST_TOKENS} words and operators: split the algorithm"
            ),
        )),
    }
}
