//! Reachability and liveness over the instructions of a passage.

use crate::code::{Ex, Instr, Over, Touch};

fn successors(instrs: &[Instr], at: usize) -> Vec<usize> {
    match &instrs[at] {
        Instr::Access(_) | Instr::Assign(..) | Instr::Enter => vec![at + 1],
        Instr::Unless(_, to) => vec![at + 1, *to],
        Instr::Jump(to) => vec![*to],
        Instr::Leave => vec![],
    }
}

/// Returns for each instruction whether some path leads to it.
pub fn reachable(instrs: &[Instr]) -> Vec<bool> {
    let mut reached = vec![false; instrs.len()];
    let mut todo = vec![0];
    while let Some(at) = todo.pop() {
        if at < instrs.len() && !std::mem::replace(&mut reached[at], true) {
            todo.extend(successors(instrs, at));
        }
    }
    reached
}

/// Returns for each instruction the private variables whose values may still be used, as bits. `name` is used in
/// the critical section.
pub fn live(instrs: &[Instr], name: Option<usize>) -> Vec<u32> {
    let mut live = vec![0u32; instrs.len()];
    let name = name.map_or(0, |index| 1 << index);
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..instrs.len()).rev() {
            let after = successors(instrs, at).iter().fold(0, |set, &next| set | live[next]);
            let set = match &instrs[at] {
                Instr::Access(access) => {
                    let operands = match &access.touch {
                        Touch::Read | Touch::TestAndSet => 0,
                        Touch::Write(a) | Touch::Swap(a) | Touch::FetchAdd(a, None) => used(a),
                        Touch::FetchAdd(a, Some(b)) | Touch::CompareAndSwap(a, b) => {
                            used(a) | used(b)
                        }
                    };
                    after | operands | all(&access.indices)
                }
                Instr::Assign(index, value) => after & !(1 << index) | used(value),
                Instr::Unless(condition, _) => after | used(condition),
                Instr::Enter => after | name,
                Instr::Jump(_) | Instr::Leave => after,
            };
            if set != live[at] {
                live[at] = set;
                changed = true;
            }
        }
    }
    keep_name(instrs, name, &mut live);
    live
}

/// Keeps the name in the state in which a process stands in its critical section: the first line after it.
fn keep_name(instrs: &[Instr], name: u32, live: &mut [u32]) {
    let Some(enter) = instrs.iter().position(|instr| matches!(instr, Instr::Enter)) else { return };
    let (mut todo, mut seen) = (vec![enter + 1], vec![false; instrs.len()]);
    while let Some(at) = todo.pop() {
        if at < instrs.len() && !std::mem::replace(&mut seen[at], true) {
            live[at] |= name;
            if !matches!(instrs[at], Instr::Access(_) | Instr::Leave) {
                todo.extend(successors(instrs, at));
            }
        }
    }
}

fn all(list: &[Ex]) -> u32 {
    list.iter().fold(0, |set, ex| set | used(ex))
}

/// Returns the private variables that an expression uses, as bits.
fn used(ex: &Ex) -> u32 {
    match ex {
        Ex::Private(index) => 1 << index,
        Ex::Set(list) | Ex::Shared(_, list) | Ex::Call(_, list) | Ex::Builtin(_, list) => all(list),
        Ex::Of(ex, _) | Ex::At(ex, _) | Ex::Not(ex) => used(ex),
        Ex::Binary(_, a, b) => used(a) | used(b),
        Ex::If(parts) => all(&parts[..]),
        Ex::Each(_, over, body) => {
            used(body)
                | match &**over {
                    Over::Between(lo, hi) => used(lo) | used(hi),
                    Over::Set(set) => used(set),
                }
        }
        Ex::Number(_)
        | Ex::N
        | Ex::K
        | Ex::Me
        | Ex::Constant(_)
        | Ex::Found
        | Ex::Bound(_)
        | Ex::Everyone => 0,
    }
}
