//! The store PostgreSQL.
//!
//! A hall is a row with a revision, and the records of the hall are further rows. For a
//! [step](crate::store::Store::step), hallpass reads the [part](scope) of the hall that the step needs into a
//! [copy](crate::store::Document), changes the copy, and writes the difference in one SQL statement. The statement has
//! an effect only if the row of the hall is still the same; otherwise the step starts over. So no transaction is ever
//! open while hallpass does something else, and a suspended process blocks no other process. A process keeps the
//! [copy](copy) that it made for its last step without a change. If this copy is enough for the next step, the next step
//! only writes.
//!
//! - **Answers.** An answer by consensus counts only after a commit on the server. A step that changes no record
//!   commits an empty message to the log of the server, unless it reads [without
//!   consensus](crate::store::Op::without_consensus). With synchronous replication, a server that was replaced by
//!   another one cannot commit, so it cannot give an answer by consensus.
//! - **History.** The timeline of the server is the epoch of a [stamp](crate::store::Stamp). Each hall lists at which
//!   revision each timeline began. So a process notices if a failover lost a commit that it has seen. The timeline is
//!   also the upper part of the revision, so revisions grow even then.
//! - **Leases** end by the clock of the server. This clock is not trusted: the end of a lease is only a hint.
//! - **Watches** use `LISTEN`, on the same connection as the statements. Each record has its own channel, so that a
//!   change wakes only the processes that watch the record or its [group](notifications). A notification contains the
//!   revision and the key, and no other data, because every user of the database could read it.
//! - **Connections.** A process uses one connection at a time. Waiting processes can [share](sharing) one.

mod activities;
mod connection;
mod copy;
mod failure;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod line;
mod load;
mod notifications;
mod options;
mod pgpass;
mod scope;
mod sharing;
mod sql;
mod statements;
mod steps;
mod store;
mod timelines;
mod tls;
mod url;
mod values;
mod write;

pub use options::PostgresOptions;

pub(crate) use store::PostgresStore;
pub(crate) use url::is_url;
