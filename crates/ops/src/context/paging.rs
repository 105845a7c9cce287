//! Packs, page by page: cut by rank to what their reader takes at a time; following cursors yields every item once.
//!
//! The items of a pack stand in one row: files that are not known, then each symbol and after it the edges between it and
//! symbols before it. A page is a piece of that row. An edge may lead to a symbol of a page before, of which the reader is
//! reminded (`Payload::mentioned`).

use std::collections::{BTreeMap, BTreeSet};

use knowing_model::{Hash, NodeId};
use knowing_wire::{Edge, Format, Payload, Symbol};

use super::PackReply;
use super::engine::Wanted;
use crate::error::Result;
use crate::page::{Pages, data_bytes, json_bytes, state_prefix, too_small};

/// A page, and how it stands to its pack.
pub(super) struct Cut {
    pub(super) page: Payload,
    pub(super) of: Extent,
}

#[derive(Clone, Copy)]
pub(super) struct Extent {
    /// Symbols of the pack.
    pub(super) total: usize,
    /// Whether there is more than the page holds.
    pub(super) truncated: bool,
    pub(super) is_first: bool,
}

impl Extent {
    /// All of it in one piece.
    pub(super) fn is_whole(self) -> bool {
        self.is_first && !self.truncated
    }
}

/// Notes that are known when the page is sent.
const LATE_NOTES: usize = 60;
/// As wide as an id in a session gets.
const WIDEST_ID: u32 = 99_999;

#[derive(Clone, Copy)]
enum Item {
    Unknown(usize),
    Symbol(usize),
    Edge(usize),
}

/// The page that is asked for. `session` is the handle that will stand in it.
pub(super) fn cut(
    pack: Payload,
    key: Hash,
    wanted: &Wanted,
    pages: &Pages,
    session: Option<&str>,
) -> Result<Cut> {
    let total = pack.symbols.len();
    let from = pages.pack_before().map_or(0, |it| it.1);
    let is_first = from == 0;
    if wanted.counts_only {
        let page = Payload { symbols: Vec::new(), edges: Vec::new(), ..pack };
        return Ok(Cut { page, of: Extent { total, truncated: total > 0, is_first } });
    }
    let paged = pages.max_tokens().filter(|_| wanted.format != Format::Gcb);
    let Some(max_tokens) = paged else {
        return Ok(Cut { page: pack, of: Extent { total, truncated: false, is_first: true } });
    };
    let row = row_of(&pack);
    let sizes = Sizes::new(&pack, wanted.format, session, pages, key);
    let room = data_bytes(max_tokens).saturating_sub(sizes.envelope);
    let (n_items, mentioned) = fitting(&pack, &row[from.min(row.len())..], &sizes, room);
    let end = from.min(row.len()) + n_items;
    if n_items == 0 && from < row.len() {
        let first = sizes.item(&pack, row[from]) + 2 * sizes.mention(0);
        return Err(too_small(sizes.envelope + first, max_tokens));
    }
    let truncated = end < row.len();
    let of = Extent { total, truncated, is_first };
    if of.is_whole() {
        return Ok(Cut { page: pack, of });
    }
    let mut page = Payload {
        symbols: Vec::new(),
        edges: Vec::new(),
        unknown_files: Vec::new(),
        mentioned: mentioned.into_iter().map(|at| pack.symbols[at].clone()).collect(),
        next_cursor: truncated.then(|| pages.cursor_of_pack(state_prefix(key.as_bytes()), end)),
        ..pack.clone()
    };
    for item in &row[from..end] {
        match *item {
            Item::Unknown(at) => page.unknown_files.push(pack.unknown_files[at].clone()),
            Item::Symbol(at) => page.symbols.push(pack.symbols[at].clone()),
            Item::Edge(at) => page.edges.push(pack.edges[at].clone()),
        }
    }
    let n_bytes = |page: &Payload| match wanted.format {
        Format::Json => json_bytes(&PackReply::of(page.clone(), of)),
        format => format.bytes(page),
    };
    Ok(Cut { page: super::sending::stated(page, n_bytes), of })
}

/// The budget of a pack that has no pages and is to be read at once.
pub(super) fn budget_of_bytes(max_tokens: usize) -> usize {
    // What stands around the bytes, which are written four for three.
    const AROUND_IT: usize = 680;
    data_bytes(max_tokens).saturating_sub(AROUND_IT) * 3 / 16
}

fn row_of(pack: &Payload) -> Vec<Item> {
    let place: BTreeMap<NodeId, usize> = pack.symbols.iter().map(|it| it.node_id).zip(0..).collect();
    let mut edges: Vec<Vec<usize>> = vec![Vec::new(); pack.symbols.len()];
    for (at, edge) in pack.edges.iter().enumerate() {
        if let (Some(source), Some(target)) = (place.get(&edge.source), place.get(&edge.target)) {
            edges[*source.max(target)].push(at);
        }
    }
    let mut row: Vec<Item> = (0..pack.unknown_files.len()).map(Item::Unknown).collect();
    for (at, edges) in edges.into_iter().enumerate() {
        row.push(Item::Symbol(at));
        row.extend(edges.into_iter().map(Item::Edge));
    }
    row
}

/// How many items fit, and the symbols before them that their edges lead to.
fn fitting(pack: &Payload, row: &[Item], sizes: &Sizes<'_>, mut room: usize) -> (usize, BTreeSet<usize>) {
    let (mut on_page, mut mentioned) = (BTreeSet::new(), BTreeSet::new());
    for (n_items, &item) in row.iter().enumerate() {
        let mut bytes = sizes.item(pack, item);
        let mut new = Vec::new();
        match item {
            Item::Symbol(at) => drop(on_page.insert(at)),
            Item::Edge(at) => {
                let ends = sizes.ends(&pack.edges[at]);
                new.extend(ends.into_iter().filter(|it| !on_page.contains(it) && !mentioned.contains(it)));
                bytes += new.iter().map(|it| sizes.mention(*it)).sum::<usize>();
            }
            Item::Unknown(_) => {}
        }
        if bytes > room {
            return (n_items, mentioned);
        }
        room -= bytes;
        mentioned.extend(new);
    }
    (row.len(), mentioned)
}

/// What the parts of a page take at most.
struct Sizes<'a> {
    format: Format,
    repo: &'a str,
    envelope: usize,
    /// As wide as they may be written.
    symbols: Vec<Symbol>,
    place: BTreeMap<NodeId, usize>,
    bare: Payload,
}

impl<'a> Sizes<'a> {
    fn new(pack: &'a Payload, format: Format, session: Option<&str>, pages: &Pages, key: Hash) -> Sizes<'a> {
        let cursor = pages.cursor_of_pack(state_prefix(key.as_bytes()), usize::MAX >> 1);
        let mut bare = Payload {
            symbols: Vec::new(),
            edges: Vec::new(),
            unknown_files: Vec::new(),
            next_cursor: Some(cursor),
            ..pack.clone()
        };
        let mut symbols = pack.symbols.clone();
        if let (Some(handle), Format::Gcf) = (session, format) {
            bare.session = Some(handle.to_owned());
            symbols.iter_mut().for_each(|it| it.id = WIDEST_ID);
        }
        // Beside what is no data itself stands a summary of it.
        let summary = json_bytes(&PackReply::of(
            bare.clone(),
            Extent { total: 99_999, truncated: true, is_first: true },
        ));
        let envelope = format.envelope_bytes(&bare) + LATE_NOTES + summary;
        let envelope = if format == Format::Json { summary + LATE_NOTES } else { envelope + LATE_NOTES };
        let place = pack.symbols.iter().map(|it| it.node_id).zip(0..).collect();
        Sizes { format, repo: &pack.repo, envelope, symbols, place, bare }
    }

    fn item(&self, pack: &Payload, item: Item) -> usize {
        match item {
            Item::Symbol(at) => self.format.symbol_bytes(&self.symbols[at], self.repo),
            Item::Edge(at) => {
                let edge = &pack.edges[at];
                let [source, target] = self.ends(edge).map(|it| &self.symbols[it]);
                self.format.edge_bytes(edge, source, target)
            }
            Item::Unknown(at) => {
                let one = vec![pack.unknown_files[at].clone()];
                let in_summary = if self.format == Format::Json { 0 } else { json_bytes(&one) + 1 };
                let with = Payload { unknown_files: one, ..self.bare.clone() };
                self.format.bytes(&with) - self.format.bytes(&self.bare) + in_summary
            }
        }
    }

    fn mention(&self, symbol: usize) -> usize {
        self.symbols.get(symbol).map_or(0, |it| self.format.mention_bytes(it))
    }

    fn ends(&self, edge: &Edge) -> [usize; 2] {
        [edge.source, edge.target].map(|it| self.place.get(&it).copied().unwrap_or(0))
    }
}
