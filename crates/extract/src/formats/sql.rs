//! SQL: tables, views and procedures, and the statements that speak of them.
//!
//! Statements are read word by word, whatever the dialect; rows that are inserted are looked over.

use knowing_model::facts::{DeclId, LinkEnd};
use knowing_model::{EdgeKind, NodeKind};

use super::lexer::{Manner, Token, closing, is_escaped, tokens};
use super::{Format, Sheet};

pub(crate) const SQL: Format =
    Format { name: "sql", accepts: |_, name| name.ends_with(".sql"), takes: &["*.sql"], read };

const MANNER: Manner = Manner {
    comments: &["--"],
    block_comments: true,
    word_signs: b"$",
    quotes: b"'",
    heredocs: false,
    doubled: true,
};

fn read(sheet: &mut Sheet<'_>) {
    let all = tokens(sheet.text, &MANNER);
    if all.len() >= super::lexer::MAX_TOKENS {
        sheet.partial_for(knowing_model::facts::PartialReason::TooManyFacts, None);
    }
    let mut from = 0;
    while from < all.len() {
        let mut to = from;
        // A body between `$$` and `$$` is part of its statement.
        let mut body: Option<&str> = None;
        while to < all.len() {
            let token = all[to];
            match body {
                None if token.is_sign(";") => break,
                None if token.is_word()
                    && token.text.len() > 1
                    && token.text.starts_with('$')
                    && token.text.ends_with('$') =>
                {
                    body = Some(token.text);
                }
                Some(mark) if token.is_word() && token.text.ends_with(mark) => body = None,
                _ => {}
            }
            to += 1;
        }
        statement(sheet, &all[from..to]);
        from = to + 1;
    }
}

/// A dump without the rows that it inserts or copies; every line is still there.
pub(super) fn without_rows(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let line_end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |it| at + it + 1);
        let line = bytes[at..line_end].trim_ascii();
        let begins =
            |word: &str| line.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word.as_bytes()));
        let rows = if begins("insert ") || begins("replace into ") {
            inserted(bytes, at)
        } else if begins("copy ") && line.to_ascii_lowercase().ends_with(b"from stdin;") {
            memchr::memmem::find(&bytes[line_end - 1..], b"\n\\.").map(|it| line_end + it + 2)
        } else {
            None
        };
        let end = rows.unwrap_or(line_end);
        match rows {
            Some(_) => out.extend(memchr::memchr_iter(b'\n', &bytes[at..end]).map(|_| b'\n')),
            None => out.extend_from_slice(&bytes[at..end]),
        }
        at = end;
    }
    out
}

/// Behind a statement that inserts written rows: those of a query say which tables it asks.
fn inserted(bytes: &[u8], from: usize) -> Option<usize> {
    const HEAD: usize = 4096;
    let head = bytes[from..bytes.len().min(from + HEAD)].to_ascii_lowercase();
    let values = memchr::memmem::find(&head, b"values")?;
    if memchr::memchr(b';', &head).is_some_and(|it| it < values) {
        return None;
    }
    let mut at = from;
    while let Some(step) = memchr::memchr2(b'\'', b';', &bytes[at..]) {
        let begin = at + step;
        if bytes[begin] == b';' {
            return Some(begin + 1);
        }
        at = begin + 1;
        loop {
            let quote = at + memchr::memchr(b'\'', &bytes[at..])?;
            at = quote + 1;
            if bytes.get(at) == Some(&b'\'') {
                at += 1;
            } else if !is_escaped(bytes, begin, quote) {
                break;
            }
        }
    }
    None
}

fn is(token: Option<&Token<'_>>, word: &str) -> bool {
    token.is_some_and(|it| it.is_word() && it.text.eq_ignore_ascii_case(word))
}

/// A name with its schema, quotes removed: `public.users`, `"users"`, `[dbo].[users]`; and the place behind it.
fn name_at(all: &[Token<'_>], from: usize) -> Option<(String, usize, usize)> {
    let mut at = from;
    let mut parts: Vec<&str> = Vec::new();
    let mut offset = None;
    loop {
        let token = all.get(at)?;
        let quoted = ["\"", "`", "["].iter().any(|it| token.is_sign(it));
        let word = if quoted { all.get(at + 1)? } else { token };
        if !word.is_word() {
            return None;
        }
        offset.get_or_insert(word.offset);
        parts.push(word.text);
        at += if quoted { 3 } else { 1 };
        if all.get(at).is_some_and(|it| it.is_sign(".")) {
            at += 1;
        } else {
            break;
        }
    }
    let last = parts.last()?.to_ascii_lowercase();
    // Schemas that are meant without being named.
    let schema = parts.len().checked_sub(2).map(|it| parts[it].to_ascii_lowercase());
    let name = match schema.as_deref() {
        None | Some("public" | "dbo" | "main") => last,
        Some(schema) => format!("{schema}.{last}"),
    };
    Some((name, offset?, at))
}

fn statement(sheet: &mut Sheet<'_>, all: &[Token<'_>]) {
    let Some(first) = all.first() else { return };
    let mut owner: Option<DeclId> = None;
    let mut body = 0;
    if is(Some(first), "create") {
        let what = all.iter().take(8).position(|it| {
            ["table", "view", "function", "procedure", "trigger", "index"]
                .iter()
                .any(|word| is(Some(it), word))
        });
        let Some(what) = what else { return };
        let mut at = what + 1;
        while ["if", "not", "exists", "concurrently", "only"].iter().any(|it| is(all.get(at), it)) {
            at += 1;
        }
        let Some((name, offset, behind)) = name_at(all, at) else {
            if !is(all.get(what), "index") {
                let position = sheet.position(first.offset);
                sheet.partial(position.line);
            }
            return;
        };
        let word = all[what].text.to_ascii_lowercase();
        let kind = match word.as_str() {
            "table" | "view" => Some((NodeKind::Table, "sql")),
            "function" | "procedure" | "trigger" => Some((NodeKind::Function, "sql-function")),
            _ => None,
        };
        if let Some((kind, space)) = kind {
            let position = sheet.position(offset);
            let last = sheet.position(all.last().map_or(offset, |it| it.offset)).line;
            owner = sheet.declare(
                kind,
                &name,
                position,
                last,
                &format!("CREATE {} {name}", word.to_ascii_uppercase()),
            );
            if let Some(decl) = owner {
                sheet.offer(space, &name, decl);
            }
            if word == "table" && all.get(behind).is_some_and(|it| it.is_sign("(")) {
                columns(sheet, all, behind, &name, owner);
            }
        }
        body = behind;
    }
    let mut at = body;
    while at < all.len() {
        let word = &all[at];
        if !word.is_word() {
            at += 1;
            continue;
        }
        let lower = word.text.to_ascii_lowercase();
        if lower == "values" {
            // Rows say nothing of the schema.
            at += 1;
            while all.get(at).is_some_and(|it| it.is_sign("(") || it.is_sign(",")) {
                at = if all[at].is_sign("(") { closing(all, at) + 1 } else { at + 1 };
            }
            continue;
        }
        let mut next = at + 1;
        let kind = match lower.as_str() {
            "references" | "from" | "join" => Some(EdgeKind::References),
            "into" => Some(EdgeKind::References),
            "update" if !is(all.get(at.wrapping_sub(1)), "on") && !is(all.get(at.wrapping_sub(1)), "for") => {
                Some(EdgeKind::References)
            }
            "table" if at > 0 && ["alter", "drop", "truncate"].iter().any(|it| is(all.get(at - 1), it)) => {
                Some(EdgeKind::DependsOn)
            }
            "on" if is(Some(first), "create")
                && owner.is_none_or(|_| is(all.get(2), "trigger") || is(all.get(1), "trigger")) =>
            {
                Some(EdgeKind::DependsOn)
            }
            "call" | "execute" => None,
            _ => {
                at += 1;
                continue;
            }
        };
        while ["only", "if", "exists", "not", "lateral", "function", "procedure"]
            .iter()
            .any(|it| is(all.get(next), it))
        {
            next += 1;
        }
        let Some((name, offset, behind)) = name_at(all, next) else {
            at += 1;
            continue;
        };
        let is_call = kind.is_none() || all.get(behind).is_some_and(|it| it.is_sign("(")) && lower == "from";
        let position = sheet.position(offset);
        let from = owner.map_or(LinkEnd::File, LinkEnd::Decl);
        if is_call {
            let to = sheet.offered("sql-function", &name);
            sheet.link(from, EdgeKind::Calls, to, position);
        } else {
            let to = sheet.offered("sql", &name);
            sheet.link(from, kind.unwrap_or(EdgeKind::References), to, position);
        }
        at = behind;
    }
}

/// Columns by name: what stands first between the commas of a table.
fn columns(sheet: &mut Sheet<'_>, all: &[Token<'_>], open: usize, table: &str, owner: Option<DeclId>) {
    let close = closing(all, open).min(all.len());
    let mut at = open + 1;
    while at < close {
        if let Some((name, offset, _)) = name_at(&all[..close], at) {
            let is_rule = [
                "constraint",
                "primary",
                "foreign",
                "unique",
                "check",
                "key",
                "index",
                "exclude",
                "like",
                "fulltext",
                "period",
            ];
            if !is_rule.contains(&name.as_str()) && !name.contains('.') {
                let type_ = all.get(at + 1).filter(|it| it.is_word()).map_or("", |it| it.text);
                let position = sheet.position(offset);
                let field = sheet.declare(
                    NodeKind::Field,
                    &format!("{table}.{name}"),
                    position,
                    position.line,
                    &format!("{name} {type_}"),
                );
                if let (Some(owner), Some(field)) = (owner, field) {
                    sheet.link(LinkEnd::Decl(owner), EdgeKind::Contains, LinkEnd::Decl(field), position);
                }
            }
        }
        let mut depth = 0_usize;
        while at < close {
            if all[at].is_sign("(") {
                depth += 1;
            } else if all[at].is_sign(")") {
                depth = depth.saturating_sub(1);
            } else if all[at].is_sign(",") && depth == 0 {
                break;
            }
            at += 1;
        }
        at += 1;
    }
}
