//! Tests of `hallpass run --on --take`: commands that take several slots together, on each store.

mod common;

use common::{
    cluster::{stderr_of, stores},
    eventually, send, text,
};
use rustix::process::Signal;

/// A command that prints its slots and its token, and then waits until its standard input is closed.
const SLOTS_HELD: [&str; 3] =
    ["sh", "-c", "echo $HALLPASS_SLOT $HALLPASS_SLOTS_HELD $GPU {slot} $HALLPASS_TOKEN; exec cat"];

/// Splits a line of [`SLOTS_HELD`] into the part about slots and the token.
fn split(line: &str) -> (String, u64) {
    let (slots, token) = line.rsplit_once(' ').expect("the token is the last word");
    (slots.into(), token.parse().expect("a number"))
}

#[test]
fn a_command_gets_several_slots_together_with_one_token() {
    for halls in stores("take") {
        let take = |count: &'static str| {
            let options = ["-k", "4", "--take", count, "--env", "GPU=a,b,c,d", "several"];
            halls.start(&[&options[..], &SLOTS_HELD[..]].concat())
        };
        let mut first = take("2");
        let (slots, first_token) = split(&first.line());
        assert_eq!(slots, "0 0,1 a,b 0,1");
        let one = halls.hold(&[], "several");
        // Only slot 3 is free, so the next command waits, and a later one does not overtake it.
        let mut second = take("2");
        eventually("it waits", || halls.status("several")["waiting"] == 1);
        assert_eq!(halls.status("several")["held"], 3, "slot 3 stays free for it");
        let mut third = take("1");
        eventually("the third waits", || halls.status("several")["waiting"] == 2);
        assert_eq!(halls.run(&["-n", "--take", "2", "several", "true"]), Some(1));
        assert_eq!(halls.run(&["-w", "0.05", "--take", "3", "several", "true"]), Some(124));
        assert_eq!(one.leave().0, Some(0));
        assert_eq!(split(&second.line()).0, "2 2,3 c,d 2,3");
        assert_eq!(first.leave().0, Some(0));
        let (slots, third_token) = split(&third.line());
        assert_eq!(slots, "0 0 a 0");
        assert!(third_token > first_token, "{third_token} after {first_token}");
        assert_eq!(second.leave().0, Some(0));
        let mut all = halls.start(&[&["--take", "3", "several"], &SLOTS_HELD[..]].concat());
        let (slots, token) = split(&all.line());
        assert_eq!(slots, "1 1,2,3 1,2,3");
        assert!(token > third_token, "{token} after {third_token}");
        assert_eq!((all.leave().0, third.leave().0), (Some(0), Some(0)));
        let status = halls.status("several");
        assert_eq!((&status["held"], &status["waiting"]), (&0.into(), &0.into()));
    }
}

#[test]
fn commands_that_take_several_slots_do_not_block_each_other() {
    for halls in stores("take-crowd") {
        assert_eq!(halls.run(&["-k", "3", "crowd", "true"]), Some(0));
        let start = |number: usize| {
            let take = (number % 3 + 1).to_string();
            halls.start(&["--take", &take, "crowd", "sleep", "0.01"])
        };
        let all: Vec<_> = (0..9).map(start).collect();
        for running in all {
            assert_eq!(running.leave().0, Some(0));
        }
    }
}

#[test]
fn more_slots_than_the_hall_has_are_refused() {
    for halls in stores("take-too-many") {
        let refused = halls.output("run", &["-k", "3", "--take", "4", "few", "true"]);
        assert_eq!(refused.status.code(), Some(125));
        let why = stderr_of(&refused);
        assert!(why.contains("--take 4 is more") && why.contains("at most 3"), "{why}");
        let refused = halls.output("run", &["--take", "61", "never-created", "true"]);
        assert_eq!(refused.status.code(), Some(125));
        let why = stderr_of(&refused);
        assert!(why.contains("--take 61 is more") && why.contains("at most 60"), "{why}");
        assert!(!text(&halls.output("list", &[]).stdout).contains("never-created"));
    }
}

#[test]
fn after_the_death_of_a_holder_a_waiter_gets_all_its_slots() {
    for halls in stores("take-death") {
        let words = ["-k", "2", "--take", "2", "--ttl", "2", "--grace", "0.5", "mortal"];
        let words = [&words[..], &SLOTS_HELD[..]].concat();
        let mut holder = halls.start(&words);
        assert_eq!(split(&holder.line()).0, "0 0,1 0,1");
        let mut waiter = halls.start(&words);
        eventually("it waits", || halls.status("mortal")["waiting"] == 1);
        send(holder.pid(), Signal::KILL);
        assert_eq!(split(&waiter.line()).0, "0 0,1 0,1");
        assert_eq!(waiter.leave().0, Some(0));
    }
}
