//! Compiles `if` and the bodies of loops into jumps.

use super::{LATER, Lowering};
use crate::{
    code::{Binary, Builtin, Ex, Instr, Sort},
    names::Context,
    syntax::{Expr, Name, Range, Stmt},
};

impl Lowering<'_> {
    pub(super) fn branch(&mut self, stmt: &Stmt, condition: &Expr, yes: &[Stmt], no: &[Stmt]) {
        let condition = self.condition(stmt, condition);
        let otherwise = self.emit(Instr::Unless(condition, LATER), stmt.span.clone());
        self.block(yes);
        if no.is_empty() {
            self.patch(otherwise);
            return;
        }
        let end = self.emit(Instr::Jump(LATER), stmt.span.clone());
        self.patch(otherwise);
        self.block(no);
        self.patch(end);
    }

    /// Compiles the body of a loop that continues at `start`.
    pub(super) fn repeat(&mut self, body: &[Stmt], start: usize, stmt: &Stmt) {
        self.breaks.push(Vec::new());
        self.block(body);
        self.emit(Instr::Jump(start), stmt.span.clone());
    }

    pub(super) fn end_loop(&mut self) {
        for jump in self.breaks.pop().unwrap_or_default() {
            self.patch(jump);
        }
    }

    pub(super) fn for_loop(&mut self, stmt: &Stmt, name: &Name, range: &Range, body: &[Stmt]) {
        let Some(index) = self.names.loop_variable(name) else { return };
        let mut local = |expr: &Expr, sort| self.names.local(expr, sort, Context::Line);
        let binary = |op, a: Ex, b: Ex| Ex::Binary(op, Box::new(a), Box::new(b));
        let variable = Ex::Private(index);
        // Four expressions: whether there is a first value, the first value, whether there is a next value, and the
        // next value.
        let (some, first, more, next) = match range {
            Range::Up(lo, hi) => {
                let (lo, hi) = (local(lo, Sort::Number), local(hi, Sort::Number));
                (
                    binary(Binary::LessOrEqual, lo.clone(), hi.clone()),
                    lo,
                    binary(Binary::Less, variable.clone(), hi),
                    binary(Binary::Plus, variable, Ex::Number(1)),
                )
            }
            Range::Down(hi, lo) => {
                let (hi, lo) = (local(hi, Sort::Number), local(lo, Sort::Number));
                (
                    binary(Binary::LessOrEqual, lo.clone(), hi.clone()),
                    hi,
                    binary(Binary::Less, lo, variable.clone()),
                    binary(Binary::Minus, variable, Ex::Number(1)),
                )
            }
            Range::Set(set) => {
                let set = local(set, Sort::Set);
                let next = Ex::Builtin(Builtin::NextAfter, vec![set.clone(), variable]);
                (
                    binary(Binary::Unequal, set.clone(), Ex::Number(0)),
                    Ex::Builtin(Builtin::Lowest, vec![set]),
                    binary(Binary::LessOrEqual, Ex::Number(0), next.clone()),
                    next,
                )
            }
        };
        let span = stmt.span.clone();
        let none = self.emit(Instr::Unless(some, LATER), span.clone());
        self.emit(Instr::Assign(index, first), span.clone());
        let start = self.instrs.len();
        self.breaks.push(Vec::new());
        self.block(body);
        let last = self.emit(Instr::Unless(more, LATER), span.clone());
        self.emit(Instr::Assign(index, next), span.clone());
        self.emit(Instr::Jump(start), span);
        self.patch(none);
        self.patch(last);
        self.end_loop();
    }
}
