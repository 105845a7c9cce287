//! The proof file, `knowing-proof/1`: what it states, and all that is needed to check it.
//!
//! ```text
//! leaf ── siblings ──> kind root ── siblings ──> package root ── siblings ──> root ──> snapshot id
//! ```
//!
//! Hashes are 64 lower-case hex digits and nothing else: a proof has one spelling.

use serde::{Deserialize, Serialize};

pub const FORMAT: &str = "knowing-proof/1";

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    pub format: String,
    #[serde(rename = "type")]
    pub proof_type: ProofType,
    pub statement: Statement,
    pub edge: String,
    /// Of the source.
    pub package: String,
    /// Of an inclusion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf: Option<Leaf>,
    /// From the inside out. Of an absence, the levels around the one where the gap is.
    pub path: Vec<Step>,
    /// Of an absence, as the neighbours are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Neighbour>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<Neighbour>,
    pub root: String,
    pub stage: String,
    pub ruleset: u32,
    /// Empty for a commit.
    pub dirty: String,
    pub snapshot: String,
    pub commit: String,
    pub repo: String,
    /// Information, not verified; so is `engine`.
    pub issued_at: String,
    pub engine: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProofType {
    Inclusion,
    Absence,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    pub source: Symbol,
    pub target: Symbol,
    pub kind: String,
}

/// The identity of a node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symbol {
    pub repo: String,
    pub class: String,
    pub container: String,
    pub symbol: String,
    pub kind: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leaf {
    pub provenance: String,
    pub confidence_bp: u16,
}

/// The way through one tree: a place among so many, and the hashes beside the way, lowest first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The edge id, the kind, the package.
    pub label: String,
    pub index: u64,
    pub size: u64,
    pub siblings: Vec<String>,
}

/// Where the gap is: no such edge in the kind, no such kind in the package, no such package.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Edge,
    Kind,
    Package,
}

/// What stands beside the gap.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Neighbour {
    Edge(NeighbourEdge),
    Branch(NeighbourBranch),
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeighbourEdge {
    pub edge: String,
    pub provenance: String,
    pub confidence_bp: u16,
    pub index: u64,
    pub size: u64,
    pub siblings: Vec<String>,
}

/// A kind or a package: its root is the hash of label, count and tree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeighbourBranch {
    pub label: String,
    pub count: u64,
    pub tree: String,
    pub index: u64,
    pub size: u64,
    pub siblings: Vec<String>,
}

impl Proof {
    /// Reads a proof file, or an answer of `prove` that holds one under `proof`.
    pub fn from_json(bytes: &[u8]) -> Result<Proof, String> {
        let mut value: serde_json::Value = serde_json::from_slice(bytes).map_err(|it| it.to_string())?;
        if value.get("format").is_none()
            && let Some(inside) = value.get_mut("proof")
        {
            value = inside.take();
        }
        match value.get("format").and_then(|it| it.as_str()) {
            Some(FORMAT) => serde_json::from_value(value).map_err(|it| it.to_string()),
            Some(other) => Err(format!("the format is `{other}`, expected `{FORMAT}`")),
            None => Err(format!("there is no `format`, expected `{FORMAT}`")),
        }
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("names, numbers and lists are what JSON can write")
    }
}
