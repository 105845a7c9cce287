//! A set of edge kinds, as a mask.

use knowing_model::EdgeKind;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KindSet(u64);

impl KindSet {
    pub const EMPTY: KindSet = KindSet(0);

    pub fn all() -> KindSet {
        KindSet::of(EdgeKind::ALL)
    }

    pub fn of(kinds: &[EdgeKind]) -> KindSet {
        KindSet(kinds.iter().fold(0, |mask, kind| mask | bit(kind.id())))
    }

    pub fn contains(self, kind: EdgeKind) -> bool {
        self.has_id(kind.id())
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[must_use]
    pub fn without(self, kind: EdgeKind) -> KindSet {
        KindSet(self.0 & !bit(kind.id()))
    }

    #[must_use]
    pub fn union(self, other: KindSet) -> KindSet {
        KindSet(self.0 | other.0)
    }

    pub fn intersection(self, other: KindSet) -> KindSet {
        KindSet(self.0 & other.0)
    }

    pub(crate) fn has_id(self, id: u8) -> bool {
        self.0 & bit(id) != 0
    }
}

// Ids stay far below 64; a greater one would be in no set rather than wrap into another's bit.
fn bit(id: u8) -> u64 {
    1_u64.checked_shl(u32::from(id)).unwrap_or(0)
}
