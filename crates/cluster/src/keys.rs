//! Where things are in etcd.

use crate::client::KeyRange;

/// The keys of one hall.
#[derive(Debug)]
pub(crate) struct Keys {
    base: String,
}

impl Keys {
    pub(crate) fn new(prefix: &str, name: &str) -> Self {
        Keys { base: format!("{prefix}/{name}/") }
    }

    pub(crate) fn everything(&self) -> KeyRange {
        KeyRange::prefix(self.base.clone())
    }

    pub(crate) fn door(&self) -> String {
        format!("{}door", self.base)
    }

    pub(crate) fn waiting(&self, id: &str) -> String {
        format!("{}queue/{id}", self.base)
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

    /// Since when those who have this clock have known that the owner of a slot, by its token, is gone.
    pub(crate) fn gone(&self, slot: usize, token: i64, clock: &str) -> String {
        format!("{}gone/{slot:04}/{token}/{clock}", self.base)
    }

    pub(crate) fn gone_from(&self, slot: usize) -> KeyRange {
        KeyRange::prefix(format!("{}gone/{slot:04}/", self.base))
    }

    pub(crate) fn all_gone(&self) -> KeyRange {
        KeyRange::prefix(format!("{}gone/", self.base))
    }

    /// With as many digits as the largest has, so that they are in order.
    pub(crate) fn slot(&self, slot: usize) -> String {
        format!("{}slots/{slot:04}", self.base)
    }

    pub(crate) fn slots(&self) -> KeyRange {
        KeyRange::prefix(format!("{}slots/", self.base))
    }
}

/// What comes after the last slash.
pub(crate) fn last(key: &[u8]) -> String {
    let name = key.rsplit(|&byte| byte == b'/').next().unwrap_or(key);
    String::from_utf8_lossy(name).into_owned()
}

/// The hall whose door this is.
pub(crate) fn hall_of_door(prefix: &str, key: &[u8]) -> Option<String> {
    let rest = std::str::from_utf8(key).ok()?.strip_prefix(prefix)?.strip_prefix('/')?;
    let name = rest.strip_suffix("/door")?;
    (!name.contains('/')).then(|| name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doors_tell_the_names_of_halls() {
        assert_eq!(hall_of_door("/p", b"/p/gpu/door").as_deref(), Some("gpu"));
        for other in
            ["/p/gpu/queue/door", "/p/gpu/doors", "/q/gpu/door", "/pgpu/door", "/p//x/door"]
        {
            assert_eq!(hall_of_door("/p", other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn slots_are_in_order() {
        let keys = Keys::new("/p", "gpu");
        let slots: Vec<_> = [0, 9, 10, 1023].map(|slot| keys.slot(slot)).into();
        assert!(slots.is_sorted());
        assert_eq!(last(slots[2].as_bytes()).parse(), Ok(10));
    }
}
