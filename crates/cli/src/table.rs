//! Halls as tables of text: one line for each hall, and one for each of its holders and waiters.

use std::fmt::Write;

use console::{Style, measure_text_width};
use hallpass_common::{Participant, Status, text::counted};

use crate::{
    output::can_paint,
    snapshot::{View, host, printable, user},
};

/// A line of text, and its kind.
pub struct Line {
    pub text: String,
    pub kind: LineKind,
}

/// The kind of a line, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// A hall with fewer live holders than slots.
    FreeHall,
    /// A hall whose slots are all held, or a closed hall without slots.
    FullHall,
    /// The names of the columns.
    Columns,
    Holder,
    Waiter,
    /// A dead holder. On one machine, its process has ended, and a newcomer can get its slot. On a cluster, its record
    /// in the store has vanished, and a newcomer can get its slot 1.1 ttl after a machine has noticed this.
    Dead,
    /// A holder or waiter that is suspended, as by Ctrl-Z.
    Stopped,
    /// A hall that cannot be read.
    Problem,
    /// Anything else.
    Plain,
}

impl Line {
    pub fn new(kind: LineKind, text: impl Into<String>) -> Self {
        Line { text: text.into(), kind }
    }

    /// Returns the line, truncated to `width` columns, and in its colour if `is_coloured`.
    pub fn painted(&self, width: usize, is_coloured: bool) -> String {
        let text = console::truncate_str(&self.text, width, "…");
        let style = Style::new().force_styling(is_coloured);
        let style = match self.kind {
            LineKind::FreeHall => style.bold().green(),
            LineKind::FullHall => style.bold().yellow(),
            LineKind::Columns => style.dim(),
            LineKind::Waiter => style.cyan(),
            LineKind::Stopped => style.magenta(),
            LineKind::Dead | LineKind::Problem => style.red(),
            LineKind::Holder | LineKind::Plain => style,
        };
        style.apply_to(text).to_string()
    }
}

/// Returns `true` if the user wants colours: `NO_COLOR` is unset or empty, and the terminal has them.
pub fn colours_wanted() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && can_paint()
}

/// The cells of a line: slot, host, PID, user, time, command.
type Cells = [String; 6];

/// The columns that are aligned to the left: hosts and users. The others are numbers and times.
const LEFT: [usize; 2] = [1, 3];

/// Returns the column headings and the lines of each hall, with columns of the same width for all halls.
pub fn tables(halls: &[&View]) -> (Line, Vec<Vec<Line>>) {
    let rows: Vec<Vec<(LineKind, Cells)>> = halls.iter().map(|hall| rows(hall)).collect();
    let hosts = rows.iter().flatten().any(|(_, cells)| !cells[1].is_empty());
    let head = ["SLOT", if hosts { "HOST" } else { "" }, "PID", "USER", "SINCE", "COMMAND"]
        .map(str::to_string);
    let widths: [usize; 5] = std::array::from_fn(|column| {
        let cells = rows.iter().flatten().map(|(_, cells)| cells).chain([&head]);
        cells.map(|cells| measure_text_width(&cells[column])).max().unwrap_or_default()
    });
    let lines = halls.iter().zip(rows).map(|(hall, rows)| {
        let rows = rows.into_iter().map(|(kind, cells)| Line::new(kind, aligned(&cells, widths)));
        [headline(hall)].into_iter().chain(rows).collect()
    });
    (Line::new(LineKind::Columns, aligned(&head, widths)), lines.collect())
}

/// Returns the lines of one hall, with column headings if the hall has holders or waiters.
pub fn table(hall: &View) -> Vec<Line> {
    let (head, mut lines) = tables(&[hall]);
    let mut lines = lines.remove(0);
    if lines.len() > 1 {
        lines.insert(1, head);
    }
    lines
}

fn headline(hall: &View) -> Line {
    let Status { name, slots, waiters, closed, .. } = &hall.status;
    let closed = if *closed { ", closed" } else { "" };
    let (held, waiting) = (hall.held(), waiters.len());
    let kind = if held < *slots { LineKind::FreeHall } else { LineKind::FullHall };
    // A closed hall of this machine has no slots any more, but may have holders.
    let slots_held = match *slots {
        0 => counted(held, "slot"),
        slots => format!("{held} of {}", counted(slots, "slot")),
    };
    Line::new(kind, format!("{name}: {slots_held} held, {waiting} waiting{closed}"))
}

fn rows(hall: &View) -> Vec<(LineKind, Cells)> {
    let row = |kind: LineKind, slot: String, one: &Participant| {
        let (kind, note) = match (one.alive, hall.is_stopped(one)) {
            (false, _) => (LineKind::Dead, " (dead)"),
            (true, true) => (LineKind::Stopped, " (stopped)"),
            (true, false) => (kind, ""),
        };
        let command = printable(&one.command) + note;
        (kind, [slot, host(one), one.pid.to_string(), user(one), hall.time(one), command])
    };
    let Status { holders, waiters, .. } = &hall.status;
    let slot = |one: &Participant| one.slot.map_or_else(String::new, |slot| slot.to_string());
    let holders = holders.iter().map(|one| row(LineKind::Holder, slot(one), one));
    let waiters = waiters
        .iter()
        .zip(1..)
        .map(|(one, number)| row(LineKind::Waiter, format!("#{number}"), one));
    holders.chain(waiters).collect()
}

/// Joins the cells of a row. The command is last, so its width does not matter.
fn aligned(cells: &Cells, widths: [usize; 5]) -> String {
    let mut line = String::new();
    for (column, widest) in widths.into_iter().enumerate() {
        let gap = widest - measure_text_width(&cells[column]);
        let (before, after) = if LEFT.contains(&column) { (0, gap) } else { (gap, 0) };
        // The column of hosts is empty if all halls are on this machine.
        if widest > 0 {
            let _ = write!(line, "  {:before$}{}{:after$}", "", cells[column], "");
        }
    }
    line + "  " + &cells[5]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::{hall, participant, view};

    fn texts(hall: &View) -> Vec<String> {
        table(hall).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn columns_are_aligned_and_no_control_character_is_printed() {
        let expected = [
            "gpu: 2 of 2 slots held, 1 waiting",
            "  SLOT    PID  USER  SINCE  COMMAND",
            "     1      7  ann   3m12s  python train.py",
            "    10     12  ann      1s  make (dead)",
            "    11     13  ann      1s  ls",
            "    #1  12345  ann      0s  evil\\u{1b}[2J\\nline",
        ];
        assert_eq!(texts(&hall()), expected);
    }

    #[test]
    fn stopped_holders_and_waiters_are_marked() {
        let mut hall = hall();
        hall.stopped.extend([7, 12, 12345]);
        let lines = table(&hall);
        assert!(lines[2].text.ends_with("python train.py (stopped)"), "{}", lines[2].text);
        assert!(lines[3].text.ends_with("make (dead)"), "{}", lines[3].text);
        assert!(lines[5].text.ends_with("line (stopped)"), "{}", lines[5].text);
        assert_eq!(lines[5].kind, LineKind::Stopped);
    }

    #[test]
    fn hosts_are_shown_where_there_are_several_machines() {
        let on = |mut one: Participant, host: &str| {
            (one.host, one.uid) = (Some(host.into()), None);
            one
        };
        let hall = view(
            vec![on(participant(Some(0), 7, "make", 1), "ant")],
            vec![on(participant(None, 8, "ls", 0), "beetle")],
        );
        let expected = [
            "  SLOT  HOST    PID  USER  SINCE  COMMAND",
            "     0  ant       7  ann      1s  make",
            "    #1  beetle    8  ann      0s  ls",
        ];
        assert_eq!(texts(&hall)[1..], expected);
    }

    #[test]
    fn an_empty_hall_is_one_line() {
        let mut empty = view(vec![], vec![]);
        empty.status.closed = true;
        assert_eq!(texts(&empty), ["gpu: 0 of 2 slots held, 0 waiting, closed"]);
        empty.status.slots = 0;
        assert_eq!(texts(&empty), ["gpu: 0 slots held, 0 waiting, closed"]);
        empty.status.slots = 1;
        assert_eq!(texts(&empty), ["gpu: 0 of 1 slot held, 0 waiting, closed"]);
    }

    #[test]
    fn columns_have_the_same_width_in_all_halls() {
        let (small, large) = (view(vec![participant(Some(0), 7, "ls", 1)], vec![]), hall());
        let (head, lines) = tables(&[&small, &large]);
        assert_eq!(head.text, "  SLOT    PID  USER  SINCE  COMMAND");
        assert_eq!(lines[0][1].text, "     0      7  ann      1s  ls");
        assert_eq!(lines[1][1].text, "     1      7  ann   3m12s  python train.py");
    }

    #[test]
    fn full_halls_waiters_and_dead_holders_have_different_colours() {
        let kinds: Vec<_> = table(&hall()).iter().map(|line| line.kind).collect();
        use LineKind::*;
        assert_eq!(kinds, [FullHall, Columns, Holder, Dead, Holder, Waiter]);
        let line = Line::new(Dead, "make (dead)");
        assert_eq!(line.painted(80, true), "\x1b[31mmake (dead)\x1b[0m");
        assert_eq!(line.painted(4, true), "\x1b[31mmak…\x1b[0m");
        assert_eq!(line.painted(80, false), "make (dead)");
    }
}
