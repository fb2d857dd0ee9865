//! Prepared statements: the server parses and plans such a statement once, not each time that it runs.
//!
//! Preparing takes a round trip. So a connection prepares a statement only after it has run a few times. Prepared
//! statements need a session on the server, and so do notifications. A pooler that has no session for each client is
//! [refused](super::line::Line::check_notifications). If this check was not possible, no statement is prepared: behind
//! such a pooler, several processes would use the same names for their statements.

use std::{
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use tokio_postgres::{Client, Error, Row, Statement, types::Type};

use super::values::Parameter;
use crate::retry::lock;

/// A statement is prepared after this many uses.
const PREPARE_AFTER: u32 = 4;

/// The largest number of statements that are counted. The store has fewer.
const MOST_STATEMENTS: usize = 32;

/// The statements that a connection has run.
#[derive(Default)]
pub(super) struct Statements {
    known: Mutex<HashMap<String, Known>>,
    /// Whether the connection has its own session on the server, so that statements may be prepared.
    may_prepare: AtomicBool,
}

/// A statement that the connection has run.
enum Known {
    /// The number of times that it has run.
    Used(u32),
    Prepared(Statement),
}

/// How to run a statement.
enum How {
    Directly,
    PrepareFirst,
    Prepared(Statement),
}

impl Statements {
    pub(super) fn allow_preparing(&self) {
        // ORDERING: Relaxed, because a statement that is prepared later does no harm.
        self.may_prepare.store(true, Relaxed);
    }

    /// Runs a statement on `client`, the connection whose statements this value counts.
    pub(super) async fn query(
        &self,
        client: &Client,
        statement: &str,
        parameters: &[Parameter],
    ) -> Result<Vec<Row>, Error> {
        let typed: Vec<_> = parameters.iter().map(Parameter::typed).collect();
        let prepared = match self.note(statement) {
            How::Directly => return client.query_typed(statement, &typed).await,
            How::Prepared(prepared) => prepared,
            How::PrepareFirst => {
                let types: Vec<Type> = typed.iter().map(|(_, kind)| kind.clone()).collect();
                let prepared = client.prepare_typed(statement, &types).await?;
                lock(&self.known).insert(statement.into(), Known::Prepared(prepared.clone()));
                prepared
            }
        };
        let values: Vec<_> = typed.iter().map(|(value, _)| *value).collect();
        client.query(&prepared, &values).await
    }

    /// Notes that a statement is about to run, and returns how to run it.
    fn note(&self, statement: &str) -> How {
        let mut known = lock(&self.known);
        let is_full = known.len() >= MOST_STATEMENTS;
        match known.get_mut(statement) {
            Some(Known::Prepared(prepared)) => return How::Prepared(prepared.clone()),
            Some(Known::Used(PREPARE_AFTER)) if self.may_prepare.load(Relaxed) => {
                return How::PrepareFirst;
            }
            Some(Known::Used(PREPARE_AFTER)) => {}
            Some(Known::Used(count)) => *count += 1,
            None if is_full => {}
            None => drop(known.insert(statement.into(), Known::Used(1))),
        }
        How::Directly
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_prepared_after_a_few_uses_if_the_connection_has_its_own_session() {
        let statements = Statements::default();
        let is_direct = || matches!(statements.note("SELECT 1"), How::Directly);
        assert!((0..3 * PREPARE_AFTER).all(|_| is_direct()), "nobody has checked the session");
        statements.allow_preparing();
        assert!(matches!(statements.note("SELECT 1"), How::PrepareFirst));
        assert!((0..PREPARE_AFTER).all(|_| matches!(statements.note("SELECT 2"), How::Directly)));
        assert!(matches!(statements.note("SELECT 2"), How::PrepareFirst));
    }
}
