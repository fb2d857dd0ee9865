//! A process that looks at the queue again and again, and records the waiters that it sees.

use std::{path::Path, thread, time::Duration};

use hallpass_processes::HallDir;

use crate::{
    board::{Board, now},
    cases::Case,
    mapped::Mapped,
};

/// The pause between two checks.
const PAUSE: Duration = Duration::from_millis(3);

/// Observes the queue until the process is killed.
pub fn observe(case: &Case, folder: &Path) -> i32 {
    let board = Mapped::<Board>::open(&folder.join("board"));
    let hall = HallDir::at(folder.join("halls")).open_existing(case.name).unwrap();
    loop {
        let pids: Vec<u32> = hall.status().waiters.iter().map(|one| one.pid).collect();
        let before: Vec<_> = pids.iter().map(|pid| board.asks_since(*pid)).collect();
        // A process may leave the queue and join it again in its next passage. So the observer reads the passage before
        // and after it looks at the queue. If both times it reads the same passage, the process was in the queue in
        // this passage.
        let began = now();
        let queue = hall.status().waiters;
        for (pid, asks) in pids.into_iter().zip(before) {
            let Some((note, asked)) = asks else { continue };
            let waits = queue.iter().any(|one| one.pid == pid);
            if waits && board.asks_since(pid).is_some_and(|(_, again)| again == asked) {
                note.seen_in_queue(asked, began);
            }
        }
        thread::sleep(PAUSE);
    }
}
