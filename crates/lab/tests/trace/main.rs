//! Replay strings, the interpreter, and what it takes for a finding to be confirmed.

mod confirm;
mod find;
mod interpreter;
mod pages;
mod replay_string;
