//! `hallpass top`: shows holders and waiters, live.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use clap::Args as ClapArgs;
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
    output::say,
    people::{Users, printable},
    signals::flag_on_termination,
    time,
};

/// The shortest time between updates: faster is unreadable, and reading a hall costs its users.
const FASTEST: Duration = Duration::from_millis(100);
/// A signal is noticed within this time.
const PATIENCE: Duration = Duration::from_millis(200);

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// The time between updates
    #[arg(short, long, value_name = "TIME", default_value = "1", value_parser = time::parse)]
    delay: Duration,
    /// The halls [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    if !io::stdout().is_terminal() {
        say(format_args!("top needs a terminal; `hallpass status` prints the same once"));
        return Ok(ExitCode::FAILURE);
    }
    let halls = args.location.open()?;
    let view = Screenful { halls, names: args.names, users: Users::default(), skipped: 0 };
    match show(view, args.delay.max(FASTEST)) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            say(format_args!("cannot use the terminal: {error}"));
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The terminal, taken over; dropping it gives it back.
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

fn show(mut view: Screenful, delay: Duration) -> io::Result<()> {
    // The terminal has to be given back before we end.
    let ended = flag_on_termination()?;
    let _screen = Screen::take()?;
    let mut drawn = None;
    while !ended.load(Ordering::Relaxed) {
        if drawn.is_none_or(|at: Instant| at.elapsed() >= delay) {
            view.draw()?;
            drawn = Some(Instant::now());
        }
        let left = delay.saturating_sub(drawn.map_or(Duration::ZERO, |at| at.elapsed()));
        if !event::poll(left.min(PATIENCE))? {
            continue;
        }
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => match view.obey(key) {
                Obeyed::Quit => break,
                Obeyed::Moved => drawn = None,
                Obeyed::Ignored => {}
            },
            Event::Resize(..) => drawn = None,
            _ => {}
        }
    }
    Ok(())
}

enum Obeyed {
    Quit,
    Moved,
    Ignored,
}

struct Screenful {
    halls: Halls,
    names: Vec<String>,
    users: Users,
    /// How many lines are above the screen.
    skipped: usize,
}

impl Screenful {
    fn obey(&mut self, key: KeyEvent) -> Obeyed {
        let page =
            terminal::size().map_or(1, |(_, height)| height.saturating_sub(2).max(1) as usize);
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Obeyed::Quit,
            KeyCode::Char('q') | KeyCode::Esc => Obeyed::Quit,
            KeyCode::Down | KeyCode::Char('j') => self.scroll(1, true),
            KeyCode::Up | KeyCode::Char('k') => self.scroll(1, false),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll(page, true),
            KeyCode::PageUp => self.scroll(page, false),
            _ => Obeyed::Ignored,
        }
    }

    fn scroll(&mut self, lines: usize, down: bool) -> Obeyed {
        self.skipped = match down {
            true => self.skipped.saturating_add(lines),
            false => self.skipped.saturating_sub(lines),
        };
        Obeyed::Moved
    }

    fn draw(&mut self) -> io::Result<()> {
        let (width, height) = terminal::size()?;
        let lines = self.lines();
        let room = (height as usize).saturating_sub(1);
        self.skipped = self.skipped.min(lines.len().saturating_sub(room));
        let mut out = io::stdout().lock();
        queue!(out, terminal::BeginSynchronizedUpdate, cursor::MoveTo(0, 0))?;
        let title = format!("{} (q quits)", printable(&self.halls.shown()));
        let shown = lines.iter().skip(self.skipped).take(room);
        for (row, line) in std::iter::once(&title).chain(shown).enumerate() {
            let line = console::truncate_str(line, width as usize, "");
            queue!(out, cursor::MoveTo(0, row as u16), Print(line))?;
            queue!(out, Clear(ClearType::UntilNewLine))?;
        }
        queue!(out, cursor::MoveToNextLine(1), Clear(ClearType::FromCursorDown))?;
        queue!(out, terminal::EndSynchronizedUpdate)?;
        out.flush()
    }

    fn lines(&mut self) -> Vec<String> {
        let names = match halls::chosen(&self.halls, self.names.clone()) {
            Ok(names) => names,
            Err(error) => return vec![String::new(), printable(&error.to_string())],
        };
        if names.is_empty() {
            return vec![String::new(), "no halls".into()];
        }
        let mut lines = Vec::new();
        for (name, hall) in halls::look(&self.halls, names, &mut self.users) {
            lines.push(String::new());
            match hall {
                Ok(hall) => lines.extend(hall.table()),
                Err(error) => {
                    lines.push(format!("{}: {}", printable(&name), printable(&error.to_string())));
                    if error.is_unreachable() {
                        break; // the user could not quit while all of them time out
                    }
                }
            }
        }
        lines
    }
}
