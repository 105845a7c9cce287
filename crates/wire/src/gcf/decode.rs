//! GCF, read: line by line, each problem with its line.

use std::collections::{BTreeMap, BTreeSet};

use super::encode::{NODES, SEEN};
use super::escape::{text, word};
use super::{Declared, Document, Entry, Header, Link, Location, Message, Source};
use crate::delta::Delta;
use crate::payload::Status;
use crate::problem::{At, Problem};

type Result<T> = std::result::Result<T, Problem>;

pub(super) fn message(text: &str) -> Result<Message> {
    let mut lines = Lines { rest: text, number: 0 };
    let header = header(lines.next().unwrap_or_default())?;
    let is_delta = header.value("delta") == Some("true");
    let repo = header.value("repo").unwrap_or_default().to_owned();
    let mut reading = Reading { repo, is_delta, ..Reading::default() };
    while let Some(line) = lines.next() {
        if line.is_empty() {
            continue;
        }
        match line.strip_prefix("## ") {
            Some(section) => reading.begin(section, lines.number)?,
            None if line == "#" || line.starts_with("# ") => reading.comment(line, lines.number)?,
            None => reading.line(line, &mut lines)?,
        }
    }
    reading.end()?;
    if is_delta {
        return Ok(Message::Delta(reading.delta(header)?));
    }
    reading.whole(header).map(Message::Whole)
}

/// Lines end with LF or CR LF.
struct Lines<'a> {
    rest: &'a str,
    /// Of the line given last.
    number: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        self.number += 1;
        Some(line.strip_suffix('\r').unwrap_or(line))
    }
}

fn header(line: &str) -> Result<Header> {
    let fault = |what: String| Problem::new(At::Line(1), what);
    let rest = line.strip_prefix("GCF profile=graph").filter(|it| it.is_empty() || it.starts_with(' '));
    let rest = rest.ok_or_else(|| fault("it does not begin with `GCF profile=graph`".to_owned()))?;
    let mut header = Header::default();
    for field in rest.split(' ').filter(|it| !it.is_empty()) {
        let (key, value) = field.split_once('=').ok_or_else(|| fault(format!("`{field}` has no `=`")))?;
        let is_key = key.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
            && key.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
        if !is_key {
            return Err(fault(format!("`{key}` is no key")));
        }
        let value = word(value).ok_or_else(|| fault(format!("`{value}` is not escaped as it should be")))?;
        if header.value(key).is_some() {
            return Err(fault(format!("the key `{key}` stands twice")));
        }
        header.0.push((key.to_owned(), value));
    }
    Ok(header)
}

#[derive(Default)]
struct Reading {
    repo: String,
    /// Then ids of the base are not known here.
    is_delta: bool,
    comments: Vec<String>,
    symbols: Vec<Entry>,
    /// Where each id stands among the symbols.
    at: BTreeMap<u32, usize>,
    edges: Vec<Link>,
    /// With their lines: they may stand before what they speak of.
    unresolved: Vec<(usize, u32, u32)>,
    begun: BTreeSet<String>,
    section: Option<Open>,
    removed: Vec<u32>,
    edges_removed: Vec<Link>,
    changed: Vec<Entry>,
    /// Where each id stands among the changed.
    at_changed: BTreeMap<u32, usize>,
}

struct Open {
    what: What,
    line: usize,
    expected: Option<usize>,
    found: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Nodes(u8),
    Signatures,
    Locations,
    Sources,
    Edges,
    Removed,
    Added,
    EdgesRemoved,
    /// Of a version to come.
    Unknown,
}

impl Reading {
    fn begin(&mut self, section: &str, line: usize) -> Result<()> {
        self.end()?;
        let fault = |what: String| Problem::new(At::Line(line), what);
        let (name, count) = section.split_once(' ').map_or((section, None), |it| (it.0, Some(it.1)));
        let expected = match count.map(str::trim).filter(|it| !it.is_empty()) {
            None => None,
            Some(count) => {
                let number = count.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
                Some(
                    number
                        .and_then(|it| it.parse().ok())
                        .ok_or_else(|| fault(format!("`{count}` is no count")))?,
                )
            }
        };
        let what = match (name, self.is_delta) {
            ("sig", _) => What::Signatures,
            ("src", _) => What::Sources,
            ("loc", false) | ("changed", true) => What::Locations,
            ("edges", false) | ("edges_added", true) => What::Edges,
            ("removed", true) => What::Removed,
            ("added", true) => What::Added,
            ("edges_removed", true) => What::EdgesRemoved,
            (_, false) if NODES.contains(&name) => {
                What::Nodes(NODES.iter().position(|it| *it == name).unwrap_or_default() as u8)
            }
            _ if self.symbols.is_empty() && !self.is_delta => {
                return Err(fault(format!(
                    "the section `{name}` is not known, and no symbol stands before it"
                )));
            }
            _ => What::Unknown,
        };
        if !self.begun.insert(name.to_owned()) {
            return Err(fault(format!("the section `{name}` stands twice")));
        }
        self.section = Some(Open { what, line, expected, found: 0 });
        Ok(())
    }

    /// Whether the section before had as many lines as it said.
    fn end(&mut self) -> Result<()> {
        match self.section.take() {
            Some(Open { what, line, expected: Some(expected), found })
                if what != What::Unknown && expected != found =>
            {
                let what = format!("the section should have {expected} lines, and {found} follow");
                Err(Problem::new(At::Line(line), what))
            }
            _ => Ok(()),
        }
    }

    fn comment(&mut self, line: &str, number: usize) -> Result<()> {
        let comment = line.strip_prefix("# ").unwrap_or_default();
        let counted = comment.strip_prefix("unresolved @").and_then(|it| it.split_once(' '));
        match counted.and_then(|(id, count)| Some((id.parse().ok()?, count.trim_end().parse().ok()?))) {
            Some((id, count)) => self.unresolved.push((number, id, count)),
            None => self.comments.push(comment.to_owned()),
        }
        Ok(())
    }

    fn line(&mut self, line: &str, lines: &mut Lines<'_>) -> Result<()> {
        let number = lines.number;
        let fault = |what: String| Problem::new(At::Line(number), what);
        let Some(open) = &mut self.section else {
            return Err(fault("a line stands outside every section".to_owned()));
        };
        open.found += 1;
        match open.what {
            What::Unknown => Ok(()),
            What::Nodes(distance) => {
                let entry = node(line, distance, &self.repo).map_err(fault)?;
                self.declare(entry).map_err(fault)
            }
            What::Added => {
                let (line, distance) = line.rsplit_once(' ').unwrap_or((line, ""));
                let distance = number_of::<u8>(distance).map_err(fault)?;
                let entry = node(line, distance.min(3), &self.repo).map_err(fault)?;
                if entry.declared.is_none() {
                    return Err(fault("what is added has to be declared".to_owned()));
                }
                self.declare(entry).map_err(fault)
            }
            What::Removed => {
                let id = id(line).map_err(fault)?;
                self.removed.push(id);
                Ok(())
            }
            What::Edges | What::EdgesRemoved => {
                let is_removed = open.what == What::EdgesRemoved;
                let link = link(line).map_err(fault)?;
                if !self.is_delta {
                    for id in [link.target, link.source] {
                        self.known(id).map_err(fault)?;
                    }
                }
                if is_removed {
                    self.edges_removed.push(link)
                } else {
                    self.edges.push(link)
                }
                Ok(())
            }
            What::Locations => {
                let (id, location) = location(line).map_err(fault)?;
                self.entry(id).map_err(fault)?.location = Some(location);
                Ok(())
            }
            What::Signatures => {
                let (of, rest) = line.split_once(' ').unwrap_or((line, ""));
                let signature = text(rest)
                    .ok_or_else(|| fault("a `\\` stands before neither `\\` nor `n`".to_owned()))?;
                let id = id(of).map_err(fault)?;
                self.entry(id).map_err(fault)?.signature = Some(signature);
                Ok(())
            }
            What::Sources => {
                let (id, source) = source(line, lines)?;
                self.entry(id).map_err(fault)?.source = Some(source);
                Ok(())
            }
        }
    }

    fn declare(&mut self, entry: Entry) -> std::result::Result<(), String> {
        if self.at.insert(entry.id, self.symbols.len()).is_some() {
            return Err(format!("the id `@{}` stands for two symbols", entry.id));
        }
        self.symbols.push(entry);
        Ok(())
    }

    fn known(&self, id: u32) -> std::result::Result<usize, String> {
        self.at.get(&id).copied().ok_or_else(|| format!("the id `@{id}` stands for no symbol"))
    }

    fn entry(&mut self, id: u32) -> std::result::Result<&mut Entry, String> {
        match self.known(id) {
            Ok(at) => Ok(&mut self.symbols[at]),
            Err(problem) if !self.is_delta => Err(problem),
            Err(_) => {
                let at = *self.at_changed.entry(id).or_insert(self.changed.len());
                if at == self.changed.len() {
                    self.changed.push(Entry { id, ..Entry::default() });
                }
                Ok(&mut self.changed[at])
            }
        }
    }

    fn whole(mut self, header: Header) -> Result<Document> {
        for (line, id, count) in std::mem::take(&mut self.unresolved) {
            let at = self.known(id).map_err(|it| Problem::new(At::Line(line), it))?;
            self.symbols[at].unresolved = count;
        }
        for (key, found) in [("symbols", self.symbols.len()), ("edges", self.edges.len())] {
            let Some(expected) = header.value(key) else { continue };
            let expected = number_of::<usize>(expected).map_err(|it| Problem::new(At::Line(1), it))?;
            if expected != found {
                let what = format!("there should be {expected} {key}, and {found} are there");
                return Err(Problem::new(At::Line(1), what));
            }
        }
        let Reading { comments, symbols, edges, .. } = self;
        Ok(Document { header, comments, symbols, edges })
    }

    fn delta(mut self, header: Header) -> Result<Delta> {
        for (line, id, count) in std::mem::take(&mut self.unresolved) {
            let at = self.known(id).map_err(|it| Problem::new(At::Line(line), it))?;
            self.symbols[at].unresolved = count;
        }
        self.changed.sort_by_key(|it| it.id);
        let Reading { comments, symbols: added, edges: edges_added, removed, edges_removed, changed, .. } =
            self;
        Ok(Delta { header, comments, removed, added, changed, edges_removed, edges_added })
    }
}

fn node(line: &str, distance: u8, repo: &str) -> std::result::Result<Entry, String> {
    let (of, _) = line.split_once(' ').unwrap_or((line, ""));
    let id = id(of)?;
    if line[of.len()..] == *SEEN {
        return Ok(Entry { id, distance, ..Entry::default() });
    }
    let fields: Vec<&str> = line.split(' ').collect();
    let (fields, flags) = match fields.as_slice() {
        [fields @ .., flags] if fields.len() == 5 && flags.starts_with('!') => (fields, &flags[1..]),
        fields => (fields, ""),
    };
    let [_, kind, name, score, provenance] = fields else {
        return Err(format!("a symbol has 5 or 6 fields, not {}", line.split(' ').count()));
    };
    let score: f64 = number_of(score)?;
    if !(-1e6..=1e6).contains(&score) {
        return Err(format!("the score `{score}` is out of range"));
    }
    let name = match unescaped(name)? {
        name if name.starts_with("://") => format!("{repo}{name}"),
        name => name,
    };
    let declared = Declared {
        kind: unescaped(kind)?,
        name,
        score: (score * 100.0).round() as i32,
        provenance: unescaped(provenance)?,
        flags: unescaped(flags)?,
    };
    Ok(Entry { id, distance, declared: Some(declared), ..Entry::default() })
}

fn location(line: &str) -> std::result::Result<(u32, Location), String> {
    let fields: Vec<&str> = line.split(' ').collect();
    let (of, file, at, end) = match fields[..] {
        [of, file, line, col] => (of, file, (line, col), None),
        [of, file, line, col, end_line, end_col] => (of, file, (line, col), Some((end_line, end_col))),
        _ => return Err(format!("a place has 4 or 6 fields, not {}", fields.len())),
    };
    let end = match end {
        Some((line, col)) => Some((number_of(line)?, number_of(col)?)),
        None => None,
    };
    let (line, col) = (number_of(at.0)?, number_of(at.1)?);
    Ok((id(of)?, Location { file: unescaped(file)?, line, col, end }))
}

fn source(line: &str, lines: &mut Lines<'_>) -> Result<(u32, Source)> {
    let number = lines.number;
    let fault = |what: String| Problem::new(At::Line(number), what);
    let [of, first, count] = line.split(' ').collect::<Vec<_>>()[..] else {
        return Err(fault("a source begins with its id, first line and number of lines".to_owned()));
    };
    let (id, first_line) = (id(of).map_err(fault)?, number_of(first).map_err(fault)?);
    let count: usize = number_of(count).map_err(fault)?;
    let mut source = Source { first_line, lines: Vec::new() };
    for _ in 0..count {
        let line =
            lines.next().ok_or_else(|| fault(format!("{count} lines should follow, and the text ends")))?;
        let text = line.strip_prefix("| ").or_else(|| line.strip_prefix('|').filter(|it| it.is_empty()));
        let text =
            text.ok_or_else(|| Problem::new(At::Line(lines.number), "a line of source begins with `| `"))?;
        source.lines.push(text.to_owned());
    }
    Ok((id, source))
}

fn link(line: &str) -> std::result::Result<Link, String> {
    let fields: Vec<&str> = line.split(' ').collect();
    let (ends, kind, status) = match fields[..] {
        [ends, kind] => (ends, kind, Status::None),
        [ends, kind, "added"] => (ends, kind, Status::Added),
        [ends, kind, "removed"] => (ends, kind, Status::Removed),
        [_, _, other] => return Err(format!("`{other}` is neither `added` nor `removed`")),
        _ => return Err(format!("an edge has 2 or 3 fields, not {}", fields.len())),
    };
    let (target, source) = ends.split_once('<').ok_or_else(|| format!("`{ends}` has no `<`"))?;
    Ok(Link { target: id(target)?, source: id(source)?, kind: unescaped(kind)?, status })
}

fn id(text: &str) -> std::result::Result<u32, String> {
    text.strip_prefix('@')
        .and_then(|it| it.parse().ok())
        .ok_or_else(|| format!("`{text}` is no id such as `@7`"))
}

fn number_of<T: std::str::FromStr>(text: &str) -> std::result::Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is no number that fits here"))
}

fn unescaped(text: &str) -> std::result::Result<String, String> {
    word(text).ok_or_else(|| format!("`{text}` is not escaped as it should be"))
}
