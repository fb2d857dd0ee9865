//! Shows the progress of a long computation, if standard error is a terminal.

use std::time::{Duration, Instant};

use hallpass_lab::explore;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};

/// A spinner on standard error.
pub struct Progress {
    bar: ProgressBar,
    begun: Instant,
}

impl Progress {
    pub fn new() -> Self {
        let bar = ProgressBar::new_spinner().with_style(
            ProgressStyle::with_template("{spinner} {prefix} {msg}")
                .expect("the template is valid"),
        );
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress { bar, begun: Instant::now() }
    }

    pub fn phase(&self, text: &str) {
        self.bar.set_prefix(text.to_string());
        self.bar.set_message("");
    }

    pub fn states(&self, so_far: explore::Progress) {
        let rate = so_far.states as f64 / self.begun.elapsed().as_secs_f64().max(0.001);
        self.bar.set_message(format!(
            "{} states, {} to expand, depth {}, {:.1} M states/s",
            HumanCount(so_far.states),
            HumanCount(so_far.frontier),
            so_far.depth,
            rate / 1e6
        ));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
