//! Parts of plots.

pub(crate) mod bars;
pub(crate) mod canvas;
pub(crate) mod lines;
pub(crate) mod multiples;
pub(crate) mod scale;

use std::{error::Error, fmt};

/// Error returned by the functions that draw plots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlotError(String);

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot draw the plot: {}", self.0)
    }
}

impl Error for PlotError {}

/// An error while drawing.
pub(crate) type Failure = Box<dyn Error>;

impl From<Failure> for PlotError {
    fn from(failure: Failure) -> Self {
        PlotError(failure.to_string())
    }
}
