//! Tests the tree of runs in the explorer: steps, branches, stopped processes, links, and what the explorer says about
//! a state.

use hallpass_algorithms::registry::ENTRIES;
use hallpass_lab::{
    explorer::{
        Engine, Subject, export,
        session::{Action, Session},
    },
    schedule::{Finding, MemoryModel},
    trace,
};
use serde_json::json;

use super::{ask, play, random_play::smallest, subject};

#[test]
fn undo_leaves_a_branch_that_a_second_step_of_the_same_process_finds_again() {
    let mut session = Session::new(subject("am-fig3", 2, 1));
    let first = session.act(0, Action::Step(0)).unwrap();
    assert_eq!(session.undo(first), Ok(Some(0)));
    let second = session.act(0, Action::Step(1)).unwrap();
    assert_ne!(first, second);
    assert_eq!(session.act(0, Action::Step(0)), Ok(first));
    assert_eq!((session.undo(0), session.len()), (Ok(None), 3));
    assert!(session.undo(99).unwrap_err().contains("no node 99"));
}

#[test]
fn a_choice_says_what_the_step_reads_and_writes_before_it_is_taken() {
    let mut engine = Engine::new(subject("am-fig3", 2, 1));
    let view = play(&mut engine, 0, &[0, 1]);
    assert_eq!(
        view["choices"][0]["does"],
        "X.1: 1 \u{2192} 0; leaves the doorway; enters the critical section"
    );
    assert_eq!(view["choices"][0]["access"]["operation"], "fetch-and-add");
    let after = play(&mut engine, view["node"].as_u64().unwrap(), &[0]);
    assert_eq!(after["step"]["does"], view["choices"][0]["does"]);
    assert_eq!(after["changed"], 0);
    // The choice of the other process shows what it would find now.
    assert_eq!(after["choices"][1]["does"], "X.1: 0 \u{2192} -1");
}

#[test]
fn a_stopped_process_makes_no_step_and_a_link_remembers_it() {
    let mut session = Session::new(subject("am-fig3", 2, 1));
    let started = session.act(0, Action::Step(0)).unwrap();
    let stopped = session.act(started, Action::Stop(0)).unwrap();
    assert!(session.act(stopped, Action::Step(0)).unwrap_err().contains("stopped forever"));
    assert!(session.act(stopped, Action::Stop(0)).unwrap_err().contains("already"));
    let other = session.act(stopped, Action::Step(1)).unwrap();
    let link = session.replay(other).unwrap();
    assert!(link.starts_with("hp1.am-fig3.2.1.sc.0.play-0.01.-."), "{link}");
    assert_eq!(session.open(&link), Ok(other));
    let mut again = Session::new(subject("am-fig3", 2, 1));
    let node = again.open(&link).unwrap();
    assert_eq!(again.view(node).unwrap()["processes"][0]["stopped"], true);
}

#[test]
fn the_link_of_a_violation_is_a_replay_string_that_shows_it() {
    let mut engine = Engine::new(subject("am-fig3:no-take", 2, 1));
    let view = play(&mut engine, 0, &[0, 0, 1, 1]);
    let replay = view["replay"].as_str().unwrap();
    let schedule = trace::decode(replay).unwrap();
    assert_eq!(schedule.finding, Finding::Exclusion);
    assert_eq!(trace::confirm(&schedule), Ok(()));
    assert_eq!(view["facts"][0]["status"], "broken");
    assert_eq!(
        view["facts"][0]["why"],
        "processes 0 and 1 are in their critical sections; k = 1 allows 1"
    );
    assert_eq!(view["challenge"]["solved"], true);
}

#[test]
fn a_loop_that_starves_a_process_is_found_and_judged() {
    // Process 0 enters and stops; process 1 waits for it. With k = 1, this is not a violation.
    let mut engine = Engine::new(subject("am-fig3", 2, 1));
    let view = play(&mut engine, 0, &[0, 0, 1, 1, 1, 1, 1]);
    assert_eq!(view["loop"]["victims"], json!([1]));
    assert_eq!(view["loop"]["stopped"], json!([0]));
    assert_eq!(view["loop"]["violates"], false);
    // Without line 4, a process waits although no process is left to release it.
    let run = "hp1.am-fig3:no-second-look.3.2.sc.0.starve-0-.0111220112220.0.8e2e2462";
    let mut engine = Engine::new(subject("am-fig3:no-second-look", 3, 2));
    let path = ask(&mut engine, json!({ "do": "open", "replay": run }));
    let last = path["path"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["loop"]["violates"], true);
    assert_eq!(last["replay"], run);
}

#[test]
fn store_buffers_are_flushed_by_their_own_agents() {
    let subject = Subject::registered("omori-excl", 2, 1, MemoryModel::StoreBuffers).unwrap();
    let mut engine = Engine::new(subject);
    let view = play(&mut engine, 0, &[0, 0]);
    assert_eq!(view["processes"][0]["buffer"], json!([["level(0)", "1"]]));
    assert_eq!(view["choices"][2]["kind"], "flush");
    let view = play(&mut engine, view["node"].as_u64().unwrap(), &[2]);
    assert_eq!(view["processes"][0]["buffer"], json!([]));
    assert!(view["choices"][2]["impossible"].as_str().unwrap().contains("empty"));
}

#[test]
fn mishaps_and_packed_words_are_shown_in_words() {
    let mut engine = Engine::new(subject("shared-mortal", 2, 1));
    let view = play(&mut engine, 0, &[0, 0, 0]);
    assert_eq!(view["choices"][2]["does"], "life[0]: alive \u{2192} dead from outside; is killed");
    let card = view["memory"]
        .as_array()
        .unwrap()
        .iter()
        .find(|value| value.as_str().unwrap().starts_with("idle"));
    assert!(card.is_some(), "{}", view["memory"]);
    assert_eq!(view["processes"][0]["private"][0][0], "x");
    let killed = play(&mut engine, view["node"].as_u64().unwrap(), &[2]);
    assert_eq!(killed["processes"][0]["section"], "remainder");
}

#[test]
fn requests_that_make_no_sense_are_refused_with_a_reason() {
    let mut engine = Engine::new(subject("am-fig3", 2, 1));
    for (request, reason) in [
        (json!({ "do": "dance" }), "no request `dance`"),
        (json!({ "do": "step", "node": 0, "agent": 7 }), "no agent 7"),
        (json!({ "do": "step", "node": 5, "agent": 0 }), "no node 5"),
        (json!({ "do": "step", "node": -1, "agent": 0 }), "`node` must be a number"),
        (json!({ "do": "undo", "node": 0 }), "nothing to undo"),
        (json!({ "do": "open", "replay": "hp1.x" }), "damaged"),
        (json!({ "do": "open", "replay": "hp1.am-fig3.3.2.sc.0.play-.-.-.2d7a4c08" }), "damaged"),
        (json!({ "do": "start", "initial": [9, 9] }), "no such initial value"),
        (json!({ "do": "ask", "node": 0, "goal": "exclusion" }), "still exploring"),
        (json!([]), "no request"),
    ] {
        let error = engine.handle(&request).unwrap_err();
        assert!(error.contains(reason), "{request}: {error}");
    }
    assert_eq!(engine.session().len(), 1, "nothing changed");
}

#[test]
fn the_order_of_arrival_is_kept_until_the_first_process_enters() {
    let mut engine = Engine::new(subject("am-fig3", 2, 1));
    // Process 0 is in its critical section, and process 1 waits at line 5. Then process 0 leaves and comes again.
    let view = play(&mut engine, 0, &[0, 0, 1, 1, 1, 1, 0, 0, 0, 0]);
    assert_eq!(view["processes"][1]["section"], "waiting");
    assert_eq!(view["processes"][1]["came_before"], json!([0]));
    let view = play(&mut engine, view["node"].as_u64().unwrap(), &[1]);
    assert_eq!(view["processes"][1]["came_before"], json!([]));
}

#[test]
fn an_export_has_all_branches_and_no_reference_to_a_server() {
    let mut engine = Engine::new(subject("am-fig3", 2, 1));
    play(&mut engine, 0, &[0, 0]);
    play(&mut engine, 0, &[1]);
    let page = export(&mut engine, 2).unwrap();
    assert!(page.contains("\"node\":3"), "all four nodes are there");
    assert!(!page.contains("src=\"/") && !page.contains("href=\"/"));
    assert_eq!(page.matches("</script>").count(), 6, "the data and five scripts");
}

#[test]
fn a_file_of_the_language_is_played_with_its_own_text_beside_the_run() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gallery/papers/am_fig3.kx");
    let file = hallpass_lab::catalogue::load_as(path, "played.kx").unwrap();
    let mut engine = Engine::new(subject("played.kx", 3, 2));
    let view = play(&mut engine, 0, &[0, 0]);
    assert_eq!(view["processes"][0]["section"], "critical");
    let about = ask(&mut engine, json!({ "do": "describe" }));
    let lines = about["figures"][0]["lines"].as_array().unwrap();
    let at = play(&mut engine, 0, &[1])["processes"][1]["label"]["at"][1].as_u64().unwrap();
    assert_eq!(lines[at as usize]["text"], "    if fetch_and_add(X[j], -1) = 0 then");
    assert_eq!(lines.len(), file.source.lines().filter(|line| !line.trim().is_empty()).count());
    let link = view["replay"].as_str().unwrap();
    assert!(engine.handle(&json!({ "do": "open", "replay": link })).is_ok());
}

#[test]
fn an_algorithm_outside_the_registry_can_be_played() {
    use hallpass_algorithms::papers::anderson_moir::Fig2;
    let mine = Subject::of("mine", Fig2::new(2, 1), MemoryModel::Sequential, vec![]).unwrap();
    let mut engine = Engine::new(mine);
    let view = play(&mut engine, 0, &[0, 0]);
    assert_eq!(view["processes"][0]["section"], "critical");
    let link = view["replay"].as_str().unwrap();
    assert!(link.starts_with("hp1.mine.2.1."));
    let path = ask(&mut engine, json!({ "do": "open", "replay": link }));
    assert_eq!(path["path"].as_array().unwrap().len(), 3);
    let bad = Subject::of("my algorithm", Fig2::new(2, 1), MemoryModel::Sequential, vec![]);
    assert!(bad.err().unwrap().contains("cannot be the name"));
}

#[test]
fn mishaps_are_offered_where_the_model_has_them_and_stops_everywhere() {
    let mut offered = std::collections::BTreeSet::new();
    for entry in ENTRIES {
        let (n, k) = smallest(entry);
        let mut engine = Engine::new(subject(entry.id, n, k));
        let machine = engine.session().subject().machine().clone();
        let view = play(&mut engine, 0, &[0]);
        for p in 0..n {
            let choice = &view["choices"][n + p];
            match machine.mishap(p) {
                Some(mishap) => {
                    assert_eq!(
                        (&choice["kind"], &choice["mishap"]),
                        (&json!("mishap"), &json!(mishap.name))
                    );
                    let does = choice["does"].as_str().unwrap();
                    let expected = ["is", "its"].map(|word| format!("{word} {}", mishap.name));
                    assert!(expected.iter().any(|text| does.ends_with(text)), "{does}");
                    offered.insert(mishap.name);
                }
                None => assert!(choice.is_null() || choice["impossible"].is_string(), "{choice}"),
            }
        }
        let stopped = ask(&mut engine, json!({ "do": "stop", "node": view["node"], "process": 0 }));
        assert_eq!(stopped["processes"][0]["stopped"], true, "{}", entry.id);
    }
    // The help of the page and docs/explorer.md say what the key `m` does in each model.
    let page = include_str!("../../src/explorer/page/explorer.html");
    let docs = include_str!("../../../../docs/explorer.md");
    for (name, does) in [
        ("killed", "kill that process"),
        ("lease ends", "end its lease"),
        ("cut off", "cut its connection"),
        ("request hangs", "let its request hang"),
        ("woken", "wake it"),
    ] {
        assert!(offered.remove(name), "{name} is not offered");
        assert!(page.contains(does) && docs.contains(does), "{name} is not in the help");
    }
    assert!(offered.is_empty(), "{offered:?} is not in the help");
}

#[test]
fn the_flush_of_a_store_buffer_is_offered_while_it_has_a_store() {
    let subject = Subject::registered("am-fig3", 2, 1, MemoryModel::StoreBuffers).unwrap();
    let mut engine = Engine::new(subject);
    let before = play(&mut engine, 0, &[1, 1, 0, 0]);
    assert!(before["choices"][2]["impossible"].as_str().unwrap().contains("is empty"));
    // Line 3: Q := p.
    let stored = play(&mut engine, before["node"].as_u64().unwrap(), &[0]);
    assert_eq!(stored["choices"][2]["kind"], "flush");
    assert_eq!(stored["processes"][0]["buffer"], json!([["Q.1", "0"]]));
    let flushed = play(&mut engine, stored["node"].as_u64().unwrap(), &[2]);
    assert_eq!(flushed["processes"][0]["buffer"], json!([]));
}
