//! The protocols behind the halls of hallpass, one folder per product family.

/// Implements `Casts`, the set of the roles and events (`Cast`) of a model. The operator `|` combines them.
#[cfg(feature = "full")]
macro_rules! set_of_casts {
    () => {
        impl Casts {
            /// The empty set.
            pub const PLAIN: Casts = Casts(0);

            /// Returns whether the set contains `cast`.
            pub const fn has(self, cast: Cast) -> bool {
                self.0 & (1 << cast as u32) != 0
            }
        }

        impl From<Cast> for Casts {
            fn from(cast: Cast) -> Self {
                Casts(1 << cast as u32)
            }
        }

        impl<C: Into<Casts>> core::ops::BitOr<C> for Cast {
            type Output = Casts;

            fn bitor(self, other: C) -> Casts {
                Casts::from(self) | other
            }
        }

        impl<C: Into<Casts>> core::ops::BitOr<C> for Casts {
            type Output = Casts;

            fn bitor(self, other: C) -> Casts {
                Casts(self.0 | other.into().0)
            }
        }
    };
}
#[cfg(feature = "full")]
use crate::registry::families;

#[cfg(not(feature = "full"))]
pub mod threads;

// Each line declares a module and registers its algorithms.
#[cfg(feature = "full")]
families! { in "halls":
    pub mod threads;
    pub mod processes;
    pub mod cluster;
}
