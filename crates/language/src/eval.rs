//! Evaluates expressions.

use hallpass_algorithms::{Loc, Pid, View, Word, framework::queue};

use crate::{
    code::{Binary, Builtin, Each, Ex, Over, Value},
    program::{At, Program},
};

/// The largest number of values that a quantifier goes through.
const MOST_VALUES: Value = 4096;
/// The largest number of operations in the evaluation of one expression.
const MOST_WORK: u32 = 50_000;
/// The maximum number of elements of a set. A set is stored as the bits of a value.
pub const MOST_ELEMENTS: Value = 62;

/// A fault: an error in a file of the language that shows only when a line is executed or an expression is evaluated,
/// such as an index that does not exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A number is too large.
    Large,
    /// A set would have an element below 0 or above 61, or a queue an element that is no process.
    Element,
    /// An array has no element with this index.
    Index {
        /// The dimension of the array in which the index is, counted from 0.
        place: u8,
        /// The index that does not exist.
        value: i32,
    },
    /// The expression takes too many operations, or a quantifier goes through too many values.
    Values,
    /// A private variable leaves its range: it is assigned this value.
    Range(i32),
    /// Local lines are repeated without end.
    Endless,
    /// A divisor is 0.
    Zero,
    /// The modulus of an addition is out of range.
    Modulus,
    /// The logarithm or the power of this number is not a number of the language.
    Power,
}

/// The number of kinds of faults.
const KINDS: i64 = 9;

impl Fault {
    /// Returns the fault of an instruction as two numbers. The first is above 0.
    pub fn numbers(self, line: usize) -> [i32; 2] {
        let (kind, place, value) = match self {
            Fault::Large => (0, 0, 0),
            Fault::Element => (1, 0, 0),
            Fault::Index { place, value } => (2, place, value),
            Fault::Values => (3, 0, 0),
            Fault::Range(value) => (4, 0, value),
            Fault::Endless => (5, 0, 0),
            Fault::Zero => (6, 0, 0),
            Fault::Modulus => (7, 0, 0),
            Fault::Power => (8, 0, 0),
        };
        let first = 1 + line as i64 * KINDS + kind;
        [(i64::from(place.min(127)) << 24 | first) as i32, value]
    }

    /// Returns the word for two [`numbers`](Self::numbers). A process that makes a fault writes this word to the
    /// variable [`FAULT_VARIABLE`](crate::program::FAULT_VARIABLE).
    pub fn word([first, value]: [i32; 2]) -> Word {
        Word::from(value) << 32 | Word::from(first)
    }

    /// Returns the instruction and the fault that a [`word`](Self::word) stands for, or `None` if it stands for none.
    pub fn of_word(word: Word) -> Option<(usize, Fault)> {
        let (value, place) = ((word >> 32) as i32, (word >> 24 & 127) as u8);
        let code = (word & 0xff_ffff) - 1;
        let fault = match code % KINDS {
            0 => Fault::Large,
            1 => Fault::Element,
            2 => Fault::Index { place, value },
            3 => Fault::Values,
            4 => Fault::Range(value),
            5 => Fault::Endless,
            6 => Fault::Zero,
            7 => Fault::Modulus,
            8 => Fault::Power,
            _ => return None,
        };
        Some((usize::try_from(code / KINDS).ok()?, fault))
    }

    /// Returns a description that continues "line 3 ...".
    pub fn says(self) -> &'static str {
        match self {
            Fault::Large => {
                "computes a number that is too large: more than 2147483647 or less than -2147483648"
            }
            Fault::Element => {
                "puts a number that is not from 0 to 61 into a set, or a number that is no process into a queue"
            }
            Fault::Index { .. } => "uses an index that the array does not have",
            Fault::Values => {
                "has an expression that takes more than 50000 operations, or that goes through more than 4096 values"
            }
            Fault::Range(_) => "assigns a private variable a value outside its range",
            Fault::Endless => "is followed by local lines that repeat without end",
            Fault::Zero => "divides by 0",
            Fault::Modulus => "adds modulo a number that is not from 1 to 65536",
            Fault::Power => {
                "uses `log2` of a number below 1, or `power2` of a number that is not from 0 to 30"
            }
        }
    }
}

/// The values that an expression refers to.
pub struct Scope<'a> {
    /// The algorithm.
    pub program: &'a Program,
    /// The process for which the expression is evaluated: `me`.
    pub me: Pid,
    /// The private variables of this process.
    pub private: &'a [i32],
    /// The value found in shared memory.
    pub found: Word,
    /// The state, for invariants.
    pub state: Option<&'a View<'a, At>>,
    /// The values of bound variables, such as x in `exists x in s`.
    pub bound: Vec<Value>,
    /// The number of operations so far.
    pub work: u32,
}

impl<'a> Scope<'a> {
    /// Creates a scope without processes and state.
    pub fn constant(program: &'a Program) -> Self {
        Scope { program, me: 0, private: &[], found: 0, state: None, bound: Vec::new(), work: 0 }
    }

    /// Evaluates a condition.
    pub fn holds(&mut self, ex: &Ex) -> Result<bool, Fault> {
        Ok(self.value(ex)? != 0)
    }

    /// Evaluates a part of an expression. Most parts are numbers and bound variables, which need no call.
    #[inline]
    fn part(&mut self, ex: &Ex) -> Result<Value, Fault> {
        match ex {
            Ex::Number(number) => Ok(*number),
            Ex::Bound(index) => Ok(self.bound[*index]),
            _ => self.value(ex),
        }
    }

    /// Evaluates an expression.
    ///
    /// # Errors
    /// Returns the fault if the expression has no value.
    pub fn value(&mut self, ex: &Ex) -> Result<Value, Fault> {
        self.work += 1;
        if self.work > MOST_WORK {
            return Err(Fault::Values);
        }
        Ok(match ex {
            Ex::Number(number) => *number,
            Ex::N => self.program.n as Value,
            Ex::K => self.program.k as Value,
            Ex::Me => self.me as Value,
            Ex::Constant(index) => self.program.constants[*index],
            Ex::Private(index) => self.private[*index].into(),
            Ex::Found => self.found,
            Ex::Bound(index) => self.bound[*index],
            Ex::Everyone => (1 << self.program.n) - 1,
            Ex::Set(elements) => {
                let mut set = 0;
                for element in elements {
                    set |= bit(self.value(element)?)?;
                }
                set
            }
            Ex::Shared(variable, indices) => {
                let index = self.element(*variable, indices)?;
                let state = self.state.ok_or(Fault::Values)?;
                state.value(self.program.arrays[*variable].vars[index])
            }
            Ex::Of(process, index) => private(self.process(process)?, *index).into(),
            Ex::At(process, places) => {
                let loc = self.process(process)?;
                places.iter().any(|place| self.program.is_at(loc, place)).into()
            }
            Ex::ByPlace(process, cases) => {
                let place = self.program.place(self.location(self.bound[*process])?);
                match cases.get(place).or(cases.last()) {
                    Some(case) => self.part(case)?,
                    None => 0,
                }
            }
            Ex::ByValue(variable, first, cases) => {
                let index = usize::try_from(self.bound[*variable] - first).ok();
                // There is a case for each value of the quantifier.
                let case = index.and_then(|index| cases.get(index)).ok_or(Fault::Values)?;
                self.part(case)?
            }
            Ex::ByPrivate(condition) => {
                let loc = self.location(self.bound[condition.process])?;
                match condition.decided(private(loc, condition.variable)) {
                    Some(holds) => holds.into(),
                    None => self.value(&condition.otherwise)?,
                }
            }
            Ex::Not(ex) => (self.value(ex)? == 0).into(),
            Ex::Binary(op, a, b) => self.binary(*op, a, b)?,
            Ex::If(parts) => {
                let chosen = if self.holds(&parts[0])? { &parts[1] } else { &parts[2] };
                self.value(chosen)?
            }
            Ex::Each(kind, over, body) => self.each(*kind, over, body)?,
            Ex::Call(function, arguments) => {
                let values: Vec<Value> =
                    arguments.iter().map(|ex| self.value(ex)).collect::<Result<_, _>>()?;
                let outer = std::mem::replace(&mut self.bound, values);
                let result = self.value(&self.program.code.functions[*function].1);
                self.bound = outer;
                result?
            }
            Ex::Builtin(builtin, arguments) => self.builtin(*builtin, arguments)?,
        })
    }

    fn binary(&mut self, op: Binary, a: &Ex, b: &Ex) -> Result<Value, Fault> {
        let a = self.part(a)?;
        match (op, a) {
            (Binary::Or, 1) => return Ok(1),
            (Binary::And, 0) => return Ok(0),
            _ => {}
        }
        let b = self.part(b)?;
        let number = |value: Option<Value>| {
            value.filter(|value| i32::try_from(*value).is_ok()).ok_or(Fault::Large)
        };
        Ok(match op {
            Binary::Or | Binary::And => b,
            Binary::Equal => (a == b).into(),
            Binary::Unequal => (a != b).into(),
            Binary::Less => (a < b).into(),
            Binary::LessOrEqual => (a <= b).into(),
            Binary::In => bit(a).is_ok_and(|bit| b & bit != 0).into(),
            Binary::Plus => number(a.checked_add(b))?,
            Binary::Minus => number(a.checked_sub(b))?,
            Binary::Times => number(a.checked_mul(b))?,
            Binary::Div | Binary::Mod if b == 0 => return Err(Fault::Zero),
            Binary::Div => number(a.checked_div_euclid(b))?,
            Binary::Mod => number(a.checked_rem_euclid(b))?,
            Binary::Union => a | b,
            Binary::Without => a & !b,
        })
    }

    fn builtin(&mut self, builtin: Builtin, arguments: &[Ex]) -> Result<Value, Fault> {
        let first = self.value(&arguments[0])?;
        let second = match arguments.get(1) {
            Some(ex) => self.value(ex)?,
            None => 0,
        };
        let lowest = |set: Value| if set == 0 { -1 } else { set.trailing_zeros().into() };
        Ok(match builtin {
            Builtin::Min => first.min(second),
            Builtin::Max => first.max(second),
            Builtin::Size => first.count_ones().into(),
            Builtin::Lowest => lowest(first),
            Builtin::NextAfter if second < 0 => lowest(first),
            Builtin::NextAfter if second >= MOST_ELEMENTS => -1,
            Builtin::NextAfter => lowest(first & !((2 << second) - 1)),
            Builtin::Log2 if (1..=1 << 30).contains(&first) => {
                (first as u64).next_power_of_two().trailing_zeros().into()
            }
            Builtin::Power2 if (0..=30).contains(&first) => 1 << first,
            Builtin::Log2 | Builtin::Power2 => return Err(Fault::Power),
            Builtin::Length => queue::unpack(first).len() as Value,
            Builtin::Position => {
                let found = queue::unpack(first).iter().position(|&p| p as Value == second);
                found.map_or(-1, |before| before as Value)
            }
        })
    }

    fn each(&mut self, kind: Each, over: &Over, body: &Ex) -> Result<Value, Fault> {
        let mut result = Value::from(kind == Each::All);
        let mut visit = |scope: &mut Self, value: Value| -> Result<bool, Fault> {
            let holds = match scope.decided_by_place(body, value) {
                Some(holds) => holds,
                None => {
                    scope.bound.push(value);
                    let holds = scope.holds(body);
                    scope.bound.pop();
                    holds?
                }
            };
            match (kind, holds) {
                (Each::Set, true) => result |= bit(value)?,
                (Each::Exists, true) => result = 1,
                (Each::All, false) => result = 0,
                _ => return Ok(false),
            }
            Ok(kind != Each::Set)
        };
        match over {
            Over::Between(lo, hi) => {
                let (lo, hi) = (self.value(lo)?, self.value(hi)?);
                if hi.saturating_sub(lo) >= MOST_VALUES {
                    return Err(Fault::Values);
                }
                for value in lo..=hi {
                    if visit(self, value)? {
                        break;
                    }
                }
            }
            Over::Set(set) => {
                let mut rest = self.value(set)?;
                while rest != 0 {
                    let value = rest.trailing_zeros().into();
                    rest &= rest - 1;
                    if visit(self, value)? {
                        break;
                    }
                }
            }
        }
        Ok(result)
    }

    /// Returns whether the body of a quantifier holds for a process, if this depends only on the place of the
    /// process, or on the place and one private variable. Many bodies are like this, and this function is several
    /// times as fast as evaluating the body. Returns `None` for other bodies.
    #[inline]
    fn decided_by_place(&self, body: &Ex, process: Value) -> Option<bool> {
        let Ex::ByPlace(variable, cases) = body else { return None };
        // The body may also ask for the place of a process that an outer quantifier goes through.
        let process = if *variable == self.bound.len() { process } else { self.bound[*variable] };
        let loc = self.location(process).ok()?;
        match cases.get(self.program.place(loc)).or(cases.last()) {
            Some(Ex::Number(value)) => Some(*value != 0),
            Some(Ex::ByPrivate(condition)) if condition.process == *variable => {
                condition.decided(private(loc, condition.variable))
            }
            _ => None,
        }
    }

    /// Returns the position of an element in its array.
    pub fn element(&mut self, variable: usize, indices: &[Ex]) -> Result<usize, Fault> {
        let program = self.program;
        let mut position = 0;
        let dimensions = program.arrays[variable].dimensions.iter();
        for (place, (ex, &(lo, len))) in indices.iter().zip(dimensions).enumerate() {
            let index = self.part(ex)?;
            if index < lo || index - lo >= len as Value {
                return Err(no_element(place, index));
            }
            position = position * len + (index - lo) as usize;
        }
        Ok(position)
    }

    fn process(&mut self, ex: &Ex) -> Result<&'a Loc<At>, Fault> {
        let p = self.part(ex)?;
        self.location(p)
    }

    /// Returns where a process is.
    fn location(&self, p: Value) -> Result<&'a Loc<At>, Fault> {
        let state = self.state.ok_or(Fault::Values)?;
        let found = usize::try_from(p).ok().and_then(|p| state.processes.get(p));
        found.ok_or(no_element(0, p))
    }
}

/// Returns a private variable of a process.
#[inline]
fn private(loc: &Loc<At>, index: usize) -> i32 {
    match loc {
        Loc::Entry(at) | Loc::Exit(at) | Loc::Critical(at) => at.private[index],
        Loc::Remainder => 0,
    }
}

fn no_element(place: usize, index: Value) -> Fault {
    // The index fits: a number beyond i32 is the fault `Large`, which was reported before.
    Fault::Index { place: place.min(127) as u8, value: index as i32 }
}

fn bit(element: Value) -> Result<Value, Fault> {
    if (0..MOST_ELEMENTS).contains(&element) { Ok(1 << element) } else { Err(Fault::Element) }
}
