//! The faults of a pair of PostgreSQL servers.

use std::{thread, time::Duration};

use fastrand::Rng;
use hallpass_testbed::{PostgresPair, PostgresServer};

use crate::faults::{Fault, Targets, a_while, longer_than_claims};

/// The user that the competitors log in as, and its password.
pub const USER: &str = "joe";
pub const PASSWORD: &str = "a secret";

/// The faults of the servers. They happen one after the other.
pub const TO_SERVERS: &[Fault] = &[
    Fault::KillServer,
    Fault::KillStandby,
    Fault::FailOver,
    Fault::LoseCommits,
    Fault::Restore,
    Fault::Wipe,
    Fault::ChangeRole,
    Fault::CutGroup,
    Fault::CutGroupBriefly,
    Fault::RefuseGroup,
    Fault::DelayGroup,
    Fault::HoldRequests,
];

/// Starts a pair of servers with a user that needs a password. The user may create the tables of hallpass.
pub fn pair() -> PostgresPair {
    let pair = PostgresPair::start();
    let primary = pair.primary();
    primary.psql(&format!("CREATE ROLE {USER} LOGIN PASSWORD '{PASSWORD}'"));
    primary.psql(&format!("GRANT CREATE ON DATABASE postgres TO {USER}"));
    for server in [primary, pair.standby()] {
        server.require_password(USER);
    }
    pair
}

impl Targets<'_> {
    /// Applies a fault to the servers, and repairs it.
    pub fn to_pair(&self, pair: &PostgresPair, fault: Fault, rng: &mut Rng) {
        self.note(fault, "");
        let time = a_while(rng);
        match fault {
            Fault::KillServer => {
                pair.primary().kill();
                thread::sleep(time);
                pair.primary().start_again();
            }
            Fault::KillStandby => {
                pair.standby().kill();
                thread::sleep(longer_than_claims(rng));
                pair.standby().start_again();
            }
            Fault::FailOver => pair.fail_over(),
            Fault::LoseCommits => self.lose_history(|| pair.fail_over_with_loss(time)),
            Fault::Restore => self.lose_history(|| pair.restore(time)),
            Fault::Wipe => {
                self.wipe(|| {
                    pair.primary().psql("DROP SCHEMA IF EXISTS hallpass CASCADE");
                });
            }
            _ => {
                let time = if rng.bool() { time } else { longer_than_claims(rng) };
                change_role(pair.primary(), rng.bool(), time);
            }
        }
    }
}

/// Takes the right to log in away from the competitors' user, or changes its password if `password` is set, and closes
/// its connections. Repairs this after `time`.
fn change_role(server: &PostgresServer, password: bool, time: Duration) {
    let (change, repair) = match password {
        true => ("PASSWORD 'another one'".into(), format!("PASSWORD '{PASSWORD}'")),
        false => (String::from("NOLOGIN"), "LOGIN".into()),
    };
    server.psql(&format!("ALTER ROLE {USER} {change}"));
    server.psql(&format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = '{USER}'"
    ));
    thread::sleep(time);
    server.psql(&format!("ALTER ROLE {USER} {repair}"));
}
