//! Runs the commands of `hallpass-bench` as the documents print them.

use hallpass_testbed::documents::{Scratch, blocks, undocumented};

#[test]
fn printed_commands_run_as_printed() {
    let scratch = Scratch::new(env!("CARGO_BIN_EXE_hallpass-bench"));
    let blocks = blocks();
    let ours: Vec<_> = blocks.iter().filter(|block| block.is_run_with("hallpass-bench")).collect();
    assert!(!ours.is_empty());
    for block in ours {
        let output = scratch.run(&block.lines.join("\n"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {}\n{stderr}", block.location(), output.status);
    }
}

#[test]
fn documents_mention_every_command_and_option() {
    let missing = undocumented(env!("CARGO_BIN_EXE_hallpass-bench"));
    assert!(missing.is_empty(), "no document mentions: {}", missing.join(", "));
}
