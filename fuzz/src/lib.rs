//! Fuzz targets: functions that feed bytes of others to the parts of hallpass that parse them. None of them
//! may panic, crash or run forever, whatever the bytes are.
//!
//! `fuzz_targets` has a program for `cargo fuzz` for each of them. The test `short` runs each for a moment on
//! its corpus and on random changes of it, with an ordinary compiler.
#![forbid(unsafe_code)]

mod hall_file;

use std::str;

use hallpass_cluster::ClusterOptions;
use hallpass_lab::{atlas::Manifest, trace};

pub use hall_file::hall_file;

/// A target by its name, which is that of its program and of its corpus.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 5] = [
    ("cluster_message", cluster_message),
    ("cluster_url", cluster_url),
    ("hall_file", hall_file),
    ("manifest", manifest),
    ("replay", replay),
];

/// Parses a URL of a cluster. The URL of the result must name the same cluster.
///
/// # Panics
/// If it does not.
pub fn cluster_url(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(options) = ClusterOptions::at(text) {
        let again =
            ClusterOptions::at(&options.url()).expect("a URL that hallpass prints is valid");
        assert_eq!(options.url(), again.url());
    }
}

/// Parses the answer of etcd to a transaction, and the records of a hall in it.
pub fn cluster_message(data: &[u8]) {
    hallpass_cluster::fuzzing::transaction(data);
}

/// Parses a manifest of the atlas.
pub fn manifest(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let _ = Manifest::parse(text);
}

/// Decodes a replay string, with the checksum that is in it and with the right one. A schedule must be the
/// same after it is encoded and decoded.
///
/// # Panics
/// If it is not.
pub fn replay(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let body = text.trim();
    let whole = format!("{body}.{:08x}", crc32fast::hash(body.as_bytes()));
    for text in [text, &whole] {
        let Ok(schedule) = trace::decode(text) else { continue };
        let encoded = trace::encode(&schedule).expect("a decoded schedule can be encoded");
        assert_eq!(trace::decode(&encoded).ok(), Some(schedule));
    }
}
