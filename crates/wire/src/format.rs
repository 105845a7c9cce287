//! The list of formats, and how many bytes each thing takes in each.

use crate::payload::{Edge, Payload, Symbol};
use crate::{json, markdown};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    Json,
    Markdown,
}

impl Format {
    pub const ALL: [Format; 2] = [Format::Json, Format::Markdown];

    pub fn name(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Markdown => "markdown",
        }
    }

    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|it| it.name() == name)
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Format::Json => "application/json",
            Format::Markdown => "text/markdown",
        }
    }

    pub fn encode(self, payload: &Payload) -> String {
        match self {
            Format::Json => json::encode(payload),
            Format::Markdown => markdown::encode(payload),
        }
    }

    /// What a symbol adds to an answer.
    pub fn symbol_bytes(self, symbol: &Symbol) -> usize {
        match self {
            Format::Json => json::symbol_bytes(symbol),
            Format::Markdown => markdown::symbol_bytes(symbol),
        }
    }

    /// What an edge adds to an answer that holds its two ends.
    pub fn edge_bytes(self, edge: &Edge, source: &Symbol, target: &Symbol) -> usize {
        match self {
            Format::Json => json::edge_bytes(edge),
            Format::Markdown => markdown::edge_bytes(edge, source, target),
        }
    }

    /// What an answer takes besides its symbols and edges, whatever number of tokens within the budget it will state.
    /// Symbols and edges of the payload do not count.
    pub fn envelope_bytes(self, payload: &Payload) -> usize {
        let bare = Payload {
            tokens: payload.budget.max(payload.tokens),
            symbols: Vec::new(),
            edges: Vec::new(),
            ..payload.clone()
        };
        let frame = match self {
            Format::Json => 0,
            Format::Markdown => markdown::frame_bytes(),
        };
        self.encode(&bare).len() + frame
    }
}

/// What bytes cost, by the rule that needs no tokenizer: four bytes are a token.
pub fn tokens(n_bytes: usize) -> usize {
    n_bytes.div_ceil(4)
}
