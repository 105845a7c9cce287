//! Reads a SCIP index: the subset of its schema that says where symbols are defined and mentioned.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use knowing_model::Position;
use prost::Message;
use rustc_hash::FxHashMap;

use super::truth::{Mention, Place, Shape, Truth, TruthSymbol};

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Index {
    #[prost(message, optional, tag = "1")]
    pub(crate) metadata: Option<Metadata>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) documents: Vec<Document>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Metadata {
    #[prost(message, optional, tag = "2")]
    pub(crate) tool_info: Option<ToolInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ToolInfo {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) version: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Document {
    #[prost(string, tag = "1")]
    pub(crate) relative_path: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) occurrences: Vec<Occurrence>,
    /// 1: bytes; 2 and 0: UTF-16 units; 3: characters.
    #[prost(int32, tag = "6")]
    pub(crate) position_encoding: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Occurrence {
    /// `[line, column, end line, end column]`; three numbers when it ends on its line.
    #[prost(int32, repeated, tag = "1")]
    pub(crate) range: Vec<i32>,
    #[prost(string, tag = "2")]
    pub(crate) symbol: String,
    #[prost(int32, tag = "3")]
    pub(crate) symbol_roles: i32,
    /// Newer writers use these two instead of `range`.
    #[prost(message, optional, tag = "8")]
    pub(crate) single_line_range: Option<Start>,
    #[prost(message, optional, tag = "9")]
    pub(crate) multi_line_range: Option<Start>,
}

/// Both typed ranges begin alike; where they end is of no use here.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Start {
    #[prost(int32, tag = "1")]
    pub(crate) line: i32,
    #[prost(int32, tag = "2")]
    pub(crate) column: i32,
}

const DEFINITION: i32 = 1;

/// `text_of` gives a file's text, to turn columns into bytes where a line is not ASCII.
pub(crate) fn read<'t>(bytes: &[u8], text_of: impl Fn(&str) -> Option<&'t str>) -> Result<Truth> {
    let index = Index::decode(bytes).context("this is no SCIP index")?;
    let tool = index.metadata.and_then(|it| it.tool_info).unwrap_or_default();
    let mut reader = Reader::default();
    let mut mentions: BTreeMap<String, Vec<Mention>> = BTreeMap::new();
    for document in &index.documents {
        let lines: Vec<&str> =
            text_of(&document.relative_path).map(|it| it.lines().collect()).unwrap_or_default();
        let mut here = Vec::new();
        for occurrence in &document.occurrences {
            let Some(start) = start(occurrence) else { continue };
            let position = position(start, document.position_encoding, &lines);
            let symbol = reader.symbol(&document.relative_path, &occurrence.symbol);
            if occurrence.symbol_roles & DEFINITION == 0 {
                let line = lines.get(position.line as usize - 1).copied().unwrap_or_default();
                let written = word(line, position.column as usize);
                if is_written(written, &occurrence.symbol, &tool.name, &lines) {
                    here.push(Mention { position, symbol });
                }
                continue;
            }
            let place = Place {
                path: document.relative_path.clone(),
                line: position.line,
                column: Some(position.column),
            };
            reader.symbols[symbol as usize].places.push(place);
        }
        here.sort_unstable();
        here.dedup();
        mentions.entry(document.relative_path.clone()).or_default().extend(here);
    }
    for list in mentions.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    reader.give_implicit_constructors_a_place();
    let tool = format!("{} {}", tool.name, tool.version).trim().to_owned();
    Ok(Truth { tool, symbols: reader.symbols, mentions, is_sample: false })
}

/// Whether the text at a place names the symbol that is said to be there. Two tools say more than what is written:
/// rust-analyzer has what `Self`, `.await`, `?` and operators stand for, and scip-python takes every name that a wildcard
/// re-exports for the first of its module.
fn is_written(written: &str, symbol: &str, tool: &str, lines: &[&str]) -> bool {
    match tool {
        "rust-analyzer" => !matches!(written, "" | "Self" | "self" | "super" | "crate" | "await"),
        "scip-python" if !symbol.starts_with("local ") && !lines.is_empty() => {
            let plain = symbol.trim_end_matches(['.', ')', '(', '#', ':', '/']);
            let name = plain.rsplit(['.', '#', '/', '`']).next().unwrap_or(plain);
            let alias = format!(" as {written}");
            written == name || name == "__init__" || lines.iter().any(|it| it.contains(&alias))
        }
        _ => true,
    }
}

/// The identifier that begins at a column.
fn word(line: &str, column: usize) -> &str {
    let rest = line.get(column..).unwrap_or_default();
    let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
    &rest[..end]
}

fn start(occurrence: &Occurrence) -> Option<Start> {
    match occurrence.range.as_slice() {
        [line, column, ..] => Some(Start { line: *line, column: *column }),
        _ => occurrence.single_line_range.or(occurrence.multi_line_range),
    }
}

fn position(start: Start, encoding: i32, lines: &[&str]) -> Position {
    let line = start.line.max(0) as u32;
    let column = start.column.max(0) as usize;
    let text = lines.get(line as usize).copied().unwrap_or_default();
    let column = if encoding == 1 || text.is_ascii() { column } else { bytes_before(text, column, encoding) };
    Position { line: line + 1, column: column as u32 }
}

fn bytes_before(text: &str, column: usize, encoding: i32) -> usize {
    let mut seen = 0;
    for (at, character) in text.char_indices() {
        if seen >= column {
            return at;
        }
        seen += if encoding == 3 { 1 } else { character.len_utf16() };
    }
    text.len()
}

#[derive(Default)]
struct Reader {
    symbols: Vec<TruthSymbol>,
    by_name: FxHashMap<String, u32>,
}

impl Reader {
    fn symbol(&mut self, path: &str, written: &str) -> u32 {
        let local = written.starts_with("local ");
        let name = if local { format!("{path} {written}") } else { written.to_owned() };
        if let Some(at) = self.by_name.get(&name) {
            return *at;
        }
        let at = self.symbols.len() as u32;
        let shape = if local { Shape::Local } else { shape(written) };
        self.symbols.push(TruthSymbol { name: name.clone(), shape, places: Vec::new() });
        self.by_name.insert(name, at);
        at
    }

    /// A constructor that nobody wrote stands where its class stands.
    fn give_implicit_constructors_a_place(&mut self) {
        for at in 0..self.symbols.len() {
            let symbol = &self.symbols[at];
            if symbol.shape != Shape::Constructor || !symbol.places.is_empty() {
                continue;
            }
            let Some(end) = symbol.name.rfind('#') else { continue };
            let Some(class) = self.by_name.get(&symbol.name[..=end]) else { continue };
            self.symbols[at].places = self.symbols[*class as usize].places.clone();
        }
    }
}

/// The last descriptor's suffix says what a symbol is: `name().`, `name#`, `name.`, `name/`, `name!`.
fn shape(symbol: &str) -> Shape {
    let constructor = ["`<init>`(", "`<constructor>`(", "#__init__("];
    if symbol.ends_with(").") {
        let last = symbol.rfind('#').map_or(symbol, |it| &symbol[it..]);
        return if constructor.iter().any(|it| last.contains(it)) {
            Shape::Constructor
        } else {
            Shape::Callable
        };
    }
    match symbol.as_bytes().last() {
        Some(b'#') => Shape::Type,
        Some(b'!') => Shape::Callable,
        Some(b'/' | b':') => Shape::Module,
        _ => Shape::Value,
    }
}
