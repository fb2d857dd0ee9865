//! `hallpass metrics`, for halls of this machine and on both stores, read by a strict parser.

mod common;
#[path = "metrics/exposition.rs"]
mod exposition;

use std::time::Duration;

use common::{
    Halls,
    cluster::{cluster, stores},
    eventually, text,
};
use exposition::Exposition;
use rustix::process::Signal;

fn metrics(halls: &Halls, names: &[&str]) -> Exposition {
    Exposition::parse(&halls.prints("metrics", names))
}

#[test]
fn runs_are_counted_with_their_wait_and_hold_times() {
    for halls in [Halls::new()].into_iter().chain(stores("metrics")) {
        let name = "counted \\ \"hall\"";
        let first = halls.hold(&["-k", "1"], name);
        assert_eq!(metrics(&halls, &[name]).value("hallpass_hold_seconds_count", &[]), 0.0);
        assert_eq!(halls.run(&["-n", name, "true"]), Some(1));
        assert_eq!(halls.run(&["-w", "0.1", "-E", "0", name, "true"]), Some(0));
        let second = halls.start(&[name, "true"]);
        eventually("the second waits", || halls.status(name)["waiting"] == 1);
        std::thread::sleep(Duration::from_millis(1100));
        let seen = metrics(&halls, &[name]);
        assert_eq!(seen.label("hallpass_held", "hall"), name);
        for (series, least) in [
            ("hallpass_up", 1.0),
            ("hallpass_slots", 1.0),
            ("hallpass_held", 1.0),
            ("hallpass_waiting", 1.0),
            ("hallpass_longest_wait_seconds", 1.0),
        ] {
            assert!(seen.value(series, &[]) >= least, "{series}: {}", seen.value(series, &[]));
        }
        assert_eq!(first.leave().0, Some(0));
        assert_eq!(second.leave().0, Some(0));
        let seen = metrics(&halls, &[name]);
        assert_eq!(seen.value("hallpass_no_slot_total", &[]), 2.0);
        assert_eq!(seen.value("hallpass_lost_passes_total", &[]), 0.0);
        for series in ["hallpass_wait_seconds", "hallpass_hold_seconds"] {
            assert_eq!(seen.value(&format!("{series}_count"), &[]), 2.0);
            let bucket = |le| seen.value(&format!("{series}_bucket"), &[("le", le)]);
            assert!(bucket("1") <= 1.0, "one of them took more than a second");
            assert_eq!((bucket("86400"), bucket("+Inf")), (2.0, 2.0));
            assert!(seen.value(&format!("{series}_sum"), &[]) >= 1.0);
        }
        assert_eq!(seen.value("hallpass_held", &[]), 0.0);
    }
}

#[test]
fn a_holder_that_has_vanished_does_not_count_as_the_oldest() {
    let halls = Halls::new();
    let mut first = halls.hold(&["-k", "2"], "x");
    std::thread::sleep(Duration::from_millis(1100));
    let _second = halls.hold(&[], "x");
    assert!(metrics(&halls, &["x"]).value("hallpass_longest_hold_seconds", &[]) >= 1.0);
    first.kill_hallpass();
    common::send(first.command_pid, Signal::KILL);
    eventually("it has vanished", || {
        metrics(&halls, &["x"]).value("hallpass_vanished", &[]) == 1.0
    });
    let begun = std::time::Instant::now();
    let longest = metrics(&halls, &["x"]).value("hallpass_longest_hold_seconds", &[]);
    // The second holder came more than a second after the first.
    assert!(longest < 1.0 || begun.elapsed() > Duration::from_millis(500), "{longest}");
}

#[test]
fn a_lost_pass_is_counted_and_the_age_of_the_renewal_grows_until_then() {
    for halls in stores("lost") {
        let name = "lost";
        let mut held = halls.hold(&["-k", "2", "--ttl", "20", "--grace", "0.2"], name);
        let age =
            || metrics(&halls, &[name]).value("hallpass_renewal_age_seconds", &[("slot", "0")]);
        // hallpass renews the claim every 2 s, and etcd rounds up. A busy machine renews later.
        assert!(age() <= 10.0, "{}", age());
        let keeper = held.keeper();
        common::send(keeper, Signal::STOP);
        eventually("the claim grows old", || age() >= 5.0);
        common::send(keeper, Signal::CONT);
        eventually("the claim is renewed", || age() <= 3.0);
        halls.prints("evict", &[name, "0"]);
        let status = held.process.wait().expect("it ends");
        assert_eq!(status.code(), Some(123));
        let seen = metrics(&halls, &[name]);
        assert_eq!(seen.value("hallpass_lost_passes_total", &[]), 1.0);
        assert_eq!(seen.value("hallpass_hold_seconds_count", &[]), 1.0);
        assert_eq!(seen.count("hallpass_renewal_age_seconds"), 0, "nobody holds a slot");
    }
}

#[test]
fn the_runs_of_this_machine_are_shown_even_if_the_store_cannot_be_reached() {
    let Some(etcd) = cluster() else { return };
    let halls = Halls::on(&etcd.url());
    assert_eq!(halls.run(&["-k", "1", "away", "true"]), Some(0));
    // The directory of the tallies has files for each URL. Nothing listens on port 1.
    let away = Halls::on("etcd://127.0.0.1:1");
    let dir = halls.path().join("hallpass/.tallies");
    let ours = std::fs::read_dir(&dir).expect("a tally").next().expect("a file").expect("read");
    // The hash of the other URL.
    let hash = "etcd://127.0.0.1:1".bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    std::fs::copy(ours.path(), dir.join(format!("{hash:016x}-away"))).expect("copied");
    let mut command = away.command("metrics", &["--dial-timeout", "1"]);
    let output = command.env("HALLPASS_TALLY_DIR", &dir).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr).lines().count(), 1, "{}", text(&output.stderr));
    let seen = Exposition::parse(&text(&output.stdout));
    assert_eq!(seen.value("hallpass_up", &[]), 0.0);
    assert_eq!(seen.value("hallpass_wait_seconds_count", &[]), 1.0);
    assert_eq!(seen.count("hallpass_held"), 0);
}

#[test]
fn several_halls_have_one_family_each_and_no_series_twice() {
    let halls = Halls::new();
    for name in ["a", "b", "c"] {
        assert_eq!(halls.run(&["-k", "1", name, "true"]), Some(0));
    }
    let seen = metrics(&halls, &["a", "a"]);
    assert_eq!(seen.count("hallpass_held"), 1);
    let all = metrics(&halls, &[]);
    assert_eq!((all.count("hallpass_held"), all.count("hallpass_wait_seconds_count")), (3, 3));
    // A damaged hall has no state, and the others are shown.
    std::fs::write(halls.path().join("b/hall"), "damage").expect("written");
    let output = halls.output("metrics", &[]);
    assert_eq!(output.status.code(), Some(1));
    let seen = Exposition::parse(&text(&output.stdout));
    assert_eq!(seen.count("hallpass_held"), 2);
    assert_eq!(seen.value("hallpass_up", &[("hall", "b")]), 0.0);
    assert_eq!(seen.value("hallpass_up", &[("hall", "c")]), 1.0);
    let absent = halls.output("metrics", &["absent", "../c", "c"]);
    assert_eq!(absent.status.code(), Some(1));
    assert_eq!(Exposition::parse(&text(&absent.stdout)).count("hallpass_up"), 1);
    // The counts are removed with the hall.
    halls.prints("rm", &["a"]);
    assert_eq!(halls.run(&["-k", "1", "-n", "a", "true"]), Some(0));
    assert_eq!(metrics(&halls, &["a"]).value("hallpass_hold_seconds_count", &[]), 1.0);
    halls.prints("rm", &["--force", "b"]);
}
