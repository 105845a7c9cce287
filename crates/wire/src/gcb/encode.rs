//! GCB, written.

use std::collections::BTreeMap;

use knowing_model::{Hash, NodeId};

use super::{COMPONENTS, FLAGS, MAGIC, VERSION};
use crate::json::four_decimals::rounded;
use crate::payload::{Edge, Payload, Status, Symbol};

pub fn encode(payload: &Payload) -> Vec<u8> {
    let positions = positions(payload);
    let edges: Vec<(usize, usize, &Edge)> = payload
        .edges
        .iter()
        .filter_map(|it| Some((*positions.get(&it.source)?, *positions.get(&it.target)?, it)))
        .collect();
    let mut files: Vec<&str> = Vec::new();
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    for file in payload.symbols.iter().filter_map(|it| it.file.as_deref()) {
        at.entry(file).or_insert_with(|| {
            files.push(file);
            files.len() - 1
        });
    }
    let mut out = MAGIC.to_vec();
    out.push(VERSION);
    [&payload.tool, &payload.tree, &payload.repo].into_iter().for_each(|it| text(&mut out, it));
    out.extend(payload.snapshot.as_bytes());
    out.extend(payload.pack_root.unwrap_or(Hash([0; 32])).as_bytes());
    for number in [payload.budget, payload.tokens, payload.symbols.len(), edges.len(), files.len()] {
        varint(&mut out, number as u64);
    }
    files.iter().for_each(|it| text(&mut out, it));
    for symbol in &payload.symbols {
        let file = symbol.file.as_deref().and_then(|it| at.get(it)).map_or(0, |it| it + 1);
        push_symbol(&mut out, symbol, file);
    }
    for (source, target, edge) in edges {
        push_edge(&mut out, source, target, edge);
    }
    let crc = crc32fast::hash(&out);
    out.extend(crc.to_le_bytes());
    out
}

/// Of two symbols with one id the last.
pub(super) fn positions(payload: &Payload) -> BTreeMap<NodeId, usize> {
    payload.symbols.iter().zip(0..).map(|(it, at)| (it.node_id, at)).collect()
}

fn push_symbol(out: &mut Vec<u8>, symbol: &Symbol, file: usize) {
    out.extend(symbol.node_id.as_bytes());
    text(out, &symbol.qualified_name);
    out.push(symbol.kind.id());
    out.extend((rounded(symbol.score) as f32).to_le_bytes());
    out.push(symbol.provenance.id());
    out.push(symbol.distance);
    let has = |name: &str| symbol.flags.iter().any(|it| it == name);
    let flags = FLAGS.iter().enumerate().filter(|it| has(it.1)).map(|it| 1_u16 << it.0);
    out.extend(flags.sum::<u16>().to_le_bytes());
    text(out, symbol.signature.as_deref().unwrap_or_default());
    varint(out, file as u64);
    for number in [symbol.line, symbol.col, symbol.end_line, symbol.end_col, symbol.unresolved] {
        varint(out, number.into());
    }
    for name in COMPONENTS {
        let component = symbol.components.get(name).copied().unwrap_or(0.0);
        out.extend((rounded(component) as f32).to_le_bytes());
    }
}

fn push_edge(out: &mut Vec<u8>, source: usize, target: usize, edge: &Edge) {
    varint(out, source as u64);
    varint(out, target as u64);
    out.extend([edge.kind.id(), edge.provenance.id()]);
    out.extend(edge.confidence_bp.to_le_bytes());
    out.push(match edge.status {
        Status::None => 0,
        Status::Added => 1,
        Status::Removed => 2,
    });
}

fn text(out: &mut Vec<u8>, text: &str) {
    varint(out, text.len() as u64);
    out.extend(text.as_bytes());
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// What a symbol adds when no other has its file.
pub(crate) fn symbol_bytes(symbol: &Symbol) -> usize {
    let mut out = Vec::new();
    push_symbol(&mut out, symbol, if symbol.file.is_some() { MANY } else { 0 });
    if let Some(file) = &symbol.file {
        text(&mut out, file);
    }
    out.len()
}

pub(crate) fn edge_bytes(edge: &Edge) -> usize {
    let mut out = Vec::new();
    push_edge(&mut out, MANY, MANY, edge);
    out.len()
}

/// Positions take two bytes up to here; a pack has fewer symbols.
const MANY: usize = (1 << 14) - 1;

/// What counts may add to an answer without symbols.
pub(crate) fn frame_bytes() -> usize {
    const COUNTS: usize = 3;
    3 * COUNTS
}
