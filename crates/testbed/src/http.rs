//! The part of HTTP that is needed to get the status of a member.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

/// The maximum time for a member's answer. A busy computer needs some seconds.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) fn get(at: SocketAddr, path: &str) -> io::Result<Value> {
    serde_json::from_str(&get_text(at, path)?).map_err(io::Error::from)
}

pub(crate) fn get_text(at: SocketAddr, path: &str) -> io::Result<String> {
    ask(at, &format!("GET {path} HTTP/1.0\r\n\r\n"))
}

pub(crate) fn post(at: SocketAddr, path: &str, body: &str) -> io::Result<Value> {
    let length = body.len();
    let answer =
        ask(at, &format!("POST {path} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}"))?;
    serde_json::from_str(&answer).map_err(io::Error::from)
}

fn ask(at: SocketAddr, request: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&at, ANSWER_TIMEOUT)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::InvalidData)?;
    Ok(body.into())
}
