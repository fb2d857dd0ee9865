//! Families: each is a folder that registers its algorithms.
//!
//! The `entries.rs` of a folder lists its algorithms with [`entries!`]. One line of [`families!`] in the
//! `mod.rs` of the parent folder declares the module and registers the list.

use super::Entry;

/// The algorithms of one folder.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The folder under `crates/algorithms/src`, such as `papers/afek`.
    pub folder: &'static str,
    /// The algorithms of the folder. A [nameable](Entry::nameable) algorithm has no second entry for `+names`.
    pub entries: &'static [Entry],
    /// The content of `atlas.toml`: the models of the algorithms, each with the result that the lab
    /// expects.
    pub atlas: &'static str,
    /// The content of `pseudocode.toml`: the text of each line, for readers.
    pub pseudocode: &'static str,
    /// The content of `statements.toml`: the statements of the paper, and the models that decide them.
    pub statements: Option<&'static str>,
}

/// Declares the modules of families, and registers the families in the same order.
///
/// Generates `FAMILIES` and `build` for the modules listed.
macro_rules! families {
    (in $group:literal: $($(#[$meta:meta])* pub mod $family:ident;)*) => {
        $($(#[$meta])* pub mod $family;)*

        pub(crate) const FAMILIES: &[$crate::registry::Family] = &[$(
            $crate::registry::Family {
                folder: concat!($group, "/", stringify!($family)),
                ..$family::entries::FAMILY
            },
        )*];

        /// Builds an algorithm of one of these families. Returns the visitor if no family has the
        /// algorithm.
        pub(crate) fn build<V: $crate::registry::Visitor>(
            id: &str, names: bool, n: usize, k: usize, visitor: V,
        ) -> Result<V::Output, V> {
            $(
                let visitor = match $family::entries::build(id, names, n, k, visitor) {
                    Err(visitor) => visitor,
                    built => return built,
                };
            )*
            Err(visitor)
        }
    };
}
pub(crate) use families;

/// Lists the algorithms of a family. Each has an identifier, a constructor, and a description.
///
/// `"afek" + names` also registers `afek+names`, which is k-assignment on top of `afek`. The macro
/// includes the `atlas.toml` and `pseudocode.toml` of the folder. It includes `statements.toml` if the
/// first line names it. It generates `FAMILY` and `build`.
macro_rules! entries {
    ($(statements: $statements:literal;)?
     $($id:literal $(+ $names:ident)? => $make:expr, $about:expr;)*) => {
        /// The algorithms of this folder. `families!` adds the folder's name.
        pub(crate) const FAMILY: $crate::registry::Family = $crate::registry::Family {
            folder: "",
            entries: &[$(
                $crate::registry::Entry {
                    id: $id,
                    nameable: $crate::registry::entries!(@nameable $($names)?),
                    ..$about
                },
            )*],
            atlas: include_str!("atlas.toml"),
            pseudocode: include_str!("pseudocode.toml"),
            statements: $crate::registry::entries!(@statements $($statements)?),
        };

        /// Builds an algorithm of this family. Returns the visitor if the family has no algorithm with
        /// this identifier.
        pub(crate) fn build<V: $crate::registry::Visitor>(
            id: &str, names: bool, n: usize, k: usize, visitor: V,
        ) -> Result<V::Output, V> {
            // The guards are constants for each visitor, so the compiler drops the arms whose guards are
            // false.
            match (id, names) {
                $($(
                    ($id, $crate::registry::entries!(@nameable $names))
                        if const { V::SCOPE.includes($about.standing, true) } =>
                    {
                        Ok(visitor.visit($crate::papers::anderson_moir::Named::new($make(n, k))))
                    }
                )?)*
                $(
                    ($id, _) if const { V::SCOPE.includes($about.standing, false) } => {
                        Ok(visitor.visit($make(n, k)))
                    }
                )*
                _ => Err(visitor),
            }
        }
    };
    (@statements) => { None };
    (@statements $file:literal) => { Some(include_str!($file)) };
    (@nameable) => { false };
    (@nameable names) => { true };
}
pub(crate) use entries;

/// Returns the number of entries in `groups`.
pub(super) const fn count(groups: &[&[Family]]) -> usize {
    let (mut sum, mut group) = (0, 0);
    while group < groups.len() {
        let mut family = 0;
        while family < groups[group].len() {
            sum += groups[group][family].entries.len();
            family += 1;
        }
        group += 1;
    }
    sum
}

/// Returns the entries of all `groups` in order.
pub(super) const fn flatten<const N: usize>(groups: &[&[Family]]) -> [Entry; N] {
    let mut all = [Entry::new("", ""); N];
    let (mut next, mut group) = (0, 0);
    while group < groups.len() {
        let mut family = 0;
        while family < groups[group].len() {
            let entries = groups[group][family].entries;
            let mut entry = 0;
            while entry < entries.len() {
                all[next] = entries[entry];
                next += 1;
                entry += 1;
            }
            family += 1;
        }
        group += 1;
    }
    all
}
