//! Matches each `end` with the block that it ends, and finds the block that has no `end`.
//!
//! The number of `end`s alone does not say where one is missing. If an inner block has no `end`, the next `end` ends
//! this block instead of the block around it. Then the outermost block seems to have no `end`. So the indentation
//! decides. An `end` that begins its line and is further left than the block that it would end belongs to an outer
//! block.

use crate::token::{Span, Token};

/// A block that is open.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The word that begins it.
    pub(super) word: &'static str,
    /// The place of the word.
    pub(super) span: Span,
    /// The indentation of its first line.
    indent: usize,
    /// The first `else if` of an `if`.
    pub(super) else_if: Option<Span>,
}

/// The blocks before a place in the file.
#[derive(Default)]
pub(super) struct Blocks {
    /// The blocks that are open at the place, innermost last.
    open: Vec<Block>,
    /// The first block whose `end` belongs to an outer block, judging by the indentation.
    suspect: Option<Block>,
    /// The last passage or procedure that ended before the place, and its `end`.
    pub(super) ended: Option<(Block, Span)>,
    /// For each conditional expression that is open: whether its `then` was seen.
    conditionals: Vec<bool>,
}

impl Blocks {
    /// Returns the blocks before the token with the index `place`.
    pub(super) fn before(tokens: &[(Token, Span)], place: usize, source: &str) -> Self {
        let mut blocks = Blocks::default();
        let mut in_expression = false;
        for index in 0..place.min(tokens.len()) {
            let (token, span) = &tokens[index];
            in_expression = blocks.next(token, span, tokens.get(index + 1), in_expression, source);
        }
        blocks
    }

    /// Returns the block that probably has no `end`; `None` if no block is open.
    pub(super) fn unfinished(&self) -> Option<&Block> {
        self.open.last()?;
        self.suspect.as_ref().or(self.open.last())
    }

    /// Takes one token. `after` is the next token. `in_expression` says whether this token continues an expression.
    /// Returns whether the next token continues an expression.
    fn next(
        &mut self,
        token: &Token,
        span: &Span,
        after: Option<&(Token, Span)>,
        in_expression: bool,
        source: &str,
    ) -> bool {
        match token {
            Token::Keyword(word @ ("passage" | "procedure" | "loop" | "while" | "for")) => {
                self.begin(word, span, source);
                *word == "while"
            }
            Token::Keyword("if") if in_expression || self.open.is_empty() => {
                self.conditionals.push(false);
                true
            }
            Token::Keyword("if") => {
                self.begin("if", span, source);
                true
            }
            Token::Keyword("then") => match self.conditionals.last_mut() {
                Some(seen @ false) => {
                    *seen = true;
                    true
                }
                _ => false,
            },
            Token::Keyword("else") => {
                if self.conditionals.last() == Some(&true) {
                    self.conditionals.pop();
                    return true;
                }
                if let (Some(block), Some((Token::Keyword("if"), next))) =
                    (self.open.last_mut(), after)
                {
                    block.else_if.get_or_insert(span.start..next.end);
                }
                false
            }
            Token::Keyword("end") => {
                self.end(span, source);
                false
            }
            Token::Keyword(word) => {
                matches!(
                    *word,
                    "and" | "or" | "not" | "div" | "mod" | "in" | "downto" | "await" | "elsif"
                )
            }
            Token::Symbol(symbol) => !matches!(*symbol, ":" | ")" | "]" | "}"),
            Token::Word(_) | Token::Number(_) | Token::Text(_) => false,
        }
    }

    fn begin(&mut self, word: &'static str, span: &Span, source: &str) {
        self.conditionals.clear();
        let (indent, _) = indentation(span, source);
        self.open.push(Block { word, span: span.clone(), indent, else_if: None });
    }

    fn end(&mut self, span: &Span, source: &str) {
        self.conditionals.clear();
        let Some(block) = self.open.pop() else { return };
        let (indent, is_first) = indentation(span, source);
        let between = source.get(block.span.end..span.start).unwrap_or("");
        let is_later = between.contains('\n');
        if is_first && is_later && indent < block.indent && self.suspect.is_none() {
            self.suspect = Some(block.clone());
        }
        if self.open.is_empty() {
            self.ended = Some((block, span.clone()));
        }
    }
}

/// Returns the indentation of the line that contains a token, and whether the token begins the line.
fn indentation(span: &Span, source: &str) -> (usize, bool) {
    let before = source.get(..span.start).unwrap_or("");
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    let rest = line.trim_start();
    (line.chars().count() - rest.chars().count(), rest.is_empty())
}
