//! Compares the lab's checker with SPIN, on Anderson and Moir's Figure 3, nested level by level as in their Theorem 1.
//!
//! There are two comparisons, one of safety (exclusion) and one of starvation freedom. For safety, both programs
//! explore the same model with the same steps, in turns. The run fails if they do not find the same number of states.
//! Starvation freedom is first measured with SPIN, and then with the lab. Times are wall-clock times of whole searches.
//! For each program, the fastest of several rounds counts. SPIN's verifier is compiled with -O3 and makes an exact
//! search. It does not use partial-order reduction, which would leave out states. If only safety is checked, the
//! verifier contains only the code for safety.
#![forbid(unsafe_code)]

use std::{
    error::Error,
    path::Path,
    process::Command,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use clap::Parser;
use hallpass_lab::{
    check::{Property, Question, Report, Resources, Verdict, check},
    space::Initial,
};

const SAFETY: &str = include_str!("../models/fig3_safety.pml");
const STARVATION: &str = include_str!("../models/fig3_starvation.pml");

/// Compares the checker with SPIN (Debian: apt-get install spin gcc)
#[derive(Parser)]
struct Args {
    /// Number of runs of each program; the fastest counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Also explore Figure 3 with n = 5, k = 2 (over 10^8 states, about 0.7 GiB), without SPIN
    #[arg(long)]
    large: bool,
}

/// A compiled SPIN model.
struct Pan {
    folder: tempfile::TempDir,
    arguments: Vec<String>,
}

/// The result of a run of SPIN: the measured time, and the figures that SPIN printed.
struct Run {
    states: u64,
    time: Duration,
    megabytes: f64,
    errors: u64,
}

fn run(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command
        .output()
        .map_err(|error| format!("cannot run {:?}: {error}", command.get_program()))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{:?} failed: {stderr}", command.get_program()).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

impl Pan {
    fn new(
        model: &str,
        defines: &[String],
        cc: &[&str],
        arguments: &[&str],
    ) -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("model.pml"), model)?;
        let here = |command: &mut Command| {
            command.current_dir(folder.path());
        };
        let mut spin = Command::new("spin");
        spin.arg("-a").args(defines).arg("model.pml");
        here(&mut spin);
        run(&mut spin)?;
        let mut gcc = Command::new("gcc");
        gcc.args(["-O3", "-DMEMLIM=20000"]).args(cc).args(["-o", "pan", "pan.c"]);
        here(&mut gcc);
        run(&mut gcc)?;
        Ok(Pan {
            folder,
            arguments: arguments.iter().map(|argument| argument.to_string()).collect(),
        })
    }

    fn run(&self) -> Result<Run, Box<dyn Error>> {
        let begun = Instant::now();
        let mut pan = Command::new(Path::new(self.folder.path()).join("pan"));
        pan.current_dir(self.folder.path()).args(&self.arguments);
        let text = run(&mut pan)?;
        let time = begun.elapsed();
        if text.contains("max search depth too small") || text.contains("out of memory") {
            return Err(format!("SPIN's search was cut short:\n{text}").into());
        }
        let number = |line: &str, word: usize| -> Option<f64> {
            text.lines().find(|l| l.contains(line))?.split_whitespace().nth(word)?.parse().ok()
        };
        let errors = text.split("errors: ").nth(1).and_then(|rest| rest.split_whitespace().next());
        Ok(Run {
            states: number("states, stored", 0).ok_or("SPIN printed no number of states")? as u64,
            time,
            megabytes: number("total actual memory usage", 0).unwrap_or(f64::NAN),
            errors: errors
                .and_then(|errors| errors.parse().ok())
                .ok_or("SPIN printed no number of errors")?,
        })
    }
}

fn ours(n: usize, k: usize, threads: usize, property: Property) -> Result<Report, Box<dyn Error>> {
    let mut question = Question::everything("am-fig3", n, k).only(vec![property]);
    question.initial = Initial::Smallest; // SPIN's model fixes the values that the paper leaves open
    question.crashes = 1;
    let stop = AtomicBool::new(false);
    let resources = Resources {
        states: u64::from(u32::MAX) - 1,
        bytes: 20 << 30,
        threads,
        stop: &stop,
        phase: &|_| (),
        progress: &|_| (),
    };
    Ok(check(&question, &resources)?)
}

fn fastest<T>(
    rounds: usize,
    time: impl Fn(&T) -> f64,
    mut run: impl FnMut() -> Result<T, Box<dyn Error>>,
) -> Result<T, Box<dyn Error>> {
    let mut best = run()?;
    for _ in 1..rounds {
        let next = run()?;
        if time(&next) < time(&best) {
            best = next;
        }
    }
    Ok(best)
}

fn size(n: usize, k: usize) -> [String; 2] {
    [format!("-DN={n}"), format!("-DK={k}")]
}

/// Compares the search for a violation of exclusion. `table` is SPIN's option for the binary logarithm of the size of
/// its hash table. SPIN was fastest with one more than the logarithm of the number of states.
fn safety(n: usize, k: usize, table: &str, rounds: usize) -> Result<(), Box<dyn Error>> {
    // SPIN was fastest with these options. Adding other options made no measurable difference.
    let cc = ["-DSAFETY", "-DNOREDUCE", "-DNOFAIR", "-DNOCLAIM", "-DNOVSZ", "-DSPACE"];
    let pan = Pan::new(SAFETY, &size(n, k), &cc, &["-m3000000", table])?;
    let (mut spin, mut one, mut two) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        spin.push(pan.run()?);
        one.push(ours(n, k, 1, Property::Exclusion)?);
        two.push(ours(n, k, 2, Property::Exclusion)?);
    }
    let spin = fastest_of(spin, |run| run.time.as_secs_f64());
    let (one, two) =
        (fastest_of(one, |r| r.explore_seconds), fastest_of(two, |r| r.explore_seconds));
    if [one.states, two.states] != [spin.states; 2] {
        return Err(format!(
            "n = {n}, k = {k}: SPIN finds {} states, we find {} and {}",
            spin.states, one.states, two.states
        )
        .into());
    }
    if spin.errors != 0 || one.verdict() != Verdict::Holds {
        return Err(format!("n = {n}, k = {k}: exclusion should hold").into());
    }
    let rate = |states: u64, seconds: f64| states as f64 / seconds / 1e6;
    let spin_rate = rate(spin.states, spin.time.as_secs_f64());
    println!("safety, n = {n}, k = {k}: {} states in both", spin.states);
    println!(
        "  SPIN       {spin_rate:6.2} M states/s {:7.1} bytes a state",
        spin.megabytes * 1048576.0 / spin.states as f64
    );
    for (name, report) in [("1 thread", &one), ("2 threads", &two)] {
        let ours = rate(report.states, report.explore_seconds);
        println!(
            "  {name:<10} {ours:6.2} M states/s {:7.1} bytes a state   {:.1} times SPIN",
            report.bytes_per_state,
            ours / spin_rate
        );
    }
    Ok(())
}

fn fastest_of<T>(runs: Vec<T>, time: impl Fn(&T) -> f64) -> T {
    let fastest = runs.into_iter().min_by(|a, b| time(a).total_cmp(&time(b)));
    fastest.expect("at least one round")
}

fn starvation(n: usize, k: usize, rounds: usize) -> Result<(), Box<dyn Error>> {
    let defines = [size(n, k).to_vec(), vec!["-DF=1".into()]].concat();
    let pan = Pan::new(STARVATION, &defines, &["-DNOREDUCE"], &["-a", "-f", "-m1000000", "-w22"])?;
    let spin = fastest(rounds, |run: &Run| run.time.as_secs_f64(), || pan.run())?;
    let report = fastest(rounds, |r: &Report| r.seconds, || ours(n, k, 1, Property::Starvation))?;
    if spin.errors != 0 || report.verdict() != Verdict::Holds {
        return Err(format!("n = {n}, k = {k}: nobody should starve with one crash").into());
    }
    let seconds = spin.time.as_secs_f64();
    println!("starvation freedom with one crash, n = {n}, k = {k}: holds in both");
    println!("  SPIN -a -f {seconds:8.2} s   process 0 only, weak fairness, crashes modelled");
    println!(
        "  1 thread   {:8.2} s   every process, resilience {}   {:.1} times as fast",
        report.seconds,
        report.outcome(Property::Starvation).resilience.unwrap_or_default(),
        seconds / report.seconds
    );
    Ok(())
}

fn large() -> Result<(), Box<dyn Error>> {
    let report = ours(5, 2, 2, Property::Exclusion)?;
    println!(
        "n = 5, k = 2: {} states, complete: {}, {:.1} s, {:.2} M states/s, {:.1} bytes a state",
        report.states,
        report.is_complete(),
        report.explore_seconds,
        report.states as f64 / report.explore_seconds / 1e6,
        report.bytes_per_state
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let Args { rounds, large: with_large } = Args::parse();
    let rounds = rounds.max(1);
    safety(4, 2, "-w20", rounds)?;
    safety(5, 3, "-w24", rounds)?;
    starvation(4, 2, rounds)?;
    if with_large {
        large()?;
    }
    Ok(())
}
