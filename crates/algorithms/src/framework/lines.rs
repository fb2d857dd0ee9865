//! Declares the lines of a step machine together with their labels.

/// Declares an enum of lines whose `label` is the name of the variant.
///
/// Each variant is a line. Its fields are the private variables that are live at that line.
macro_rules! lines {
    (
        $(#[$attribute:meta])*
        $vis:vis enum $name:ident $(<$($generic:ident),+>)? {
            $($line:ident $({ $($field:ident: $type:ty),* $(,)? })?),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs)]
        $vis enum $name $(<$($generic),+>)? {
            $($line $({ $($field: $type),* })?),*
        }

        impl $(<$($generic),+>)? $name $(<$($generic),+>)? {
            /// Returns the label of the line, as traces and counterexamples show it.
            $vis const fn label(&self) -> &'static str {
                match self {
                    $($name::$line { .. } => stringify!($line)),*
                }
            }
        }
    };
}
pub(crate) use lines;
