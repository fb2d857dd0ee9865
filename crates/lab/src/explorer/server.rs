//! The page and its requests over HTTP, on 127.0.0.1 only. No data leaves the machine.
//!
//! A request whose `Host` is not this server, or whose `Origin` is another page, is refused: otherwise a page from the
//! internet that is open in the same browser could reach the server under a name of its own.

use std::{
    collections::HashMap,
    io::{self, Read as _, Write},
    net::{Ipv4Addr, SocketAddr},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use hallpass_algorithms::registry::ENTRIES;
use serde_json::{Value, json};
use tiny_http::{Method, Request, StatusCode};

use super::{
    Engine, Subject, answers::Answers, assets, challenge::Challenge, chart::Chart, export,
};
use crate::{check::Resources, explore::Ended, schedule::MemoryModel, trace};

/// The limits of the exploration in the background.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The largest number of states.
    pub states: u64,
    /// The largest number of bytes of memory.
    pub bytes: u64,
    /// The number of threads.
    pub threads: usize,
}

/// A server that is bound to its port.
pub struct Server {
    http: tiny_http::Server,
    app: Arc<App>,
    address: SocketAddr,
}

struct App {
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

/// The most subjects that are open at once. Each keeps its explored states.
const MOST_MODELS: usize = 32;
/// The largest request.
const MOST_BYTES: u64 = 1 << 20;
/// The number of threads that answer requests.
const THREADS: usize = 4;

/// Takes a lock. A panic in another request leaves the tree usable, because nodes are only added.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// Binds to `port` of 127.0.0.1; 0 takes any free port. The page opens with `subject`.
    ///
    /// # Errors
    /// Fails if the port is taken.
    pub fn bind(port: u16, subject: Subject, effort: Effort) -> io::Result<Self> {
        let http =
            tiny_http::Server::http((Ipv4Addr::LOCALHOST, port)).map_err(io::Error::other)?;
        let address = http
            .server_addr()
            .to_ip()
            .ok_or_else(|| io::Error::other("the server has no address"))?;
        let app = Arc::new(App {
            models: Mutex::new(HashMap::new()),
            first: subject.key(),
            effort,
            stop: AtomicBool::new(false),
        });
        app.open(subject).map_err(io::Error::other)?;
        Ok(Server { http, app, address })
    }

    /// Returns the address of the page.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Plays a replay string into the tree of the first subject.
    ///
    /// # Errors
    /// Fails if the run is not one of the subject, or a step is impossible.
    pub fn play(&self, replay: &str) -> Result<(), String> {
        let model = self.app.model(&self.app.first)?;
        let mut engine = lock(&model.engine);
        engine.session_mut().open(replay).map(|_| ())
    }

    /// Answers requests until the program ends or [`Server::shut_down`] is called.
    pub fn run(&self) {
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    while !self.app.stop.load(Relaxed) {
                        match self.http.recv() {
                            Ok(request) => self.serve(request),
                            Err(_) => break, // shut down
                        }
                    }
                });
            }
        });
    }

    /// Makes [`Server::run`] return.
    pub fn shut_down(&self) {
        self.app.stop.store(true, Relaxed);
        (0..THREADS).for_each(|_| self.http.unblock());
    }

    fn serve(&self, mut request: Request) {
        let answer = match self.refuse(&request) {
            Some(refusal) => text(403, refusal),
            None => caught(|| self.app.answer(&mut request)).unwrap_or_else(|error| {
                respond(500, "application/json", json!({ "error": error }).to_string())
            }),
        };
        let head_only = *request.method() == Method::Head;
        // The page may be gone by now.
        let _ = answer.write(request.into_writer(), head_only);
    }

    /// Returns why a request is refused.
    fn refuse(&self, request: &Request) -> Option<String> {
        let port = self.address.port();
        let own = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let header = |name: &'static str| {
            let found = request.headers().iter().find(|header| header.field.equiv(name));
            found.map(|header| header.value.as_str().to_string())
        };
        let host = header("Host").unwrap_or_default();
        if !own.contains(&host) {
            return Some(format!("this server answers only to {}, not to `{host}`", own[0]));
        }
        let origin = header("Origin")?;
        let is_own = own.iter().any(|own| origin == format!("http://{own}"));
        (!is_own).then(|| format!("pages of `{origin}` may not use this server"))
    }
}

/// An answer to a request.
struct Answer {
    status: u16,
    kind: &'static str,
    body: String,
}

impl Answer {
    /// Writes the answer and asks the browser to close the connection.
    ///
    /// A connection that stays open keeps one of the server's few reading threads, and a browser opens more
    /// connections than there are such threads. `Request::respond` leaves that choice to the browser.
    fn write(&self, mut writer: impl Write, head_only: bool) -> io::Result<()> {
        const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                              img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
        let Answer { status, kind, body } = self;
        let reason = StatusCode(*status).default_reason_phrase();
        let length = body.len();
        let mut answer = format!(
            "HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Length: {length}\r\n\
             Content-Type: {kind}\r\nContent-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\n\r\n"
        );
        if !head_only {
            answer.push_str(body);
        }
        writer.write_all(answer.as_bytes())?;
        writer.flush()
    }
}

fn respond(status: u16, kind: &'static str, body: String) -> Answer {
    Answer { status, kind, body }
}

fn text(status: u16, body: String) -> Answer {
    respond(status, "text/plain; charset=utf-8", body)
}

fn to_json(answer: Result<Value, String>) -> Answer {
    let (status, body) = match answer {
        Ok(body) => (200, body),
        Err(error) => (400, json!({ "error": error })),
    };
    respond(status, "application/json", body.to_string())
}

impl App {
    fn answer(self: &Arc<Self>, request: &mut Request) -> Answer {
        let path = request.url().split('?').next().unwrap_or_default().to_string();
        match (request.method(), path.as_str()) {
            (Method::Get | Method::Head, "/") => {
                respond(200, "text/html; charset=utf-8", assets::PAGE.to_string())
            }
            (Method::Get | Method::Head, "/explorer.css") => {
                respond(200, "text/css; charset=utf-8", assets::CSS.to_string())
            }
            (Method::Get | Method::Head, path) => {
                match assets::SCRIPTS.iter().find(|script| script.path == path) {
                    Some(script) => {
                        respond(200, "text/javascript; charset=utf-8", script.text.to_string())
                    }
                    None => text(404, format!("there is no page {path}")),
                }
            }
            (Method::Post, "/api") => match body(request) {
                Ok(body) => to_json(self.handle(&body)),
                Err(error) => to_json(Err(error)),
            },
            (method, path) => text(405, format!("{method} {path} is not possible")),
        }
    }

    /// Answers a request of the page. Those with `do` = `catalogue`, `model`, `progress` or `export` are answered here;
    /// the others by the engine of the model with the key `model`.
    fn handle(self: &Arc<Self>, request: &Value) -> Result<Value, String> {
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
                let node = request["node"].as_u64().unwrap_or(0) as u32;
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
            let own = lock(&self.models)
                .values()
                .find(|model| lock(&model.engine).session_mut().open(replay).is_ok())
                .cloned();
            if let Some(model) = own {
                return lock(&model.engine).handle(&json!({ "do": "describe" }));
            }
            let schedule = trace::decode(replay).map_err(|error| error.to_string())?;
            let crate::schedule::Schedule { algorithm, n, k, memory, .. } = &schedule;
            let subject = Subject::registered(algorithm, *n, *k, *memory)?;
            return self.describe(subject);
        }
        let Some(algorithm) = request["algorithm"].as_str() else {
            let model = self.model(&self.first)?;
            return lock(&model.engine).handle(&json!({ "do": "describe" }));
        };
        let size = |key: &str| {
            let size = request[key].as_u64().filter(|&size| size <= 64).map(|size| size as usize);
            size.ok_or_else(|| format!("`{key}` must be a number"))
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
                "{MOST_MODELS} models are open, which is the most: restart the program"
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

    /// Computes answers that a view needed, outside the request.
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

/// Runs `work`, and returns an error if it panics. Otherwise a fault in one algorithm would end a thread of the
/// server, and the page would wait forever.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let why = panic.downcast_ref::<String>().map(String::as_str);
        let why =
            why.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        format!("hallpass-lab has a fault: {why}")
    })
}

fn body(request: &mut Request) -> Result<Value, String> {
    let mut text = String::new();
    let mut reader = request.as_reader().take(MOST_BYTES + 1);
    reader
        .read_to_string(&mut text)
        .map_err(|error| format!("the request cannot be read: {error}"))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(format!("a request has at most {MOST_BYTES} bytes"));
    }
    serde_json::from_str(&text).map_err(|error| format!("the request is not JSON: {error}"))
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
