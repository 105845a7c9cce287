//! Edges as they are stored: some of a unit in one row, one after the other in canonical order.
//!
//! A row of its own for each edge was most of what storing a graph cost. Edges still have numbers, one after the other, and
//! the key of a row is the number of its first edge, so that a range of numbers is a range of rows and any edge is found by
//! its number: in the last row that begins at or before it. An edge in its row:
//!
//! ```text
//! what follows | source, from the one before | target | kind | base | t2 | number of sites | length of sites | sites
//! ```
//!
//! `base` and `t2` are a provenance and a confidence each, where there is one. Everything has one spelling, so that whatever
//! bit of a row is flipped, it says something else or nothing.

use knowing_model::{EdgeKind, Position, Provenance};
use rusqlite::Connection;

use crate::error::Fault;
use crate::packed::{push_number, take_number, unpack_sites};

/// Edges in a row. Few enough that rows fill pages and one edge is found at once, enough that rows are few.
pub(crate) const IN_A_ROW: usize = 64;

/// An edge as it is stored. Ends are symbols, by their rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StoredEdge<'a> {
    pub(crate) source: u32,
    pub(crate) target: u32,
    pub(crate) kind: EdgeKind,
    /// What resolution says of it, and what enrichment does: provenance and confidence.
    pub(crate) base: Option<(Provenance, u16)>,
    pub(crate) t2: Option<(Provenance, u16)>,
    pub(crate) refuted: bool,
    /// How many sites there are in truth.
    pub(crate) n_sites: u32,
    /// The first few, packed.
    pub(crate) sites: &'a [u8],
}

impl StoredEdge<'_> {
    /// Provenance and confidence that count: the higher confidence, and enrichment when they are equal.
    pub(crate) fn effective(&self) -> Result<(Provenance, u16), Fault> {
        match (self.base, self.t2) {
            (Some(base), t2) if t2.is_none_or(|it| it.1 < base.1) => Ok(base),
            (_, Some(t2)) => Ok(t2),
            _ => Err(Fault::damaged("an edge has no provenance")),
        }
    }

    pub(crate) fn sites(&self) -> Result<Vec<Position>, Fault> {
        unpack_sites(self.sites).ok_or_else(|| Fault::damaged("the sites of an edge cannot be read"))
    }
}

/// Bits of what follows.
const BASE: u8 = 1;
const T2: u8 = 2;
const REFUTED: u8 = 4;

/// Puts edges together to rows.
#[derive(Default)]
pub(crate) struct EdgePacker {
    pub(crate) packed: Vec<u8>,
    source: u32,
}

impl EdgePacker {
    /// Begins a row.
    pub(crate) fn clear(&mut self) {
        self.packed.clear();
        self.source = 0;
    }

    pub(crate) fn push(&mut self, edge: &StoredEdge<'_>) {
        let out = &mut self.packed;
        let follows = |bit: u8, is_there: bool| if is_there { bit } else { 0 };
        out.push(
            follows(BASE, edge.base.is_some())
                | follows(T2, edge.t2.is_some())
                | follows(REFUTED, edge.refuted),
        );
        let difference = i64::from(edge.source) - i64::from(self.source);
        self.source = edge.source;
        push_number(((difference << 1) ^ (difference >> 63)) as u64, out);
        push_number(u64::from(edge.target), out);
        out.push(edge.kind.id());
        for (provenance, confidence_bp) in edge.base.into_iter().chain(edge.t2) {
            out.push(provenance.id());
            push_number(u64::from(confidence_bp), out);
        }
        push_number(u64::from(edge.n_sites), out);
        push_number(edge.sites.len() as u64, out);
        out.extend_from_slice(edge.sites);
    }
}

/// The edges of a row; what cannot be read is the last.
pub(crate) struct Unpacked<'a> {
    packed: &'a [u8],
    source: u32,
}

pub(crate) fn unpack_edges(packed: &[u8]) -> Unpacked<'_> {
    Unpacked { packed, source: 0 }
}

impl<'a> Iterator for Unpacked<'a> {
    type Item = Result<StoredEdge<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.packed.is_empty() {
            return None;
        }
        Some(self.take().ok_or_else(|| {
            self.packed = &[];
            Fault::damaged("an edge cannot be read")
        }))
    }
}

impl<'a> Unpacked<'a> {
    fn take(&mut self) -> Option<StoredEdge<'a>> {
        let follows = self.byte()?;
        if follows & !(BASE | T2 | REFUTED) != 0 {
            return None;
        }
        let folded = take_number(&mut self.packed)?;
        let difference = (folded >> 1) as i64 ^ -((folded & 1) as i64);
        self.source = u32::try_from(i64::from(self.source).checked_add(difference)?).ok()?;
        let target = self.number()?;
        let kind = EdgeKind::from_id(self.byte()?)?;
        let base = if follows & BASE != 0 { Some(self.known()?) } else { None };
        let t2 = if follows & T2 != 0 { Some(self.known()?) } else { None };
        let n_sites = self.number()?;
        let length = self.number()? as usize;
        let (sites, rest) = self.packed.split_at_checked(length)?;
        self.packed = rest;
        let refuted = follows & REFUTED != 0;
        Some(StoredEdge { source: self.source, target, kind, base, t2, refuted, n_sites, sites })
    }

    fn known(&mut self) -> Option<(Provenance, u16)> {
        let provenance = Provenance::from_id(self.byte()?)?;
        Some((provenance, u16::try_from(take_number(&mut self.packed)?).ok()?))
    }

    fn number(&mut self) -> Option<u32> {
        u32::try_from(take_number(&mut self.packed)?).ok()
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.packed.split_first()?;
        self.packed = rest;
        Some(byte)
    }
}

/// Visits the edges of a range of numbers that begins with a row, each with its number, in order.
pub(crate) fn each_edge(
    db: &Connection,
    (first, end): (u32, u32),
    mut visit: impl FnMut(u32, StoredEdge<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut statement = db.prepare_cached(
        "SELECT edge_row, packed FROM edges WHERE edge_row >= ?1 AND edge_row < ?2 ORDER BY edge_row",
    )?;
    let mut rows = statement.query((first, end))?;
    while let Some(row) = rows.next()? {
        let packed = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        for (edge_row, edge) in (row.get(0)?..).zip(unpack_edges(packed)) {
            visit(edge_row, edge?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packed::pack_sites;

    type Drawn = ((u32, u32), (usize, usize), (Option<u16>, Option<u16>, bool), (u32, Vec<(u32, u32)>));

    fn pack(drawn: &[Drawn]) -> Vec<u8> {
        let mut packer = EdgePacker::default();
        for ((source, target), (kind, provenance), (base, t2, refuted), (n_sites, sites)) in drawn {
            let mut packed = Vec::new();
            let sites: Vec<Position> =
                sites.iter().map(|&(line, column)| Position { line, column }).collect();
            pack_sites(&sites, &mut packed);
            let provenance = Provenance::ALL[provenance % Provenance::ALL.len()];
            packer.push(&StoredEdge {
                source: *source,
                target: *target,
                kind: EdgeKind::ALL[kind % EdgeKind::ALL.len()],
                base: base.map(|it| (provenance, it)),
                t2: t2.map(|it| (provenance, it)),
                refuted: *refuted,
                n_sites: *n_sites,
                sites: &packed,
            });
        }
        packer.packed
    }

    fn again(packed: &[u8]) -> Option<Vec<u8>> {
        let mut packer = EdgePacker::default();
        for edge in unpack_edges(packed) {
            let edge = edge.ok()?;
            let mut sites = Vec::new();
            pack_sites(&edge.sites().ok()?, &mut sites);
            packer.push(&StoredEdge { sites: &sites, ..edge });
        }
        Some(packer.packed)
    }

    proptest! {
        #[test]
        fn edges_round_trip_and_have_one_spelling(
            drawn in proptest::collection::vec(any::<Drawn>(), 1..8),
            flips in proptest::collection::vec(any::<usize>(), 50),
        ) {
            let packed = pack(&drawn);
            prop_assert_eq!(unpack_edges(&packed).count(), drawn.len());
            prop_assert_eq!(again(&packed), Some(packed.clone()));
            // What is read of damaged bytes, if anything, would be written as those bytes and no others.
            for flip in flips {
                let mut flipped = packed.clone();
                let bit = flip % (flipped.len() * 8);
                flipped[bit / 8] ^= 1 << (bit % 8);
                if let Some(again) = again(&flipped) {
                    prop_assert_eq!(again, flipped);
                }
            }
        }

        #[test]
        fn any_bytes_give_edges_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            for edge in unpack_edges(&bytes).flatten() {
                let _ = (edge.sites(), edge.effective());
            }
        }
    }
}
