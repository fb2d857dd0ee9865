//! Adds models (algorithms at one size) to the files of a manifest. All results of the new models are still to be
//! measured.

use std::fmt::Write as _;

use hallpass_algorithms::registry::{self, ENTRIES, Entry, OURS, Standing};

use crate::check;

use super::{
    expected::OPEN,
    files::ManifestFile,
    listed::Listed,
    manifest::{Error, Manifest},
    select::matches,
};

/// The sizes, as n and k, that an algorithm without a model gets.
const SIZES: [(usize, usize); 3] = [(2, 1), (3, 1), (3, 2)];

/// Appends models to the files of their folders, for each algorithm that a pattern matches, or for
/// every algorithm if there are no patterns. Each of these algorithms gets a model for each of the `sizes` (n
/// and k) at which it exists, unless the manifest has this model already. If `sizes` is empty, algorithms
/// without any model get the usual sizes: (2, 1), (3, 1) and (3, 2).
///
/// Each property and figure of a new model is `"?"`. [`bless`](super::bless) replaces it later. Returns
/// the names of the new models.
pub fn add_models(
    files: &mut [ManifestFile],
    patterns: &[String],
    sizes: &[(usize, usize)],
) -> Result<Vec<String>, Error> {
    let manifest = Manifest::of(files)?;
    let mut added = Vec::new();
    let mut sizes_exist = sizes.is_empty();
    for (id, entry) in algorithms() {
        let named = patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern, &id));
        // `entry.id` has no `+names`. So if an algorithm has models, but its `+names` form has none, the
        // `+names` form gets none either, unless `sizes` asks for them.
        let is_new = !manifest.models.iter().any(|model| model.algorithm == entry.id);
        let wanted = if sizes.is_empty() && is_new { &SIZES } else { sizes };
        // A single file gets every model, whatever the file is called.
        let is_single = files.len() == 1;
        let file = files.iter_mut().find(|file| is_single || file.is_of(&id));
        let (true, Some(file)) = (named, file) else { continue };
        for &(n, k) in wanted.iter().filter(|(n, k)| entry.exists(*n, *k)) {
            sizes_exist = true;
            let name = format!("{id} n={n} k={k}");
            if !manifest.models.iter().any(|model| model.id() == name) {
                append(&mut file.text, &id, entry, n, k);
                added.push(name);
            }
        }
    }
    if !sizes_exist {
        let sizes: Vec<_> = sizes.iter().map(|(n, k)| format!("n = {n}, k = {k}")).collect();
        let sizes = sizes.join("; ");
        return Err(Error::new(format!("no algorithm that --only matches exists for {sizes}")));
    }
    Ok(added)
}

/// Returns every identifier of the registry, including the `+names` forms of sound algorithms.
fn algorithms() -> impl Iterator<Item = (String, &'static Entry)> {
    ENTRIES.iter().flat_map(|entry| {
        let names = entry.nameable && entry.standing == Standing::Sound;
        let names = names.then(|| (format!("{}{}", entry.id, registry::NAMES), entry));
        [(entry.id.to_string(), entry)].into_iter().chain(names)
    })
}

fn append(text: &mut String, id: &str, entry: &Entry, n: usize, k: usize) {
    if !text.is_empty() && !text.ends_with("\n\n") {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    let _ = write!(
        text,
        "[[model]]\nalgorithm = \"{id}\"\nn = {n}\nk = {k}\ntier = \"quick\"\n[model.check]\n"
    );
    let asked = check::Question::everything(id, n, k).properties;
    let is_asked = |listed: &Listed| listed.property().is_some_and(|one| asked.contains(&one));
    for listed in Listed::ALL.into_iter().filter(is_asked) {
        let _ = writeln!(text, "{} = \"{OPEN}\"", listed.name());
    }
    if entry.standing == Standing::Sound && entry.paper != OURS {
        let open = format!("{{ worst = \"{OPEN}\" }}");
        let _ = write!(text, "[model.rmr]\ncc = {open}\ndsm = {open}\n");
    }
}
