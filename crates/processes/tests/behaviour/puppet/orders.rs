//! The code that runs in a puppet. A puppet is a child process that executes the orders of a test.

use std::{
    fs::File,
    io::{self, Write},
    os::unix::process::CommandExt,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use hallpass_processes::{Error, HallDir, SharedHall, SharedPass, SharedPasses};

use rustix::fs::{FlockOperation, flock};

use super::MARK;
use crate::{disks, forks};

/// The hall that a puppet has open, and its passes.
#[derive(Default)]
struct PuppetState {
    hall: Option<&'static SharedHall>,
    passes: Vec<SharedPass<'static>>,
    /// Slots that the puppet acquired at once.
    several: Option<SharedPasses<'static>>,
}

/// Executes orders until standard input ends.
pub fn obey() {
    let mut state = PuppetState::default();
    // End the line that the test harness has begun.
    println!();
    for line in io::stdin().lines() {
        let line = line.unwrap();
        let (order, rest) = line.split_once(' ').unwrap_or((&line, ""));
        println!("{MARK}{}", state.act(order, rest));
        io::stdout().flush().unwrap();
    }
}

impl PuppetState {
    fn act(&mut self, order: &str, rest: &str) -> String {
        match order {
            "open" => {
                let (name, dir) = rest.split_once(' ').unwrap();
                match HallDir::at(dir).open_existing(name) {
                    Ok(hall) => self.hall = Some(Box::leak(Box::new(hall))),
                    Err(error) => return error.to_string(),
                }
                "open".into()
            }
            "create" => {
                let [name, slots, dir] = words(rest);
                match HallDir::at(dir).open(name, slots.parse().unwrap()) {
                    Ok(hall) => self.hall = Some(Box::leak(Box::new(hall))),
                    Err(error) => return error.to_string(),
                }
                "open".into()
            }
            "remove" => {
                let [name, force, dir] = words(rest);
                match HallDir::at(dir).remove(name, force == "true") {
                    Ok(()) => "removed".into(),
                    Err(error) => error.to_string(),
                }
            }
            "acquire" => self.keep_pass(self.hall().acquire()),
            "try" => self.keep_pass(self.hall().try_acquire()),
            "for" => {
                let time = Duration::from_millis(rest.parse().unwrap());
                self.keep_pass(self.hall().try_acquire_for(time))
            }
            "many" => match self.hall().acquire_many(rest.parse().unwrap()) {
                Ok(passes) => format!("in {:?}", self.several.insert(passes).slots()),
                Err(error) => format!("{error:?}"),
            },
            "visit-many" => {
                drop(self.hall().acquire_many(rest.parse().unwrap()).unwrap());
                "visited".into()
            }
            "leave-many" => {
                self.several = None;
                "left".into()
            }
            "leave" => {
                drop(self.pass(rest));
                "left".into()
            }
            "reap" => self.hall().reap().unwrap().to_string(),
            "crowd" => self.crowd(rest.parse().unwrap()).to_string(),
            // Starts a process that has the lifeline open as its standard input.
            "keep-lifeline" => {
                let index = self.passes.iter().position(|pass| pass.slot().to_string() == rest);
                let lifeline = self.passes[index.unwrap()].lifeline().try_clone_to_owned();
                let mut sleep = Command::new("sleep");
                let sleep = sleep.arg("1000").stdin(Stdio::from(lifeline.unwrap()));
                sleep.stdout(Stdio::null()).spawn().unwrap().id().to_string()
            }
            "leave-to-lifeline" => {
                self.pass(rest).leave_to_lifeline();
                "left".into()
            }
            "fork-drop" => forks::drops_inherited(&mut self.passes).to_string(),
            "fork-acquire" => forks::acquires(self.hall()).to_string(),
            "fork-outlive" => forks::outlives(self.hall()).to_string(),
            "exec" => {
                println!("{MARK}off");
                Command::new("sleep").arg("1000").exec().to_string()
            }
            "become" => disks::become_user(rest.parse().unwrap()),
            // Locks a file until the puppet ends.
            "lock" => {
                let file = File::create(rest).unwrap();
                flock(&file, FlockOperation::LockExclusive).unwrap();
                std::mem::forget(file);
                "locked".into()
            }
            "limit" => disks::limit_descriptors(rest.parse().unwrap()),
            "mount" => disks::mount_small(rest),
            "mount-read-only" => disks::mount_read_only(rest),
            "try-disk" => disks::try_disk(rest),
            "grow-on-full-disk" => disks::grow_on_full_disk(rest),
            "try-file" => disks::try_file(rest),
            _ => panic!("no such order: {order}"),
        }
    }

    fn hall(&self) -> &'static SharedHall {
        self.hall.expect("the puppet has opened a hall")
    }

    /// Keeps the pass, if there is one. Returns the puppet's answer: the slot or the error.
    fn keep_pass(&mut self, acquired: Result<SharedPass<'static>, Error>) -> String {
        match acquired {
            Ok(pass) => {
                let slot = pass.slot();
                self.passes.push(pass);
                format!("in {slot}")
            }
            Err(error) => format!("{error:?}"),
        }
    }

    fn pass(&mut self, slot: &str) -> SharedPass<'static> {
        let index = self.passes.iter().position(|pass| pass.slot().to_string() == slot);
        self.passes.swap_remove(index.expect("the puppet holds the slot"))
    }

    /// Starts `count` threads that each acquire and release once. Returns how many of them succeeded.
    fn crowd(&self, count: usize) -> usize {
        let visit = || self.hall().acquire().map(drop).is_ok();
        thread::scope(|scope| {
            let threads: Vec<_> = (0..count).map(|_| scope.spawn(visit)).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).filter(|was| *was).count()
        })
    }
}

/// Splits an order into its three words.
fn words(rest: &str) -> [&str; 3] {
    rest.splitn(3, ' ').collect::<Vec<_>>().try_into().expect("three words")
}
