//! GraphQL schemas: types, interfaces, enums; fields of the root types are calls.

use std::ops::Range;

use knowing_model::facts::{Certainty, DeclId, LinkEnd};
use knowing_model::{EdgeKind, NodeKind};

use super::lexer::{Manner, block, closing, tokens};
use super::{Format, Sheet};

pub(crate) const GRAPHQL: Format = Format {
    name: "graphql",
    accepts: |_, name| [".graphql", ".graphqls", ".gql"].iter().any(|it| name.ends_with(it)),
    takes: &["*.graphql", "*.graphqls", "*.gql"],
    read,
};

const MANNER: Manner = Manner {
    comments: &["#"],
    block_comments: false,
    word_signs: b"",
    quotes: b"\"",
    heredocs: false,
    doubled: false,
};

/// What statements at the top begin with.
const HEADS: &[&str] =
    &["type", "input", "interface", "enum", "union", "scalar", "extend", "schema", "directive"];

const SCALARS: &[&str] = &["Int", "Float", "String", "Boolean", "ID"];

fn read(sheet: &mut Sheet<'_>) {
    read_as(sheet, "");
}

/// Reads with names that begin with something: those of texts in code, where others of the same name may be.
pub(crate) fn read_as(sheet: &mut Sheet<'_>, begin: &str) {
    let all = tokens(sheet.text, &MANNER);
    let mut at = 0;
    while at < all.len() {
        let token = all[at];
        let kind = match token.text {
            _ if !token.is_word() => None,
            "type" | "input" => Some(NodeKind::Type),
            "interface" => Some(NodeKind::Interface),
            "enum" => Some(NodeKind::Enum),
            "union" | "scalar" => Some(NodeKind::TypeAlias),
            _ => None,
        };
        let (Some(kind), Some(name)) = (kind, all.get(at + 1).copied().filter(|it| it.is_word())) else {
            let root = match token.text {
                "query" if token.is_word() => Some("Query"),
                "mutation" if token.is_word() => Some("Mutation"),
                "subscription" if token.is_word() => Some("Subscription"),
                "{" if token.is_sign("{") => Some("Query"),
                _ => None,
            };
            at = match (root, token.text) {
                (Some(root), _) => selected(sheet, &all, at, root),
                // The root types of a schema, and fragments, have braces of their own.
                (None, "schema" | "fragment") => {
                    let open = all[at..].iter().position(|it| it.is_sign("{"));
                    open.map_or(all.len(), |it| closing(&all, at + it) + 1)
                }
                _ => at + 1,
            };
            continue;
        };
        let end = (at + 2..all.len())
            .find(|it| all[*it].is_sign("{") || all[*it].is_word() && HEADS.contains(&all[*it].text));
        let end = end.unwrap_or(all.len());
        let (close, next) = if all.get(end).is_some_and(|it| it.is_sign("{")) {
            block(sheet.text, &all, end, HEADS)
        } else {
            (end.saturating_sub(1), end)
        };
        let position = sheet.position(name.offset);
        if close == next {
            sheet.partial(position.line);
        }
        let last = sheet.position(all.get(close).map_or(sheet.text.len(), |it| it.offset)).line;
        let signature = format!("{} {}", token.text, name.text);
        let is_extended = at > 0 && all[at - 1].text == "extend";
        let decl = sheet.declare(kind, &format!("{begin}{}", name.text), position, last, &signature);
        if let Some(decl) = decl {
            if !is_extended {
                sheet.offer("graphql", name.text, decl);
            }
            let implements = all[at + 2..end.max(at + 2)].iter().skip_while(|it| it.text != "implements");
            for it in implements.skip(1).filter(|it| it.is_word()) {
                let to = sheet.offered("graphql", it.text);
                let position = sheet.position(it.offset);
                sheet.link(LinkEnd::Decl(decl), EdgeKind::Implements, to, position);
            }
            if token.text == "union" {
                for it in
                    all[at + 2..=close.min(all.len().saturating_sub(1))].iter().filter(|it| it.is_word())
                {
                    refer(sheet, decl, it.text, it.offset);
                }
            } else if kind != NodeKind::Enum && all.get(end).is_some_and(|it| it.is_sign("{")) {
                fields(sheet, &all, end + 1..close.min(all.len()), (begin, name.text), decl);
            }
        }
        at = next;
    }
}

fn fields(
    sheet: &mut Sheet<'_>,
    all: &[super::lexer::Token<'_>],
    within: Range<usize>,
    (begin, owner): (&str, &str),
    decl: DeclId,
) {
    let (from, to) = (within.start, within.end);
    let is_root = matches!(owner, "Query" | "Mutation" | "Subscription");
    let mut at = from;
    while at < to {
        let name = all[at];
        let mut next = at + 1;
        if !name.is_word() {
            at += 1;
            continue;
        }
        let mut arguments = 0..0;
        if all.get(next).is_some_and(|it| it.is_sign("(")) {
            let close = closing(all, next).min(to);
            arguments = next + 1..close;
            next = close + 1;
        }
        if !all.get(next).is_some_and(|it| it.is_sign(":")) {
            at += 1;
            continue;
        }
        let position = sheet.position(name.offset);
        let type_ = all[next + 1..to.max(next + 1)].iter().find(|it| it.is_word());
        let path = format!("{owner}.{}", name.text);
        let kind = if is_root { NodeKind::Rpc } else { NodeKind::Field };
        let signature = format!("{}: {}", name.text, type_.map_or("", |it| it.text));
        let field = sheet.declare(kind, &format!("{begin}{path}"), position, position.line, &signature);
        if let Some(field) = field {
            sheet.link(LinkEnd::Decl(decl), EdgeKind::Contains, LinkEnd::Decl(field), position);
            if is_root {
                sheet.offer("graphql-field", &path, field);
            }
        }
        let from = if is_root { field.unwrap_or(decl) } else { decl };
        if let Some(type_) = type_ {
            refer(sheet, from, type_.text, type_.offset);
        }
        for pair in all[arguments].windows(2).filter(|it| it[0].is_sign(":")) {
            if pair[1].is_word() {
                refer(sheet, from, pair[1].text, pair[1].offset);
            }
        }
        at = next + 2;
        while at < to
            && !(all[at].is_word() && all.get(at + 1).is_some_and(|it| it.is_sign(":") || it.is_sign("(")))
        {
            at += 1;
        }
    }
}

/// What an operation asks of a root type: `query A($id: ID) { user(id: $id) { name } }`. Gives the place behind it.
fn selected(sheet: &mut Sheet<'_>, all: &[super::lexer::Token<'_>], from: usize, root: &str) -> usize {
    let mut open = from;
    while let Some(token) = all.get(open).filter(|it| !it.is_sign("{")) {
        open = if token.is_sign("(") { closing(all, open) + 1 } else { open + 1 };
    }
    let close = closing(all, open).min(all.len());
    let mut at = open + 1;
    while at < close {
        let token = all[at];
        if token.is_sign("{") || token.is_sign("(") {
            at = closing(all, at) + 1;
            continue;
        }
        let before = &all[at - 1];
        let is_alias = all.get(at + 1).is_some_and(|it| it.is_sign(":"));
        // Directives and spreads are no fields; `...` is three signs or one.
        let is_condition = before.text == "on" && all[at.saturating_sub(2)].text.ends_with('.');
        let is_other = is_alias || is_condition || before.is_sign("@") || before.text.ends_with('.');
        if token.is_word() && !is_other {
            let to = sheet.offered("graphql-field", &format!("{root}.{}", token.text));
            let position = sheet.position(token.offset);
            sheet.link_as(LinkEnd::File, EdgeKind::References, to, Certainty::Pattern, position);
        }
        at += 1;
    }
    close + 1
}

fn refer(sheet: &mut Sheet<'_>, from: DeclId, name: &str, offset: usize) {
    if SCALARS.contains(&name) {
        return;
    }
    let position = sheet.position(offset);
    let to = sheet.offered("graphql", name);
    sheet.link(LinkEnd::Decl(from), EdgeKind::References, to, position);
}
