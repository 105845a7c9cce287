//! GCF, written: the lines, and how many bytes a symbol and an edge take.

use std::fmt::Write as _;

use super::escape::{push_text, push_word};
use super::{Declared, Document, Entry, Header, Link, Location, Source};
use crate::payload::{Edge, Status, Symbol};

pub(super) const NODES: [&str; 4] = ["targets", "related", "extended", "distance_3"];
pub(super) const SEEN: &str = "  # previously transmitted";

pub(super) fn document(it: &Document) -> String {
    let mut out = write_header(&it.header, &it.comments);
    let repo = it.header.value("repo").unwrap_or_default();
    for (distance, name) in NODES.iter().enumerate() {
        let mut section = Section::new(name);
        for entry in it.symbols.iter().filter(|it| usize::from(it.distance.min(3)) == distance) {
            section.line(|out| node(out, entry, repo));
        }
        section.end(&mut out);
    }
    for entry in &it.symbols {
        push_unresolved(&mut out, entry);
    }
    push_texts(&mut out, "loc", &it.symbols);
    let mut edges = Section::new("edges");
    for link in &it.edges {
        edges.line(|out| edge_line(out, link));
    }
    edges.end(&mut out);
    out
}

/// Places, signatures and sources of symbols, those that have them.
pub(crate) fn push_texts(out: &mut String, locations: &str, symbols: &[Entry]) {
    let (mut loc, mut sig, mut src) = (Section::new(locations), Section::new("sig"), Section::new("src"));
    for entry in symbols {
        if let Some(location) = &entry.location {
            loc.line(|out| push_location(out, entry.id, location));
        }
        if let Some(text) = &entry.signature {
            sig.line(|out| push_signature(out, entry.id, text));
        }
        if let Some(source) = &entry.source {
            src.line(|out| push_source(out, entry.id, source));
        }
    }
    sig.end(out);
    loc.end(out);
    src.end(out);
}

/// With the comments.
pub(crate) fn write_header(header: &Header, comments: &[String]) -> String {
    let mut out = "GCF profile=graph".to_owned();
    for (key, value) in &header.0 {
        write!(out, " {key}=").expect("a string takes all");
        push_word(&mut out, value);
    }
    out.push('\n');
    for comment in comments {
        writeln!(out, "# {comment}").expect("a string takes all");
    }
    out
}

/// A section whose number of lines is known at its end; one without lines is not written.
pub(crate) struct Section {
    name: String,
    n_lines: usize,
    lines: String,
}

impl Section {
    pub(crate) fn new(name: &str) -> Section {
        Section { name: name.to_owned(), n_lines: 0, lines: String::new() }
    }

    pub(crate) fn line(&mut self, write: impl FnOnce(&mut String)) {
        write(&mut self.lines);
        self.lines.push('\n');
        self.n_lines += 1;
    }

    pub(crate) fn end(self, out: &mut String) {
        if self.n_lines > 0 {
            let Section { name, n_lines, lines } = self;
            write!(out, "## {name} [{n_lines}]\n{lines}").expect("a string takes all");
        }
    }
}

pub(crate) fn node(out: &mut String, entry: &Entry, repo: &str) {
    write!(out, "@{}", entry.id).expect("a string takes all");
    match &entry.declared {
        Some(declared) => push_declared(out, declared, repo),
        None => out.push_str(SEEN),
    }
}

fn push_declared(out: &mut String, declared: &Declared, repo: &str) {
    let Declared { kind, name, score, provenance, flags } = declared;
    out.push(' ');
    push_word(out, kind);
    out.push(' ');
    let of_repo = name.strip_prefix(repo).filter(|it| !repo.is_empty() && it.starts_with("://"));
    push_word(out, of_repo.unwrap_or(name));
    let (sign, size) = (if *score < 0 { "-" } else { "" }, score.unsigned_abs());
    write!(out, " {sign}{}.{:02} ", size / 100, size % 100).expect("a string takes all");
    push_word(out, provenance);
    if !flags.is_empty() {
        out.push_str(" !");
        push_word(out, flags);
    }
}

fn push_location(out: &mut String, id: u32, location: &Location) {
    write!(out, "@{id} ").expect("a string takes all");
    push_word(out, &location.file);
    write!(out, " {} {}", location.line, location.col).expect("a string takes all");
    if let Some((line, col)) = location.end {
        write!(out, " {line} {col}").expect("a string takes all");
    }
}

fn push_signature(out: &mut String, id: u32, text: &str) {
    write!(out, "@{id} ").expect("a string takes all");
    push_text(out, text);
}

fn push_source(out: &mut String, id: u32, source: &Source) {
    write!(out, "@{id} {} {}", source.first_line, source.lines.len()).expect("a string takes all");
    for line in &source.lines {
        write!(out, "\n| {line}").expect("a string takes all");
    }
}

pub(crate) fn push_unresolved(out: &mut String, entry: &Entry) {
    if entry.unresolved > 0 {
        writeln!(out, "# unresolved @{} {}", entry.id, entry.unresolved).expect("a string takes all");
    }
}

pub(crate) fn edge_line(out: &mut String, link: &Link) {
    write!(out, "@{}<@{} ", link.target, link.source).expect("a string takes all");
    push_word(out, &link.kind);
    out.push_str(match link.status {
        Status::None => "",
        Status::Added => " added",
        Status::Removed => " removed",
    });
}

/// All lines that a symbol adds under the id it has.
pub(crate) fn symbol_bytes(symbol: &Symbol, repo: &str) -> usize {
    let entry = Entry::of(symbol);
    let mut out = String::new();
    node(&mut out, &entry, repo);
    out.push('\n');
    if let Some(location) = &entry.location {
        push_location(&mut out, entry.id, location);
        out.push('\n');
    }
    if let Some(text) = &entry.signature {
        push_signature(&mut out, entry.id, text);
        out.push('\n');
    }
    if let Some(source) = &entry.source {
        push_source(&mut out, entry.id, source);
        out.push('\n');
    }
    push_unresolved(&mut out, &entry);
    out.len()
}

/// Of a line that reminds of a symbol.
pub(crate) fn mention_bytes(symbol: &Symbol) -> usize {
    let mut out = String::new();
    node(&mut out, &Entry { id: symbol.id, ..Entry::default() }, "");
    out.len() + 1
}

pub(crate) fn edge_bytes(edge: &Edge, source: &Symbol, target: &Symbol) -> usize {
    let (target, source, kind) = (target.id, source.id, edge.kind.name().to_owned());
    let mut out = String::new();
    edge_line(&mut out, &Link { target, source, kind, status: edge.status });
    out.len() + 1
}

/// What headings and counts may add to a document without symbols.
pub(crate) fn frame_bytes() -> usize {
    // And `# base unknown`, which is known when all is packed.
    const COUNTS: usize = 10 + 15;
    let sections = NODES.iter().chain(&["sig", "loc", "src", "edges"]);
    sections.map(|it| format!("## {it} [99999]\n").len()).sum::<usize>() + COUNTS
}
