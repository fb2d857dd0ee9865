//! Tests two kinds of sentences on the page of the explorer: those about a process that waits, and those about a run
//! that returns to an earlier state and so closes a loop.

use hallpass_lab::{
    catalogue,
    explorer::{
        Engine, Subject,
        session::{Action, Session},
    },
    schedule::MemoryModel,
    trace,
};
use hallpass_language::File;
use serde_json::{Value, json};

use super::{ask, explored, play, random_play::smallest, subject};

fn waits(view: &Value, p: usize) -> &str {
    view["processes"][p]["waits"]["text"].as_str().unwrap_or_default()
}

#[test]
fn the_page_says_that_no_process_ends_the_wait_of_a_starving_process() {
    let mut engine = explored("am-fig3:no-second-look", 3, 2);
    let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": "starve-2" }));
    let last = answer["path"].as_array().unwrap().last().unwrap();
    assert_eq!(
        waits(last, 2),
        "Process 2 waits at line 5@2 until Q.2 \u{2260} 2. No process ends this wait in its current passage: processes \
         0 and 1 are in their remainder sections and need not start again. So process 2 can wait forever."
    );
    assert_eq!(
        last["loop"]["seen"],
        json!(["In the loop, process 2 reads Q.2, which is 2 all the time"])
    );
}

#[test]
fn the_page_says_who_can_still_end_a_wait() {
    let mut engine = explored("am-fig3", 2, 1);
    // Process 0 waits at line 5 for process 1, which is in its critical section.
    let view = play(&mut engine, 0, &[1, 1, 0, 0, 0, 0]);
    assert_eq!(
        waits(&view, 0),
        "Process 0 waits at line 5@1 until Q.1 \u{2260} 0. Process 1 can still end this wait in its current passage."
    );
    assert_eq!(view["processes"][1]["waits"], Value::Null, "process 1 does not wait");
    // A stopped process makes no further step.
    let stopped = ask(&mut engine, json!({ "do": "stop", "node": view["node"], "process": 1 }));
    engine.settle();
    let view = ask(&mut engine, json!({ "do": "view", "node": stopped["node"] }));
    assert_eq!(
        waits(&view, 0),
        "Process 0 waits at line 5@1 until Q.1 \u{2260} 0. No process ends this wait in its current passage: process 1 \
         has stopped forever. So process 0 can wait forever."
    );
    // Without the checker, the page says only what the process waits for.
    let mut engine = Engine::new(subject("am-fig3", 2, 1));
    let view = play(&mut engine, 0, &[1, 1, 0, 0, 0, 0]);
    assert_eq!(waits(&view, 0), "Process 0 waits at line 5@1 until Q.1 \u{2260} 0.");
}

#[test]
fn a_process_that_reads_several_variables_waits_until_one_of_them_changes() {
    let mut engine = explored("omori-excl", 3, 1);
    let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": "starve-0" }));
    let last = answer["path"].as_array().unwrap().last().unwrap();
    let text = waits(last, 0);
    assert!(
        text.contains("level(1) (now 2), level(2) (now 0) or turn(2) (now 0) changes."),
        "{text}"
    );
    assert!(text.ends_with("Process 1 can still end this wait in its current passage."), "{text}");
}

#[test]
fn a_process_that_repeats_several_lines_waits_for_the_value_that_ends_them() {
    let mut engine = explored("hall-sleep:no-news", 3, 1);
    let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": "starve-1" }));
    let last = answer["path"].as_array().unwrap().last().unwrap();
    let text = waits(last, 1);
    assert!(text.contains(" until bell[1] = true. No process ends this wait"), "{text}");
}

#[test]
fn a_loop_in_which_numbers_grow_says_so() {
    let mut engine = explored("turnstile:no-number", 2, 1);
    let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": "starve-0" }));
    let last = answer["path"].as_array().unwrap().last().unwrap();
    assert_eq!(last["loop"]["grows"], true);
    let seen = "In the loop, process 0 reads drawn, which grows; exits, which grows";
    assert_eq!(last["loop"]["seen"], json!([seen]));
}

#[test]
fn with_store_buffers_the_flush_of_another_process_can_end_a_wait() {
    let subject = Subject::registered("am-fig3", 2, 1, MemoryModel::StoreBuffers).unwrap();
    let mut engine = Engine::new(subject);
    let stop = std::sync::atomic::AtomicBool::new(false);
    engine.explore(&crate::common::resources(2_000_000, 2 << 30, &stop)).unwrap();
    // Process 1 is in its critical section. Process 0 waits, and its own store has reached memory.
    let view = play(&mut engine, 0, &[1, 1, 0, 0, 0, 2, 0]);
    let text = waits(&view, 0);
    assert!(text.ends_with("Process 1 can still end this wait in its current passage."), "{text}");
}

#[test]
fn the_buffer_of_a_stopped_process_can_end_a_wait() {
    let subject = Subject::registered("am-fig3", 2, 1, MemoryModel::StoreBuffers).unwrap();
    let mut engine = Engine::new(subject);
    let stop = std::sync::atomic::AtomicBool::new(false);
    engine.explore(&crate::common::resources(2_000_000, 2 << 30, &stop)).unwrap();
    // Process 0 waits. Process 1 has left, and its store to Q.1 is in its buffer.
    let view = play(&mut engine, 0, &[1, 1, 0, 0, 0, 2, 0, 1, 1, 1]);
    let stopped = ask(&mut engine, json!({ "do": "stop", "node": view["node"], "process": 1 }));
    engine.settle();
    let view = ask(&mut engine, json!({ "do": "view", "node": stopped["node"] }));
    let text = waits(&view, 0);
    assert!(text.ends_with("The store buffer of process 1 can still end this wait."), "{text}");
    let view = play(&mut engine, view["node"].as_u64().unwrap(), &[3, 0]);
    assert_eq!(view["processes"][0]["section"], "critical");
}

#[test]
fn a_process_also_waits_for_a_variable_that_it_changes_itself() {
    let source = "algorithm gate requires k = 1 shared gate : bool = true S : k-n..k = k
         passage waiting
         loop 1: if gate then 2: if fetch_and_add(S, -1) > 0 then break end 3: fetch_and_add(S, 1) end end
         critical 4: fetch_and_add(S, 1) end";
    catalogue::add_file("gate.kx", &File::parse("gate.kx", source).unwrap());
    let mut engine = explored("gate.kx", 2, 1);
    // Process 0 is at line 4, which frees the slot.
    let view = play(&mut engine, 0, &[0, 0, 0, 0, 1, 1]);
    assert_eq!(
        waits(&view, 1),
        "Process 1 waits at line 2 until S (now 0) or gate (now true) changes. Process 0 can still end this wait in \
         its current passage."
    );
}

/// Plays at random in `session`, and returns the nodes of the run. Mostly, one process steps many times in a row, so
/// that loops are closed.
fn play_at_random(session: &mut Session, seed: u64, steps: usize) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(seed);
    let n = session.subject().machine().n();
    let (mut node, mut path, mut favourite) = (0, Vec::new(), 0);
    for _ in 0..steps {
        if random.u8(..) < 40 {
            favourite = random.usize(..n);
        }
        if let Ok(next) = session.act(node, Action::Step(favourite)) {
            node = next;
            path.push(node);
        }
    }
    path
}

#[test]
fn every_loop_that_the_explorer_shows_is_confirmed_by_a_replay_of_the_whole_run() {
    let mut loops = 0;
    for id in ["am-fig3:no-second-look", "choi:printed-wait", "omori-excl", "bakery", "hall-sleep"]
    {
        let entry = hallpass_algorithms::registry::entry(id).unwrap().0;
        let (n, k) = smallest(entry);
        for seed in 0..4 {
            let mut session = Session::new(subject(id, n, k));
            for node in play_at_random(&mut session, seed, 150) {
                let Some(repeats) = session.judge(node).unwrap().repeats else { continue };
                loops += 1;
                let schedule = session.schedule_of_loop(node, &repeats).unwrap();
                assert_eq!(trace::confirm(&schedule), Ok(()), "{id}, seed {seed}, node {node}");
            }
        }
    }
    assert!(loops > 50, "{loops}");
}

#[test]
fn a_process_that_stops_in_a_loop_ends_it() {
    let mut engine = explored("am-fig3", 2, 1);
    // Process 0 spins at line 5: a loop of one step.
    let view = play(&mut engine, 0, &[1, 1, 0, 0, 0, 0, 0]);
    assert_eq!(view["loop"]["steps"], 1);
    let stopped = ask(&mut engine, json!({ "do": "stop", "node": view["node"], "process": 0 }));
    assert_eq!(stopped["loop"], Value::Null, "process 0 makes no further step");
}

/// Lets process 0 make this many steps from `node`, without a view of each.
fn spin(engine: &mut Engine, node: u64, steps: usize) -> u64 {
    let session = engine.session_mut();
    let next = |at, _| session.act(at, Action::Step(0)).unwrap();
    (0..steps).fold(node as u32, next).into()
}

#[test]
fn a_tree_that_is_too_large_for_a_file_is_cut_down_to_the_run() {
    let mut engine = explored("am-fig3", 2, 1);
    let waiting = play(&mut engine, 0, &[1, 1, 0, 0, 0, 0]);
    let node = spin(&mut engine, waiting["node"].as_u64().unwrap(), 300);
    let tree = ask(&mut engine, json!({ "do": "tree", "node": node }));
    let nodes = tree.as_array().unwrap();
    assert_eq!(nodes.len(), 307);
    assert!(nodes.last().unwrap()["replay"].is_string());
    assert_eq!(nodes[5]["replay"], Value::Null, "the string of the last node contains this step");
    let end = spin(&mut engine, node, 5000);
    let tree = ask(&mut engine, json!({ "do": "tree", "node": node }));
    assert_eq!(tree.as_array().unwrap().len(), 307);
    assert_eq!(tree[306]["children"], json!([]), "the rest of the run is not in the file");
    let error = engine.handle(&json!({ "do": "tree", "node": end })).unwrap_err();
    assert!(error.contains("at most 5000"), "{error}");
}

#[test]
fn private_variables_of_a_file_have_their_names() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gallery/mcs.kx");
    catalogue::load(path).unwrap();
    let mut engine = Engine::new(Subject::registered(path, 2, 1, MemoryModel::Sequential).unwrap());
    let view = play(&mut engine, 0, &[0, 0, 0, 1, 1, 1]);
    assert_eq!(view["processes"][1]["private"], json!([["other", "0"]]));
    assert_eq!(view["processes"][1]["label"]["short"], "3");
    // A file that uses the normal form of a registered algorithm has the names of its own private variables, too.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gallery/papers/choi.kx");
    catalogue::load(path).unwrap();
    let mut engine = Engine::new(Subject::registered(path, 2, 1, MemoryModel::Sequential).unwrap());
    let view = play(&mut engine, 0, &[0, 0, 0, 0, 0]);
    let process = &view["processes"][0];
    assert_eq!(process["label"]["short"], "5.7");
    assert!(process["private"].as_array().unwrap().iter().any(|pair| pair[0] == "r"), "{process}");
    let [figure, line] = [0, 1].map(|i| process["label"]["at"][i].as_u64().unwrap() as usize);
    let text = &engine.session().subject().figures()[figure].lines[line].text;
    assert!(text.trim().starts_with("a := min("), "{text}");
}
