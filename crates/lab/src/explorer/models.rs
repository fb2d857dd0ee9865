//! The models that are open in the page, and their exploration in the background. A model is an algorithm at one size
//! (a [`Subject`]), with the tree of the runs that the user has played.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use hallpass_algorithms::registry::ENTRIES;
use serde_json::{Value, json};

use super::{
    Engine, Subject, answers::Answers, challenge::Challenge, chart::Chart, export, server::Effort,
};
use crate::{
    check::Resources,
    explore::Ended,
    schedule::{MemoryModel, Schedule},
    trace,
};

/// The open models.
pub(super) struct App {
    models: Mutex<HashMap<String, Arc<Model>>>,
    /// The model that a page without a replay string opens.
    first: String,
    effort: Effort,
    stop: AtomicBool,
}

/// A subject that is open, and the progress of its exploration.
struct Model {
    engine: Mutex<Engine>,
    states: AtomicU64,
    phase: Mutex<String>,
    /// The result of the exploration, once there is one.
    result: Mutex<Option<Value>>,
}

/// The maximum number of open models. Each keeps its explored states.
const MOST_MODELS: usize = 32;

/// Locks a mutex, even if another request panicked while it held the lock. The tree of runs is still usable then,
/// because requests only add nodes to it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl App {
    /// Opens `subject`, which a page without a replay string shows.
    pub fn new(subject: Subject, effort: Effort) -> Result<Arc<Self>, String> {
        let app = Arc::new(App {
            models: Mutex::new(HashMap::new()),
            first: subject.key(),
            effort,
            stop: AtomicBool::new(false),
        });
        app.open(subject)?;
        Ok(app)
    }

    /// Plays a replay string on the first model. This adds a run to the model's tree of runs.
    pub fn play(&self, replay: &str) -> Result<(), String> {
        let model = self.model(&self.first)?;
        let mut engine = lock(&model.engine);
        engine.session_mut().open(replay).map(|_| ())
    }

    /// Ends explorations in the background.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Answers a request of the page. This function answers requests whose `do` is `catalogue`, `model`, `progress` or
    /// `export`. Other requests go to the engine of a model; the field `model` of the request contains its key.
    pub fn handle(self: &Arc<Self>, request: &Value) -> Result<Value, String> {
        match request["do"].as_str() {
            Some("catalogue") => return Ok(catalogue()),
            Some("model") => return self.choose(request),
            _ => {}
        }
        let key = request["model"].as_str().ok_or("`model` must be the key of a model")?;
        let model = self.model(key)?;
        match request["do"].as_str() {
            Some("progress") => Ok(model.progress()),
            Some("export") => {
                let node = request["node"].as_u64().and_then(|node| u32::try_from(node).ok());
                let node = node.ok_or("`node` must be a number")?;
                Ok(json!({ "page": export(&mut lock(&model.engine), node)? }))
            }
            _ => {
                let answer = lock(&model.engine).handle(request);
                self.learn_in_background(&model);
                answer
            }
        }
    }

    fn model(&self, key: &str) -> Result<Arc<Model>, String> {
        let found = lock(&self.models).get(key).cloned();
        found.ok_or_else(|| format!("no model `{key}` is open: reload the page"))
    }

    /// Opens the model that a request names: by a replay string, by algorithm and size, or the first one.
    fn choose(self: &Arc<Self>, request: &Value) -> Result<Value, String> {
        if let Some(replay) = request["replay"].as_str() {
            let replay = replay.trim();
            // One of the models may be busy for a long time. So `models` is not locked while this request waits for it.
            let open: Vec<Arc<Model>> = lock(&self.models).values().cloned().collect();
            let is_own =
                |model: &&Arc<Model>| lock(&model.engine).session_mut().open(replay).is_ok();
            if let Some(model) = open.iter().find(is_own) {
                return lock(&model.engine).handle(&json!({ "do": "describe" }));
            }
            let schedule = trace::decode(replay).map_err(|error| error.to_string())?;
            let Schedule { algorithm, n, k, memory, .. } = &schedule;
            let subject = Subject::registered(algorithm, *n, *k, *memory)?;
            return self.describe(subject);
        }
        let Some(algorithm) = request["algorithm"].as_str() else {
            let model = self.model(&self.first)?;
            return lock(&model.engine).handle(&json!({ "do": "describe" }));
        };
        let size = |key: &str| {
            let size = request[key].as_u64().filter(|&size| size <= 64).map(|size| size as usize);
            size.ok_or_else(|| {
                format!("`{key}` must be a whole number of at most 64, got {}", request[key])
            })
        };
        let memory = match request["memory"].as_str() {
            Some("tso") => MemoryModel::StoreBuffers,
            _ => MemoryModel::Sequential,
        };
        self.describe(Subject::registered(algorithm, size("n")?, size("k")?, memory)?)
    }

    fn describe(self: &Arc<Self>, subject: Subject) -> Result<Value, String> {
        let model = self.open(subject)?;
        let mut engine = lock(&model.engine);
        engine.handle(&json!({ "do": "describe" }))
    }

    /// Opens a subject, unless it is open already, and explores it in the background.
    fn open(self: &Arc<Self>, subject: Subject) -> Result<Arc<Model>, String> {
        let mut models = lock(&self.models);
        if let Some(model) = models.get(&subject.key()) {
            return Ok(model.clone());
        }
        if models.len() >= MOST_MODELS {
            return Err(format!(
                "{MOST_MODELS} models are open, which is the maximum: restart the program"
            ));
        }
        let model = Arc::new(Model {
            engine: Mutex::new(Engine::new(subject.clone())),
            states: AtomicU64::new(0),
            phase: Mutex::new("starting".into()),
            result: Mutex::new(None),
        });
        models.insert(subject.key(), model.clone());
        let (app, explored) = (self.clone(), model.clone());
        thread::spawn(move || app.explore(&explored, &subject));
        Ok(model)
    }

    fn explore(&self, model: &Model, subject: &Subject) {
        let phase = |text: &str| *lock(&model.phase) = text.to_string();
        let resources = Resources {
            states: self.effort.states,
            bytes: self.effort.bytes,
            threads: self.effort.threads,
            stop: &self.stop,
            phase: &phase,
            progress: &|so_far| model.states.store(so_far.states, Relaxed),
        };
        let result = match caught(|| Chart::new(subject, &resources)).and_then(|chart| chart) {
            Ok(chart) => {
                let chart = Arc::new(chart);
                let answers = Arc::new(Answers::new(&chart, 0, &phase));
                let result = json!({
                    "states": chart.states(),
                    "transitions": chart.transitions,
                    "depth": chart.depth,
                    "all": chart.ended == Ended::Complete,
                    "sure": chart.covers_all_runs,
                });
                lock(&model.engine).learn(chart, answers);
                result
            }
            Err(error) => json!({ "error": error }),
        };
        *lock(&model.result) = Some(result);
    }

    /// Computes the answers that a view lacks, in another thread, so that the request does not wait for them.
    fn learn_in_background(&self, model: &Arc<Model>) {
        let Some((chart, stopped)) = lock(&model.engine).wants() else { return };
        let model = model.clone();
        thread::spawn(move || {
            let answers = Arc::new(Answers::new(&chart, stopped, &|_| ()));
            lock(&model.engine).learn_more(answers);
        });
    }
}

impl Model {
    fn progress(&self) -> Value {
        let result = lock(&self.result).clone();
        json!({
            "states": self.states.load(Relaxed),
            "phase": *lock(&self.phase),
            "result": result,
            "waiting": lock(&self.engine).is_waiting(),
        })
    }
}

/// Runs `work`, and returns an error if `work` panics. If the panic went on, a bug in one algorithm would end a thread
/// of the server, and the page would wait forever.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let why = panic.downcast_ref::<String>().map(String::as_str);
        let why =
            why.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        format!("hallpass-lab has a bug: {why}")
    })
}

/// Returns all algorithms of the registry, and the challenges.
fn catalogue() -> Value {
    let algorithms = ENTRIES.iter().map(|entry| {
        json!({
            "id": entry.id,
            "title": entry.title,
            "paper": entry.paper,
            "figure": entry.figure,
            "names": entry.nameable,
            "min_gap": entry.min_gap,
            "max_k": entry.max_k,
            "max_n": entry.max_processes,
        })
    });
    json!({
        "algorithms": algorithms.collect::<Vec<_>>(),
        "challenges": Challenge::all().iter().map(Challenge::to_json).collect::<Vec<_>>(),
    })
}
