//! Ranges of keys.

/// One key, or all keys from `key` up to but not including `end`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct KeyRange {
    pub key: Vec<u8>,
    /// The first key after the range. Empty for a single key; one zero byte for a range without end.
    pub end: Vec<u8>,
}

impl KeyRange {
    pub(crate) fn one(key: impl Into<Vec<u8>>) -> KeyRange {
        KeyRange { key: key.into(), end: Vec::new() }
    }

    /// Returns the range of all keys with this prefix.
    pub(crate) fn prefix(prefix: impl Into<Vec<u8>>) -> KeyRange {
        let mut key = prefix.into();
        let mut end = key.clone();
        // To get the first key after the range, drop trailing bytes 255 and increment the last byte.
        while end.pop_if(|last| *last == 255).is_some() {}
        match end.last_mut() {
            Some(last) => *last += 1,
            None => end.push(0),
        }
        if key.is_empty() {
            // etcd does not accept an empty key. One zero byte is the smallest key that it accepts.
            key.push(0);
        }
        KeyRange { key, end }
    }

    /// Returns whether a key is in the range.
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        match self.end.as_slice() {
            [] => key == self.key,
            [0] => key >= &self.key[..],
            end => key >= &self.key[..] && key < end,
        }
    }

    /// Returns whether some key is in both ranges.
    #[cfg(feature = "postgres")]
    pub(crate) fn overlaps(&self, other: &KeyRange) -> bool {
        self.contains(&other.key) || other.contains(&self.key)
    }

    /// Returns the range of all keys from `from` up to but not including `end`.
    #[cfg(test)]
    pub(crate) fn between(from: impl Into<Vec<u8>>, end: impl Into<Vec<u8>>) -> KeyRange {
        KeyRange { key: from.into(), end: end.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_of_a_prefix_ends_at_the_first_later_key_without_the_prefix() {
        assert_eq!(KeyRange::prefix("a/"), KeyRange::between("a/", "a0"));
        assert_eq!(KeyRange::prefix([7, 255, 255]), KeyRange::between([7, 255, 255], [8]));
        assert_eq!(KeyRange::prefix([255]), KeyRange::between([255], [0]));
        assert_eq!(KeyRange::prefix(""), KeyRange::between([0], [0]));
    }

    #[test]
    fn a_range_contains_its_keys_and_no_others() {
        let contains = |range: KeyRange, key: &str| range.contains(key.as_bytes());
        assert!(contains(KeyRange::one("a"), "a") && !contains(KeyRange::one("a"), "ab"));
        assert!(contains(KeyRange::prefix("a/"), "a/") && contains(KeyRange::prefix("a/"), "a/b"));
        assert!(!contains(KeyRange::prefix("a/"), "a0") && !contains(KeyRange::prefix("a/"), "a"));
        assert!(contains(KeyRange::prefix(""), "a"));
    }
    #[cfg(feature = "postgres")]
    #[test]
    fn ranges_overlap_if_they_have_a_common_key() {
        let overlap = |one: &KeyRange, other: &KeyRange| {
            assert_eq!(one.overlaps(other), other.overlaps(one));
            one.overlaps(other)
        };
        let (one, all, part) =
            (KeyRange::one("a/b"), KeyRange::prefix("a/"), KeyRange::prefix("a/b"));
        assert!(overlap(&one, &all) && overlap(&part, &all) && overlap(&one, &part));
        assert!(!overlap(&one, &KeyRange::one("a/")) && !overlap(&all, &KeyRange::prefix("b/")));
        assert!(overlap(&KeyRange::prefix(""), &all));
    }
}
