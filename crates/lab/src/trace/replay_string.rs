//! Replay strings: a schedule in one line.
//!
//! ```text
//! hp1.am-fig3.2.1.sc.0.starve-1-0.001111.1.70042194
//! |   |       | | |  | |          |      | '- CRC-32 of everything before this dot
//! |   |       | | |  | |          |      '--- cycle, - if there is none
//! |   |       | | |  | |          '---------- stem: one digit per step, the process that takes it
//! |   |       | | |  | '--------------------- finding
//! |   |       | | |  '----------------------- initial values of the open variables
//! |   |       | | '-------------------------- sc or tso
//! |   |       '-'---------------------------- n and k
//! |   '-------------------------------------- algorithm
//! '------------------------------------------ version 1
//! ```
//!
//! Processes are base-36 digits. `_` and a digit stand for a step of that process's store buffer (`tso`), or for the
//! mishap of that process, for example that it is killed (`sc`). The value of an open variable is written as its index
//! in the variable's domain, in base 36, with as many digits as the largest index has. For an algorithm in a file, the
//! second part is the path of the file, `@`, and a hash of everything in the file that affects a run. All characters
//! are letters, digits and `. - _ : + % @ /`, so the string needs no quotes in a shell.

use hallpass_algorithms::{Decl, Init, Pid, Word};

use super::{Error, check, finding_code};
use crate::{
    catalogue,
    counted::counted,
    machine::{self, Machine},
    schedule::{MemoryModel, Schedule},
    space::Agent,
};

const PREFIX: &str = "hp";
const VERSION: &str = "1";
/// The number of parts after the algorithm's identifier. The identifier may contain dots.
const PARTS_AFTER: usize = 8;
const NOTHING: &str = "-";

/// Encodes a schedule as a replay string.
///
/// # Errors
/// Fails if the schedule refers to something that does not exist.
pub fn encode(schedule: &Schedule) -> Result<String, Error> {
    encode_on(&*check::machine(schedule)?, schedule)
}

/// Encodes a schedule of `machine`, which need not be in the registry.
///
/// # Errors
/// Fails if the schedule refers to something that does not exist.
pub fn encode_on(machine: &dyn Machine, schedule: &Schedule) -> Result<String, Error> {
    check::refers_to(schedule, machine)?;
    let Schedule { algorithm, n, k, memory, stem, cycle, finding, .. } = schedule;
    let memory = match memory {
        MemoryModel::Sequential => "sc",
        MemoryModel::StoreBuffers => "tso",
    };
    let body = format!(
        "{PREFIX}{VERSION}.{}.{n}.{k}.{memory}.{}.{}.{}.{}",
        catalogue::printed(algorithm),
        encode_initial(machine.layout().decls(), &schedule.initial),
        finding_code::encode(finding),
        encode_agents(*n, stem),
        encode_agents(*n, cycle),
    );
    let crc = crc32fast::hash(body.as_bytes());
    Ok(format!("{body}.{crc:08x}"))
}

/// Decodes a replay string. White space around it is ignored.
///
/// # Errors
/// Fails if the string is not a replay string, if it is damaged, or if it refers to something that does
/// not exist.
pub fn decode(text: &str) -> Result<Schedule, Error> {
    let parts = parts(text)?;
    let machine = machine::build(&parts.algorithm, parts.n, parts.k)?;
    parts.read(&*machine)
}

/// Decodes a replay string of `machine`, which has this name and need not be in the registry.
///
/// # Errors
/// Fails if the string is not a replay string, is damaged, or is not about this step machine.
pub fn decode_on(machine: &dyn Machine, name: &str, text: &str) -> Result<Schedule, Error> {
    let parts = parts(text)?;
    let (n, k) = (machine.n(), machine.k());
    if (parts.algorithm.as_str(), parts.n, parts.k) != (name, n, k) {
        return Err(Error::Part(format!(
            "the replay string is about {} with n = {}, k = {}, not about {name} with n = {n}, k = {k}",
            parts.algorithm, parts.n, parts.k
        )));
    }
    parts.read(machine)
}

/// The parts of a replay string. Parts that can be read only with the variables of the algorithm are still
/// text.
struct Parts<'a> {
    algorithm: String,
    n: usize,
    k: usize,
    memory: MemoryModel,
    initial: &'a str,
    finding: &'a str,
    stem: &'a str,
    cycle: &'a str,
}

impl Parts<'_> {
    fn read(self, machine: &dyn Machine) -> Result<Schedule, Error> {
        let schedule = Schedule {
            n: self.n,
            k: self.k,
            memory: self.memory,
            initial: decode_initial(machine.layout().decls(), self.initial)?,
            stem: decode_agents(self.n, self.stem)?,
            cycle: decode_agents(self.n, self.cycle)?,
            finding: finding_code::decode(self.finding)?,
            algorithm: self.algorithm,
        };
        check::refers_to(&schedule, machine)?;
        Ok(schedule)
    }
}

fn parts(text: &str) -> Result<Parts<'_>, Error> {
    let text = text.trim();
    let (head, _) = text.split_once('.').unwrap_or((text, ""));
    let version = head.strip_prefix(PREFIX).ok_or(Error::NotAReplay)?;
    if version.is_empty() || !version.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Error::NotAReplay);
    }
    if version != VERSION {
        return Err(Error::Version(version.to_string()));
    }
    let (body, crc) = text.rsplit_once('.').ok_or(Error::Damaged)?;
    if crc.len() != 8 || u32::from_str_radix(crc, 16) != Ok(crc32fast::hash(body.as_bytes())) {
        return Err(Error::Damaged);
    }
    let parts: Vec<&str> = body.split('.').collect();
    let Some(after) = parts.len().checked_sub(PARTS_AFTER - 1).filter(|&after| after >= 2) else {
        return Err(Error::Damaged);
    };
    let algorithm = catalogue::resolve(&parts[1..after].join(".")).map_err(Error::Part)?;
    let &[n, k, memory, initial, finding, stem, cycle] = &parts[after..] else {
        return Err(Error::Damaged);
    };
    let (n, k) = (size("n", n)?, size("k", k)?);
    let memory = match memory {
        "sc" => MemoryModel::Sequential,
        "tso" => MemoryModel::StoreBuffers,
        other => {
            return Err(Error::Part(format!("unknown memory model `{other}`: use sc or tso")));
        }
    };
    Ok(Parts { algorithm, n, k, memory, initial, finding, stem, cycle })
}

fn size(what: &str, text: &str) -> Result<usize, Error> {
    text.parse().map_err(|_| Error::Part(format!("{what} must be a number, got `{text}`")))
}

/// Returns the digit of a process.
pub(super) fn digit(p: Pid) -> char {
    u32::try_from(p).ok().and_then(|p| char::from_digit(p, 36)).unwrap_or('?')
}

/// Returns the process that a character of a schedule names: a digit or a lower-case letter.
pub(super) fn process(digit: char) -> Result<Pid, Error> {
    match digit.to_digit(36) {
        Some(p) if !digit.is_ascii_uppercase() => Ok(p as Pid),
        _ => Err(Error::Part(format!(
            "`{digit}` is not a process: processes are the digits 0 to 9, then a to v"
        ))),
    }
}

fn encode_agents(n: usize, agents: &[Agent]) -> String {
    if agents.is_empty() {
        return NOTHING.to_string();
    }
    let mut out = String::new();
    for &agent in agents {
        match agent.checked_sub(n) {
            None => out.push(digit(agent)),
            Some(p) => out.extend(['_', digit(p)]),
        }
    }
    out
}

fn decode_agents(n: usize, text: &str) -> Result<Vec<Agent>, Error> {
    if text == NOTHING {
        return Ok(Vec::new());
    }
    let mut agents = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        let (buffer, char) = match char {
            '_' => (true, chars.next().unwrap_or('_')),
            char => (false, char),
        };
        let p = process(char)?;
        if p >= n {
            let last = n.saturating_sub(1);
            return Err(Error::Part(format!(
                "there is no process {p}: the processes are 0 to {last}"
            )));
        }
        agents.push(if buffer { n + p } else { p });
    }
    Ok(agents)
}

/// Returns the number of base-36 digits that the numbers below `count` take.
fn width(count: usize) -> usize {
    let mut width = 1;
    let mut reach = 36usize;
    while reach < count {
        reach = reach.saturating_mul(36);
        width += 1;
    }
    width
}

fn encode_initial(decls: &[Decl], initial: &[Word]) -> String {
    let mut out = String::new();
    for (decl, value) in decls.iter().zip(initial).filter(|(decl, _)| decl.init == Init::Open) {
        let mut number =
            decl.domain.listed().iter().position(|word| word == value).unwrap_or_default();
        let mut digits = vec!['0'; width(decl.domain.listed().len())];
        for place in digits.iter_mut().rev() {
            *place = digit(number % 36);
            number /= 36;
        }
        out.extend(digits);
    }
    if out.is_empty() { NOTHING.to_string() } else { out }
}

fn decode_initial(decls: &[Decl], text: &str) -> Result<Vec<Word>, Error> {
    let digits: Vec<char> = if text == NOTHING { Vec::new() } else { text.chars().collect() };
    let widths = decls.iter().map(|decl| match decl.init {
        Init::Is(_) => 0,
        Init::Open => width(decl.domain.listed().len()),
    });
    let needed: usize = widths.clone().sum();
    if digits.len() != needed {
        return Err(Error::Part(format!(
            "the initial values take {} here, but the replay string has {}",
            counted(needed, "digit"),
            digits.len()
        )));
    }
    let mut rest = &digits[..];
    let mut initial = Vec::with_capacity(decls.len());
    for (decl, width) in decls.iter().zip(widths) {
        let (own, others) = rest.split_at(width);
        rest = others;
        initial.push(match decl.init {
            Init::Is(word) => word,
            Init::Open => {
                let number = own.iter().try_fold(0usize, |number, digit| {
                    Some(number.checked_mul(36)? + digit.to_digit(36)? as usize)
                });
                *number.and_then(|number| decl.domain.listed().get(number)).ok_or_else(|| {
                    let (own, count) = (own.iter().collect::<String>(), decl.domain.listed().len());
                    Error::Part(format!("{} has {count} values, and none is `{own}`", decl.name))
                })?
            }
        });
    }
    Ok(initial)
}
