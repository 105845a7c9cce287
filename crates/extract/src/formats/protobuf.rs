//! Protocol Buffers: messages, enums, services and their calls, by their whole names.

use knowing_model::facts::{DeclId, LinkEnd};
use knowing_model::{EdgeKind, NodeKind};

use super::lexer::{Manner, Token, TokenKind, block, closing, tokens};
use super::{Format, Sheet};

pub(crate) const PROTOBUF: Format =
    Format { name: "protobuf", accepts: |_, name| name.ends_with(".proto"), takes: &["*.proto"], read };

const MANNER: Manner = Manner {
    comments: &["//"],
    block_comments: true,
    word_signs: b".",
    quotes: b"\"'",
    heredocs: false,
    doubled: false,
};

const SCALARS: &[&str] = &[
    "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64",
    "sfixed32", "sfixed64", "bool", "string", "bytes", "group",
];

/// What statements at the top begin with.
const HEADS: &[&str] = &["message", "enum", "service"];

fn read(sheet: &mut Sheet<'_>) {
    let all = tokens(sheet.text, &MANNER);
    let package = all
        .windows(2)
        .find(|it| it[0].is_word() && it[0].text == "package" && it[1].is_word())
        .map_or("", |it| it[1].text);
    for it in all.windows(3) {
        if it[0].is_word() && it[0].text == "import" {
            let path = if it[1].kind == TokenKind::Text { it[1] } else { it[2] };
            if path.kind == TokenKind::Text {
                let position = sheet.position(path.offset);
                let to = LinkEnd::Path(sheet.str(path.text));
                sheet.link(LinkEnd::File, EdgeKind::Imports, to, position);
            }
        }
    }
    let mut reader = Reader { sheet, all: &all, package, uses: Vec::new() };
    reader.body(0, all.len(), "", None, 0);
    for (name, owner, from, offset) in std::mem::take(&mut reader.uses) {
        reader.resolve(name, &owner, from, offset);
    }
}

struct Reader<'r, 's, 't> {
    sheet: &'r mut Sheet<'s>,
    all: &'t [Token<'t>],
    package: &'t str,
    /// Types that are named, with where and by what: looked up when all of the file is declared.
    uses: Vec<(&'t str, String, DeclId, usize)>,
}

impl<'t> Reader<'_, '_, 't> {
    fn whole(&self, name: &str) -> String {
        if self.package.is_empty() { name.to_owned() } else { format!("{}.{name}", self.package) }
    }

    fn body(&mut self, from: usize, to: usize, owner: &str, decl: Option<DeclId>, depth: usize) {
        let mut at = from;
        let mut begin = from;
        while at < to && depth < 32 {
            let token = self.all[at];
            let name = self.all.get(at + 1).copied();
            match (token.kind, token.text) {
                (TokenKind::Word, "message" | "enum" | "service")
                    if at == begin && name.is_some_and(|it| it.is_word()) =>
                {
                    let name = name.map_or("", |it| it.text);
                    let Some(open) = (at..to.min(at + 6)).find(|it| self.all[*it].is_sign("{")) else {
                        at += 1;
                        continue;
                    };
                    let (close, next) = block(self.sheet.text, self.all, open, HEADS);
                    let is_closed = close < next;
                    let (close, next) = (close.min(to), next.min(to));
                    let path = if owner.is_empty() { name.to_owned() } else { format!("{owner}.{name}") };
                    let kind = match token.text {
                        "message" => NodeKind::Type,
                        "enum" => NodeKind::Enum,
                        _ => NodeKind::Service,
                    };
                    let position = self.sheet.position(self.all[at + 1].offset);
                    let last = self
                        .sheet
                        .position(self.all.get(close).map_or(self.sheet.text.len(), |it| it.offset))
                        .line;
                    if !is_closed {
                        self.sheet.partial(position.line);
                    }
                    let id =
                        self.sheet.declare(kind, &path, position, last, &format!("{} {path}", token.text));
                    if let Some(id) = id {
                        let whole = self.whole(&path);
                        self.sheet.offer("protobuf", &whole, id);
                        if let Some(owner) = decl {
                            self.sheet.link(
                                LinkEnd::Decl(owner),
                                EdgeKind::Contains,
                                LinkEnd::Decl(id),
                                position,
                            );
                        }
                    }
                    if kind != NodeKind::Enum {
                        self.body(open + 1, close, &path, id, depth + 1);
                    }
                    at = next;
                    begin = at;
                }
                (TokenKind::Word, "rpc") if at == begin => {
                    let end = (at..to)
                        .find(|it| self.all[*it].is_sign(";") || self.all[*it].is_sign("{"))
                        .unwrap_or(to);
                    self.rpc(at, end, owner, decl);
                    at = match self.all.get(end) {
                        Some(it) if it.is_sign("{") => closing(self.all, end).min(to) + 1,
                        _ => end + 1,
                    };
                    begin = at;
                }
                (TokenKind::Word, "oneof" | "extend") if at == begin => {
                    let Some(open) = (at..to.min(at + 6)).find(|it| self.all[*it].is_sign("{")) else {
                        at += 1;
                        continue;
                    };
                    let close = closing(self.all, open).min(to);
                    self.body(open + 1, close, owner, decl, depth + 1);
                    at = close + 1;
                    begin = at;
                }
                (TokenKind::Sign, ";") => {
                    self.field(begin, at, owner, decl);
                    at += 1;
                    begin = at;
                }
                (TokenKind::Sign, "{") => {
                    at = closing(self.all, at).min(to) + 1;
                    begin = at;
                }
                _ => at += 1,
            }
        }
    }

    /// `rpc Get(Request) returns (stream Reply)`.
    fn rpc(&mut self, from: usize, to: usize, owner: &str, decl: Option<DeclId>) {
        let words: Vec<Token<'_>> = self.all[from..to].iter().copied().filter(Token::is_word).collect();
        let Some(name) = words.get(1).copied() else { return };
        let position = self.sheet.position(name.offset);
        let path = format!("{owner}.{}", name.text);
        let signature = self.sheet.text
            [self.all[from].offset..self.all.get(to).map_or(self.sheet.text.len(), |it| it.offset)]
            .to_owned();
        let Some(id) = self.sheet.declare(NodeKind::Rpc, &path, position, position.line, &signature) else {
            return;
        };
        let whole = self.whole(&path);
        self.sheet.offer("protobuf-rpc", &whole, id);
        // Generated code has no package in its names.
        self.sheet.offer("rpc", &path, id);
        if let Some(owner) = decl {
            self.sheet.link(LinkEnd::Decl(owner), EdgeKind::Contains, LinkEnd::Decl(id), position);
        }
        for word in words.iter().skip(2).filter(|it| !matches!(it.text, "returns" | "stream")) {
            self.refer(word.text, owner, id, word.offset);
        }
    }

    /// `repeated Item items = 3`, `map<string, Item> by_id = 4`.
    fn field(&mut self, from: usize, to: usize, owner: &str, decl: Option<DeclId>) {
        let Some(decl) = decl else { return };
        let before = (from..to).find(|it| self.all[*it].is_sign("=")).unwrap_or(to);
        let words: Vec<Token<'_>> = self.all[from..before].iter().copied().filter(Token::is_word).collect();
        let Some((name, types)) = words.split_last() else { return };
        let first = types.first().map_or("", |it| it.text);
        if types.is_empty()
            || before == to
            || matches!(first, "option" | "reserved" | "extensions" | "syntax" | "package" | "import")
        {
            return;
        }
        let position = self.sheet.position(name.offset);
        let path = format!("{owner}.{}", name.text);
        let signature: Vec<&str> = words.iter().map(|it| it.text).collect();
        let signature = signature.join(" ");
        if let Some(id) = self.sheet.declare(NodeKind::Field, &path, position, position.line, &signature) {
            self.sheet.link(LinkEnd::Decl(decl), EdgeKind::Contains, LinkEnd::Decl(id), position);
        }
        for it in types.iter().filter(|it| {
            !matches!(it.text, "repeated" | "optional" | "required" | "map") && !SCALARS.contains(&it.text)
        }) {
            self.refer(it.text, owner, decl, it.offset);
        }
    }

    fn refer(&mut self, name: &'t str, owner: &str, from: DeclId, offset: usize) {
        self.uses.push((name, owner.to_owned(), from, offset));
    }

    /// A type by the innermost scope that declares it in this file, else by its whole name.
    fn resolve(&mut self, name: &str, owner: &str, from: DeclId, offset: usize) {
        let position = self.sheet.position(offset);
        let bare = name.trim_start_matches('.');
        let mut scope = owner;
        let mut tries: Vec<String> = Vec::new();
        loop {
            tries.push(if scope.is_empty() { bare.to_owned() } else { format!("{scope}.{bare}") });
            match scope.rsplit_once('.') {
                Some((outer, _)) => scope = outer,
                None if scope.is_empty() => break,
                None => scope = "",
            }
        }
        let nested = tries.iter().find(|it| {
            let whole = self.whole(it);
            self.sheet.facts.offers.iter().any(|it| self.sheet.facts.text(it.name) == whole)
        });
        let chosen = match nested {
            Some(nested) if !name.starts_with('.') => self.whole(nested),
            // A name with its package is whole already.
            _ if bare.contains('.') => bare.to_owned(),
            _ => self.whole(bare),
        };
        let to = self.sheet.offered("protobuf", &chosen);
        self.sheet.link(LinkEnd::Decl(from), EdgeKind::References, to, position);
    }
}
