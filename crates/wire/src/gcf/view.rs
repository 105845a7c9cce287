//! A document as a payload, to be shown: what GCF does not say is made up from what it says.

use knowing_model::{EdgeKind, Hash, NodeId, NodeKind, Provenance, SnapshotId};

use super::{Document, Entry};
use crate::payload::{Edge, Payload, Symbol};

impl Document {
    /// For people to read: ids of nodes are made of the short ones, words that are in no table are left out.
    pub fn view(&self) -> Payload {
        let text = |key: &str| self.header.value(key).unwrap_or_default().to_owned();
        let number = |key: &str| self.header.value(key).and_then(|it| it.parse().ok()).unwrap_or(0);
        let edge = |it: &super::Link| {
            Some(Edge {
                source: node_id(it.source),
                target: node_id(it.target),
                kind: EdgeKind::from_name(&it.kind)?,
                provenance: Provenance::Structural,
                confidence_bp: 0,
                status: it.status,
            })
        };
        Payload {
            tool: text("tool"),
            tree: text("tree"),
            snapshot: SnapshotId(Hash([0; 32])),
            fresh: text("fresh"),
            budget: number("budget"),
            tokens: number("tokens"),
            pack_root: self.header.value("pack_root").and_then(Hash::from_hex),
            repo: text("repo"),
            session: self.header.value("session").map(str::to_owned),
            symbols: self.symbols.iter().map(symbol).collect(),
            edges: self.edges.iter().filter_map(edge).collect(),
            notes: self.comments.clone(),
            unknown_files: Vec::new(),
            next_cursor: self.header.value("next").map(str::to_owned),
            mentioned: Vec::new(),
        }
    }
}

fn symbol(entry: &Entry) -> Symbol {
    let declared = entry.declared.clone();
    let name = declared.as_ref().map(|it| it.name.clone());
    let name = name.unwrap_or_else(|| format!("@{} (declared before)", entry.id));
    let kind = declared.as_ref().and_then(|it| NodeKind::from_name(&it.kind));
    let provenance = declared.as_ref().and_then(|it| Provenance::from_name(&it.provenance));
    let location = entry.location.clone().unwrap_or_default();
    let (end_line, end_col) = location.end.unwrap_or_default();
    Symbol {
        id: entry.id,
        node_id: node_id(entry.id),
        name: name.clone(),
        qualified_name: name,
        kind: kind.unwrap_or(NodeKind::External),
        score: declared.as_ref().map_or(0.0, |it| f64::from(it.score) / 100.0),
        provenance: provenance.unwrap_or(Provenance::Structural),
        distance: entry.distance,
        signature: entry.signature.clone(),
        file: Some(location.file).filter(|it| !it.is_empty()),
        line: location.line,
        col: location.col,
        end_line,
        end_col,
        flags: declared.map(|it| it.flags).into_iter().filter(|it| !it.is_empty()).collect(),
        unresolved: entry.unresolved,
        reasons: Vec::new(),
        components: Default::default(),
        source: entry.source.as_ref().map(|it| it.lines.join("\n")),
    }
}

fn node_id(id: u32) -> NodeId {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&id.to_be_bytes());
    NodeId(Hash(bytes))
}
