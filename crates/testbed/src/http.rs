//! As much of HTTP as it takes to ask a member how it is.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

/// Longer than this a member that can answer does not need.
const TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) fn get(at: SocketAddr, path: &str) -> io::Result<Value> {
    ask(at, &format!("GET {path} HTTP/1.0\r\n\r\n"))
}

pub(crate) fn post(at: SocketAddr, path: &str, body: &str) -> io::Result<Value> {
    ask(at, &format!("POST {path} HTTP/1.0\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

fn ask(at: SocketAddr, request: &str) -> io::Result<Value> {
    let mut stream = TcpStream::connect_timeout(&at, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::InvalidData)?;
    serde_json::from_str(body).map_err(io::Error::from)
}
