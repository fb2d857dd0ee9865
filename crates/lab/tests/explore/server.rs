//! Checks that the explorer's server answers its own page, refuses requests with another host or origin, and survives
//! damaged requests and slow clients.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use hallpass_lab::explorer::server::{Effort, Server};
use serde_json::{Value, json};

use super::subject;

const EFFORT: Effort = Effort { states: 100_000, bytes: 1 << 30, threads: 1 };

/// Runs `test` against a server, then shuts it down.
pub fn with_server(id: &str, n: usize, k: usize, test: impl FnOnce(&Server, SocketAddr)) {
    let server = Server::bind(0, subject(id, n, k), EFFORT).unwrap();
    let address = server.url().trim_start_matches("http://").trim_end_matches('/').parse().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| server.run().unwrap());
        struct Stop<'a>(&'a Server);
        impl Drop for Stop<'_> {
            fn drop(&mut self) {
                self.0.shut_down();
            }
        }
        let stop = Stop(&server);
        test(stop.0, address);
    });
}

/// Sends a request and returns the status and the body.
fn send(address: SocketAddr, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_string())
}

fn get(address: SocketAddr, path: &str, host: &str, more: &str) -> (u16, String) {
    send(
        address,
        &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n"),
    )
}

fn post(address: SocketAddr, body: &str) -> (u16, Value) {
    let length = body.len();
    let (status, body) = send(
        address,
        &format!(
            "POST /api HTTP/1.0\r\nHost: {address}\r\nOrigin: http://{address}\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        ),
    );
    (status, serde_json::from_str(&body).unwrap_or(Value::Null))
}

#[test]
fn other_hosts_and_origins_are_refused() {
    with_server("am-fig3", 2, 1, |_, address| {
        let port = address.port();
        let own = format!("127.0.0.1:{port}");
        assert_eq!(get(address, "/", &own, "").0, 200);
        assert_eq!(get(address, "/", &format!("localhost:{port}"), "").0, 200);
        assert_eq!(get(address, "/", &own, &format!("Origin: http://{own}\r\n")).0, 200);
        for host in ["example.org", "127.0.0.1", &format!("example.org:{port}"), ""] {
            assert_eq!(get(address, "/", host, "").0, 403, "{host}");
        }
        for origin in
            ["http://example.org", "null", &format!("https://{own}"), "http://127.0.0.1:1"]
        {
            assert_eq!(
                get(address, "/", &own, &format!("Origin: {origin}\r\n")).0,
                403,
                "{origin}"
            );
        }
    });
}

#[test]
fn pages_and_requests_that_do_not_exist_are_errors() {
    with_server("am-fig3", 2, 1, |_, address| {
        let own = address.to_string();
        assert_eq!(get(address, "/../Cargo.toml", &own, "").0, 404);
        assert_eq!(get(address, "/base.js", &own, "").0, 200);
        let (status, _) = send(
            address,
            &format!("DELETE / HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n"),
        );
        assert_eq!(status, 405);
        assert_eq!(post(address, "not JSON").0, 400);
        let (status, answer) =
            post(address, &json!({ "do": "view", "node": 0, "model": "x" }).to_string());
        assert_eq!(
            (status, answer["error"].as_str().unwrap().contains("no model `x`")),
            (400, true)
        );
        let (status, answer) = post(
            address,
            &json!({ "do": "model", "algorithm": "am-fig3", "n": 2, "k": 5 }).to_string(),
        );
        assert_eq!(
            (status, answer["error"].as_str().unwrap().contains("n must be larger")),
            (400, true)
        );
        let (_, answer) = post(address, &"x".repeat((1 << 20) + 10));
        assert!(answer["error"].as_str().unwrap().contains("at most"), "{answer}");
    });
}

#[test]
fn a_model_is_explored_in_the_background() {
    with_server("am-fig3", 3, 2, |_, address| {
        let (_, model) = post(address, &json!({ "do": "model" }).to_string());
        let request = json!({ "do": "progress", "model": model["key"] }).to_string();
        let begun = Instant::now();
        let result = loop {
            let (status, progress) = post(address, &request);
            assert_eq!(status, 200);
            if !progress["result"].is_null() {
                break progress["result"].clone();
            }
            assert!(begun.elapsed() < Duration::from_secs(120), "{progress}");
            thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(result["all"], true);
        let view = json!({ "do": "view", "node": 0, "model": model["key"] }).to_string();
        assert!(post(address, &view).1["goals"].is_array());
        // A link to another model opens that model.
        let replay = "hp1.am-fig3.2.1.sc.0.starve-1-0.001111.1.70042194";
        let (_, other) = post(address, &json!({ "do": "model", "replay": replay }).to_string());
        assert_eq!(other["key"], "am-fig3.2.1.sc");
        assert!(
            post(address, &json!({ "do": "catalogue" }).to_string()).1["challenges"].is_array()
        );
    });
}

#[test]
fn a_browser_that_keeps_its_connections_open_does_not_block_others() {
    with_server("am-fig3", 2, 1, |_, address| {
        // More connections than the server has threads. Each client leaves its connection open after the answer.
        let mut open = Vec::new();
        for _ in 0..24 {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            write!(stream, "GET /base.js HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
            let mut answer = Vec::new();
            while !String::from_utf8_lossy(&answer).contains("\r\n\r\n") {
                let mut part = [0; 4096];
                let read = stream.read(&mut part).expect("the server answers");
                assert_ne!(read, 0, "the server answers");
                answer.extend_from_slice(&part[..read]);
            }
            let answer = String::from_utf8_lossy(&answer).to_lowercase();
            assert!(answer.contains("connection: close\r\n"), "{answer}");
            open.push(stream);
        }
    });
}

/// Sends bytes, leaves the connection open, and returns what comes back until the server closes it.
fn talk(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_request_that_announces_a_huge_body_or_huge_headers_does_not_end_the_server() {
    with_server("am-fig3", 2, 1, |_, address| {
        for length in ["900000000000000000", "18446744073709551615", "99999999999", "-1", "1e9"] {
            let head = format!(
                "POST /api HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\n\r\nx"
            );
            let answer = talk(address, &head);
            assert!(answer.starts_with("HTTP/1.1 4"), "{length}: {answer}");
        }
        let endless =
            format!("GET / HTTP/1.1\r\nHost: {address}\r\nX: {}\r\n\r\n", "x".repeat(200_000));
        assert!(!talk(address, &endless).starts_with("HTTP/1.1 200"));
        assert_eq!(get(address, "/", &address.to_string(), "").0, 200);
    });
}

#[test]
fn clients_that_send_nothing_or_half_a_request_do_not_block_others() {
    with_server("am-fig3", 2, 1, |_, address| {
        let half = [
            String::new(),
            "GET / HT".to_string(),
            format!("GET / HTTP/1.1\r\nHost: {address}\r\n"),
            format!("POST /api HTTP/1.1\r\nHost: {address}\r\nContent-Length: 2000\r\n\r\n{{"),
        ];
        let mut open = Vec::new();
        for request in half.iter().cycle().take(40) {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            open.push(stream);
        }
        for _ in 0..10 {
            assert_eq!(get(address, "/", &address.to_string(), "").0, 200);
        }
        let (status, model) = post(address, &json!({ "do": "model" }).to_string());
        assert_eq!((status, &model["key"]), (200, &json!("am-fig3.2.1.sc")));
    });
}

#[test]
fn a_request_with_two_hosts_or_another_host_in_its_first_line_is_refused() {
    with_server("am-fig3", 2, 1, |_, address| {
        let own = format!("Host: {address}\r\n");
        let two = format!("GET / HTTP/1.1\r\n{own}Host: example.org\r\n\r\n");
        assert!(!talk(address, &two).starts_with("HTTP/1.1 200"));
        let absolute = format!("GET http://example.org/ HTTP/1.1\r\n{own}\r\n");
        assert!(talk(address, &absolute).starts_with("HTTP/1.1 403"));
        let none = "GET / HTTP/1.0\r\n\r\n";
        assert!(talk(address, none).starts_with("HTTP/1.0 403"), "{}", talk(address, none));
        let origins = format!("Origin: http://{address}\r\nOrigin: http://example.org\r\n");
        assert_eq!(get(address, "/", &address.to_string(), &origins).0, 403);
    });
}

#[test]
fn damaged_requests_are_errors_with_a_reason() {
    with_server("am-fig3", 2, 1, |_, address| {
        let key = "am-fig3.2.1.sc";
        let other = "hp1.am-fig3.3.2.sc.0.play.012.-.00000000";
        let deep = "[".repeat(100_000);
        let requests = [
            json!({ "do": "step", "node": 0, "agent": 99, "model": key }).to_string(),
            json!({ "do": "step", "node": 4_294_967_296u64, "agent": 0, "model": key }).to_string(),
            json!({ "do": "step", "node": -1, "agent": 0, "model": key }).to_string(),
            json!({ "do": "stop", "node": 0, "process": 64, "model": key }).to_string(),
            json!({ "do": "ask", "node": 0, "goal": "starve-99", "model": key }).to_string(),
            json!({ "do": "ask", "node": 0, "goal": "bypass-x", "model": key }).to_string(),
            json!({ "do": "go", "node": 0, "state": 4_000_000_000u32, "model": key }).to_string(),
            json!({ "do": "start", "initial": [0], "model": key }).to_string(),
            json!({ "do": "open", "replay": other, "model": key }).to_string(),
            json!({ "do": "model", "replay": "hp1.../../etc/passwd" }).to_string(),
            json!({ "do": "model", "algorithm": "/etc/passwd", "n": 2, "k": 1 }).to_string(),
            json!({ "do": "model", "algorithm": "am-fig3", "n": 1_000_000, "k": 1 }).to_string(),
            json!({ "do": "export", "node": 77, "model": key }).to_string(),
            json!({ "do": "erase", "model": key }).to_string(),
            "[]".to_string(),
            "null".to_string(),
            deep,
        ];
        for request in requests {
            let (status, answer) = post(address, &request);
            let start: String = request.chars().take(80).collect();
            assert_eq!(status, 400, "{start}: {answer}");
            assert!(answer["error"].as_str().is_some_and(|why| !why.is_empty()), "{start}");
        }
    });
}
