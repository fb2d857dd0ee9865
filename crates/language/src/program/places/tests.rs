//! Compares the values of prepared invariants with those of the original invariants, in the states of a random run.

use hallpass_algorithms::{Algorithm, Memory, Next, Op, Var, Word};

use super::*;
use crate::File;

/// A lock for n processes, with invariants of several kinds. Some of them are false in some states.
const SOURCE: &str = "
    algorithm test
    constant most = n - k
    shared  level[i in process] : 0..n-1 = 0
            victim[l in 1..n-1] : process open
    private l : 0..n-1
    passage
      doorway
      l := 1
      while l < n do
        1: level[me] := l
        2: victim[l] := me
        waiting
        for j in others do
          loop
            3: if level[j] < l then break end
            4: if victim[l] <> me then break end
          end
        end
        doorway
        l := if l = n - 1 then 0 else l + 1
        if l = 0 then goto 6 end
      end
      6: level[me] := n - 1
      critical
      5: level[me] := 0
    end
    invariant A: all p in process : not p at 1..2 or p.l >= 1
    invariant B: size({p in process : p at waiting or p at {critical, exit} and p.l = 0}) <= most
    invariant C: exists p in process : p at remainder or p at 3..4 and level[p] = p.l
    invariant D: all p in process : all q in process : not (p at critical and q at critical) or p = q
    invariant E: all p in process : p at remainder or victim[p.l] = p
    invariant F: all j in 1..n-1 : size({p in process : p at 1..4 and p.l > j}) < n - j
    invariant H: all j in -2..1 : all p in process : not p at 1..4 or p.l <> j or p.l = 1 and 6 div (2 - p.l) > 5
    invariant I: all p in process : not p at 3..4 or p <> 2 and (if p.l > 1 then p.l in {2} else not (p.l = 0))
    invariant G: size({p in process : p at doorway}) + most > size({p in process : p at remainder})";

struct Values(Vec<Word>);

impl Memory for Values {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let value = &mut self.0[var.index()];
        let old = *value;
        *value = op.leaves(old);
        old
    }
}

#[test]
fn a_prepared_invariant_has_the_value_of_the_original() {
    let file = File::parse("test.kx", SOURCE).unwrap_or_else(|errors| panic!("{errors}"));
    let program = file.at(3, 1).unwrap();
    let decls = program.layout().decls();
    let mut memory = Values(decls.iter().map(|decl| decl.initial()[0]).collect());
    let mut processes = vec![Loc::Remainder; 3];
    let (mut seed, mut values) = (1u64, vec![[0; 3]; program.conditions.len()]);
    for _ in 0..20_000 {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let p = (seed >> 33) as usize % 3;
        processes[p] = match processes[p] {
            Loc::Remainder => Loc::Entry(program.begin(p)),
            Loc::Critical(at) => Loc::Exit(at),
            loc @ (Loc::Entry(at) | Loc::Exit(at)) => match program.step(&mut memory, p, at) {
                Next::Goto(at) | Next::Spin(at) if matches!(loc, Loc::Exit(_)) => Loc::Exit(at),
                Next::Goto(at) | Next::Spin(at) => Loc::Entry(at),
                Next::Enter(at) => Loc::Critical(at),
                Next::Leave => Loc::Remainder,
            },
        };
        let state = View { processes: &processes, memory: &memory.0 };
        let value = |ex: &Ex| Scope { state: Some(&state), ..Scope::constant(&program) }.holds(ex);
        for (index, prepared) in program.conditions.iter().enumerate() {
            let (name, original) = &file.code.invariants[index];
            assert_eq!(value(prepared), value(original), "{name} in {processes:?}");
            values[index][value(original).map_or(2, usize::from)] += 1;
        }
    }
    // In the run, A and D are always true, B is true in some states and false in others, and E is false in some states
    // and has an index that does not exist in others.
    let seen: Vec<[bool; 3]> = values.iter().map(|counts| counts.map(|count| count > 0)).collect();
    assert_eq!(seen[0], [false, true, false]);
    assert_eq!(seen[1], [true, true, false]);
    assert_eq!(seen[3], [false, true, false]);
    assert!(seen[4][0] && seen[4][2], "{values:?}");
}
