//! Interned strings, which live as long as the program. The interface of algorithms requires such strings. Each
//! distinct string is kept once, so compiling the same file again takes no more memory.

use std::{collections::HashSet, sync::Mutex};

static TEXTS: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
static LISTS: Mutex<Option<HashSet<&'static [&'static str]>>> = Mutex::new(None);

/// Returns a permanent copy of `text`.
pub fn intern(text: &str) -> &'static str {
    let mut texts = TEXTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let texts = texts.get_or_insert_default();
    if let Some(known) = texts.get(text) {
        return known;
    }
    let kept: &'static str = Box::leak(text.into());
    texts.insert(kept);
    kept
}

/// Returns a permanent copy of a list.
pub fn intern_all(list: &[&'static str]) -> &'static [&'static str] {
    let mut lists = LISTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let lists = lists.get_or_insert_default();
    if let Some(known) = lists.get(list) {
        return known;
    }
    let kept: &'static [&'static str] = Box::leak(list.into());
    lists.insert(kept);
    kept
}
