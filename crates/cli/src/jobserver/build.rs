//! The variables and arguments by which a build finds its tokens. A program such as make takes a token before it starts
//! another job in parallel.

use std::{env, ffi::OsString};

/// Returns the variables by which make, cargo and ninja find the tokens. Keeps the options of an outer
/// `MAKEFLAGS`, except options about parallel jobs.
pub fn flags(slots: usize, authority: &str) -> [(&'static str, String); 2] {
    let outer = env::var("MAKEFLAGS").unwrap_or_default();
    let flags = flags_after(&outer, slots, authority);
    // cargo reads `CARGO_MAKEFLAGS` first. If a cargo has started hallpass, it may have set this variable. So replace
    // it.
    [("MAKEFLAGS", flags), ("CARGO_MAKEFLAGS", format!("-j --jobserver-auth={authority}"))]
}

pub fn flags_after(outer: &str, slots: usize, authority: &str) -> String {
    let (options, variables) = match outer.split_once(" -- ") {
        Some((options, variables)) => (options, format!(" -- {variables}")),
        None => (outer, String::new()),
    };
    let is_about_jobs = |word: &&str| {
        word.starts_with("--jobserver-") || word.starts_with("-j") || word.starts_with("--jobs")
    };
    let kept: Vec<_> = options.split_whitespace().filter(|word| !is_about_jobs(word)).collect();
    let jobs = format!("-j{slots} --jobserver-auth={authority}");
    format!("{} {jobs}{variables}", kept.join(" ")).trim_start().to_string()
}

/// The letters of the options of make that take a value. If one of them is followed by more characters in the same
/// word, these are the value.
const MAKE_WITH_VALUE: &str = "CEIOWflo";
/// The letters of the options of ninja that take a value.
const NINJA_WITH_VALUE: &str = "Cdfkltw";

/// Returns the command without the options by which make and ninja limit their own jobs. With such an option, they
/// ignore the jobserver.
pub fn without_job_limits(program: &str, command: &[OsString]) -> Vec<OsString> {
    let with_value = match program {
        "make" | "gmake" => MAKE_WITH_VALUE,
        "ninja" | "ninja-build" | "samu" => NINJA_WITH_VALUE,
        _ => return command.to_vec(),
    };
    let is_number = |word: &OsString| word.to_str().is_some_and(|word| word.parse::<u32>().is_ok());
    let mut kept = vec![command[0].clone()];
    let mut words = command[1..].iter().peekable();
    while let Some(word) = words.next() {
        match word.to_str().unwrap_or_default() {
            "--" => {
                kept.push(word.clone());
                kept.extend(words.by_ref().cloned());
            }
            "--jobs" => {
                words.next_if(|next| is_number(next));
            }
            option if option.starts_with("--jobs=") => {}
            option => match without_jobs(option, with_value) {
                Some((others, number)) => {
                    if number.is_empty() {
                        words.next_if(|next| is_number(next));
                    }
                    kept.extend((others != "-").then(|| others.into()));
                }
                None => kept.push(word.clone()),
            },
        }
    }
    kept
}

/// Splits a word of short options that ends with `j` and a number, such as `-kj8`, into the options before `j` and the
/// number. The number may be empty. Returns `None` if the word does not end with this option.
fn without_jobs<'a>(word: &'a str, with_value: &str) -> Option<(&'a str, &'a str)> {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    let stop = letters.find(|letter| letter == 'j' || with_value.contains(letter))?;
    let number = letters[stop..].strip_prefix('j')?;
    let is_number = number.is_empty() || number.parse::<u32>().is_ok();
    is_number.then_some((&word[..=stop], number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_an_outer_make_stay_except_those_about_jobs() {
        assert_eq!(flags_after("", 4, "3,5"), "-j4 --jobserver-auth=3,5");
        let outer = "kw -j8 --jobserver-auth=6,7 --no-print-directory -- CC=gcc OPT=-j2";
        let expected = "kw --no-print-directory -j4 --jobserver-auth=fifo:/x -- CC=gcc OPT=-j2";
        assert_eq!(flags_after(outer, 4, "fifo:/x"), expected);
    }

    #[test]
    fn options_that_limit_jobs_are_removed_from_make_and_ninja_only() {
        let removed = |words: &str| {
            let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
            let program = words[0].to_string_lossy().into_owned();
            without_job_limits(&program, &words).join(std::ffi::OsStr::new(" "))
        };
        assert_eq!(removed("make -j"), "make");
        assert_eq!(removed("make -j8 -k all"), "make -k all");
        assert_eq!(removed("make -j 8 all"), "make all");
        assert_eq!(removed("make -j all"), "make all");
        assert_eq!(removed("ninja --jobs=8 --jobs 3 x"), "ninja x");
        assert_eq!(removed("make -kj8 all"), "make -k all");
        assert_eq!(removed("make -kj 8 all"), "make -k all");
        assert_eq!(removed("make -skj"), "make -sk");
        assert_eq!(removed("make -Cj8 -f j"), "make -Cj8 -f j");
        assert_eq!(removed("ninja -vj8 -kj8"), "ninja -v -kj8");
        assert_eq!(removed("make -- -j8"), "make -- -j8");
        assert_eq!(removed("make -jobs"), "make -jobs");
        assert_eq!(removed("cargo build -j8"), "cargo build -j8");
    }
}
