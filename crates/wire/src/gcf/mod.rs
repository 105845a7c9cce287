//! GCF, graph profile: an answer in few tokens. One line a symbol and one for its place, each under a short id that edges
//! use; who has received a declaration is reminded of it by its id alone.
//!
//! ```text
//! GCF profile=graph tool=context_for_task tree=1a2b3c4d5e6f symbols=2 edges=1 repo=github.com/pallets/flask
//! ## targets [1]
//! @0 method ://src/flask/app.py.Flask.run 0.93 ast_resolved
//! ## related [1]
//! @1  # previously transmitted
//! ## loc [1]
//! @0 src/flask/app.py 546 1
//! ## edges [1]
//! @1<@0 calls
//! ```
//!
//! `Document` is what such a text says, no more: node ids, confidences and reasons are not in it.

mod decode;
mod encode;
mod escape;
mod view;

use std::collections::BTreeMap;

use knowing_model::NodeId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::delta::Delta;
use crate::payload::{Payload, Status, Symbol};
use crate::problem::Problem;

pub(crate) use encode::{
    Section, edge_bytes, edge_line, frame_bytes, mention_bytes, node, push_texts, push_unresolved,
    symbol_bytes, write_header,
};

/// What a text in this format can be.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    Whole(Document),
    /// What differs from a pack that the reader has.
    Delta(Delta),
}

/// Reads either; what is wrong is told with its line.
pub fn decode(text: &str) -> Result<Message, Problem> {
    decode::message(text)
}

/// A pack.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Document {
    pub header: Header,
    /// Lines that begin with `# `.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
    /// By distance, and by rank within one.
    pub symbols: Vec<Entry>,
    pub edges: Vec<Link>,
}

/// Keys and values in their order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Header(pub Vec<(String, String)>);

/// What is said of one symbol.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Entry {
    pub id: u32,
    /// 0 to 3.
    pub distance: u8,
    /// None for what was declared before under the same id.
    #[serde(flatten)]
    pub declared: Option<Declared>,
    #[serde(flatten)]
    pub location: Option<Location>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Calls by its name whose target is not known.
    #[serde(skip_serializing_if = "crate::payload::is_zero")]
    pub unresolved: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Declared {
    /// In its short form; words that are in no table pass.
    pub kind: String,
    /// The qualified one.
    pub name: String,
    /// Hundredths.
    pub score: i32,
    pub provenance: String,
    /// Letters: dirty, test, generated, and x for deprecated.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub flags: String,
}

/// Lines and columns count from 1, columns in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Location {
    pub file: String,
    pub line: u32,
    pub col: u32,
    /// Line and column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<(u32, u32)>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Source {
    pub first_line: u32,
    pub lines: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
pub struct Link {
    pub target: u32,
    pub source: u32,
    pub kind: String,
    #[serde(skip_serializing_if = "Status::is_none")]
    pub status: Status,
}

impl Document {
    /// What this format says of a payload.
    pub fn of(payload: &Payload) -> Document {
        let mut symbols: Vec<Entry> = payload.symbols.iter().map(Entry::of).collect();
        symbols.extend(payload.mentioned.iter().map(Entry::seen));
        // Stable: by rank within a distance.
        symbols.sort_by_key(|it| it.distance);
        let ids: BTreeMap<NodeId, u32> = payload.ends().map(|it| (it.node_id, it.id)).collect();
        let edges: Vec<Link> = payload
            .edges
            .iter()
            .filter_map(|it| {
                let (target, source) = (*ids.get(&it.target)?, *ids.get(&it.source)?);
                Some(Link { target, source, kind: it.kind.name().to_owned(), status: it.status })
            })
            .collect();
        let mut comments: Vec<String> = payload.notes.iter().map(|it| escape::on_one_line(it)).collect();
        let unknown = payload.unknown_files.iter().map(|it| format!("unknown file: {it}"));
        comments.extend(unknown.map(|it| escape::on_one_line(&it)));
        if edges.len() < payload.edges.len() {
            comments.push(format!("edges left out: {}", payload.edges.len() - edges.len()));
        }
        let header = Header::of(payload, symbols.len(), edges.len());
        Document { header, comments, symbols, edges }
    }

    pub fn encode(&self) -> String {
        encode::document(self)
    }
}

impl Header {
    /// The order in which keys stand.
    pub const KEYS: [&str; 16] = [
        "tool",
        "tree",
        "snapshot",
        "fresh",
        "budget",
        "tokens",
        "symbols",
        "edges",
        "pack_root",
        "repo",
        "session",
        "delta",
        "base_root",
        "new_root",
        "savings",
        "next",
    ];

    pub(crate) fn of(payload: &Payload, n_symbols: usize, n_edges: usize) -> Header {
        let mut header = Header::default();
        header.set("tool", &payload.tool);
        header.set("tree", &payload.tree);
        header.set("snapshot", &payload.snapshot.to_string()[..12]);
        header.set("fresh", &payload.fresh);
        header.set("budget", &payload.budget.to_string());
        header.set("tokens", &payload.tokens.to_string());
        header.set("symbols", &n_symbols.to_string());
        header.set("edges", &n_edges.to_string());
        header.set("pack_root", &payload.pack_root.map(|it| it.to_string()).unwrap_or_default());
        header.set("repo", &payload.repo);
        header.set("session", payload.session.as_deref().unwrap_or_default());
        header.set("next", payload.next_cursor.as_deref().unwrap_or_default());
        header
    }

    pub fn value(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|it| it.0 == key).map(|it| it.1.as_str())
    }

    /// Puts a key where it belongs; one without a value goes.
    pub fn set(&mut self, key: &str, value: &str) {
        self.0.retain(|it| it.0 != key);
        if value.is_empty() {
            return;
        }
        let place = |key: &str| Header::KEYS.iter().position(|it| *it == key).unwrap_or(Header::KEYS.len());
        let at = self.0.iter().position(|it| place(&it.0) > place(key)).unwrap_or(self.0.len());
        self.0.insert(at, (key.to_owned(), value.to_owned()));
    }
}

impl Entry {
    /// What was declared before.
    fn seen(symbol: &Symbol) -> Entry {
        Entry { id: symbol.id, distance: symbol.distance.min(3), ..Entry::default() }
    }

    pub fn of(symbol: &Symbol) -> Entry {
        Entry {
            id: symbol.id,
            distance: symbol.distance.min(3),
            declared: Some(Declared::of(symbol)),
            location: Location::of(symbol),
            signature: symbol.signature.as_ref().map(|it| it.replace('\r', " ")),
            source: symbol.source.as_ref().map(|it| Source {
                first_line: symbol.line,
                lines: it.lines().map(|it| it.trim_end_matches('\r').to_owned()).collect(),
            }),
            unresolved: symbol.unresolved,
        }
    }
}

impl Declared {
    fn of(symbol: &Symbol) -> Declared {
        const LETTERS: [(&str, char); 4] =
            [("dirty", 'd'), ("test", 't'), ("generated", 'g'), ("deprecated", 'x')];
        let has = |name: &str| symbol.flags.iter().any(|it| it == name);
        Declared {
            kind: symbol.kind.short_name().to_owned(),
            name: symbol.qualified_name.clone(),
            score: hundredths(symbol.score),
            provenance: symbol.provenance.name().to_owned(),
            flags: LETTERS.iter().filter(|it| has(it.0)).map(|it| it.1).collect(),
        }
    }
}

impl Location {
    /// A column that is not known is the first one. An end whose column is not known is none: it would cost a twentieth of
    /// the document, and half of it would say nothing.
    fn of(symbol: &Symbol) -> Option<Location> {
        let file = symbol.file.clone()?;
        let end = (symbol.end_line > 0 && symbol.end_col > 0).then_some((symbol.end_line, symbol.end_col));
        Some(Location { file, line: symbol.line, col: symbol.col.max(1), end })
    }
}

/// Of a number with four decimals; halves go to the even neighbour.
fn hundredths(score: f64) -> i32 {
    let basis_points = (score * 10_000.0).round() as i64;
    let (whole, rest) = (basis_points.div_euclid(100), basis_points.rem_euclid(100));
    let up = rest > 50 || (rest == 50 && whole % 2 != 0);
    i32::try_from(whole + i64::from(up)).unwrap_or(0)
}

impl Serialize for Header {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl JsonSchema for Header {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Header".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "additionalProperties": { "type": "string" } })
    }
}
