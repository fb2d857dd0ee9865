//! The page and its requests over HTTP, on 127.0.0.1 only. No data leaves the machine.
//!
//! The server refuses a request whose `Host` is not this server, or whose `Origin` is another page. Without this check,
//! a page from the internet that is open in the same browser could send requests to the server, if the host name of the
//! page leads to 127.0.0.1 (DNS rebinding).
//!
//! Every connection carries one request. Requests that are too large or too slow are rejected, so that no client can
//! block the others.

use std::{
    convert::Infallible,
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};

use http_body_util::{BodyExt as _, Full};
use hyper::{
    Method, Request, Response,
    body::{Body as _, Bytes, Incoming},
    header::{self, HeaderMap, HeaderName, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, Semaphore},
    time::{sleep, timeout},
};

use super::{
    Subject, assets,
    models::{App, caught},
};

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
    listener: TcpListener,
    app: Arc<App>,
    address: SocketAddr,
    stopped: Notify,
}

/// The largest request in bytes.
const MOST_BYTES: usize = 1 << 20;
/// The largest body in bytes that is read to its end, so that its sender gets an answer.
const MOST_DISCARDED: usize = 16 << 20;
/// The largest headers in bytes.
const MOST_HEADERS: usize = 32 << 10;
/// The maximum number of simultaneous connections. A browser opens 6.
const MOST_CONNECTIONS: usize = 100;
/// The number of threads that answer requests.
const THREADS: usize = 4;
/// The time limit for a client to send its headers, and again for its body.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest time that a connection lasts. The longest questions take a minute.
const LONGEST: Duration = Duration::from_secs(600);

impl Server {
    /// Binds to `port` of 127.0.0.1; 0 takes any free port. The page opens with `subject`.
    ///
    /// # Errors
    /// Fails if the port is taken.
    pub fn bind(port: u16, subject: Subject, effort: Effort) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let app = App::new(subject, effort).map_err(io::Error::other)?;
        Ok(Server { listener, app, address, stopped: Notify::new() })
    }

    /// Returns the address of the page.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Plays a replay string on the subject with which the page opens. This adds a run to the subject's tree of runs.
    ///
    /// # Errors
    /// Fails if the run belongs to another subject, or a step is impossible.
    pub fn play(&self, replay: &str) -> Result<(), String> {
        self.app.play(replay)
    }

    /// Answers requests until the program ends or [`Server::shut_down`] is called.
    ///
    /// # Errors
    /// Fails if the operating system has no resources for the server.
    pub fn run(&self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(THREADS)
            .build()?;
        runtime.block_on(self.accept())
    }

    /// Makes [`Server::run`] return.
    pub fn shut_down(&self) {
        self.app.stop();
        self.stopped.notify_one();
    }

    async fn accept(&self) -> io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener.try_clone()?)?;
        let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        loop {
            let next = async {
                let place = places.clone().acquire_owned().await.map_err(io::Error::other)?;
                listener.accept().await.map(|(stream, _)| (stream, place))
            };
            let accepted = tokio::select! {
                () = self.stopped.notified() => return Ok(()),
                accepted = next => accepted,
            };
            let Ok((stream, place)) = accepted else {
                // The client is gone already, or the program has too many open files for the moment.
                sleep(Duration::from_millis(50)).await;
                continue;
            };
            let (app, port) = (self.app.clone(), self.address.port());
            let serve = move |request| answer(app.clone(), port, request);
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .max_buf_size(MOST_HEADERS)
                .keep_alive(false)
                .half_close(true)
                .serve_connection(TokioIo::new(stream), service_fn(serve));
            tokio::spawn(async move {
                // After an error, the client has gone, or the connection has lasted too long. Either way, the server
                // cannot send an answer.
                let _ = timeout(LONGEST, connection).await;
                drop(place);
            });
        }
    }
}

async fn answer(
    app: Arc<App>,
    port: u16,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    if let Some(refusal) = refuse(&request, port) {
        return Ok(text(403, refusal));
    }
    let (parts, body) = request.into_parts();
    let body = match timeout(PATIENCE, read(body)).await {
        Ok(Ok(body)) => body,
        Ok(Err(error)) => return Ok(to_json(413, json!({ "error": error }))),
        Err(_) => return Ok(text(408, "the request came too slowly".into())),
    };
    let path = parts.uri.path().to_string();
    let work = move || caught(|| respond_to(&app, &parts.method, &path, &body));
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| error.to_string()).and_then(|answer| answer);
    Ok(done.unwrap_or_else(|error| to_json(500, json!({ "error": error }))))
}

/// Returns why a request is refused, or `None` if it is not.
fn refuse(request: &Request<Incoming>, port: u16) -> Option<String> {
    let own = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let all = |name: HeaderName| values(request.headers(), &name);
    let mut hosts = all(header::HOST);
    // An address in the request line takes precedence over the header, so it must be this server, too.
    hosts.extend(request.uri().authority().map(|authority| authority.to_string()));
    if hosts.is_empty() {
        return Some(format!("this server answers only to {}: send a `Host`", own[0]));
    }
    if let Some(host) = hosts.iter().find(|host| !own.contains(host)) {
        return Some(format!("this server answers only to {}, not to `{host}`", own[0]));
    }
    let is_own = |origin: &String| own.iter().any(|own| *origin == format!("http://{own}"));
    let origin = all(header::ORIGIN).into_iter().find(|origin| !is_own(origin))?;
    Some(format!("pages of `{origin}` may not use this server"))
}

fn values(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    let all = headers.get_all(name).iter();
    all.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
}

/// Reads a body. A body that is somewhat too large is read to its end, because a client that is still writing does
/// not see the answer.
async fn read(mut body: Incoming) -> Result<Vec<u8>, String> {
    let too_large = || format!("a request has at most {MOST_BYTES} bytes");
    let (mut kept, mut length) = (Vec::new(), 0);
    if body.size_hint().lower() > MOST_DISCARDED as u64 {
        return Err(too_large());
    }
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| format!("the request cannot be read: {error}"))?;
        let Ok(data) = frame.into_data() else { continue };
        length += data.len();
        if length <= MOST_BYTES {
            kept.extend_from_slice(&data);
        } else if length > MOST_DISCARDED {
            break;
        }
    }
    if length > MOST_BYTES { Err(too_large()) } else { Ok(kept) }
}

fn respond_to(app: &Arc<App>, method: &Method, path: &str, body: &[u8]) -> Response<Full<Bytes>> {
    match (method, path) {
        (&Method::GET | &Method::HEAD, "/") => {
            respond(200, "text/html; charset=utf-8", assets::PAGE)
        }
        (&Method::GET | &Method::HEAD, "/explorer.css") => {
            respond(200, "text/css; charset=utf-8", assets::CSS)
        }
        (&Method::GET | &Method::HEAD, path) => {
            match assets::SCRIPTS.iter().find(|script| script.path == path) {
                Some(script) => respond(200, "text/javascript; charset=utf-8", script.text),
                None => text(404, format!("there is no page {path}")),
            }
        }
        (&Method::POST, "/api") => {
            let request = serde_json::from_slice(body)
                .map_err(|error| format!("the request is not JSON: {error}"));
            match request.and_then(|request: Value| app.handle(&request)) {
                Ok(answer) => to_json(200, answer),
                Err(error) => to_json(400, json!({ "error": error })),
            }
        }
        (method, path) => text(405, format!("{method} {path} is not possible")),
    }
}

fn respond(status: u16, kind: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                          img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    response.headers_mut().extend(headers);
    response
}

fn text(status: u16, body: String) -> Response<Full<Bytes>> {
    respond(status, "text/plain; charset=utf-8", body)
}

fn to_json(status: u16, body: Value) -> Response<Full<Bytes>> {
    respond(status, "application/json", body.to_string())
}
