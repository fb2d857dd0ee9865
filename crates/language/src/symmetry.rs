//! Decides whether an algorithm treats all processes alike. Then the results for one process apply to all, so the lab
//! analyses only process 0 of the n processes that it explores.
//!
//! A file treats its processes alike if it uses process numbers only in these ways: it writes `me` to variables of
//! the type `process` that start `open`, puts `me` into queues, and compares such values with `me`. Its invariants may
//! quantify over `process`. Every other use counts as a difference, even if it makes none.

use std::cell::Cell;

use crate::code::{Access, Binary, Builtin, Code, Each, Ex, Instr, Kind, Over, Touch, Variable};

/// The maximum number of expressions that are looked at for one instruction or invariant. Each call of a function looks
/// at its body again, so functions that call one another twice would take exponential time.
const MOST_WORK: u32 = 100_000;

/// How an expression depends on process numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// The expression does not depend on process numbers.
    Plain,
    /// The expression is a process number.
    Process,
    /// The expression is a queue of processes.
    Queue,
}

/// Returns whether every renaming of the processes maps runs of the file to runs.
pub fn is_symmetric(code: &Code) -> bool {
    let plain = |ex: &Ex| Uses::new(code, None).is_plain(ex, &mut Vec::new());
    code.shared.iter().all(starts_alike)
        && code.private.iter().filter_map(|variable| variable.start.as_ref()).all(plain)
        && (0..code.instrs.len()).all(|at| instruction(code, at))
        && code.invariants.iter().all(|(_, ex)| plain(ex))
}

/// Returns whether every renaming of the processes keeps the initial values of a variable and its home.
fn starts_alike(variable: &Variable) -> bool {
    let starts_alike = match variable.kind {
        Kind::Process => variable.start.is_none(),
        Kind::Set => false,
        _ => true,
    };
    starts_alike && variable.home.is_none()
}

fn instruction(code: &Code, at: usize) -> bool {
    // A value from shared memory is used only by the instruction after the access.
    let found = match at.checked_sub(1).map(|before| &code.instrs[before]) {
        Some(Instr::Access(access)) => found(code, access),
        _ => None,
    };
    let uses = Uses::new(code, found);
    let is = |ex: &Ex, class: Class| uses.class(ex, &mut Vec::new()) == Some(class);
    match &code.instrs[at] {
        Instr::Assign(_, ex) | Instr::Unless(ex, _) => is(ex, Class::Plain),
        Instr::Jump(_) | Instr::Enter | Instr::Leave => true,
        Instr::Access(access) => {
            let held = match code.shared[access.variable].kind {
                Kind::Process => Class::Process,
                Kind::Queue => Class::Queue,
                _ => Class::Plain,
            };
            access.indices.iter().all(|index| is(index, Class::Plain))
                && match &access.touch {
                    Touch::Read | Touch::TestAndSet | Touch::Dequeue => true,
                    Touch::Write(ex) | Touch::Swap(ex) => is(ex, held),
                    Touch::CompareAndSwap(old, new) => is(old, held) && is(new, held),
                    Touch::FetchAdd(by, modulus) => {
                        held == Class::Plain
                            && is(by, Class::Plain)
                            && modulus.as_ref().is_none_or(|modulus| is(modulus, Class::Plain))
                    }
                    Touch::Enqueue(p) | Touch::Remove(p) => is(p, Class::Process),
                }
        }
    }
}

/// Returns the class of the value that an access returns, or `None` if a renaming may change its meaning.
fn found(code: &Code, access: &Access) -> Option<Class> {
    Some(match (&access.touch, &code.shared[access.variable].kind) {
        (Touch::Read | Touch::Swap(_), Kind::Process) | (Touch::Dequeue, _) => Class::Process,
        (Touch::Read | Touch::Swap(_), Kind::Queue) => Class::Queue,
        (_, Kind::Set) => return None,
        _ => Class::Plain,
    })
}

/// The expressions of one instruction or invariant.
struct Uses<'a> {
    code: &'a Code,
    /// The class of the value from shared memory.
    found: Option<Class>,
    /// The number of expressions that may still be looked at.
    left: Cell<u32>,
}

impl<'a> Uses<'a> {
    fn new(code: &'a Code, found: Option<Class>) -> Self {
        Uses { code, found, left: Cell::new(MOST_WORK) }
    }

    fn is_plain(&self, ex: &Ex, bound: &mut Vec<Class>) -> bool {
        self.class(ex, bound) == Some(Class::Plain)
    }

    fn are_plain(&self, list: &[Ex], bound: &mut Vec<Class>) -> Option<Class> {
        list.iter().all(|ex| self.is_plain(ex, bound)).then_some(Class::Plain)
    }

    /// Returns the class of an expression, or `None` if a renaming may change its meaning or the work is too much.
    fn class(&self, ex: &Ex, bound: &mut Vec<Class>) -> Option<Class> {
        self.left.set(self.left.get().checked_sub(1)?);
        match ex {
            Ex::Number(_) | Ex::N | Ex::K | Ex::Constant(_) | Ex::Private(_) => Some(Class::Plain),
            Ex::Me => Some(Class::Process),
            Ex::Found => self.found,
            Ex::Bound(index) => bound.get(*index).copied(),
            Ex::Everyone | Ex::ByPlace(..) | Ex::ByValue(..) | Ex::ByPrivate(_) => None,
            Ex::Set(list) => self.are_plain(list, bound),
            Ex::Shared(variable, indices) => {
                self.are_plain(indices, bound)?;
                match self.code.shared[*variable].kind {
                    Kind::Process => Some(Class::Process),
                    Kind::Queue => Some(Class::Queue),
                    Kind::Set => None,
                    _ => Some(Class::Plain),
                }
            }
            Ex::Of(process, _) | Ex::At(process, _) => {
                (self.class(process, bound)? == Class::Process).then_some(Class::Plain)
            }
            Ex::Not(inner) => self.class(inner, bound).filter(|&class| class == Class::Plain),
            Ex::Binary(Binary::Equal | Binary::Unequal, a, b) => {
                let (a, b) = (self.class(a, bound)?, self.class(b, bound)?);
                (a == b).then_some(Class::Plain)
            }
            Ex::Binary(_, a, b) => {
                (self.is_plain(a, bound) && self.is_plain(b, bound)).then_some(Class::Plain)
            }
            Ex::If(parts) => {
                let [condition, yes, no] = &**parts;
                let (yes, no) = (self.class(yes, bound)?, self.class(no, bound)?);
                (self.is_plain(condition, bound) && yes == no).then_some(yes)
            }
            // The size of a set of processes does not depend on which processes they are.
            Ex::Builtin(Builtin::Size, list) => match &list[..] {
                [Ex::Each(Each::Set, over, body)] => self.each(over, body, bound),
                _ => self.are_plain(list, bound),
            },
            Ex::Each(Each::Set, over, _) if matches!(**over, Over::Set(Ex::Everyone)) => None,
            Ex::Each(_, over, body) => self.each(over, body, bound),
            Ex::Call(function, arguments) => {
                self.are_plain(arguments, bound)?;
                let (count, body) = &self.code.functions[*function];
                self.class(body, &mut vec![Class::Plain; *count])
            }
            Ex::Builtin(builtin, list) => {
                let classes: Option<Vec<Class>> =
                    list.iter().map(|ex| self.class(ex, bound)).collect();
                let is_alike = match (builtin, &classes?[..]) {
                    (Builtin::Position, [queue, p]) => {
                        *queue == Class::Queue && *p == Class::Process
                    }
                    (Builtin::Length, [queue]) => *queue == Class::Queue,
                    (_, classes) => classes.iter().all(|&class| class == Class::Plain),
                };
                is_alike.then_some(Class::Plain)
            }
        }
    }

    fn each(&self, over: &Over, body: &Ex, bound: &mut Vec<Class>) -> Option<Class> {
        let class = match over {
            Over::Set(Ex::Everyone) => Class::Process,
            Over::Set(set) => self.class(set, bound).filter(|&class| class == Class::Plain)?,
            Over::Between(lo, hi) => {
                (self.is_plain(lo, bound) && self.is_plain(hi, bound)).then_some(Class::Plain)?
            }
        };
        bound.push(class);
        let body = self.class(body, bound).filter(|&class| class == Class::Plain);
        bound.pop();
        body
    }
}
