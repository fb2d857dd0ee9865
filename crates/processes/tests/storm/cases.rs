//! What a storm goes over.

/// A hall.
pub struct Case {
    pub name: &'static str,
    /// How many slots it has, least and most. If these differ, it is resized all the time.
    pub least: usize,
    pub most: usize,
}

pub const CASES: [Case; 4] = [
    Case { name: "one", least: 1, most: 1 },
    Case { name: "four", least: 4, most: 4 },
    Case { name: "roomy", least: 48, most: 48 },
    Case { name: "resized", least: 2, most: 6 },
];

impl Case {
    pub fn named(name: &str) -> &'static Case {
        CASES.iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"))
    }
}
