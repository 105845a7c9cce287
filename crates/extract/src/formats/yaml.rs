//! YAML (and JSON, which is a part of it) as a tree with positions.
//!
//! Aliases point to what they stand for and are never copied, so that a document of nine lines stays one. After an error
//! the next document is read.

use knowing_model::Position;
use rustc_hash::FxHashMap;
use saphyr_parser::{Event, Parser};

/// Nodes of one file.
const MAX_NODES: usize = 300_000;
const MAX_DEPTH: usize = 128;

pub(super) struct Yaml {
    nodes: Vec<Node>,
    pub(super) documents: Vec<Id>,
    /// Line of the first error.
    pub(super) error: Option<u32>,
    pub(super) is_cut: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Id(usize);

struct Node {
    kind: Kind,
    position: Position,
    last_line: u32,
    tag: Option<String>,
}

enum Kind {
    Scalar(String),
    List(Vec<Id>),
    Map(Vec<(Id, Id)>),
    Alias(Id),
}

impl Yaml {
    pub(super) fn parse(text: &str) -> Yaml {
        let mut yaml = Yaml { nodes: Vec::new(), documents: Vec::new(), error: None, is_cut: false };
        let blanked = blanked(text);
        let text = blanked.as_deref().unwrap_or(text);
        let mut from = 0;
        let mut line = 0;
        for _ in 0..64 {
            let Some(failed) = yaml.read(&text[from..], line) else { break };
            yaml.error.get_or_insert(failed);
            // The next document behind the error.
            let failed_in = failed.saturating_sub(line) as usize;
            let rest = &text[from..];
            // The error may stand at the line that begins it.
            let before = failed_in.saturating_sub(2);
            let skipped: usize = rest.split_inclusive('\n').take(before).map(str::len).sum();
            let Some(next) = rest[skipped.min(rest.len())..].find("\n---") else { break };
            let step = skipped + next + 1;
            line += rest[..step].matches('\n').count() as u32;
            from += step;
        }
        yaml
    }

    /// Reads documents to the end or to an error, whose line it gives.
    fn read(&mut self, text: &str, first_line: u32) -> Option<u32> {
        let lines: Vec<&str> = text.split('\n').collect();
        let position = |line: usize, column: usize| {
            let text = lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
            let column = match text.is_ascii() {
                true => column,
                false => text.char_indices().nth(column).map_or(text.len(), |it| it.0),
            };
            Position { line: line as u32 + first_line, column: column as u32 }
        };
        let mut open: Vec<(Id, Option<Id>)> = Vec::new();
        let mut anchors: FxHashMap<usize, Id> = FxHashMap::default();
        for event in Parser::new_from_str(text) {
            let (event, span) = match event {
                Ok(it) => it,
                Err(error) => {
                    self.close(&open, first_line + error.marker().line() as u32);
                    return Some(first_line + (error.marker().line() as u32).max(1));
                }
            };
            if self.nodes.len() >= MAX_NODES || open.len() > MAX_DEPTH {
                self.is_cut = true;
                return None;
            }
            let at = position(span.start.line(), span.start.col());
            let tag = |it: Option<std::borrow::Cow<'_, saphyr_parser::Tag>>| it.map(|it| it.suffix.clone());
            let (kind, anchor, tag, opens) = match event {
                Event::Scalar(text, _, anchor, it) => {
                    (Kind::Scalar(text.into_owned()), anchor, tag(it), false)
                }
                Event::SequenceStart(anchor, it) => (Kind::List(Vec::new()), anchor, tag(it), true),
                Event::MappingStart(anchor, it) => (Kind::Map(Vec::new()), anchor, tag(it), true),
                Event::Alias(anchor) => match anchors.get(&anchor) {
                    Some(target) => (Kind::Alias(*target), 0, None, false),
                    None => (Kind::Scalar(String::new()), 0, None, false),
                },
                Event::SequenceEnd | Event::MappingEnd => {
                    if let Some((id, _)) = open.pop() {
                        let last = span.end.line() as u32 + first_line;
                        self.nodes[id.0].last_line = last.max(self.nodes[id.0].position.line);
                    }
                    continue;
                }
                _ => continue,
            };
            let id = Id(self.nodes.len());
            self.nodes.push(Node { kind, position: at, last_line: span.end.line() as u32 + first_line, tag });
            if anchor > 0 {
                anchors.insert(anchor, id);
            }
            match open.last_mut() {
                None => self.documents.push(id),
                Some((parent, key)) => match (&mut self.nodes[parent.0].kind, key.take()) {
                    (Kind::List(list), _) => list.push(id),
                    (Kind::Map(_), None) => *key = Some(id),
                    (Kind::Map(map), Some(key)) => map.push((key, id)),
                    _ => {}
                },
            }
            if opens {
                open.push((id, None));
            }
        }
        None
    }

    fn close(&mut self, open: &[(Id, Option<Id>)], line: u32) {
        for (id, _) in open {
            self.nodes[id.0].last_line = line;
        }
    }

    fn meant(&self, id: Id) -> Id {
        let mut id = id;
        for _ in 0..16 {
            match self.nodes[id.0].kind {
                Kind::Alias(target) => id = target,
                _ => return id,
            }
        }
        id
    }

    pub(super) fn text(&self, id: Id) -> Option<&str> {
        match &self.nodes[self.meant(id).0].kind {
            Kind::Scalar(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn tag(&self, id: Id) -> Option<&str> {
        self.nodes[id.0].tag.as_deref()
    }

    pub(super) fn list(&self, id: Id) -> &[Id] {
        match &self.nodes[self.meant(id).0].kind {
            Kind::List(list) => list,
            _ => &[],
        }
    }

    pub(super) fn is_map(&self, id: Id) -> bool {
        matches!(self.nodes[self.meant(id).0].kind, Kind::Map(_))
    }

    /// Keys and values as written; what `<<` brings is not among them.
    pub(super) fn pairs(&self, id: Id) -> impl Iterator<Item = (&str, Id, Id)> {
        let map: &[(Id, Id)] = match &self.nodes[self.meant(id).0].kind {
            Kind::Map(map) => map,
            _ => &[],
        };
        map.iter().filter_map(|(key, value)| Some((self.text(*key)?, *key, *value)))
    }

    /// The value of a key, through merge keys.
    pub(super) fn get(&self, id: Id, key: &str) -> Option<Id> {
        self.get_within(id, key, 0)
    }

    fn get_within(&self, id: Id, key: &str, depth: usize) -> Option<Id> {
        if depth > 8 {
            return None;
        }
        if let Some(found) = self.pairs(id).find(|it| it.0 == key) {
            return Some(found.2);
        }
        let merged = self.pairs(id).find(|it| it.0 == "<<")?.2;
        match self.list(merged) {
            [] => self.get_within(merged, key, depth + 1),
            list => list.iter().find_map(|it| self.get_within(*it, key, depth + 1)),
        }
    }

    pub(super) fn at(&self, id: Id, path: &[&str]) -> Option<Id> {
        path.iter().try_fold(id, |id, key| self.get(id, key))
    }

    pub(super) fn text_at(&self, id: Id, path: &[&str]) -> Option<&str> {
        self.text(self.at(id, path)?)
    }

    /// Texts of a list, or the one text that stands in its place.
    pub(super) fn texts(&self, id: Id) -> Vec<(&str, Position)> {
        match self.text(id) {
            Some(text) => vec![(text, self.position(id))],
            None => {
                self.list(id).iter().filter_map(|it| Some((self.text(*it)?, self.position(*it)))).collect()
            }
        }
    }

    pub(super) fn position(&self, id: Id) -> Position {
        self.nodes[id.0].position
    }

    pub(super) fn last_line(&self, id: Id) -> u32 {
        self.nodes[id.0].last_line
    }

    /// All nodes below one, itself first, in source order; aliases are not entered.
    pub(super) fn all(&self, id: Id) -> Vec<Id> {
        let mut out = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            out.push(id);
            match &self.nodes[id.0].kind {
                Kind::List(list) => open.extend(list.iter().rev()),
                Kind::Map(map) => open.extend(map.iter().rev().map(|it| it.1)),
                _ => {}
            }
        }
        out
    }
}

/// Template braces made plain, where lines begin with them: such a line says nothing, others have a value nobody knows.
fn blanked(text: &str) -> Option<String> {
    if !text.contains("{{")
        || !text.lines().any(|it| is_template_line(it) || it.contains(": {{") || it.contains("- {{"))
    {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        if is_template_line(body) {
            out.push_str(&" ".repeat(body.len()));
        } else if body.contains("{{") {
            let mut rest = body;
            while let Some(from) = rest.find("{{") {
                let is_expression = from > 0 && rest.as_bytes()[from - 1] == b'$';
                let Some(end) = rest[from..].find("}}").map(|it| from + it + 2) else { break };
                out.push_str(&rest[..from]);
                if is_expression {
                    out.push_str(&rest[from..end]);
                } else {
                    out.push_str(&"T".repeat(end - from));
                }
                rest = &rest[end..];
            }
            out.push_str(rest);
        } else {
            out.push_str(body);
        }
        out.push_str(&line[body.len()..]);
    }
    Some(out)
}

fn is_template_line(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("{{") && line.ends_with("}}") && !line.contains(": ")
}
