//! `hallpass metrics`: the state of halls, and the runs on this machine, in the text format of Prometheus.

use std::{
    collections::{BTreeMap, HashSet},
    process::ExitCode,
    time::Duration,
};

use clap::Args as ClapArgs;
use hallpass_common::{Participant, check_name};

use crate::{
    halls::{self, ErrorReport},
    location::{Error, Halls, LocationArgs},
    output::outln,
    snapshot::{Users, View},
    tally::{LIMITS, Tally, TallyFile, Times},
};

const AFTER: &str = "\
Prints the state of halls, and counts of the `hallpass run` commands of this machine: how long they waited and held \
their slots, how many got no slot, and how many lost their slot. This command prints the values once and exits. Call \
it as often as you want values, for example from cron for the textfile collector of the node exporter. For halls on \
etcd or PostgreSQL, the counts are in files in $HALLPASS_TALLY_DIR [default: .tallies in the directory of the halls \
that are used without --dir, --system and --on]. A run is not counted if it got a slot \
with --no-fork, or if its hallpass was killed by SIGKILL.";

#[derive(ClapArgs)]
#[command(after_help = AFTER)]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// The names of the halls [default: all halls]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// A hall, as far as it could be read: its state, and its tally (the counts of the runs on this machine).
struct Hall {
    name: String,
    seen: Option<Seen>,
    tally: Option<Tally>,
}

/// The state of a hall.
struct Seen {
    view: View,
    /// How long ago the holder of each slot renewed its claim, which is its record in the store. Empty for halls of
    /// processes.
    renewal_ages: BTreeMap<usize, Duration>,
}

/// A number that is shown for each hall: its name, its help text, and how to compute it.
type Gauge = (&'static str, &'static str, fn(&View) -> f64);

const GAUGES: [Gauge; 7] = [
    ("hallpass_slots", "Number of slots", |hall| hall.status.slots as f64),
    ("hallpass_held", "Number of slots that live holders have", |hall| hall.held() as f64),
    (
        "hallpass_vanished",
        "Number of slots whose holders have vanished and that are not free yet",
        |hall| (hall.status.holders.len() - hall.held()) as f64,
    ),
    ("hallpass_waiting", "Number of waiters", |hall| hall.status.waiters.len() as f64),
    ("hallpass_closed", "1 if the hall is closed", |hall| f64::from(u8::from(hall.status.closed))),
    ("hallpass_longest_hold_seconds", "How long the oldest live holder has had its slot", |hall| {
        longest(hall, &hall.status.holders)
    }),
    ("hallpass_longest_wait_seconds", "How long the oldest waiter has waited", |hall| {
        longest(hall, &hall.status.waiters)
    }),
];

/// A number that grows with the runs on this machine: its name, its help text, and how to compute it.
type Counter = (&'static str, &'static str, fn(&Tally) -> u64);

const COUNTERS: [Counter; 2] = [
    (
        "hallpass_lost_passes_total",
        "Runs on this machine that lost their slot before their command ended",
        |tally| tally.lost,
    ),
    (
        "hallpass_no_slot_total",
        "Runs on this machine that got no slot because of -n or -w",
        |tally| tally.no_slot,
    ),
];

/// A histogram of the runs on this machine: its name, its help text, and how to read its durations from the tally.
type Histogram = (&'static str, &'static str, fn(&Tally) -> &Times);

const HISTOGRAMS: [Histogram; 2] = [
    ("hallpass_wait_seconds", "How long ended runs on this machine waited for a slot", |tally| {
        &tally.waits
    }),
    ("hallpass_hold_seconds", "How long ended runs on this machine had their slot", |tally| {
        &tally.holds
    }),
];

pub fn run(args: Args) -> Result<ExitCode, Error> {
    let halls = args.location.open()?;
    let mut errors = ErrorReport::default();
    let mut reachable = true;
    let mut names = match (halls::chosen(&halls, args.names), &halls) {
        // Even if the cluster cannot be reached, the counts of this machine are known.
        (Err(error), Halls::OnCluster(cluster)) if error.is_unreachable() => {
            errors.about(&error);
            reachable = false;
            TallyFile::names_on_cluster(&cluster.url())
        }
        (names, _) => names?,
    };
    let mut known = HashSet::new();
    names.retain(|name| known.insert(name.clone())); // Prometheus rejects a series that comes twice
    let mut users = Users::default();
    let mut all = Vec::new();
    for name in names {
        let seen = match reachable.then(|| halls.look(&name, &mut users)) {
            Some(Ok(view)) => {
                // Another process may remove the hall before the second request.
                let ages = halls.renewal_ages(&name).inspect_err(|error| errors.about(error));
                Some(Seen { view, renewal_ages: ages.unwrap_or_default() })
            }
            Some(Err(error)) => {
                // The next hall would fail in the same way, after a long time.
                reachable = !error.is_unreachable();
                errors.about(&error);
                if error.is_missing() || check_name(&name).is_err() {
                    continue;
                }
                None
            }
            None => None,
        };
        let tally = halls.tally(&name).and_then(|file| match file.read() {
            Ok(tally) => Some(tally),
            Err(error) => {
                errors.about(&Error::Options(format!("cannot read the tally of {name}: {error}")));
                None
            }
        });
        all.push(Hall { name, seen, tally });
    }
    print(&all);
    Ok(errors.exit_code())
}

fn print(halls: &[Hall]) {
    family("hallpass_up", "gauge", "1 if the hall could be read");
    for hall in halls {
        outln!("hallpass_up{} {}", labels(hall, ""), u8::from(hall.seen.is_some()));
    }
    for (name, help, value) in GAUGES {
        family(name, "gauge", help);
        for hall in halls {
            if let Some(seen) = &hall.seen {
                outln!("{name}{} {}", labels(hall, ""), value(&seen.view));
            }
        }
    }
    let name = "hallpass_renewal_age_seconds";
    family(name, "gauge", "How long ago the holder of a slot renewed its claim in the store");
    for hall in halls {
        for (slot, age) in hall.seen.iter().flat_map(|seen| &seen.renewal_ages) {
            let labels = labels(hall, &format!(",slot=\"{slot}\""));
            outln!("{name}{labels} {}", age.as_secs_f64());
        }
    }
    for (name, help, value) in COUNTERS {
        family(name, "counter", help);
        for (hall, tally) in tallies(halls) {
            outln!("{name}{} {}", labels(hall, ""), value(tally));
        }
    }
    for (name, help, times) in HISTOGRAMS {
        family(name, "histogram", help);
        for (hall, tally) in tallies(halls) {
            let (times, mut count) = (times(tally), 0);
            let limits = LIMITS.iter().map(f64::to_string).chain(["+Inf".into()]);
            for (limit, upto) in limits.zip(times.cumulative()) {
                outln!("{name}_bucket{} {upto}", labels(hall, &format!(",le=\"{limit}\"")));
                count = upto;
            }
            outln!("{name}_sum{} {}", labels(hall, ""), times.seconds());
            outln!("{name}_count{} {count}", labels(hall, ""));
        }
    }
}

/// Prints the heading of all series of one name.
fn family(name: &str, kind: &str, help: &str) {
    outln!("# HELP {name} {help}.");
    outln!("# TYPE {name} {kind}");
}

fn tallies(halls: &[Hall]) -> impl Iterator<Item = (&Hall, &Tally)> {
    halls.iter().filter_map(|hall| Some((hall, hall.tally.as_ref()?)))
}

fn labels(hall: &Hall, more: &str) -> String {
    format!("{{hall=\"{}\"{more}}}", escaped(&hall.name))
}

/// Returns the age of the oldest participant that is alive, in seconds.
fn longest(hall: &View, participants: &[Participant]) -> f64 {
    let alive = participants.iter().filter(|one| one.alive);
    let ages = alive.map(|one| hall.age(one).as_secs_f64());
    ages.fold(0.0, f64::max)
}

/// Escapes the value of a label, as Prometheus reads it.
pub fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn labels_are_escaped() {
        assert_eq!(escaped("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
    }
}
