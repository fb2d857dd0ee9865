//! Checks that the commands of `hallpass-lab` in the documents run as printed, and find what they
//! should.

use std::collections::HashSet;

use hallpass_testbed::documents::{Scratch, blocks, checkout, undocumented};

const HOLDS: i32 = 0;
const VIOLATED: i32 = 1;

#[test]
fn printed_commands_run_as_printed() {
    let scratch = Scratch::new(env!("CARGO_BIN_EXE_hallpass-lab"));
    // The commands name files of the checkout.
    let gallery = checkout().join("gallery");
    assert!(scratch.run(&format!("ln -s {} gallery", gallery.display())).status.success());
    let mut done = HashSet::new();
    for block in blocks().iter().filter(|block| block.is_run_with("hallpass-lab")) {
        for command in block.commands().filter(|command| done.insert(command.to_string())) {
            let words: Vec<&str> = command.split_whitespace().collect();
            // A wrong variant has a colon in its name, or is in the folder `wrong`, and the lab must reject it.
            let is_wrong =
                words[1] == "check" && (words[2].contains(':') || words[2].contains("/wrong/"));
            let expected = if is_wrong { VIOLATED } else { HOLDS };
            let output = scratch.run(command);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(
                output.status.code(),
                Some(expected),
                "{}: {command}\n{stderr}",
                block.location()
            );
        }
    }
    assert!(!done.is_empty());
}

#[test]
fn documents_mention_every_command_and_option() {
    let missing = undocumented(env!("CARGO_BIN_EXE_hallpass-lab"));
    assert!(missing.is_empty(), "no document mentions: {}", missing.join(", "));
}
