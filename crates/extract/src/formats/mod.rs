//! Files that are no code: each format reads one kind of them into declarations and the relations it states.
//!
//! One file a format and one line in `registry.rs`. A format gets a [`Sheet`] and says what it finds: `declare`, `link`,
//! `offer`. What is wrong with a file makes it partial with the line, and what was understood is kept. Values are not
//! kept: a declaration's range is its name, and the text of such files is not searched.

pub(crate) mod ansible;
pub(crate) mod cloudformation;
pub(crate) mod codeowners;
pub(crate) mod compose;
pub(crate) mod css;
pub(crate) mod dockerfile;
pub(crate) mod documents;
pub(crate) mod dotenv;
pub(crate) mod github_actions;
pub(crate) mod gitlab_ci;
pub(crate) mod graphql;
pub(crate) mod helm;
pub(crate) mod kubernetes;
mod lexer;
pub(crate) mod makefile;
pub(crate) mod openapi;
pub(crate) mod packages;
pub(crate) mod protobuf;
pub(crate) mod serverless;
pub(crate) mod sql;
pub(crate) mod symfony;
pub(crate) mod terraform;
mod yaml;
pub(crate) mod yaml_files;

use knowing_model::facts::{
    Certainty, Decl, DeclId, FileFacts, Handler, Link, LinkEnd, Modifiers, Offer, OwnerRule, Partial,
    PartialReason, Route, Router, Str,
};
use knowing_model::{EdgeKind, NodeFlags, NodeKind, Position, Range, Span};
use rustc_hash::FxHashMap;

use crate::engine::lines::Lines;
use crate::engine::source::Source;
use crate::limits::Limits;

pub(crate) struct Format {
    pub(crate) name: &'static str,
    /// Whether it takes a path: directory and file name.
    pub(crate) accepts: fn(&str, &str) -> bool,
    /// What it takes, in words.
    pub(crate) takes: &'static [&'static str],
    pub(crate) read: fn(&mut Sheet<'_>),
}

impl Format {
    pub(crate) fn read(&self, path: &str, bytes: &[u8], limits: &Limits) -> FileFacts {
        let n_lines = Source::new(bytes).n_lines();
        // A dump is mostly rows, of which nothing is kept.
        let thinned =
            (self.name == "sql" && bytes.len() > limits.max_bytes).then(|| sql::without_rows(bytes));
        let bytes = thinned.as_deref().unwrap_or(bytes);
        let is_cut = bytes.len() > limits.max_bytes;
        let bytes = if is_cut { &bytes[..self.border(bytes, limits.max_bytes)] } else { bytes };
        let text = String::from_utf8_lossy(bytes);
        let mut sheet = Sheet::new(path, &text, limits);
        sheet.facts.n_lines = n_lines;
        sheet.facts.language = self.name.to_owned();
        if is_cut {
            let line = Some(Source::new(bytes).n_lines().max(1));
            sheet.facts.partial = Some(Partial { reason: PartialReason::TooLarge, line });
        } else if std::str::from_utf8(bytes).is_err() {
            let line = Source::new(bytes).first_invalid_line();
            sheet.facts.partial = Some(Partial { reason: PartialReason::InvalidUtf8, line });
        }
        (self.read)(&mut sheet);
        sheet.finish()
    }

    /// Where a file that is too large is cut: behind the last statement of a dump, the last document of YAML, the last line
    /// of what is read by lines. One document of YAML or JSON has no border: nothing of it is read.
    fn border(&self, bytes: &[u8], most: usize) -> usize {
        let begin = &bytes[..most];
        let behind = |mark: &[u8], keep: usize| memchr::memmem::rfind(begin, mark).map(|it| it + keep);
        let border = match self.name {
            "sql" => behind(b";\n", 2).or_else(|| behind(b";\r\n", 3)),
            "yaml" => behind(b"\n---", 1),
            "json" | "maven" | "dotnet" => None,
            _ => behind(b"\n", 1),
        };
        border.unwrap_or(0)
    }
}

/// The text of one file and the facts made of it.
pub(crate) struct Sheet<'s> {
    pub(crate) path: &'s str,
    pub(crate) text: &'s str,
    pub(crate) facts: FileFacts,
    ids: FxHashMap<String, Str>,
    lines: Lines,
    limits: &'s Limits,
    n_of: FxHashMap<(String, NodeKind), u32>,
}

impl<'s> Sheet<'s> {
    pub(crate) fn new(path: &'s str, text: &'s str, limits: &'s Limits) -> Sheet<'s> {
        let mut lines = Lines::default();
        lines.fill(text.as_bytes());
        let facts = FileFacts { is_private: true, ..FileFacts::default() };
        Sheet { path, text, facts, ids: FxHashMap::default(), lines, limits, n_of: FxHashMap::default() }
    }

    pub(crate) fn finish(self) -> FileFacts {
        self.facts
    }

    pub(crate) fn str(&mut self, text: &str) -> Str {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = Str(u32::try_from(self.facts.strings.len()).unwrap_or(u32::MAX));
        let bounded = knowing_model::name::bounded(text);
        self.facts.strings.push(&bounded);
        self.ids.insert(text.to_owned(), id);
        id
    }

    pub(crate) fn has_word(&self, word: &str) -> bool {
        memchr::memmem::find(self.text.as_bytes(), word.as_bytes()).is_some()
    }

    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        self.lines.position(self.lines.row_of(offset), offset)
    }

    pub(crate) fn offset(&self, position: Position) -> usize {
        self.lines.offset(position) as usize
    }

    /// Something is wrong at a line; the first trouble counts.
    pub(crate) fn partial(&mut self, line: u32) {
        self.partial_for(PartialReason::SyntaxError, Some(line));
    }

    pub(crate) fn partial_for(&mut self, reason: PartialReason, line: Option<u32>) {
        if self.facts.partial.is_none() {
            self.facts.partial = Some(Partial { reason, line });
        }
    }

    /// A declaration under a whole path; one that was there before gets a number.
    pub(crate) fn declare(
        &mut self,
        kind: NodeKind,
        path: &str,
        at: Position,
        last_line: u32,
        signature: &str,
    ) -> Option<DeclId> {
        if path.is_empty() {
            return None;
        }
        if self.facts.decls.len() >= self.limits.max_decls {
            self.partial_for(PartialReason::TooManyNodes, None);
            return None;
        }
        let n = self.n_of.entry((path.to_owned(), kind)).or_default();
        *n += 1;
        let whole = if *n == 1 { path.to_owned() } else { format!("{path}#{n}") };
        let offset = u32::try_from(self.offset(at)).unwrap_or(u32::MAX);
        let id = DeclId(u32::try_from(self.facts.decls.len()).unwrap_or(u32::MAX));
        let mut cut: String = signature.split_whitespace().collect::<Vec<_>>().join(" ");
        cut.truncate(cut.floor_char_boundary(380));
        let decl = Decl {
            owner: None,
            implementation: None,
            name: self.str(path),
            path: self.str(&whole),
            kind,
            span: Span { first_line: at.line, last_line: last_line.max(at.line), name: at },
            range: Range { from: offset, to: offset },
            signature: self.str(&cut),
            doc: None,
            flags: NodeFlags::default(),
            modifiers: Modifiers::default(),
            type_parameters: Vec::new(),
            parameters: Vec::new(),
            type_: None,
            value: None,
            bases: Vec::new(),
            visible: None,
        };
        self.facts.decls.push(decl);
        Some(id)
    }

    pub(crate) fn document(&mut self, decl: DeclId, doc: &str) {
        let doc: String = doc.trim().chars().take(800).collect();
        if !doc.is_empty() {
            self.facts.decls[decl.index()].doc = Some(self.str(&doc));
        }
    }

    pub(crate) fn link(&mut self, from: LinkEnd, kind: EdgeKind, to: LinkEnd, position: Position) {
        self.link_as(from, kind, to, Certainty::Declared, position);
    }

    pub(crate) fn link_as(
        &mut self,
        from: LinkEnd,
        kind: EdgeKind,
        to: LinkEnd,
        certainty: Certainty,
        position: Position,
    ) {
        if self.facts.links.len() >= self.limits.max_facts {
            self.partial_for(PartialReason::TooManyFacts, None);
            return;
        }
        self.facts.links.push(Link { from, to, kind, certainty, position });
    }

    pub(crate) fn outside(&mut self, kind: NodeKind, container: &str, name: &str) -> LinkEnd {
        LinkEnd::Outside { kind, container: self.str(container), name: self.str(name) }
    }

    pub(crate) fn offered(&mut self, space: &str, name: &str) -> LinkEnd {
        LinkEnd::Offered { space: self.str(space), name: self.str(name) }
    }

    pub(crate) fn offer(&mut self, space: &str, name: &str, decl: DeclId) {
        let (space, name) = (self.str(space), self.str(name));
        self.facts.offers.push(Offer { space, name, decl });
    }

    /// The directory of the file.
    pub(crate) fn directory(&self) -> &'s str {
        self.path.rsplit_once('/').map_or("", |(directory, _)| directory)
    }

    /// A path that is written relative to this file, from the top of the repository; none when it leads outside.
    pub(crate) fn relative(&self, written: &str) -> Option<String> {
        relative_to(self.directory(), written)
    }

    pub(crate) fn path_end(&mut self, written: &str) -> Option<LinkEnd> {
        let path = self.relative(written).filter(|it| !it.is_empty())?;
        Some(LinkEnd::Path(self.str(&path)))
    }

    pub(crate) fn owner_rule(&mut self, pattern: &str, owners: &[&str], position: Position) {
        let pattern = self.str(pattern);
        let owners = owners.iter().map(|it| self.str(it)).collect();
        self.facts.owner_rules.push(OwnerRule { pattern, owners, position });
    }

    /// A route that is promised here and served elsewhere.
    pub(crate) fn route(&mut self, method: &str, pattern: &str, position: Position) {
        self.route_by(method, pattern, position, Handler::Contract);
    }

    /// A route that a declaration of this file serves.
    pub(crate) fn route_to(&mut self, method: &str, pattern: &str, position: Position, decl: DeclId) {
        self.route_by(method, pattern, position, Handler::Decl(decl));
    }

    fn route_by(&mut self, method: &str, pattern: &str, position: Position, handler: Handler) {
        let route = Route {
            decl: None,
            method: self.str(&method.to_ascii_uppercase()),
            pattern: Some(self.str(&crate::passes::routes::normalised(pattern))),
            written: self.str(&format!("{} {pattern}", method.to_ascii_uppercase())),
            router: Router::Root,
            verified: true,
            handler,
            position,
            through: None,
        };
        self.facts.routes.push(route);
    }
}

pub(crate) fn relative_to(directory: &str, written: &str) -> Option<String> {
    let mut parts: Vec<&str> = match written.starts_with('/') {
        true => Vec::new(),
        false => directory.split('/').filter(|it| !it.is_empty()).collect(),
    };
    for segment in written.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

/// The programs that a line of shell starts: the first word of each command.
pub(crate) fn programs(line: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for command in line.split(['|', ';', '\n', '&']) {
        let words = command.split_whitespace().map(|it| it.trim_start_matches(['@', '-', '(', '+']));
        for word in words {
            // Variables that are set before a command, and words that only lead to one.
            if word.is_empty()
                || word.contains('=')
                || matches!(
                    word,
                    "sudo" | "exec" | "env" | "time" | "then" | "do" | "else" | "if" | "!" | "{" | "set"
                )
            {
                continue;
            }
            let name = word.trim_matches(['"', '\'']).rsplit('/').next().unwrap_or_default();
            let is_name = !name.is_empty()
                && name
                    .bytes()
                    .all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.' | b'+'));
            let is_builtin = matches!(
                name,
                "cd" | "echo"
                    | "export"
                    | "true"
                    | "false"
                    | "fi"
                    | "done"
                    | "for"
                    | "while"
                    | "esac"
                    | "case"
                    | "exit"
                    | "test"
                    | "printf"
                    | "source"
                    | "."
                    | "elif"
                    | "endif"
                    | "ifeq"
                    | "ifdef"
                    | "ifndef"
                    | "ifneq"
                    | "unset"
                    | "shift"
                    | "return"
                    | "local"
                    | "trap"
                    | "wait"
                    | "read"
                    | "pwd"
            );
            let starts_well = name.bytes().next().is_some_and(|it| it.is_ascii_alphabetic());
            if is_name && starts_well && !is_builtin && !out.iter().any(|it| it == name) {
                out.push(name.to_owned());
            }
            break;
        }
    }
    out
}

impl Sheet<'_> {
    /// What a line of shell starts, as processes of a thing.
    pub(crate) fn processes(&mut self, from: LinkEnd, line: &str, position: Position) {
        for name in programs(line).into_iter().take(16) {
            let to = self.outside(NodeKind::Process, "", &name);
            self.link_as(from, EdgeKind::ExecutesProcess, to, Certainty::SurePattern, position);
        }
    }
}

#[cfg(test)]
mod tests;
