//! Sinatra and Grape; what all Ruby route files need: a syntax tree with texts and blocks.

use knowing_model::Position;
use knowing_model::facts::{DeclId, Handler, Router};
use tree_sitter::{Node, Parser, Range};

use super::{New, joined, push, rails};
use crate::passes::{Found, Pass};

const METHODS: &[&str] = &["get", "post", "put", "delete", "patch", "head", "options"];

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    let is_rails = rails::is_routes(pass.path, pass.bytes);
    let bases: Vec<&str> = pass
        .facts
        .decls
        .iter()
        .flat_map(|it| &it.bases)
        .map(|it| match pass.facts.type_(it.type_) {
            knowing_model::facts::Type::Named { segments, .. } => {
                segments.first().map_or("", |it| pass.facts.text(*it))
            }
            _ => "",
        })
        .collect();
    let is_grape = bases.contains(&"Grape");
    let is_sinatra = pass.modules.has("sinatra") || bases.contains(&"Sinatra");
    if !is_rails && !is_grape && !is_sinatra {
        return;
    }
    let ranges = if is_rails { rails::ranges(pass) } else { Vec::new() };
    let Some(tree) = parsed(pass.bytes, &ranges) else { return };
    let root = Ast { node: tree.root_node(), bytes: pass.bytes };
    if is_rails {
        rails::evaluate(pass, found, root);
    } else {
        let mut walk = Walk { pass, found, is_grape };
        walk.body(root, "", 0);
    }
}

/// The tree of some ranges alone, as if nothing stood around them; of all where there are none.
fn parsed(bytes: &[u8], ranges: &[Range]) -> Option<tree_sitter::Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_ruby::LANGUAGE.into()).ok()?;
    parser.set_included_ranges(ranges).ok()?;
    parser.parse(bytes, None)
}

/// A node with the text it stands in.
#[derive(Clone, Copy)]
pub(super) struct Ast<'t> {
    pub(super) node: Node<'t>,
    pub(super) bytes: &'t [u8],
}

/// A call in the words of a route file: its name, what it is given, and its block.
pub(super) struct Word<'t> {
    pub(super) name: String,
    pub(super) plain: Vec<Ast<'t>>,
    pub(super) named: Vec<(String, Ast<'t>)>,
    pub(super) block: Option<Ast<'t>>,
    pub(super) receiver: Option<Ast<'t>>,
    pub(super) position: Position,
}

impl<'t> Ast<'t> {
    pub(super) fn text(self) -> &'t str {
        self.node.utf8_text(self.bytes).unwrap_or_default()
    }

    pub(super) fn kind(self) -> &'t str {
        self.node.kind()
    }

    pub(super) fn children(self) -> Vec<Ast<'t>> {
        let n = self.node.named_child_count();
        (0..n).filter_map(|at| self.node.named_child(at as u32)).map(|node| Ast { node, ..self }).collect()
    }

    pub(super) fn field(self, name: &str) -> Option<Ast<'t>> {
        self.node.child_by_field_name(name).map(|node| Ast { node, ..self })
    }

    /// A string or symbol without what is computed.
    pub(super) fn literal(self) -> Option<String> {
        match self.kind() {
            "string" => {
                let parts = self.children();
                if parts.iter().any(|it| it.kind() == "interpolation") {
                    return None;
                }
                Some(parts.iter().map(|it| it.text()).collect())
            }
            "simple_symbol" => Some(self.text().trim_start_matches(':').to_owned()),
            "hash_key_symbol" => Some(self.text().to_owned()),
            "delimited_symbol" => Some(self.text().trim_matches([':', '"', '\'']).to_owned()),
            _ => None,
        }
    }

    /// A list of literals, or one.
    pub(super) fn literals(self) -> Vec<String> {
        match self.kind() {
            "array" => self.children().into_iter().filter_map(Ast::literal).collect(),
            "symbol_array" | "string_array" => {
                self.children().into_iter().map(|it| it.text().to_owned()).collect()
            }
            _ => self.literal().into_iter().collect(),
        }
    }

    /// A call without a receiver, or with one.
    pub(super) fn word(self) -> Option<Word<'t>> {
        if self.kind() == "identifier" {
            return Some(Word {
                name: self.text().to_owned(),
                plain: Vec::new(),
                named: Vec::new(),
                block: None,
                receiver: None,
                position: position(self.node),
            });
        }
        if self.kind() != "call" {
            return None;
        }
        let method = self.field("method")?;
        let mut plain = Vec::new();
        let mut named = Vec::new();
        for it in self.field("arguments").map(Ast::children).unwrap_or_default() {
            match it.kind() {
                "pair" => {
                    if let (Some(key), Some(value)) = (it.field("key"), it.field("value")) {
                        let key = key.literal().unwrap_or_else(|| key.text().to_owned());
                        named.push((key, value));
                    }
                }
                "hash" => {
                    for pair in it.children() {
                        if let (Some(key), Some(value)) = (pair.field("key"), pair.field("value")) {
                            named.push((key.literal().unwrap_or_default(), value));
                        }
                    }
                }
                "comment" => {}
                _ => plain.push(it),
            }
        }
        Some(Word {
            name: method.text().to_owned(),
            plain,
            named,
            block: self.field("block"),
            receiver: self.field("receiver"),
            position: position(method.node),
        })
    }

    /// Statements of a block, a program, a class or a branch.
    pub(super) fn statements(self) -> Vec<Ast<'t>> {
        let mut out = Vec::new();
        for it in self.children() {
            match it.kind() {
                "body_statement" | "block_body" | "then" | "else" | "begin_block" | "begin" => {
                    out.extend(it.statements())
                }
                "block_parameters" | "comment" => {}
                _ => out.push(it),
            }
        }
        out
    }
}

impl Word<'_> {
    pub(super) fn option(&self, name: &str) -> Option<Ast<'_>> {
        self.named.iter().find(|it| it.0 == name).map(|it| it.1)
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.option(name).and_then(Ast::literal)
    }
}

fn position(node: Node<'_>) -> Position {
    let at = node.start_position();
    Position { line: at.row as u32 + 1, column: at.column as u32 }
}

struct Walk<'p, 'a> {
    pass: &'p Pass<'a>,
    found: &'p mut Found,
    is_grape: bool,
}

impl Walk<'_, '_> {
    fn body(&mut self, body: Ast<'_>, prefix: &str, depth: usize) {
        if depth > 40 {
            return;
        }
        let mut prefix = prefix.to_owned();
        for statement in body.statements() {
            match statement.kind() {
                "class" | "module" | "singleton_class" | "if" | "unless" => {
                    self.body(statement, &prefix, depth + 1)
                }
                "call" | "identifier" => {
                    let Some(word) = statement.word().filter(|it| it.receiver.is_none()) else { continue };
                    self.word(&word, &mut prefix, depth);
                }
                _ => {}
            }
        }
    }

    fn word(&mut self, word: &Word<'_>, prefix: &mut String, depth: usize) {
        let own = word.plain.first().copied().and_then(Ast::literal);
        match word.name.as_str() {
            "prefix" if self.is_grape && word.block.is_none() => {
                *prefix = joined(&format!("/{}", own.unwrap_or_default()), prefix);
            }
            "namespace" | "resource" | "resources" | "group" | "segment" | "route_param" => {
                let Some(block) = word.block else { return };
                let own = match (word.name.as_str(), own) {
                    ("route_param", Some(name)) => format!(":{name}"),
                    (_, Some(name)) => name,
                    (_, None) => String::new(),
                };
                let own = if own.is_empty() || own.starts_with('/') { own } else { format!("/{own}") };
                self.body(block, &joined(prefix, &own), depth + 1);
            }
            name if METHODS.contains(&name) && (word.block.is_some() || self.is_grape) => {
                let written = match word.plain.first() {
                    Some(arg) => arg.literal(),
                    None if self.is_grape => Some(String::new()),
                    None => return,
                };
                let written = written
                    .map(|it| if it.is_empty() || it.starts_with('/') { it } else { format!("/{it}") });
                if word.plain.first().is_some_and(|it| it.kind() == "regex") {
                    return;
                }
                let decl = enclosing(self.pass, word.position);
                push(
                    self.found,
                    New {
                        decl,
                        method: name,
                        pattern: written.as_deref(),
                        prefix,
                        router: Router::Root.into(),
                        verified: true,
                        handler: Handler::Inline.into(),
                        position: word.position,
                    },
                );
            }
            _ => {
                if let Some(block) =
                    word.block.filter(|_| matches!(word.name.as_str(), "configure" | "version" | "params"))
                {
                    self.body(block, prefix, depth + 1);
                }
            }
        }
    }
}

fn enclosing(pass: &Pass<'_>, position: Position) -> Option<DeclId> {
    let offset = pass.offset(position) as u32;
    let around = (0..).zip(&pass.facts.decls).filter(|(_, it)| it.range.contains(offset));
    around.min_by_key(|(_, it)| it.range.to - it.range.from).map(|(at, _)| DeclId(at))
}
