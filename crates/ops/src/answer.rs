//! What answers have in common: the tree they speak of, symbols, edges.

use knowing_model::NodeFlags;
use schemars::JsonSchema;
use serde::Serialize;

/// Version of the JSON that operations answer; a change that breaks readers raises it.
pub const SCHEMA: u32 = 1;

/// Which state of which repository an answer is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tree {
    /// Version of this JSON.
    pub schema: u32,
    pub repo: String,
    /// First digits of the commit, and `+` and those of a digest when files on disk differ from it.
    pub tree: String,
    /// What the answer was computed from.
    pub snapshot: String,
    /// `yes`; `dirty(n)` when n files differ from the snapshot, `behind(n)` when HEAD is n commits ahead, `unindexed` when
    /// HEAD is elsewhere.
    pub fresh: String,
    /// The first files that differ from the snapshot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dirty: Vec<String>,
    /// Why the answer is not of HEAD, when it should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<String>,
}

impl Tree {
    pub fn is_fresh(&self) -> bool {
        self.fresh == "yes"
    }

    /// Files that differ from the snapshot, in words; empty when there are none.
    pub fn dirty_names(&self) -> String {
        let total: Option<usize> =
            self.fresh.strip_prefix("dirty(").and_then(|it| it.strip_suffix(')')?.parse().ok());
        let n_more = total.unwrap_or_default().saturating_sub(self.dirty.len());
        let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
        format!("{}{more}", self.dirty.join(", "))
    }
}

/// A symbol and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SymbolInfo {
    pub id: String,
    pub qualified_name: String,
    pub name: String,
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub signature: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<&'static str>,
}

impl SymbolInfo {
    /// `path:line`, or nothing for what has no place.
    pub fn location(&self) -> Option<String> {
        let (file, line) = (self.file.as_ref()?, self.line?);
        Some(if line == 0 { file.clone() } else { format!("{file}:{line}") })
    }

    /// The name without the repository.
    pub fn short_name(&self) -> &str {
        match (self.is_virtual(), self.qualified_name.split_once("://")) {
            (false, Some((_, rest))) => rest,
            _ => &self.qualified_name,
        }
    }

    pub fn is_test(&self) -> bool {
        self.kind == "test" || self.flags.contains(&"test")
    }

    fn is_virtual(&self) -> bool {
        self.file.is_none() && self.kind != "package"
    }
}

/// An edge between two symbols, by their names.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Link {
    pub source: String,
    pub target: String,
    pub kind: &'static str,
    pub provenance: &'static str,
    /// 0 to 1.
    pub confidence: f64,
    /// Of the first site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

pub(crate) fn flag_names(flags: NodeFlags) -> Vec<&'static str> {
    flags.names().collect()
}

/// Basis points to a number from 0 to 1 with four decimals.
pub(crate) fn confidence(basis_points: u16) -> f64 {
    f64::from(basis_points) / 10_000.0
}

/// Four decimals, so that every platform prints the same.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}
