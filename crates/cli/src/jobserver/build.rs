//! The variables and arguments by which a build finds its tokens.

use std::{env, ffi::OsString};

/// Returns the variables by which make, cargo and ninja find the tokens. It keeps the options of an outer
/// `MAKEFLAGS`, except options about parallel jobs.
pub fn flags(slots: usize, authority: &str) -> [(&'static str, String); 2] {
    let outer = env::var("MAKEFLAGS").unwrap_or_default();
    let flags = flags_after(&outer, slots, authority);
    // cargo reads its own variable first. If a cargo has started hallpass, it may have set this variable.
    [("MAKEFLAGS", flags), ("CARGO_MAKEFLAGS", format!("-j --jobserver-auth={authority}"))]
}

fn flags_after(outer: &str, slots: usize, authority: &str) -> String {
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

/// Returns the command without the options by which make and ninja limit their own jobs. With such an option, they
/// ignore the jobserver.
pub fn without_job_limits(program: &str, command: &[OsString]) -> Vec<OsString> {
    if !["make", "gmake", "ninja", "ninja-build", "samu"].contains(&program) {
        return command.to_vec();
    }
    let is_number = |word: &OsString| word.to_str().is_some_and(|word| word.parse::<u32>().is_ok());
    let mut kept = vec![command[0].clone()];
    let mut words = command[1..].iter().peekable();
    while let Some(word) = words.next() {
        match word.to_str().unwrap_or_default() {
            "--" => {
                kept.push(word.clone());
                kept.extend(words.by_ref().cloned());
            }
            "-j" | "--jobs" => {
                words.next_if(|next| is_number(next));
            }
            option if option.starts_with("--jobs=") => {}
            option if option.strip_prefix("-j").is_some_and(|n| n.parse::<u32>().is_ok()) => {}
            _ => kept.push(word.clone()),
        }
    }
    kept
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
        assert_eq!(removed("make -- -j8"), "make -- -j8");
        assert_eq!(removed("make -jobs"), "make -jobs");
        assert_eq!(removed("cargo build -j8"), "cargo build -j8");
    }
}
