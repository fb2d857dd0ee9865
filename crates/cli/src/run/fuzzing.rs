//! Entry points for the fuzz targets: the command line of `hallpass run`.

use std::{ffi::OsString, iter};

use super::{
    environment::{Environment, Mapping},
    gpus,
    operands::with_slot,
    options::Args,
};

/// The number of slots of the hall, and the slots of the holder, for which the options are evaluated.
const SLOTS: usize = 4;
const HELD: [usize; 2] = [1, 3];

/// Reads the words after `hallpass run`, and evaluates what they mean for a holder.
///
/// # Panics
/// Panics if the fast reader of simple command lines and the parser disagree. This is a bug in hallpass.
pub fn command_line(words: Vec<OsString>) {
    let plain = Args::plain(&words);
    let parsed = Args::parsed(words);
    assert!(plain.is_none() || plain == parsed, "two readers of a command line disagree");
    let Some(mut args) = parsed else { return };
    let _ =
        (args.lease(std::time::Duration::from_secs(10)), args.no_cluster_options(), args.take());
    let Ok(invocation) = args.invocation() else { return };
    assert!(!invocation.command.is_empty());
    let _ = args.description(&invocation.command);
    invocation.command.iter().for_each(|word| drop(with_slot(word, "3")));
}

/// Reads the text as a value of `--env`, and as lists of devices: the output of a tool, and a variable that selects
/// some of them.
pub fn devices(text: &str) {
    let (output, outer) = text.rsplit_once('\n').unwrap_or((text, text));
    gpus::fuzz_devices(output, outer);
    let Ok(mapping) = Mapping::parse(text) else { return };
    for per_device in [None, 2usize.try_into().ok()] {
        let environment = Environment::new(iter::once(mapping.clone()).collect(), per_device);
        let is_enough = environment.slots().is_some_and(|slots| slots > HELD[1]);
        assert_eq!(environment.variables("hall", &HELD, SLOTS).is_ok(), is_enough);
        let _ = environment.unused_values(SLOTS);
    }
}
