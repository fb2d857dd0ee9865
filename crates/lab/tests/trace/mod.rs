//! Checks replay strings, the interpreter, the confirmation of findings, and trace pages.

mod confirm;
mod find;
mod interpreter;
mod pages;
mod replay_string;
