//! Runs the commands of `hallpass` as the documents print them.

use hallpass_testbed::documents::{Scratch, blocks, undocumented};

#[test]
fn printed_commands_run_as_printed() {
    let blocks = blocks();
    let ours: Vec<_> = blocks.iter().filter(|block| block.is_run_with("hallpass")).collect();
    assert!(!ours.is_empty());
    // The blocks of a document run in order, because a later block may use the hall of an earlier block.
    for document in ours.chunk_by(|one, other| one.file == other.file) {
        let scratch = Scratch::new(env!("CARGO_BIN_EXE_hallpass"));
        // Examples run these commands, but the machine may not have them.
        scratch.script("bin/python", "test -f \"$1\" && echo \"slot $HALLPASS_SLOT\"");
        scratch.script("train.py", "");
        scratch.script("backup.sh", "");
        scratch.script("configs/small.yaml", "");
        scratch.script("configs/large.yaml", "");
        for block in document {
            let output = scratch.run(&block.lines.join("\n"));
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {}\n{stderr}", block.location(), output.status);
        }
    }
}

#[test]
fn documents_mention_every_command_and_option() {
    let missing = undocumented(env!("CARGO_BIN_EXE_hallpass"));
    assert!(missing.is_empty(), "no document mentions: {}", missing.join(", "));
}
