//! What a person reads at a terminal: a heading, a table for each distance, the edges, and texts when asked for.
//!
//! Text of repositories is data: in a table it stands in code spans or has its marks escaped, and a fence is longer than
//! any in the text it holds.

use std::borrow::Cow;
use std::fmt::Write as _;

use knowing_model::NodeId;

use crate::payload::{Edge, Payload, Status, Symbol};

const SECTIONS: [&str; 4] = ["Targets", "Related", "Extended", "Further"];
const EDGES: &str = "\n## Edges\n\n";

pub(crate) fn encode(payload: &Payload) -> String {
    let mut text = head(payload);
    for (distance, section) in SECTIONS.iter().enumerate() {
        let mut inside = payload
            .symbols
            .iter()
            .enumerate()
            .filter(|(_, it)| usize::from(it.distance).min(SECTIONS.len() - 1) == distance)
            .peekable();
        if inside.peek().is_none() {
            continue;
        }
        text.push_str(&heading(section));
        for (at, symbol) in inside {
            push_row(&mut text, at + 1, symbol);
        }
    }
    if !payload.edges.is_empty() {
        text.push_str(EDGES);
        for edge in &payload.edges {
            push_edge(&mut text, edge, &name_of(payload, edge.source), &name_of(payload, edge.target));
        }
    }
    for symbol in &payload.symbols {
        push_source(&mut text, symbol);
    }
    text
}

fn head(payload: &Payload) -> String {
    let Payload { tool, tree, fresh, budget, tokens, repo, .. } = payload;
    let mut text = String::new();
    let mut line = |arguments: std::fmt::Arguments<'_>| {
        text.write_fmt(arguments).expect("a string takes all");
        text.push('\n');
    };
    line(format_args!("# {}: {} at {}", plain(tool), plain(repo), plain(tree)));
    line(format_args!(""));
    let (symbols, edges) = (count(payload.symbols.len(), "symbol"), count(payload.edges.len(), "edge"));
    let fresh = if fresh == "yes" || fresh.is_empty() {
        Cow::Borrowed("")
    } else {
        Cow::Owned(format!("; {}", plain(fresh)))
    };
    line(format_args!("{symbols}, {edges}; {tokens} of {budget} tokens{fresh}"));
    if let Some(root) = payload.pack_root {
        line(format_args!("\npack `{root}`"));
    }
    for note in &payload.notes {
        line(format_args!("\n> {}", plain(note)));
    }
    if !payload.unknown_files.is_empty() {
        line(format_args!("\n> not in the snapshot: {}", plain(&payload.unknown_files.join(", "))));
    }
    if let Some(next) = &payload.next_cursor {
        line(format_args!("\nnext page: `cursor` {}", plain(next)));
    }
    text
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn heading(section: &str) -> String {
    format!("\n## {section}\n\n| # | score | kind | name | location |\n|---:|---:|---|---|---|\n")
}

fn push_row(text: &mut String, rank: usize, symbol: &Symbol) {
    let location = symbol.location().unwrap_or_default();
    let (kind, name) = (symbol.kind.name(), code(symbol.short_name()));
    let signature = symbol.signature.as_ref().map(|it| format!("<br>{}", code(it))).unwrap_or_default();
    let score = symbol.score;
    writeln!(text, "| {rank} | {score:.2} | {kind} | {name}{signature} | {} |", plain(&location))
        .expect("a string takes all");
}

fn push_edge(text: &mut String, edge: &Edge, source: &str, target: &str) {
    let status = match edge.status {
        Status::None => "",
        Status::Added => " (added)",
        Status::Removed => " (removed)",
    };
    let kind = edge.kind.name();
    writeln!(text, "- {} {kind} {}{status}", code(source), code(target)).expect("a string takes all");
}

fn push_source(text: &mut String, symbol: &Symbol) {
    let Some(source) = &symbol.source else { return };
    let fence = "`".repeat(longest_run(source).max(2) + 1);
    let location = symbol.location().unwrap_or_default();
    let end = if source.ends_with('\n') { "" } else { "\n" };
    let name = code(symbol.short_name());
    writeln!(text, "\n### {name} {}\n\n{fence}\n{source}{end}{fence}", plain(&location))
        .expect("a string takes all");
}

fn name_of(payload: &Payload, node: NodeId) -> String {
    let known = payload.ends().find(|it| it.node_id == node);
    known.map_or_else(|| node.to_string()[..12].to_owned(), |it| it.short_name().to_owned())
}

/// A code span on one line, also inside a table.
fn code(text: &str) -> String {
    let fence = "`".repeat(if text.contains('`') { longest_run(text) + 1 } else { 1 });
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{}{space}{fence}", on_one_line(text).replace('|', "\\|"))
}

/// Text without code marks, on one line, that means nothing but itself.
fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in on_one_line(text).chars() {
        if matches!(character, '|' | '`' | '*' | '<' | '[' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn on_one_line(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_control) {
        return text.replace(char::is_control, " ").into();
    }
    text.into()
}

fn longest_run(text: &str) -> usize {
    text.split(|it| it != '`').map(str::len).max().unwrap_or(0)
}

// The rank is known when all are chosen: room for five digits.
const RANK: usize = 10_000;

pub(crate) fn symbol_bytes(symbol: &Symbol) -> usize {
    let mut text = String::new();
    push_row(&mut text, RANK, symbol);
    push_source(&mut text, symbol);
    text.len()
}

pub(crate) fn edge_bytes(edge: &Edge, source: &Symbol, target: &Symbol) -> usize {
    let mut text = String::new();
    push_edge(&mut text, edge, source.short_name(), target.short_name());
    text.len()
}

/// What sections and counts may add to an answer without symbols.
pub(crate) fn frame_bytes() -> usize {
    const COUNTS: usize = 10;
    SECTIONS.iter().map(|it| heading(it).len()).sum::<usize>() + EDGES.len() + COUNTS
}
