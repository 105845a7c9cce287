//! The list of formats, and how many bytes each thing takes in each.

use crate::payload::{Edge, Payload, Symbol};
use crate::{gcb, gcf, json, markdown, xml};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    Gcf,
    Json,
    Markdown,
    Xml,
    Gcb,
}

/// An answer as it is sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Written {
    Text(String),
    Bytes(Vec<u8>),
}

impl Written {
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Written::Text(text) => text.as_bytes(),
            Written::Bytes(bytes) => bytes,
        }
    }
}

impl Format {
    pub const ALL: [Format; 5] = [Format::Gcf, Format::Json, Format::Markdown, Format::Xml, Format::Gcb];

    pub fn name(self) -> &'static str {
        match self {
            Format::Gcf => "gcf",
            Format::Json => "json",
            Format::Markdown => "markdown",
            Format::Xml => "xml",
            Format::Gcb => "gcb",
        }
    }

    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|it| it.name() == name)
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Format::Gcf => "text/x-gcf",
            Format::Json => "application/json",
            Format::Markdown => "text/markdown",
            Format::Xml => "application/xml",
            Format::Gcb => "application/x-gcb",
        }
    }

    /// Whether symbols stand by distance, and not by rank alone.
    pub fn groups_by_distance(self) -> bool {
        matches!(self, Format::Gcf | Format::Xml)
    }

    pub fn encode(self, payload: &Payload) -> Written {
        match self {
            Format::Gcf => Written::Text(gcf::Document::of(payload).encode()),
            Format::Json => Written::Text(json::encode(payload)),
            Format::Markdown => Written::Text(markdown::encode(payload)),
            Format::Xml => Written::Text(xml::encode(payload)),
            Format::Gcb => Written::Bytes(gcb::encode(payload)),
        }
    }

    /// How many bytes `encode` gives.
    pub fn bytes(self, payload: &Payload) -> usize {
        self.encode(payload).as_bytes().len()
    }

    /// What a symbol adds to an answer about `repo`, when its id has no more digits than now.
    pub fn symbol_bytes(self, symbol: &Symbol, repo: &str) -> usize {
        match self {
            Format::Gcf => gcf::symbol_bytes(symbol, repo),
            Format::Json => json::symbol_bytes(symbol),
            Format::Markdown => markdown::symbol_bytes(symbol),
            Format::Xml => xml::symbol_bytes(symbol),
            Format::Gcb => gcb::symbol_bytes(symbol),
        }
    }

    /// What an edge adds to an answer that holds its two ends.
    pub fn edge_bytes(self, edge: &Edge, source: &Symbol, target: &Symbol) -> usize {
        match self {
            Format::Gcf => gcf::edge_bytes(edge, source, target),
            Format::Json => json::edge_bytes(edge),
            Format::Markdown => markdown::edge_bytes(edge, source, target),
            Format::Xml => xml::edge_bytes(edge, source, target),
            Format::Gcb => gcb::edge_bytes(edge),
        }
    }

    /// What it takes to speak of a symbol that an earlier page has.
    pub fn mention_bytes(self, symbol: &Symbol) -> usize {
        match self {
            Format::Gcf => gcf::mention_bytes(symbol),
            _ => 0,
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
            Format::Gcf => gcf::frame_bytes(),
            Format::Json => 0,
            Format::Markdown => markdown::frame_bytes(),
            Format::Xml => xml::frame_bytes(),
            Format::Gcb => gcb::frame_bytes(),
        };
        self.bytes(&bare) + frame
    }
}

/// What bytes cost, by the rule that needs no tokenizer: four bytes are a token.
pub fn tokens(n_bytes: usize) -> usize {
    n_bytes.div_ceil(4)
}
