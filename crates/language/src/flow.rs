//! Reachability and liveness over the instructions of a passage.

use crate::code::{Ex, Instr, Touch};

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

/// Returns for each instruction the private variables whose values may still be used, as bits. `name` is the variable
/// that holds the name of a process in its critical section. `watched` are the variables that invariants look at, for
/// each instruction.
pub fn live(instrs: &[Instr], name: Option<usize>, watched: &[u32]) -> Vec<u32> {
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
                        Touch::Read | Touch::TestAndSet | Touch::Dequeue => 0,
                        Touch::Write(a) | Touch::Swap(a) | Touch::FetchAdd(a, None) => used(a),
                        Touch::Enqueue(a) | Touch::Remove(a) => used(a),
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
            let set = set | watched[at];
            if set != live[at] {
                live[at] = set;
                changed = true;
            }
        }
    }
    keep_name(instrs, name, &mut live);
    live
}

/// Keeps the name in the state of a process in its critical section. In this state, the process is already at the
/// first line after `critical`.
fn keep_name(instrs: &[Instr], name: u32, live: &mut [u32]) {
    after_critical(instrs).into_iter().for_each(|at| live[at] |= name);
}

/// Returns the instructions after `critical`, up to and including the first line on each path. A process in its
/// critical section has already executed the local instructions among them.
pub fn after_critical(instrs: &[Instr]) -> Vec<usize> {
    let Some(enter) = instrs.iter().position(|instr| matches!(instr, Instr::Enter)) else {
        return vec![];
    };
    let (mut todo, mut seen) = (vec![enter + 1], vec![]);
    while let Some(at) = todo.pop() {
        if at < instrs.len() && !seen.contains(&at) {
            seen.push(at);
            if !matches!(instrs[at], Instr::Access(_) | Instr::Leave) {
                todo.extend(successors(instrs, at));
            }
        }
    }
    seen
}

fn all(list: &[Ex]) -> u32 {
    list.iter().fold(0, |set, ex| set | used(ex))
}

/// Returns the private variables that an expression uses, as bits.
fn used(ex: &Ex) -> u32 {
    let mut set = 0;
    ex.visit(&mut |part| {
        if let Ex::Private(index) = part {
            set |= 1 << index;
        }
    });
    set
}
