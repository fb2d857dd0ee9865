//! Entry points for the fuzz targets: bytes that come from a PostgreSQL server, from another process with which this
//! process shares a connection, or from `~/.pgpass`.

use super::{
    load::loaded,
    notifications::Subscribers,
    pgpass::{self, Login},
    sharing::fuzz_message,
    steps::rehearse,
    values::Row,
};
use crate::{
    requests,
    store::{Stamp, StepResponse},
};

/// Reads the text as a message between [processes that share a connection](super::sharing), as a notification, and as a
/// password file.
pub(crate) fn text(text: &str) {
    fuzz_message(text);
    Subscribers::default().tell("channel", text);
    let login = Login { host: "/run", port: 5432, database: "halls", user: "joe" };
    let _ = pgpass::find(text, login);
}

/// Reads the text as the rows of a hall, and performs [a step that reads a view](requests::step_to_read) of this hall:
/// of the queue, only the first claim, and of the claims that have a slot, only the keys. Returns the answer to the
/// step and the number of its operations. Returns `None` if the rows are not valid or the step fails.
pub(crate) fn hall(text: &str, id: &str) -> Option<(StepResponse, usize)> {
    let rows: Vec<Row> = serde_json::from_str(text).ok()?;
    let hall = loaded(&rows).ok()?;
    let _ = hall.timelines.lack(Stamp { epoch: 1, revision: 100 }, hall.stamp());
    let step = requests::step_to_read("hall/", id);
    Some((rehearse(&hall, &step)?, step.then.len()))
}
