//! A change of a hall, as the statement that writes it expects it.

use super::{
    load::Loaded,
    notifications::{channels_of, payload},
    steps::Changed,
    timelines::{Timelines, next_revision},
};
use crate::store::{LeaseId, Revision};

/// The parameters of the statement that writes a change.
#[derive(Default)]
pub(super) struct Write {
    pub revision: Revision,
    pub timelines: Vec<i64>,
    pub deleted: Vec<String>,
    pub keys: Vec<String>,
    pub values: Vec<String>,
    pub created: Vec<Revision>,
    pub modified: Vec<Revision>,
    pub leases: Vec<LeaseId>,
    pub channels: Vec<String>,
    pub payloads: Vec<String>,
}

impl Write {
    pub(super) fn new(loaded: &Loaded, changed: &Changed) -> Write {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let least = next_revision(loaded.document.revision, loaded.timeline);
        let revision = changed.document.revision.max(least);
        let timelines = Timelines::numbers(&loaded.timelines);
        let mut write = Write { revision, timelines, ..Write::default() };
        for key in &changed.keys {
            let name = text(key);
            for channel in channels_of(&name) {
                write.channels.push(channel);
                write.payloads.push(payload(revision, &name));
            }
            match changed.document.records.get(key) {
                None => write.deleted.push(name),
                Some(kv) => {
                    write.keys.push(name);
                    write.values.push(text(&kv.value));
                    write.created.push(kv.create_revision);
                    write.modified.push(kv.mod_revision);
                    write.leases.push(kv.lease);
                }
            }
        }
        write
    }
}
