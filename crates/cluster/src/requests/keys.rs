//! The keys of the records of a hall.

use crate::store::KeyRange;

/// The keys of one hall.
#[derive(Debug)]
pub(crate) struct Keys {
    base: String,
}

impl Keys {
    /// Returns the keys that begin with `base`.
    pub(crate) fn new(base: String) -> Self {
        Keys { base }
    }

    /// Returns all key ranges of the hall. A range for the whole name would be wrong, because it could contain the
    /// keys of other halls: those whose prefix is the path of this hall.
    pub(crate) fn everything(&self) -> [KeyRange; 5] {
        let door = KeyRange::one(self.door());
        [door, self.queue(), self.all_inside(), self.slots(), self.all_gone()]
    }

    pub(crate) fn door(&self) -> String {
        format!("{}door", self.base)
    }

    pub(crate) fn waiting(&self, id: &str) -> String {
        format!("{}queue/{id}", self.base)
    }

    /// Returns the id of the claim in the queue that has this key.
    pub(crate) fn waiting_id(&self, key: &[u8]) -> String {
        let queue = format!("{}queue/", self.base);
        String::from_utf8_lossy(key.strip_prefix(queue.as_bytes()).unwrap_or(key)).into_owned()
    }

    pub(crate) fn queue(&self) -> KeyRange {
        KeyRange::prefix(format!("{}queue/", self.base))
    }

    pub(crate) fn inside(&self, id: &str) -> String {
        format!("{}inside/{id}", self.base)
    }

    pub(crate) fn all_inside(&self) -> KeyRange {
        KeyRange::prefix(format!("{}inside/", self.base))
    }

    /// Returns the key of an expiry record. The record contains the time at which a process with this clock first
    /// noticed that the claim in this version of the slot is gone.
    pub(crate) fn gone(&self, slot: usize, version: i64, clock: &str) -> String {
        format!("{}gone/{slot:04}/{version}/{clock}", self.base)
    }

    pub(crate) fn gone_from(&self, slot: usize) -> KeyRange {
        KeyRange::prefix(format!("{}gone/{slot:04}/", self.base))
    }

    pub(crate) fn all_gone(&self) -> KeyRange {
        KeyRange::prefix(format!("{}gone/", self.base))
    }

    /// Returns the key of a slot. The number is padded with zeros, so that the keys have the order of the slots.
    pub(crate) fn slot(&self, slot: usize) -> String {
        format!("{}slots/{slot:04}", self.base)
    }

    pub(crate) fn slots(&self) -> KeyRange {
        KeyRange::prefix(format!("{}slots/", self.base))
    }
}

/// The parts that follow the name of a hall in its keys. If the path of another hall contained such a part at this
/// position, the keys of the two halls would mix. So halls and prefixes must not have these names there.
const RESERVED: [&str; 5] = ["door", "queue", "inside", "slots", "gone"];

/// Returns the part of a hall's path that would mix its keys with the keys of another hall, if there is one. The
/// path of a hall has at least two parts, a prefix and a name, so only the third and later parts can do this.
pub(crate) fn reserved_part<'a>(prefix: &'a str, name: &'a str) -> Option<&'a str> {
    let parts = prefix.split('/').skip(1).chain([name]);
    parts.skip(2).find(|part| RESERVED.contains(part))
}

/// Returns the part after the last slash.
pub(crate) fn last(key: &[u8]) -> String {
    let name = key.rsplit(|&byte| byte == b'/').next().unwrap_or(key);
    String::from_utf8_lossy(name).into_owned()
}

/// Returns the name of the hall whose door has this key; `None` if this is not the key of a door below `prefix`.
pub(crate) fn hall_of_door(prefix: &str, key: &[u8]) -> Option<String> {
    let rest = std::str::from_utf8(key).ok()?.strip_prefix(prefix)?;
    let name = rest.strip_suffix("/door")?;
    (!name.contains('/')).then(|| name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_halls_are_read_from_their_doors() {
        assert_eq!(hall_of_door("/p/", b"/p/gpu/door").as_deref(), Some("gpu"));
        for other in
            ["/p/gpu/queue/door", "/p/gpu/doors", "/q/gpu/door", "/pgpu/door", "/p//x/door"]
        {
            assert_eq!(hall_of_door("/p/", other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn slots_are_in_order() {
        let keys = Keys::new("/p/gpu/".into());
        let slots: Vec<_> = [0, 9, 10, 1023].map(|slot| keys.slot(slot)).into();
        assert!(slots.is_sorted());
        assert_eq!(last(slots[2].as_bytes()).parse(), Ok(10));
    }
}
