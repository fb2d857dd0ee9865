//! The output of the demo: a live picture on a terminal, plain lines in a pipe, and a summary.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write},
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use console::Style;
use crossterm::{
    cursor, queue,
    style::Print,
    terminal::{self, Clear, ClearType},
};

use super::{
    witness::{Event, Verdict, Witness},
    workers::Workers,
};
use crate::{output::can_paint, table::colours_wanted};

/// The live picture shows this many of the latest events.
const EVENTS: usize = 5;
/// The live picture shows this many of the latest kills. The summary lists up to this many times after a kill. If there
/// are more, it gives their range.
const KILLS: usize = 3;

pub struct Picture {
    start: Instant,
    slots: usize,
    live: bool,
    /// Number of lines of the last drawing, which the next one replaces.
    drawn: u16,
    events: Vec<String>,
    /// A line for each kill.
    kills: Vec<String>,
    is_coloured: bool,
}

impl Picture {
    /// Prints the introduction. If there is time for a kill, `kill_every` is the interval between two kills.
    pub fn new(
        start: Instant,
        slots: usize,
        workers: usize,
        kill_every: Option<Duration>,
    ) -> io::Result<Self> {
        let live = io::stdout().is_terminal() && can_paint();
        writeln!(
            io::stdout(),
            "{workers} processes compete for a hall with {slots} slots; each stays for about half a second."
        )?;
        if let Some(interval) = kill_every {
            let seconds = interval.as_secs_f64();
            writeln!(io::stdout(), "Every {seconds} s a holder is killed with SIGKILL.")?;
        }
        writeln!(io::stdout())?;
        let (events, kills) = (Vec::new(), Vec::new());
        let is_coloured = colours_wanted();
        Ok(Picture { start, slots, live, drawn: 0, events, kills, is_coloured })
    }

    /// Adds an event: to the live picture, or as a line.
    pub fn show(&mut self, event: &Event) -> io::Result<()> {
        let mut line = format!("{:6.3} s  ", self.start.elapsed().as_secs_f64());
        let _ = match event {
            Event::Entered { worker, slot, after_kill: None } => {
                write!(line, "slot {slot}: process {worker} enters")
            }
            Event::Entered { worker, slot, after_kill: Some(time) } => {
                write!(
                    line,
                    "slot {slot}: process {worker} enters, {} after the kill",
                    millis(*time)
                )
            }
            Event::Left { worker, slot } => write!(line, "slot {slot}: process {worker} leaves"),
            Event::Killed { worker, slot } => {
                write!(line, "slot {slot}: process {worker} is killed with SIGKILL")
            }
            Event::Conflict { what } => write!(line, "CONFLICT: {what}"),
        };
        if !self.live {
            writeln!(io::stdout(), "{line}")?;
            return Ok(());
        }
        match event {
            Event::Killed { worker, slot } => {
                self.kills.push(format!("killed  process {worker} in slot {slot}"));
            }
            Event::Entered { worker, after_kill: Some(time), .. } => {
                if let Some(kill) = self.kills.last_mut() {
                    let _ = write!(kill, "; process {worker} has the slot {} later", millis(*time));
                }
            }
            _ => {}
        }
        self.events.push(line);
        Ok(())
    }

    fn style(&self) -> Style {
        Style::new().force_styling(self.is_coloured)
    }

    /// Draws the slots, the queue and the latest events over the last drawing.
    pub fn draw(&mut self, witness: &Witness, workers: &Workers) {
        if self.live {
            let lines = self.lines(witness, workers);
            // If drawing fails, the picture ends, but the demo continues.
            self.live = self.paint(&lines).is_ok();
        }
    }

    fn lines(&self, witness: &Witness, workers: &Workers) -> Vec<String> {
        let mut lines = vec![format!("{:4.1} s", self.start.elapsed().as_secs_f64())];
        for slot in 0..self.slots {
            let visitor = witness.visitors().find(|(of, ..)| *of == slot);
            lines.push(match visitor {
                Some((_, worker, since)) => {
                    let pid =
                        workers.pid(worker).map_or_else(String::new, |pid| format!("pid {pid}"));
                    let bar = "█".repeat(since.elapsed().as_millis() as usize / 40);
                    let process = format!("process {worker:3}");
                    let (process, bar) =
                        (self.style().bold().apply_to(process), self.style().green().apply_to(bar));
                    format!("slot {slot}  {process}  {pid:11}  {bar}")
                }
                None => format!("slot {slot}  free"),
            });
        }
        let queue: Vec<String> = workers.queue().iter().map(usize::to_string).collect();
        lines.push(format!("queue   {}", queue.join(" ")));
        let kills = latest(&self.kills, KILLS);
        lines.extend(kills.iter().map(|kill| self.style().red().apply_to(kill).to_string()));
        lines.push(String::new());
        for line in latest(&self.events, EVENTS) {
            let is_alarm = line.contains("SIGKILL") || line.contains("CONFLICT");
            let style = if is_alarm { self.style().red() } else { self.style() };
            lines.push(style.apply_to(line).to_string());
        }
        lines
    }

    fn paint(&mut self, lines: &[String]) -> io::Result<()> {
        let (width, height) = terminal::size().unwrap_or((80, 24));
        let (width, height) = (usize::from(width), usize::from(height));
        // The cursor is below the last line. A picture that leaves no line for it would scroll, and the next
        // drawing would not replace it.
        let lines = &lines[..lines.len().min(height.saturating_sub(1))];
        let mut out = io::stdout().lock();
        queue!(out, terminal::BeginSynchronizedUpdate)?;
        if self.drawn > 0 {
            queue!(out, cursor::MoveToPreviousLine(self.drawn))?;
        }
        for line in lines {
            let line = console::truncate_str(line, width, "");
            queue!(out, Print(line), Clear(ClearType::UntilNewLine), Print("\n"))?;
        }
        queue!(out, Clear(ClearType::FromCursorDown), terminal::EndSynchronizedUpdate)?;
        self.drawn = lines.len() as u16;
        out.flush()
    }

    /// Ends the picture. Later output appears below it.
    pub fn finish(&mut self) {
        self.live = false;
        self.drawn = 0;
    }

    /// Ends the picture and removes it, so that the summary takes its place. Without a picture, the summary
    /// follows after an empty line.
    pub fn erase(&mut self) -> io::Result<()> {
        if self.live {
            // If drawing fails, the picture stays.
            let _ = self.paint(&[]);
        } else {
            writeln!(io::stdout())?;
        }
        self.finish();
        Ok(())
    }
}

/// Returns the last `number` lines, or all lines if there are fewer.
fn latest(lines: &[String], number: usize) -> &[String] {
    &lines[lines.len().saturating_sub(number)..]
}

fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// Prints the figures and the next commands. Returns failure if there was a conflict.
pub fn summary(verdict: &Verdict, time: Duration) -> io::Result<ExitCode> {
    let Verdict { visits, most_at_once, successions, kills, conflicts } = verdict;
    writeln!(
        io::stdout(),
        "Measured in {:.1} s by a witness that does not use the hall:",
        time.as_secs_f64()
    )?;
    writeln!(io::stdout(), "  processes that had a slot  {visits}")?;
    writeln!(io::stdout(), "  most at once               {most_at_once}")?;
    writeln!(
        io::stdout(),
        "  conflicts                  {}  (two in one slot, more than k at once, or overtaken)",
        conflicts.len()
    )?;
    let after = after_kills(successions);
    writeln!(io::stdout(), "  holders killed             {kills}{after}")?;
    for what in conflicts {
        writeln!(io::stdout(), "  CONFLICT: {what}")?;
    }
    writeln!(io::stdout())?;
    next_steps()?;
    Ok(if conflicts.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Says how long the slots of killed holders were without a holder: each time, or the range if there are many.
fn after_kills(successions: &[Duration]) -> String {
    let times = match (successions.iter().min(), successions.iter().max()) {
        (Some(least), Some(most)) if successions.len() > KILLS => {
            format!("{} to {}", millis(*least), millis(*most))
        }
        (Some(_), _) => successions.iter().map(|time| millis(*time)).collect::<Vec<_>>().join(", "),
        (None, _) => return String::new(),
    };
    format!("; next holder after {times}")
}

/// Prints one command for each kind of user. In a checkout, the commands use cargo, otherwise the installed programs.
fn next_steps() -> io::Result<()> {
    // cargo marks its target folder with this file.
    let built = |path: &Path| path.ancestors().any(|folder| folder.join("CACHEDIR.TAG").exists());
    let in_checkout = std::env::current_exe().is_ok_and(|path| built(&path));
    let steps = match in_checkout {
        true => [
            (
                "cargo run --release -- run -k 2 gpu -- printenv HALLPASS_SLOT",
                "limit any command on this machine",
            ),
            (
                "cargo run --release -p hallpass --example devices",
                "the same for threads and tasks, in Rust",
            ),
            (
                "cargo run --release -p hallpass-lab -- check am-fig3 -n 3 -k 2",
                "explore every interleaving",
            ),
        ],
        false => [
            (
                "hallpass run -k 2 gpu -- printenv HALLPASS_SLOT",
                "limit any command on this machine",
            ),
            (
                "cargo add hallpass --path CHECKOUT/crates/hallpass",
                "the same for threads and tasks, in Rust",
            ),
            ("hallpass-lab check am-fig3 -n 3 -k 2", "explore every interleaving"),
        ],
    };
    writeln!(io::stdout(), "Next:")?;
    for (command, what) in steps {
        writeln!(io::stdout(), "  # {what}")?;
        writeln!(io::stdout(), "  {command}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_gives_each_time_after_a_kill_or_the_range_if_there_are_many() {
        let times = |all: &[u64]| -> Vec<Duration> {
            all.iter().map(|&time| Duration::from_millis(time)).collect()
        };
        assert_eq!(after_kills(&[]), "");
        assert_eq!(after_kills(&times(&[3, 20, 8])), "; next holder after 3.0 ms, 20.0 ms, 8.0 ms");
        assert_eq!(after_kills(&times(&[3, 20, 8, 2])), "; next holder after 2.0 ms to 20.0 ms");
    }
}
