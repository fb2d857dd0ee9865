//! Which keys are meant.

/// One key, or all from `key` up to `end`, which is not one of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct KeyRange {
    pub key: Vec<u8>,
    /// Empty for one key; one zero byte for no end.
    pub end: Vec<u8>,
}

impl KeyRange {
    pub(crate) fn one(key: impl Into<Vec<u8>>) -> KeyRange {
        KeyRange { key: key.into(), end: Vec::new() }
    }

    /// All keys that begin so.
    pub(crate) fn prefix(prefix: impl Into<Vec<u8>>) -> KeyRange {
        let mut key = prefix.into();
        let mut end = key.clone();
        // The first key after them all: a last byte of 255 has no successor, so the one before it counts.
        while end.pop_if(|last| *last == 255).is_some() {}
        match end.last_mut() {
            Some(last) => *last += 1,
            None => end.push(0),
        }
        if key.is_empty() {
            // etcd takes no empty key; this is the least there can be.
            key.push(0);
        }
        KeyRange { key, end }
    }

    /// All from `from` up to `end`, which is not one of them.
    #[cfg(test)]
    pub(crate) fn between(from: impl Into<Vec<u8>>, end: impl Into<Vec<u8>>) -> KeyRange {
        KeyRange { key: from.into(), end: end.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_before_the_next_key_that_does_not_begin_so() {
        assert_eq!(KeyRange::prefix("a/"), KeyRange::between("a/", "a0"));
        assert_eq!(KeyRange::prefix([7, 255, 255]), KeyRange::between([7, 255, 255], [8]));
        assert_eq!(KeyRange::prefix([255]), KeyRange::between([255], [0]));
        assert_eq!(KeyRange::prefix(""), KeyRange::between([0], [0]));
    }
}
