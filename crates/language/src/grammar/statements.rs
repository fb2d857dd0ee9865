//! The grammar of statements.

use chumsky::prelude::*;

use super::{
    Boxed,
    expressions::{expr, range_of},
    key, label, name, span, sym,
};
use crate::{
    syntax::{Stmt, StmtKind},
    token::Token,
};

pub(super) fn statements<'t>() -> Boxed<'t, Vec<Stmt>> {
    recursive(|statements| {
        let expr = expr();
        let block = statements.boxed();
        let end = key("end");
        let otherwise = recursive(|otherwise| {
            let elsif = key("elsif")
                .ignore_then(expr.clone())
                .then_ignore(key("then"))
                .then(block.clone())
                .then(otherwise)
                .map_with(|((condition, yes), no), e| {
                    let kind = StmtKind::If(condition, yes, no);
                    vec![Stmt { label: None, kind, span: span(e.span()) }]
                });
            choice((
                elsif,
                key("else").ignore_then(block.clone()).then_ignore(end.clone()),
                end.clone().to(Vec::new()),
            ))
        })
        .boxed();
        let assign_or_do = expr
            .clone()
            .then(sym(":=").ignore_then(expr.clone()).or_not())
            .map(|(target, value)| match value {
                Some(value) => StmtKind::Assign(target, value),
                None => StmtKind::Do(target),
            });
        let kind = choice((
            key("if")
                .ignore_then(expr.clone())
                .then_ignore(key("then"))
                .then(block.clone())
                .then(otherwise)
                .map(|((condition, yes), no)| StmtKind::If(condition, yes, no)),
            key("while")
                .ignore_then(expr.clone())
                .then_ignore(key("do"))
                .then(block.clone())
                .then_ignore(end.clone())
                .map(|(condition, body)| StmtKind::While(condition, body)),
            key("await").ignore_then(expr.clone()).map(StmtKind::Await),
            key("loop").ignore_then(block.clone()).then_ignore(end.clone()).map(StmtKind::Loop),
            key("for")
                .ignore_then(name())
                .then_ignore(key("in"))
                .then(range_of(expr.clone()))
                .then_ignore(key("do"))
                .then(block.clone())
                .then_ignore(end.clone())
                .map(|((name, range), body)| StmtKind::For(name, range, body)),
            key("break").to(StmtKind::Break),
            key("goto").ignore_then(label()).map(StmtKind::Goto),
            key("leave").to(StmtKind::Leave),
            key("skip").to(StmtKind::Skip),
            key("critical")
                .ignore_then(key("naming").ignore_then(name()).or_not())
                .map(StmtKind::Critical),
            select! { Token::Keyword(word @ ("doorway" | "waiting" | "exit")) => StmtKind::Section(word) },
            assign_or_do,
        ))
        .labelled("a statement");
        label()
            .then_ignore(sym(":"))
            .or_not()
            .then(kind)
            .map_with(|(label, kind), e| Stmt { label, kind, span: span(e.span()) })
            .repeated()
            .collect::<Vec<_>>()
            .boxed()
    })
    .boxed()
}
