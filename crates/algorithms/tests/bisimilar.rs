//! The reduced model of the halls of processes has the same behaviour as the full model: the initial states of the two
//! are branching bisimilar.
//!
//! The test explores both models to the end and divides all states into blocks. The states of a block have the same
//! sections, and the same steps out of the block: if a process can make a step from one state of the block to another
//! block, then from every state of the block, possibly after steps inside the block, the same process can make a step to
//! that block. Also, the same processes can go on moving inside the block forever. So a run of one model is a run of the
//! other, apart from the number of steps inside a block. This preserves every property that the lab checks, except
//! numbers of steps.

use std::{
    collections::{BTreeSet, HashMap},
    mem,
};

use hallpass_algorithms::{
    Algorithm, Loc, Memory, Next, Op, Var, Word,
    halls::processes::{Casts, ProcessesModel},
};

type State = (Vec<Loc<<ProcessesModel as Algorithm>::State>>, Vec<Word>);

struct Words<'a>(&'a mut [Word]);

impl Memory for Words<'_> {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let old = self.0[var.index()];
        self.0[var.index()] = op.leaves(old);
        old
    }
}

/// Returns the state after a step of process `p`.
fn step(model: &ProcessesModel, state: &State, p: usize) -> State {
    let (mut processes, mut memory) = state.clone();
    let before = processes[p];
    let next = match before {
        Loc::Remainder => Next::Goto(model.begin(p)),
        Loc::Critical(exit) => Next::Goto(exit),
        Loc::Entry(at) | Loc::Exit(at) => model.step(&mut Words(&mut memory), p, at),
    };
    let leaves = matches!(before, Loc::Exit(_) | Loc::Critical(_));
    processes[p] = match next {
        Next::Goto(at) | Next::Spin(at) if leaves => Loc::Exit(at),
        Next::Goto(at) | Next::Spin(at) => Loc::Entry(at),
        Next::Enter(at) => Loc::Critical(at),
        Next::Leave => Loc::Remainder,
    };
    model.advance(&mut processes, &mut memory);
    model.normalize(&mut processes, &mut memory);
    (processes, memory)
}

/// Returns a number for the section of each process.
fn sections(model: &ProcessesModel, state: &State) -> u32 {
    state.0.iter().enumerate().fold(0, |sections, (p, loc)| {
        let section = match *loc {
            Loc::Remainder => 0,
            Loc::Entry(at) if model.waits(p, at) => 1,
            Loc::Entry(_) => 2,
            Loc::Critical(_) => 3,
            Loc::Exit(_) => 4,
        };
        5 * sections + section
    })
}

/// The states of several models.
#[derive(Default)]
struct Graph {
    /// For each state: the state after the step of each process.
    successors: Vec<Vec<u32>>,
    sections: Vec<u32>,
}

impl Graph {
    /// Adds all states of `model` in which at most `contention` processes compete. Returns the initial state.
    fn add(&mut self, model: &ProcessesModel, contention: usize) -> u32 {
        let first = self.successors.len();
        let initial: State = (vec![Loc::Remainder; model.n()], model.layout().first_initial());
        let mut numbers = HashMap::from([(initial.clone(), first as u32)]);
        let mut level = vec![initial];
        while !level.is_empty() {
            let mut next_level = Vec::new();
            for state in level {
                let competing = state.0.iter().filter(|loc| **loc != Loc::Remainder).count();
                let may_move = |p: &usize| competing < contention || state.0[*p] != Loc::Remainder;
                self.sections.push(sections(model, &state));
                let successors = (0..model.n()).filter(may_move).map(|p| {
                    let next = step(model, &state, p);
                    let number = (first + numbers.len()) as u32;
                    *numbers.entry(next).or_insert_with_key(|next| {
                        next_level.push(next.clone());
                        number
                    })
                });
                let successors = successors.collect();
                self.successors.push(successors);
            }
            level = next_level;
        }
        first as u32
    }

    /// Returns the block of each state.
    fn blocks(&self) -> Vec<u32> {
        let mut blocks = self.sections.clone();
        let mut count = 0;
        loop {
            let outside = self.steps_out(&blocks);
            let mut numbers = HashMap::new();
            let keys = blocks.iter().zip(&outside);
            let next: Vec<u32> = keys
                .map(|key| {
                    let number = numbers.len() as u32;
                    *numbers.entry(key).or_insert(number)
                })
                .collect();
            if numbers.len() == count {
                return blocks;
            }
            count = numbers.len();
            blocks = next;
        }
    }

    /// Returns, for each state, the steps out of its block that can follow steps inside the block.
    fn steps_out(&self, blocks: &[u32]) -> Vec<BTreeSet<(u8, u32)>> {
        let mut outside = vec![BTreeSet::new(); blocks.len()];
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); blocks.len()];
        let mut changed: Vec<u32> = Vec::new();
        for (state, successors) in self.successors.iter().enumerate() {
            for (p, &next) in successors.iter().enumerate() {
                if blocks[next as usize] == blocks[state] {
                    before[next as usize].push(state as u32);
                } else {
                    outside[state].insert((p as u8, blocks[next as usize]));
                }
            }
            changed.push(state as u32);
        }
        while let Some(state) = changed.pop() {
            let own = mem::take(&mut outside[state as usize]);
            for &earlier in &before[state as usize] {
                if earlier == state {
                    continue;
                }
                let known = &mut outside[earlier as usize];
                let size = known.len();
                known.extend(&own);
                if known.len() > size {
                    changed.push(earlier);
                }
            }
            outside[state as usize] = own;
        }
        outside
    }
}

fn compare(n: usize, k: usize, contention: usize) -> [usize; 3] {
    let mut graph = Graph::default();
    let full = graph.add(&ProcessesModel::new(Casts::PLAIN, n, k), contention);
    let reduced = graph.add(&ProcessesModel::reduced(Casts::PLAIN, n, k), contention);
    let blocks = graph.blocks();
    assert_eq!(blocks[full as usize], blocks[reduced as usize], "n = {n}, k = {k}");
    let count = blocks.iter().collect::<BTreeSet<_>>().len();
    [reduced as usize, blocks.len() - reduced as usize, count]
}

#[test]
fn the_reduced_model_is_bisimilar_to_the_full_model() {
    let [full, reduced, blocks] = compare(2, 1, 2);
    println!("{full} {reduced} {blocks}");
}

#[test]
#[ignore = "analysis"]
fn analyse() {
    let model = ProcessesModel::reduced(Casts::PLAIN, 2, 1);
    let mut graph = Graph::default();
    let full = graph.add(&ProcessesModel::new(Casts::PLAIN, 2, 1), 2);
    let first = graph.add(&model, 2);
    let blocks = graph.blocks();
    assert_eq!(blocks[full as usize], blocks[first as usize]);
    // the states again, in the same order
    let initial: State = (vec![Loc::Remainder; model.n()], model.layout().first_initial());
    let mut states: Vec<Option<State>> = vec![None; blocks.len() - first as usize];
    states[0] = Some(initial);
    for s in 0..states.len() {
        let state = states[s].clone().unwrap();
        for p in 0..2 {
            let to = (graph.successors[first as usize + s][p] - first) as usize;
            if states[to].is_none() {
                states[to] = Some(step(&model, &state, p));
            }
        }
    }
    let states: Vec<State> = states.into_iter().map(Option::unwrap).collect();
    let block = |s: usize| blocks[first as usize + s];
    for (v, decl) in model.layout().decls().iter().enumerate() {
        let mut groups: HashMap<(State, u32), usize> = HashMap::new();
        for (s, state) in states.iter().enumerate() {
            let mut key = state.clone();
            key.1[v] = 0;
            *groups.entry((key, block(s))).or_default() += 1;
        }
        println!("without {}: {} of {}", decl.name, groups.len(), states.len());
    }
    let text = |loc: &Loc<_>| -> String {
        let s = format!("{loc:?}");
        s.replace("Size { k: 1, top: 1, epoch: 0 }", "").replace("Request ", "").replace("wants: 1", "")
    };
    for p in 0..2 {
        let mut groups: HashMap<(State, u32), Vec<usize>> = HashMap::new();
        for (s, state) in states.iter().enumerate() {
            let mut key = state.clone();
            key.0[p] = Loc::Remainder;
            groups.entry((key, block(s))).or_default().push(s);
        }
        println!("without process {p}: {} of {}", groups.len(), states.len());
        let mut pairs: HashMap<(String, String), (usize, usize)> = HashMap::new();
        for group in groups.values() {
            let short = |s: usize| text(&states[s].0[p]).split(['{']).next().unwrap().to_string();
            let mut lines: Vec<String> = group.iter().map(|&s| short(s)).collect();
            lines.sort();
            let n = lines.len();
            for a in 0..n { for b in a+1..n {
                pairs.entry((lines[a].clone(), lines[b].clone())).or_default().0 += 1;
            } }
        }
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort_by_key(|x| std::cmp::Reverse(x.1));
        for (pair, (count, _)) in pairs.iter().take(40) { println!("  {count} {pair:?}"); }
    }
    let mut lines: HashMap<String, (usize, BTreeSet<u32>)> = HashMap::new();
    for (s, state) in states.iter().enumerate() {
        let e = lines.entry(text(&state.0[1]).split('{').next().unwrap().to_string()).or_default();
        e.0 += 1;
        e.1.insert(block(s));
    }
    let mut lines: Vec<_> = lines.into_iter().collect();
    lines.sort_by_key(|x| std::cmp::Reverse(x.1.0));
    for (line, (count, set)) in lines { println!("{count} {} {line}", set.len()); }
    let mut sizes: HashMap<u32, Vec<usize>> = HashMap::new();
    for s in 0..states.len() { sizes.entry(block(s)).or_default().push(s); }
    let mut sizes: Vec<_> = sizes.into_values().collect();
    sizes.sort_by_key(|x| std::cmp::Reverse(x.len()));
    for members in sizes.iter().take(8) {
        println!("block of {}", members.len());
        for &s in members.iter().step_by(1 + members.len() / 14) {
            let memory: Vec<String> = model.layout().decls().iter().zip(&states[s].1).map(|(d, w)| format!("{}={}", d.name, d.show(*w))).collect();
            println!("   {} | {} | {}", text(&states[s].0[0]), text(&states[s].0[1]), memory.join(" "));
        }
    }
}
