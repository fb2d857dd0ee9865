//! Tests the answers of the checker in the explorer: the number of steps to a violation, the run that leads to it,
//! loops, enabled processes, and challenges.

use std::sync::atomic::AtomicBool;

use hallpass_algorithms::registry;
use hallpass_lab::{
    check::{Property, Question, check},
    explorer::{Engine, challenge::Challenge},
    graph::Bound,
    trace,
};
use serde_json::{Value, json};

use super::{ask, explored, play, subject};
use crate::common::resources;

fn goal<'a>(view: &'a Value, name: &str) -> &'a Value {
    view["goals"].as_array().unwrap().iter().find(|goal| goal["goal"] == name).unwrap()
}

#[test]
fn the_shortest_way_to_a_violation_is_as_long_as_the_checkers_run() {
    for (id, n, k, property) in [
        ("am-fig3:no-take", 3, 2, Property::Exclusion),
        ("am-fig3:exit-swapped", 2, 1, Property::Exclusion),
        ("choi:one-ahead", 2, 1, Property::Exclusion),
    ] {
        let stop = AtomicBool::new(false);
        let question = Question::everything(id, n, k).only(vec![property]);
        let report = check(&question, &resources(2_000_000, 2 << 30, &stop)).unwrap();
        let mut engine = explored(id, n, k);
        let Some(run) = report.outcome(property).run.as_ref() else {
            let view = ask(&mut engine, json!({ "do": "view", "node": 0 }));
            assert_eq!(goal(&view, property.name())["steps"], Value::Null, "{id}");
            continue;
        };
        // The checker's run is the shortest from any initial state, so the engine starts where that run starts.
        let start = engine.session_mut().start(&run.initial).unwrap();
        let answer =
            ask(&mut engine, json!({ "do": "ask", "node": start, "goal": property.name() }));
        let path = answer["path"].as_array().unwrap();
        assert_eq!(path.len(), run.stem.len(), "{id}");
        let last = path.last().unwrap();
        let schedule = trace::decode(last["replay"].as_str().unwrap()).unwrap();
        assert_eq!(trace::confirm(&schedule), Ok(()), "{id}");
        assert_eq!(last["challenge"]["solved"], true, "{id}");
    }
}

#[test]
fn distances_get_smaller_along_the_way() {
    let mut engine = explored("am-fig3:no-take", 3, 2);
    let start = ask(&mut engine, json!({ "do": "view", "node": 0 }));
    let steps = goal(&start, "exclusion")["steps"].as_u64().unwrap();
    let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": "exclusion" }));
    for (index, view) in answer["path"].as_array().unwrap().iter().enumerate() {
        assert_eq!(goal(view, "exclusion")["steps"], json!(steps - 1 - index as u64));
    }
}

#[test]
fn starvation_from_here_depends_on_which_processes_have_stopped() {
    let mut engine = explored("am-fig3", 3, 2);
    let view = ask(&mut engine, json!({ "do": "view", "node": 0 }));
    // Two stopped processes can starve the third; the paper promises to survive one.
    assert_eq!(goal(&view, "starve-2")["stopped"], 2);
    assert_eq!(goal(&view, "starve-2")["violates"], false);
    assert_eq!(goal(&view, "deadlock")["violates"], false);
    // Process 2 stops in its remainder: it never tries again, so it cannot starve.
    let stopped = ask(&mut engine, json!({ "do": "stop", "node": 0, "process": 2 }));
    assert_eq!(stopped["goals"], Value::Null, "the answers for this set are not computed yet");
    assert!(engine.wants().is_some());
    engine.settle();
    assert!(engine.wants().is_none());
    let view = ask(&mut engine, json!({ "do": "view", "node": stopped["node"] }));
    assert_eq!(goal(&view, "starve-2")["steps"], Value::Null);
    assert_eq!(
        goal(&view, "starve-0")["steps"],
        Value::Null,
        "one other process cannot keep process 0 out"
    );
}

#[test]
fn the_way_to_starvation_ends_with_a_loop_that_is_confirmed() {
    for (id, n, k) in [("am-fig3:no-second-look", 3, 2), ("am-fig3:no-release", 2, 1)] {
        let mut engine = explored(id, n, k);
        let view = ask(&mut engine, json!({ "do": "view", "node": 0 }));
        let names: Vec<String> = (0..n).map(|p| format!("starve-{p}")).collect();
        let name = names.iter().find(|name| goal(&view, name)["violates"] == true).unwrap();
        let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": name }));
        let last = answer["path"].as_array().unwrap().last().unwrap();
        assert_eq!(last["loop"]["violates"], true, "{id}");
        assert_eq!(last["loop"]["steps"], answer["cycle"], "{id}");
        let schedule = trace::decode(last["replay"].as_str().unwrap()).unwrap();
        assert_eq!(trace::confirm(&schedule), Ok(()), "{id}");
    }
}

#[test]
fn a_process_that_nothing_can_keep_out_is_enabled() {
    let mut engine = explored("am-fig3", 2, 1);
    // Process 0 waits at line 5 for process 1, which then leaves and writes Q.
    let waits = play(&mut engine, 0, &[1, 1, 0, 0, 0, 0]);
    assert_eq!(waits["processes"][0]["enabled"], false);
    let free = play(&mut engine, waits["node"].as_u64().unwrap(), &[1, 1, 1]);
    assert_eq!(free["processes"][0]["enabled"], true);
    assert_eq!(free["processes"][1]["enabled"], Value::Null, "it does not try");
}

#[test]
fn the_adversary_reaches_the_most_remote_references_that_the_paper_allows() {
    // Theorem 1: 7 (n - k).
    let mut engine = explored("am-fig3", 3, 2);
    let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": "rmr-cc-0" }));
    assert!(
        answer["text"].as_str().unwrap().contains("7 more remote references"),
        "{}",
        answer["text"]
    );
    let last = answer["path"].as_array().unwrap().last().unwrap();
    assert_eq!(last["processes"][0]["cc"], 7);
    let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": "rmr-dsm-0" }));
    assert!(answer["text"].as_str().unwrap().contains("no bound"), "{}", answer["text"]);
}

#[test]
fn the_way_to_overtaking_breaks_fife() {
    let mut engine = explored("omori-naive", 3, 1);
    let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": "fife" }));
    let path = answer["path"].as_array().unwrap();
    assert!(path.iter().any(|view| !view["overtaken"].is_null()), "{}", answer["text"]);
    // Choi's algorithm promises the strong form.
    let mut engine = explored("choi", 2, 1);
    let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": "fife" }));
    assert_eq!(answer["text"], "No run from here gets there.");
}

#[test]
fn the_adversary_overtakes_a_process_as_often_as_the_checker_says() {
    for (id, n, k) in [("am-fig3", 3, 2), ("hall:barge", 2, 1), ("hall-bypass", 2, 1)] {
        let stop = AtomicBool::new(false);
        let question = Question::everything(id, n, k).only(vec![Property::Bypass]);
        let report = check(&question, &resources(2_000_000, 2 << 30, &stop)).unwrap();
        let mut engine = explored(id, n, k);
        let mut texts = (0..n).map(|p| {
            let goal = format!("bypass-{p}");
            let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": goal }));
            let text = answer["text"].as_str().unwrap().to_string();
            let end = answer["path"].as_array().unwrap().last().cloned();
            // The run ends while the process still waits.
            assert!(end.is_none_or(|view| view["processes"][p]["section"] == "waiting"), "{text}");
            text
        });
        let expected = match report.outcome(Property::Bypass).bound {
            Some(Bound::Most(0)) => "No run from here gets there.".to_string(),
            Some(Bound::Most(1)) => "overtaken 1 time.".to_string(),
            Some(Bound::Most(times)) => format!("overtaken {times} times."),
            _ => "there is no bound.".to_string(),
        };
        assert!(texts.any(|text| text.ends_with(&expected)), "{id}: {expected}");
    }
}

/// In each run, process 0 waits and goes on. While process 0 is at a line at which it does not wait, process 1, which
/// came later, overtakes it.
#[test]
fn a_process_that_goes_on_from_its_waiting_room_has_still_come_before() {
    for (id, n, run) in [
        ("am-fig8", 3, "011111122000000222221111011122211"),
        ("hall-barging", 2, "011100001111111111001011111"),
    ] {
        let agents: Vec<usize> = run.bytes().map(|digit| usize::from(digit - b'0')).collect();
        let view = play(&mut explored(id, n, 1), 0, &agents);
        assert_eq!(view["processes"][0]["section"], "waiting", "{id}");
        assert_eq!(view["overtaken"], json!([0, 1]), "{id}");
    }
}

#[test]
fn the_explorer_and_the_checker_agree_where_mishaps_recur() {
    for id in ["shared-reduced", "shared-reduced:no-service", "shared-reduced:unannounced"] {
        let stop = AtomicBool::new(false);
        let all = [Property::Deadlock, Property::Starvation, Property::Fife];
        let question = Question::everything(id, 2, 1).only(all.to_vec());
        let report = check(&question, &resources(2_000_000, 2 << 30, &stop)).unwrap();
        let mut engine = explored(id, 2, 1);
        let view = ask(&mut engine, json!({ "do": "view", "node": 0 }));
        let stopped = |name| goal(&view, name)["stopped"].as_u64().map(|count| count as usize);
        assert_eq!(stopped("deadlock"), report.outcome(Property::Deadlock).resilience, "{id}");
        let starve = stopped("starve-0").min(stopped("starve-1"));
        assert_eq!(starve, report.outcome(Property::Starvation).resilience, "{id}");
        let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": "fife" }));
        let is_fife = answer["path"] == json!([]);
        assert_eq!(is_fife, report.outcome(Property::Fife).run.is_none(), "{id}");
        for name in ["deadlock", "starve-0", "starve-1"] {
            let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": name }));
            let last = answer["path"].as_array().unwrap().last().unwrap();
            assert_eq!(last["loop"]["steps"], answer["cycle"], "{id} {name}");
            let schedule = trace::decode(last["replay"].as_str().unwrap()).unwrap();
            assert_eq!(trace::confirm(&schedule), Ok(()), "{id} {name}");
        }
    }
}

/// In the loop of this run, process 0 sleeps and is woken again and again (agent 2). Without these mishaps, nothing
/// could keep it out.
#[test]
fn a_process_that_only_mishaps_keep_out_is_not_enabled() {
    const TO: &[usize] = &[
        0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 0, 0, 0, 0,
    ];
    const ON: &[usize] = &[0, 0, 1, 3, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0];
    const LOOP: &[usize] = &[0, 0, 0, 0, 2, 0, 0, 0, 0];
    let mut engine = explored("shared-reduced:unannounced", 2, 1);
    let view = play(&mut engine, 0, TO);
    let is_enabled = view["processes"][0]["enabled"].clone();
    let view = play(&mut engine, view["node"].as_u64().unwrap(), ON);
    let view = play(&mut engine, view["node"].as_u64().unwrap(), LOOP);
    assert_eq!(view["loop"]["victims"], json!([0]));
    assert_eq!(view["loop"]["steps"], LOOP.len());
    let schedule = trace::decode(view["replay"].as_str().unwrap()).unwrap();
    assert_eq!(trace::confirm(&schedule), Ok(()));
    assert_eq!(is_enabled, false);
}

#[test]
fn the_number_of_steps_to_a_violation_is_the_same_everywhere() {
    for (id, n, k) in [("am-fig3:no-second-look", 3, 2), ("am-fig3:no-take", 3, 2)] {
        let mut engine = explored(id, n, k);
        let view = ask(&mut engine, json!({ "do": "view", "node": 0 }));
        let all = view["goals"].as_array().unwrap();
        let goals: Vec<_> = all.iter().filter(|goal| goal["violates"] == true).collect();
        for goal in &goals {
            let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": goal["goal"] }));
            let path = answer["path"].as_array().unwrap();
            assert_eq!(goal["steps"], path.len(), "{id}: {goal}");
            assert_eq!(path.last().unwrap()["steps"], goal["steps"], "{id}: {goal}");
            let text = answer["text"].as_str().unwrap();
            assert!(text.starts_with(&format!("{} steps: ", path.len())), "{text}");
        }
        let about = ask(&mut engine, json!({ "do": "describe" }));
        let property = about["challenge"]["property"].as_str().unwrap();
        assert_eq!(view["challenge"]["best"], goal(&view, property)["steps"], "{id}");
    }
}

#[test]
fn every_challenge_exists_and_says_what_to_do() {
    let all = Challenge::all();
    assert!(all.len() > 40, "{}", all.len());
    for challenge in all {
        let task = challenge.task();
        assert!(!task.is_empty());
        // The halls are protocols of hallpass, and no paper describes them.
        let is_ours = registry::entry(&challenge.algorithm).unwrap().0.paper == registry::OURS;
        assert!(!(is_ours && task.contains("paper")), "{}: {task}", challenge.algorithm);
        let engine = Engine::new(subject(&challenge.algorithm, challenge.n, challenge.k));
        assert_eq!(engine.session().subject().name(), challenge.algorithm);
    }
}

#[test]
fn the_checker_knows_the_best_number_of_steps_of_a_challenge() {
    for (id, n, k, property, best) in [
        ("am-fig3:no-take", 3, 2, "exclusion", 6),
        ("am-fig3:no-second-look", 3, 2, "deadlock", 14),
    ] {
        let mut engine = explored(id, n, k);
        let about = ask(&mut engine, json!({ "do": "describe" }));
        assert_eq!(about["challenge"]["property"], property, "{id}");
        let view = ask(&mut engine, json!({ "do": "view", "node": 0 }));
        assert_eq!(view["challenge"], json!({ "best": best, "solved": false }), "{id}");
    }
}

#[test]
fn a_small_model_is_drawn_as_a_whole_and_a_state_can_be_visited() {
    let mut engine = explored("am-fig3", 2, 1);
    let drawing = ask(&mut engine, json!({ "do": "graph", "node": 0 }));
    let states = drawing["states"].as_array().unwrap();
    assert_eq!(drawing["whole"], true);
    assert_eq!(drawing["current"], 0);
    let last = states.iter().max_by_key(|state| state["level"].as_u64()).unwrap();
    let way = ask(&mut engine, json!({ "do": "go", "node": 0, "state": last["id"] }));
    let end = way["path"].as_array().unwrap().last().unwrap();
    assert_eq!(end["state"], last["id"]);
    assert!(engine.handle(&json!({ "do": "go", "node": 0, "state": 999999 })).is_err());
}

#[test]
fn a_model_that_is_not_explored_has_a_drawing_of_nearby_states() {
    let mut engine = Engine::new(subject("am-fig3", 3, 2));
    let drawing = ask(&mut engine, json!({ "do": "graph", "node": 0 }));
    assert_eq!((&drawing["whole"], &drawing["current"]), (&json!(false), &json!(0)));
    assert!(drawing["states"].as_array().unwrap().len() > 50);
}

/// Adds a lock to the catalogue that promises only freedom from deadlock, and returns its identifier.
fn unfair_lock() -> String {
    let file = tempfile::Builder::new().suffix(".kx").tempfile().unwrap();
    let source = "algorithm lock shared x : bool = false \
                  passage waiting 1: await not test_and_set(x) critical 2: x := false end \
                  promises deadlock freedom";
    std::fs::write(file.path(), source).unwrap();
    let id = file.path().to_str().unwrap().to_string();
    assert!(hallpass_lab::catalogue::load_as(&id, &id).is_ok());
    id
}

#[test]
fn a_violation_that_is_not_promised_is_marked() {
    let mut engine = explored(&unfair_lock(), 3, 1);
    let view = ask(&mut engine, json!({ "do": "view", "node": 0 }));
    let starve = goal(&view, "starve-0");
    assert_eq!(starve["stopped"], 0);
    assert_eq!([&starve["violates"], &starve["unpromised"]], [&json!(false), &json!(true)]);
    assert_eq!(goal(&view, "deadlock")["stopped"], 1, "the holder of the lock stops");
    assert_eq!(goal(&view, "deadlock")["unpromised"], true);
    assert_eq!(goal(&view, "range")["unpromised"], false, "it cannot happen");
    assert_eq!(view["facts"][0]["name"], "exclusion");
    assert_eq!(view["facts"][0]["promised"], false);
    let answer = ask(&mut engine, json!({ "do": "ask", "node": 0, "goal": "starve-0" }));
    let last = answer["path"].as_array().unwrap().last().unwrap();
    assert_eq!(last["loop"]["stopped"], json!([]));
    assert_eq!(last["loop"]["violates"], false);
    let about = ask(&mut engine, json!({ "do": "describe" }));
    let shown = about["variables"].as_array().unwrap().iter().filter(|it| it["hidden"] == false);
    assert_eq!(shown.map(|it| &it["name"]).collect::<Vec<_>>(), ["x"]);
}
