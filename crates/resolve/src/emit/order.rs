//! The order in which what a file states is put together: edges of the same ends and kind side by side.

use super::{Draft, End};

/// By ends, kind and position; of equal ones the first comes first. One number for each settles nearly all.
pub(super) fn in_order(drafts: &[Draft]) -> Vec<&Draft> {
    let whole = |it: &Draft| (it.source, it.target, it.kind, it.position);
    let key = |it: &Draft| {
        let ends = u128::from(it.source.order()?) << 35 | u128::from(it.target.order()?);
        Some(ends << 48 | u128::from(it.kind.id()) << 40 | u128::from(it.position.line) << 8)
    };
    let keys: Option<Vec<(u128, u32)>> =
        drafts.iter().zip(0..).map(|(it, at)| Some((key(it)?, at))).collect();
    let mut keys = keys.unwrap_or_else(|| (0..drafts.len() as u32).map(|it| (0, it)).collect());
    keys.sort_unstable_by(|one, other| {
        let rest = || {
            let of = |at: u32| (whole(&drafts[at as usize]), at);
            of(one.1).cmp(&of(other.1))
        };
        one.0.cmp(&other.0).then_with(rest)
    });
    keys.into_iter().map(|it| &drafts[it.1 as usize]).collect()
}

impl End {
    /// Ordered as the ends are, in 35 bits; none for routes, which two numbers tell apart.
    fn order(self) -> Option<u64> {
        let (tag, at) = match self {
            End::File(it) => (0, it),
            End::Def(it) => (1, it.0),
            End::Outside(it) => (2, it),
            End::Directory(it) => (3, it),
            End::Route(..) => return None,
        };
        Some(tag << 32 | u64::from(at))
    }
}

#[cfg(test)]
mod tests {
    use knowing_model::{EdgeKind, Position, Provenance};

    use super::*;
    use crate::world::Def;

    /// Ends of every kind, routes of one file among them, in any mixture.
    fn drafts(seed: u64, n: usize, has_routes: bool) -> Vec<Draft> {
        let mut state = seed;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % below
        };
        let mut all = Vec::new();
        for at in 0..n {
            let mut end = || match draw(if has_routes { 6 } else { 4 }) {
                0 => End::File(draw(3)),
                1 => End::Def(Def(u32::MAX - draw(3))),
                2 => End::Outside(draw(3)),
                3 => End::Directory(draw(2)),
                _ => End::Route(draw(2), draw(3)),
            };
            let (source, target) = (end(), end());
            let kind = EdgeKind::ALL[draw(3) as usize];
            let position = Position { line: u32::MAX - draw(2), column: draw(2) };
            let provenance = Provenance::AstResolved;
            all.push(Draft { source, target, kind, provenance, confidence_bp: at as u16, position });
        }
        all
    }

    #[test]
    fn drafts_come_by_ends_kinds_and_positions_and_equal_ones_in_their_order() {
        let whole = |it: &Draft| (it.source, it.target, it.kind, it.position, it.confidence_bp);
        for seed in 0..40 {
            for has_routes in [false, true] {
                let drafts = drafts(seed, 300, has_routes);
                let mut expected: Vec<&Draft> = drafts.iter().collect();
                expected.sort_by_key(|it| (it.source, it.target, it.kind, it.position));
                let found = in_order(&drafts);
                assert!(found.iter().map(|it| whole(it)).eq(expected.iter().map(|it| whole(it))));
            }
        }
    }
}
