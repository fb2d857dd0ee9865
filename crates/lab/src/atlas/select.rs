//! Which models of a manifest to run.

use super::manifest::{AtlasModel, Manifest, Tier};

/// The models to run.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Those of this tier and of the quicker ones.
    pub tier: Tier,
    /// Of these, those whose identifier one of the patterns matches; all if there are none.
    pub only: Vec<String>,
}

impl Selection {
    /// What is to be done with a model: check it, count it.
    pub(super) fn parts(&self, model: &AtlasModel) -> (bool, bool) {
        let named = self.only.is_empty() || self.only.iter().any(|pattern| names(pattern, model));
        let check = named && model.has_check() && model.tier <= self.tier;
        let rmr = named && model.has_rmr() && model.rmr_tier() <= self.tier;
        (check, rmr)
    }

    /// A pattern that no model of the manifest matches, which is most likely a slip.
    pub fn idle_pattern(&self, manifest: &Manifest) -> Option<&str> {
        let idle = |pattern: &&String| !manifest.models.iter().any(|model| names(pattern, model));
        self.only.iter().find(idle).map(String::as_str)
    }
}

/// Whether the pattern matches the model's algorithm or its whole identifier.
fn names(pattern: &str, model: &AtlasModel) -> bool {
    matches(pattern, &model.algorithm) || matches(pattern, &model.id())
}

/// Whether `pattern` matches the whole of `text`: `*` stands for any text, `?` for a character.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where to go on if what follows the last star does not fit: just behind that star, with the
    // star standing for one character more. Trying earlier stars again can never help.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                retry = Some((p, t));
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((behind, from)) = retry else { return false };
                retry = Some((behind, from + 1));
                (p, t) = (behind, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}
