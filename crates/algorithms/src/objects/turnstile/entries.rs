//! The registry entries of the turnstile.

use super::{Turnstile, wrong};
use crate::{
    framework::changed::Changed,
    registry::{Entry, OURS, entries},
};

const TURNSTILE: Entry =
    Entry::new(OURS, "turnstile").using("fetch-and-increment, compare-and-swap").fife_strong();

entries! {
    "turnstile" + names => Turnstile::new, TURNSTILE.titled("a process enters if it finds room; after two failed attempts, it draws a number");
    "turnstile:no-compare" => |n, k| Changed::<_, wrong::NoCompare>::new(Turnstile::new(n, k)), TURNSTILE.wrong("line E3 draws a number without checking which number it is");
    "turnstile:no-number" => |n, k| Changed::<_, wrong::NoNumber>::new(Turnstile::new(n, k)), TURNSTILE.wrong("line E4 draws no number");
    "turnstile:no-exit" => |n, k| Changed::<_, wrong::NoExit>::new(Turnstile::new(n, k)), TURNSTILE.wrong("line X1 counts no exit");
}
