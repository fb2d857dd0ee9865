//! `hallpass-lab new`.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args as ClapArgs;
use hallpass_lab::program::{self, HOLDS, files, output::outln};
use hallpass_language::{EXTENSION, is_keyword};

#[derive(ClapArgs)]
pub struct Args {
    /// The name of the algorithm: letters, digits, - and _. The file is NAME.kx, the crate is the folder NAME
    name: String,
    /// Write a crate that implements `Algorithm` in Rust, instead of a file
    #[arg(long)]
    rust: bool,
    /// The checkout of hallpass that the crate is built with [default: the checkout in which this program was built
    /// or which contains the current folder]
    #[arg(long, value_name = "PATH", requires = "rust")]
    hallpass: Option<PathBuf>,
}

const FILE: &str = include_str!("new.kx");
const MANIFEST: &str = include_str!("Cargo.toml.txt");
const MAIN: &str = include_str!("main.rs.txt");

/// Writes the file or the crate. Fails if the file or the folder exists.
pub fn run(args: Args) -> program::Result {
    let name = args.name.strip_suffix(EXTENSION).unwrap_or(&args.name);
    let begins = |c: char| c.is_ascii_alphabetic();
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.starts_with(begins) || !name.chars().all(allowed) {
        return Err(format!(
            "`{name}` cannot be the name of an algorithm: a name begins with a letter, and contains only letters, digits, - and _"
        )
        .into());
    }
    if args.rust {
        write_crate(name, args.hallpass.as_deref())?;
    } else {
        let algorithm = name.replace('-', "_");
        if is_keyword(&algorithm) {
            return Err(format!(
                "`{name}` cannot be the name of an algorithm: it is a word of the language"
            )
            .into());
        }
        let path = format!("{name}{EXTENSION}");
        let text = FILE.replace("NAME.kx", &path).replace("NAME", &algorithm);
        write(Path::new(&path), &text)?;
        outln!("wrote {path}; now run: hallpass-lab check {path} -n 3 -k 2");
    }
    Ok(ExitCode::from(HOLDS))
}

/// Packages that the crate depends on, and names that cargo refuses.
const RESERVED: [&str; 6] =
    ["hallpass-lab", "hallpass-algorithms", "build", "deps", "examples", "incremental"];

fn write_crate(name: &str, hallpass: Option<&Path>) -> Result<(), String> {
    if RESERVED.contains(&name) {
        return Err(format!("a crate cannot be called {name}: choose another name"));
    }
    let folder = Path::new(name);
    if folder.exists() {
        return Err(format!("{name} exists: choose another name, or remove it"));
    }
    let checkout = match hallpass {
        Some(path) => checkout_at(path).ok_or_else(|| {
            format!("{} is not a checkout of hallpass: it has no {LAB}", path.display())
        })?,
        None => nearby_checkout().ok_or_else(|| {
            format!(
                "the crate needs the sources of hallpass, and there is no checkout here: get one and run \
                 hallpass-lab new {name} --rust --hallpass CHECKOUT"
            )
        })?,
    };
    let source = |part: &str| {
        // TOML escapes quotes and backslashes in the same way as Rust.
        format!("path = {:?}", checkout.join("crates").join(part).display().to_string())
    };
    let manifest = MANIFEST
        .replace("NAME", name)
        .replace("ALGORITHMS", &source("algorithms"))
        .replace("LAB", &source("lab"));
    let create = |folder: &Path| {
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot create {}: {error}", folder.display()))
    };
    create(&folder.join("src"))?;
    write(&folder.join("Cargo.toml"), &manifest)?;
    write(&folder.join("src/main.rs"), MAIN)?;
    outln!("{name}/Cargo.toml uses the checkout at {}", checkout.display());
    outln!(
        "wrote {name}/Cargo.toml and {name}/src/main.rs; now run: cd {name} && cargo run --release"
    );
    Ok(())
}

/// The file by which a checkout is recognised.
const LAB: &str = "crates/lab/Cargo.toml";

/// Returns the absolute path of the checkout in a folder, if there is one.
fn checkout_at(folder: &Path) -> Option<PathBuf> {
    folder.join(LAB).is_file().then(|| folder.canonicalize().ok())?
}

/// Returns the checkout in which this program was built, or the checkout that contains the current folder.
fn nearby_checkout() -> Option<PathBuf> {
    let places = [env::current_exe(), env::current_dir()];
    places.into_iter().flatten().find_map(|place| place.ancestors().find_map(checkout_at))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    if path.exists() {
        return Err(format!("{} exists: choose another name, or remove it", path.display()));
    }
    files::save(path, text)
}
