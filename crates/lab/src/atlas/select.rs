//! The selection of models to run.

use super::{
    listed::Tier,
    manifest::{AtlasModel, Manifest},
};

/// The models to run.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Selects the models of this tier and of quicker tiers.
    pub tier: Tier,
    /// Selects only models whose name matches one of these patterns. Selects all models if there are no
    /// patterns.
    pub only: Vec<String>,
}

/// The parts of a model to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Parts {
    /// Whether to check the properties.
    pub check: bool,
    /// Whether to count remote references.
    pub rmr: bool,
    /// Whether to ask the questions about whole runs.
    pub ask: bool,
}

impl Selection {
    /// Returns which parts of a model to run.
    pub(super) fn parts(&self, model: &AtlasModel) -> Parts {
        let named = self.only.is_empty() || self.only.iter().any(|pattern| names(pattern, model));
        let check = named && model.has_check() && model.tier <= self.tier;
        let rmr = named && model.has_rmr() && model.rmr_tier() <= self.tier;
        let ask = named && model.has_ask() && model.tier <= self.tier;
        Parts { check, rmr, ask }
    }

    /// Returns a pattern that matches no model of the manifest. Such a pattern is most likely a typing
    /// error.
    pub fn idle_pattern(&self, manifest: &Manifest) -> Option<&str> {
        let idle = |pattern: &&String| !manifest.models.iter().any(|model| names(pattern, model));
        self.only.iter().find(idle).map(String::as_str)
    }
}

/// Returns whether the pattern matches the model's algorithm or its whole identifier.
fn names(pattern: &str, model: &AtlasModel) -> bool {
    matches(pattern, &model.algorithm) || matches(pattern, &model.id())
}

/// Returns whether `pattern` matches the whole of `text`. `*` stands for any text, and `?` stands for
/// one character.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // If the part of the pattern after its last star does not match, the star covers one more character, and the
    // search tries this part again. It is never necessary to try earlier stars again.
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

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, text, is_match) in [
            ("am-fig3", "am-fig3", true),
            ("am-fig3", "am-fig3-tree", false),
            ("am-fig3*", "am-fig3-tree", true),
            ("*n=3*", "am-fig3 n=3 k=1", true),
            ("am-fig?", "am-fig9", true),
            ("*a*b", "xaxbxb", true),
            ("*a*b", "xaxbxc", false),
            ("", "", true),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, text), is_match, "{pattern} {text}");
        }
    }
}
