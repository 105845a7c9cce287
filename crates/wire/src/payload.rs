//! What is written, whatever the format: symbols, the edges between them, and of which tree they are.

use std::collections::BTreeMap;

use knowing_model::{EdgeKind, Hash, NodeId, NodeKind, Provenance, SnapshotId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::{by_name, confidence, four_decimals, four_decimals_each, hex};

/// An answer of context.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Payload {
    /// The operation that answers.
    pub tool: String,
    /// First digits of the commit.
    pub tree: String,
    #[serde(with = "hex")]
    #[schemars(with = "String")]
    pub snapshot: SnapshotId,
    /// `yes`, `dirty(n)`, `behind(n)`, `unindexed`.
    pub fresh: String,
    /// Tokens that were granted, and that are used.
    pub budget: usize,
    pub tokens: usize,
    #[serde(with = "hex::optional", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub pack_root: Option<Hash>,
    pub repo: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// In the order of their rank.
    pub symbols: Vec<Symbol>,
    pub edges: Vec<Edge>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Files that were asked for and that the snapshot does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_files: Vec<String>,
    /// Lists what follows, in a call with the same arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Symbols of pages before that edges of this one lead to: named where a format needs it, and not told again.
    #[serde(skip)]
    pub mentioned: Vec<Symbol>,
}

impl Payload {
    /// All symbols that edges can lead to.
    pub(crate) fn ends(&self) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().chain(&self.mentioned)
    }
}

/// A symbol of an answer. It is itself by its node id; `id` is a short name for it within one answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Symbol {
    pub id: u32,
    #[serde(with = "hex")]
    #[schemars(with = "String")]
    pub node_id: NodeId,
    pub qualified_name: String,
    /// The last part of it.
    pub name: String,
    #[serde(with = "by_name")]
    #[schemars(with = "String")]
    pub kind: NodeKind,
    /// 0 to 1 within one answer; written with four decimals.
    #[serde(with = "four_decimals")]
    #[schemars(with = "f64")]
    pub score: f64,
    /// Of the surest edge that leads to it; `structural` when there is none.
    #[serde(with = "by_name")]
    #[schemars(with = "String")]
    pub provenance: Provenance,
    /// Edges to the nearest seed, at most 3.
    pub distance: u8,
    /// Only when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// None for what has no place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Lines and columns count from 1, columns in bytes; 0 where there is nothing to point at.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub col: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub end_line: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub end_col: u32,
    /// Names of marks: `test`, `generated`, `dirty` ...
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Calls by its name whose target is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unresolved: u32,
    /// Why it is here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What the score is made of; written with four decimals.
    #[serde(with = "four_decimals_each", default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, f64>")]
    pub components: BTreeMap<String, f64>,
    /// The lines from `line` on. Only when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// An edge between symbols of an answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Edge {
    #[serde(with = "hex")]
    #[schemars(with = "String")]
    pub source: NodeId,
    #[serde(with = "hex")]
    #[schemars(with = "String")]
    pub target: NodeId,
    #[serde(with = "by_name")]
    #[schemars(with = "String")]
    pub kind: EdgeKind,
    #[serde(with = "by_name")]
    #[schemars(with = "String")]
    pub provenance: Provenance,
    /// Written as a number from 0 to 1.
    #[serde(rename = "confidence", with = "confidence")]
    #[schemars(with = "f64")]
    pub confidence_bp: u16,
    #[serde(default, skip_serializing_if = "Status::is_none")]
    pub status: Status,
}

/// What became of an edge, in a comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    None,
    Added,
    Removed,
}

impl Status {
    pub(crate) fn is_none(&self) -> bool {
        *self == Status::None
    }
}

/// How much is said of each symbol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Detail {
    /// Where it is.
    #[default]
    Brief,
    /// And how it is declared.
    Signature,
    /// And its text.
    Source,
}

impl Detail {
    pub const ALL: [Detail; 3] = [Detail::Brief, Detail::Signature, Detail::Source];

    pub fn name(self) -> &'static str {
        match self {
            Detail::Brief => "brief",
            Detail::Signature => "signature",
            Detail::Source => "source",
        }
    }

    pub fn from_name(name: &str) -> Option<Detail> {
        Detail::ALL.into_iter().find(|it| it.name() == name)
    }
}

impl Symbol {
    /// `path:line`, or nothing for what has no place.
    pub fn location(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(if self.line == 0 { file.clone() } else { format!("{file}:{}", self.line) })
    }

    /// The name without what its location says already: the repository and the file.
    pub fn short_name(&self) -> &str {
        let Some(file) = &self.file else { return &self.qualified_name };
        let inside = self.qualified_name.split_once("://").map_or(self.qualified_name.as_str(), |it| it.1);
        inside.strip_prefix(file.as_str()).and_then(|it| it.strip_prefix('.')).unwrap_or(inside)
    }
}

pub(crate) fn is_zero(number: &u32) -> bool {
    *number == 0
}
