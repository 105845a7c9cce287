//! XML: sections by distance, symbols with their attributes, edges between their ids.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use knowing_model::NodeId;

use crate::json::four_decimals::rounded;
use crate::payload::{Edge, Payload, Status, Symbol};

const EDGES: (&str, &str) = ("<edges>\n", "</edges>\n");
const END: &str = "</symbols>\n";

pub(crate) fn encode(payload: &Payload) -> String {
    let mut out = String::new();
    out.push_str("<context");
    attribute(&mut out, "tool", &payload.tool);
    attribute(&mut out, "tree", &payload.tree);
    attribute(&mut out, "snapshot", &payload.snapshot.to_string());
    attribute(&mut out, "fresh", &payload.fresh);
    attribute(&mut out, "budget", &payload.budget.to_string());
    attribute(&mut out, "tokens", &payload.tokens.to_string());
    attribute(&mut out, "pack_root", &payload.pack_root.map(|it| it.to_string()).unwrap_or_default());
    attribute(&mut out, "repo", &payload.repo);
    attribute(&mut out, "session", payload.session.as_deref().unwrap_or_default());
    attribute(&mut out, "next_cursor", payload.next_cursor.as_deref().unwrap_or_default());
    out.push_str(">\n");
    for (name, texts) in [("note", &payload.notes), ("unknown_file", &payload.unknown_files)] {
        texts.iter().for_each(|it| element(&mut out, name, it));
    }
    for distance in 0..=3 {
        let mut inside = payload.symbols.iter().filter(|it| it.distance.min(3) == distance).peekable();
        if inside.peek().is_none() {
            continue;
        }
        out.push_str(&heading(distance));
        inside.for_each(|it| push_symbol(&mut out, it));
        out.push_str(END);
    }
    let ids: BTreeMap<NodeId, u32> = payload.ends().map(|it| (it.node_id, it.id)).collect();
    let mut edges = payload
        .edges
        .iter()
        .filter_map(|it| Some((it, *ids.get(&it.source)?, *ids.get(&it.target)?)))
        .peekable();
    if edges.peek().is_some() {
        out.push_str(EDGES.0);
        edges.for_each(|(it, source, target)| push_edge(&mut out, it, source, target));
        out.push_str(EDGES.1);
    }
    out.push_str("</context>\n");
    out
}

fn heading(distance: u8) -> String {
    format!("<symbols distance=\"{distance}\">\n")
}

fn push_symbol(out: &mut String, symbol: &Symbol) {
    write!(out, "<symbol id=\"{}\"", symbol.id).expect("a string takes all");
    attribute(out, "name", &symbol.qualified_name);
    attribute(out, "kind", symbol.kind.name());
    attribute(out, "score", &rounded(symbol.score).to_string());
    let confidence = f64::from(symbol.provenance.usual_confidence()) / 10_000.0;
    attribute(out, "confidence", &confidence.to_string());
    attribute(out, "provenance", symbol.provenance.name());
    if let Some(file) = &symbol.file {
        attribute(out, "file", file);
    }
    for (name, number) in [
        ("line", symbol.line),
        ("col", symbol.col),
        ("end_line", symbol.end_line),
        ("end_col", symbol.end_col),
        ("unresolved", symbol.unresolved),
    ] {
        if number > 0 {
            write!(out, " {name}=\"{number}\"").expect("a string takes all");
        }
    }
    attribute(out, "flags", &symbol.flags.join(" "));
    if symbol.signature.is_none() && symbol.source.is_none() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    if let Some(signature) = &symbol.signature {
        element(out, "signature", signature);
    }
    if let Some(source) = &symbol.source {
        element(out, "source", source);
    }
    out.push_str("</symbol>\n");
}

fn push_edge(out: &mut String, edge: &Edge, source: u32, target: u32) {
    let kind = edge.kind.name();
    write!(out, "<edge source=\"{source}\" target=\"{target}\" kind=\"{kind}\"").expect("a string takes all");
    out.push_str(match edge.status {
        Status::None => "/>\n",
        Status::Added => " status=\"added\"/>\n",
        Status::Removed => " status=\"removed\"/>\n",
    });
}

/// One that is empty is left out.
fn attribute(out: &mut String, name: &str, value: &str) {
    if !value.is_empty() {
        write!(out, " {name}=\"").expect("a string takes all");
        escape(out, value, true);
        out.push('"');
    }
}

fn element(out: &mut String, name: &str, text: &str) {
    write!(out, "<{name}>").expect("a string takes all");
    escape(out, text, false);
    writeln!(out, "</{name}>").expect("a string takes all");
}

/// White space in attributes would be read as spaces, a CR anywhere as LF. What XML 1.0 has no place for becomes U+FFFD.
fn escape(out: &mut String, text: &str, in_attribute: bool) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if in_attribute => out.push_str("&quot;"),
            '\t' | '\n' if in_attribute => {
                write!(out, "&#{};", u32::from(character)).expect("a string takes all");
            }
            '\r' => out.push_str("&#13;"),
            '\t' | '\n' => out.push(character),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
}

pub(crate) fn symbol_bytes(symbol: &Symbol) -> usize {
    let mut out = String::new();
    push_symbol(&mut out, symbol);
    out.len()
}

pub(crate) fn edge_bytes(edge: &Edge, source: &Symbol, target: &Symbol) -> usize {
    let mut out = String::new();
    push_edge(&mut out, edge, source.id, target.id);
    out.len()
}

/// What sections add to an answer without symbols.
pub(crate) fn frame_bytes() -> usize {
    4 * (heading(0).len() + END.len()) + EDGES.0.len() + EDGES.1.len()
}
