//! The halls of the storms.

/// A hall of the test, with its numbers of slots.
pub struct Case {
    pub name: &'static str,
    /// The smallest and the largest number of slots. If they differ, workers keep resizing the hall.
    pub min: usize,
    pub max: usize,
}

pub const CASES: [Case; 4] = [
    Case { name: "one", min: 1, max: 1 },
    Case { name: "four", min: 4, max: 4 },
    Case { name: "roomy", min: 48, max: 48 },
    Case { name: "resized", min: 2, max: 6 },
];

impl Case {
    pub fn named(name: &str) -> &'static Case {
        CASES.iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"))
    }
}
