//! Translates errors of PostgreSQL and of the connection into a [`Failure`].

use std::error::Error as _;

use tokio_postgres::error::{DbError, SqlState};

use crate::failure::Failure;

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Failure {
        match error.as_db_error() {
            Some(error) => of_server(error),
            None => of_connection(&error),
        }
    }
}

/// Translates an answer of the server.
fn of_server(error: &DbError) -> Failure {
    let why = error.message().to_string();
    let code = error.code();
    match code.code().get(..2) {
        // The password is wrong, or the user may not log in.
        Some("28") => Failure::Denied(why),
        _ if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
            let advice = "see \"Rights in PostgreSQL\" in docs/cluster.md";
            Failure::Denied(format!("{why}: {advice}"))
        }
        _ if *code == SqlState::DISK_FULL => {
            Failure::NoSpace(format!("{why}: free space on its disk"))
        }
        // A user of the database has dropped the tables. The next connection creates them again, if it has the right to
        // do so.
        _ if [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME].contains(code) => {
            Failure::Unreachable(format!("{why}: its tables were dropped"))
        }
        // The server is a standby, or was one a moment ago.
        Some("55" | "25") => Failure::Unreachable(format!("{why}: it is not the primary server")),
        _ if *code == SqlState::TOO_MANY_CONNECTIONS => Failure::Busy(why),
        // A prepared statement does not exist any more, or another process has made one of this name: a pooler has
        // changed the session. The next connection may get its own session.
        _ if [SqlState::INVALID_SQL_STATEMENT_NAME, SqlState::DUPLICATE_PSTATEMENT]
            .contains(code) =>
        {
            Failure::Unreachable(why)
        }
        // These classes are about the connection, conflicts with other transactions, memory, shutdown and disks.
        Some("08" | "40" | "53" | "57" | "58" | "XX") => Failure::Unreachable(why),
        _ => Failure::Refused(why),
    }
}

/// Translates the error of a connection that broke or could not be made.
fn of_connection(error: &tokio_postgres::Error) -> Failure {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        let more = deeper.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = deeper.source();
    }
    if text.contains("invalid peer certificate")
        || text.contains("fatal alert") && text.to_lowercase().contains("certificate")
    {
        return Failure::Certificate(text);
    }
    if text.contains("password missing") {
        let advice = "set PGPASSWORD, or write ~/.pgpass or a file for --password-file";
        return Failure::Denied(format!("the server asks for a password: {advice}"));
    }
    // These are errors of the client, not of the network.
    if ["unsupported authentication", "server does not support TLS"]
        .iter()
        .any(|words| text.contains(words))
    {
        return Failure::Denied(text);
    }
    Failure::Unreachable(text)
}
