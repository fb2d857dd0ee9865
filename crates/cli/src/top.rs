//! `hallpass top`: shows holders and waiters, live.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
    sync::{
        atomic::Ordering,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use clap::Args as ClapArgs;
use console::{Alignment, Style};
use crossterm::{
    cursor,
    event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    execute, queue,
    style::Print,
    terminal::{self, Clear, ClearType},
};

use crate::{
    halls,
    location::{Error, Halls, LocationArgs},
    output::{can_paint, say},
    signals::catch_termination,
    snapshot::{Users, View, printable},
    table::{Line, LineKind, colours_wanted, tables},
    time,
};

/// The shortest time between updates. Faster updates are unreadable, and reading a hall slows its users down.
const FASTEST: Duration = Duration::from_millis(100);
/// The longest time until a signal is noticed.
const PATIENCE: Duration = Duration::from_millis(200);

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// The time between updates
    #[arg(short, long, value_name = "TIME", default_value = "1", value_parser = time::parse)]
    delay: Duration,
    /// The names of the halls [default: all halls]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    if !io::stdout().is_terminal() || !can_paint() {
        say(format_args!(
            "top needs a terminal that can move its cursor; `hallpass status` prints the same once"
        ));
        return Ok(ExitCode::FAILURE);
    }
    args.location.check_dir()?;
    let halls = args.location.open()?;
    let view = Screenful {
        halls,
        names: args.names,
        users: Users::default(),
        is_coloured: colours_wanted(),
        skipped: 0,
    };
    match show(view, args.delay.max(FASTEST)) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            say(format_args!("cannot use the terminal: {error}"));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The terminal in raw mode, showing its alternate screen. Dropping this restores the terminal.
struct Screen;

impl Screen {
    fn take() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        let screen = Screen;
        execute!(io::stdout(), terminal::EnterAlternateScreen, cursor::Hide)?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = execute!(io::stdout(), cursor::Show, terminal::LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}

/// Returns the keys and other events of the terminal.
///
/// A separate thread reads them, because a read never returns once the terminal is closed. The thread runs until the
/// process ends.
fn terminal_events() -> io::Result<Receiver<Event>> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().name("terminal".into()).spawn(move || {
        while let Ok(event) = event::read() {
            if sender.send(event).is_err() {
                break;
            }
        }
    })?;
    Ok(receiver)
}

fn show(mut view: Screenful, delay: Duration) -> io::Result<()> {
    // A signal must not end the process before the terminal is restored.
    let ended_by = catch_termination()?;
    let _screen = Screen::take()?;
    let events = terminal_events()?;
    let mut drawn = None;
    while ended_by.load(Ordering::Relaxed) == 0 {
        if drawn.is_none_or(|at: Instant| at.elapsed() >= delay) {
            view.draw()?;
            drawn = Some(Instant::now());
        }
        let left = delay.saturating_sub(drawn.map_or(Duration::ZERO, |at| at.elapsed()));
        let event = match events.recv_timeout(left.min(PATIENCE)) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => match view.handle_key(key) {
                KeyResult::Quit => break,
                KeyResult::Moved => drawn = None,
                KeyResult::Ignored => {}
            },
            Event::Resize(..) => drawn = None,
            _ => {}
        }
    }
    Ok(())
}

enum KeyResult {
    Quit,
    Moved,
    Ignored,
}

struct Screenful {
    halls: Halls,
    names: Vec<String>,
    users: Users,
    is_coloured: bool,
    /// Number of lines of halls that are scrolled off the top.
    skipped: usize,
}

/// The lines of all halls.
struct Lines {
    columns: Line,
    /// Each group belongs to one hall, or is a message.
    groups: Vec<Vec<Line>>,
    title: String,
}

/// Rows that are not scrolled: the title, the column headings and the footer.
const FIXED: usize = 3;

impl Screenful {
    fn handle_key(&mut self, key: KeyEvent) -> KeyResult {
        let page = terminal::size()
            .map_or(1, |(_, height)| (height as usize).saturating_sub(FIXED).max(1));
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => KeyResult::Quit,
            KeyCode::Char('q') | KeyCode::Esc => KeyResult::Quit,
            KeyCode::Down | KeyCode::Char('j') => self.scroll(1, true),
            KeyCode::Up | KeyCode::Char('k') => self.scroll(1, false),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll(page, true),
            KeyCode::PageUp => self.scroll(page, false),
            _ => KeyResult::Ignored,
        }
    }

    fn scroll(&mut self, lines: usize, down: bool) -> KeyResult {
        self.skipped = match down {
            true => self.skipped.saturating_add(lines),
            false => self.skipped.saturating_sub(lines),
        };
        KeyResult::Moved
    }

    fn draw(&mut self) -> io::Result<()> {
        let (width, height) = terminal::size()?;
        let (width, height) = (width as usize, height as usize);
        let room = height.saturating_sub(FIXED);
        let Lines { columns, groups, title } = self.lines();
        let count = groups.iter().map(Vec::len).sum::<usize>();
        self.skipped = self.skipped.min(count.saturating_sub(room));
        let footer = footer(&groups, self.skipped, room);
        let bar = |text: String| {
            let text = console::pad_str(&text, width, Alignment::Left, Some("")).into_owned();
            Style::new().reverse().force_styling(self.is_coloured).apply_to(text).to_string()
        };
        let shown = groups.iter().flatten().skip(self.skipped).take(room);
        let rows: Vec<String> = [bar(title)]
            .into_iter()
            .chain(
                [&columns]
                    .into_iter()
                    .chain(shown)
                    .map(|line| line.painted(width, self.is_coloured)),
            )
            .collect();
        let mut out = io::stdout().lock();
        queue!(out, terminal::BeginSynchronizedUpdate)?;
        for (number, row) in rows.iter().take(height).enumerate() {
            queue!(out, cursor::MoveTo(0, number as u16), Print(row))?;
            queue!(out, Clear(ClearType::UntilNewLine))?;
        }
        if rows.len() < height {
            queue!(out, cursor::MoveTo(0, rows.len() as u16), Clear(ClearType::FromCursorDown))?;
            queue!(out, cursor::MoveTo(0, height as u16 - 1), Print(bar(footer)))?;
        }
        queue!(out, terminal::EndSynchronizedUpdate)?;
        out.flush()
    }

    /// Reads all halls. Busy halls come first.
    fn lines(&mut self) -> Lines {
        let mut messages = Vec::new();
        let mut views = Vec::new();
        let names = halls::chosen(&self.halls, self.names.clone()).unwrap_or_else(|error| {
            messages.push(Line::new(LineKind::Problem, printable(&error.to_string())));
            Vec::new()
        });
        for (name, hall) in halls::look(&self.halls, names, &mut self.users) {
            match hall {
                Ok(hall) => views.push(hall),
                Err(error) => {
                    let text = format!("{}: {}", printable(&name), printable(&error.to_string()));
                    messages.push(Line::new(LineKind::Problem, text));
                    if error.is_unreachable() {
                        break; // each further hall would time out, and `q` would not work in the meantime
                    }
                }
            }
        }
        if views.is_empty() && messages.is_empty() {
            messages.push(Line::new(LineKind::Plain, "no halls"));
        }
        views.sort_by_key(busyness);
        let (columns, halls) = tables(&views.iter().collect::<Vec<_>>());
        let messages = messages.into_iter().map(|message| vec![message]);
        let title = format!("hallpass top  {}  {}", printable(&self.halls.shown()), totals(&views));
        Lines { columns, groups: messages.chain(halls).collect(), title }
    }
}

/// Returns the sort key of a hall. Halls with waiters come first, then halls with holders, then idle halls. Within
/// these groups, halls are sorted by name and not by numbers, so that lines do not jump at every update.
fn busyness(hall: &View) -> (bool, bool, String) {
    (hall.status.waiters.is_empty(), hall.status.holders.is_empty(), hall.status.name.clone())
}

fn totals(halls: &[View]) -> String {
    let busy = halls.iter().filter(|hall| hall.held() > 0).count();
    let waiting: usize = halls.iter().map(|hall| hall.status.waiters.len()).sum();
    let s = if halls.len() == 1 { "" } else { "s" };
    format!("{} hall{s}, {busy} busy, {waiting} waiting", halls.len())
}

/// Returns the last line of the screen: how to quit and, if not all lines fit into `room` rows, which halls are shown.
fn footer(groups: &[Vec<Line>], skipped: usize, room: usize) -> String {
    let count: usize = groups.iter().map(Vec::len).sum();
    if count <= room {
        return "q quits".into();
    }
    let last = (skipped + room).min(count);
    // The number of groups that begin before line `end`.
    let until = |end: usize| {
        let starts = groups.iter().scan(0, |next, group| {
            let start = *next;
            *next += group.len();
            Some(start)
        });
        starts.take_while(|start| *start < end).count()
    };
    format!(
        "halls {} to {} of {}, lines {} to {last} of {count}; arrow keys scroll, q quits",
        until(skipped + 1),
        until(last),
        groups.len(),
        skipped + 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::tests::{participant, view};

    #[test]
    fn the_footer_says_which_halls_are_on_the_screen() {
        let groups: Vec<Vec<Line>> = [1, 3, 2]
            .map(|lines| (0..lines).map(|_| Line::new(LineKind::Plain, "")).collect())
            .into();
        assert_eq!(footer(&groups, 0, 6), "q quits");
        let at = |skipped, room| {
            let text = footer(&groups, skipped, room);
            text.split(';').next().map(str::to_string).unwrap_or_default()
        };
        assert_eq!(at(0, 4), "halls 1 to 2 of 3, lines 1 to 4 of 6");
        assert_eq!(at(1, 4), "halls 2 to 3 of 3, lines 2 to 5 of 6");
        assert_eq!(at(3, 1), "halls 2 to 2 of 3, lines 4 to 4 of 6");
    }

    #[test]
    fn halls_with_waiters_come_first_then_halls_with_holders() {
        let hall = |name: &str, holders: usize, waiters: usize| {
            let participant = |_| participant(None, 7, "make", 1);
            let mut hall = view(
                (0..holders).map(participant).collect(),
                (0..waiters).map(participant).collect(),
            );
            hall.status.name = name.into();
            hall
        };
        let mut halls =
            [hall("a", 0, 0), hall("b", 1, 0), hall("c", 2, 1), hall("d", 2, 9), hall("e", 2, 0)];
        halls.sort_by_key(busyness);
        assert!(halls.iter().map(|hall| hall.status.name.as_str()).eq(["c", "d", "b", "e", "a"]));
        assert_eq!(totals(&halls), "5 halls, 4 busy, 10 waiting");
    }
}
