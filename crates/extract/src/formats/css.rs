//! CSS and SCSS: classes and ids that are selected, custom properties, mixins, imports.

use knowing_model::facts::LinkEnd;
use knowing_model::{EdgeKind, NodeKind};
use rustc_hash::FxHashSet;

use super::{Format, Sheet};

pub(crate) const CSS: Format = Format {
    name: "css",
    accepts: |_, name| [".css", ".scss"].iter().any(|it| name.ends_with(it)),
    takes: &["*.css", "*.scss"],
    read,
};

fn read(sheet: &mut Sheet<'_>) {
    let text = sheet.text;
    let bytes = text.as_bytes();
    let mut seen: FxHashSet<String> = FxHashSet::default();
    let mut uses: Vec<(String, usize)> = Vec::new();
    let (mut at, mut begin, mut depth) = (0, 0, 0_i64);
    let is_scss = sheet.path.ends_with(".scss");
    while at < bytes.len() {
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = memchr::memmem::find(&bytes[at..], b"*/").map_or(bytes.len(), |it| at + it + 2);
                begin = begin.max(at);
                continue;
            }
            b'/' if is_scss && bytes.get(at + 1) == Some(&b'/') && (at == 0 || bytes[at - 1] != b':') => {
                at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |it| at + it);
                begin = begin.max(at);
                continue;
            }
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'{' => {
                selectors(sheet, text.get(begin..at).unwrap_or_default(), begin, &mut seen);
                depth += 1;
                begin = at + 1;
            }
            b'}' => {
                declaration(sheet, text.get(begin..at).unwrap_or_default(), begin, &mut seen, &mut uses);
                depth -= 1;
                begin = at + 1;
            }
            b';' => {
                declaration(sheet, text.get(begin..at).unwrap_or_default(), begin, &mut seen, &mut uses);
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if depth != 0 {
        sheet.partial(sheet.facts.n_lines.max(1));
    }
    uses.sort();
    uses.dedup_by(|one, other| one.0 == other.0);
    for (name, offset) in uses {
        let position = sheet.position(offset);
        let to = sheet.offered("css", &name);
        sheet.link(LinkEnd::File, EdgeKind::DependsOn, to, position);
    }
}

fn selectors(sheet: &mut Sheet<'_>, text: &str, from: usize, seen: &mut FxHashSet<String>) {
    let lead = text.len() - text.trim_start().len();
    let trimmed = text.trim();
    if let Some(rest) = trimmed.strip_prefix("@mixin ").or_else(|| trimmed.strip_prefix("@function ")) {
        let name = rest.split(['(', ' ']).next().unwrap_or_default();
        let position = sheet.position(from + lead);
        if let Some(decl) = sheet.declare(NodeKind::Function, name, position, position.line, trimmed) {
            sheet.offer("css", name, decl);
        }
        return;
    }
    if trimmed.starts_with('@') {
        return;
    }
    let bytes = text.as_bytes();
    for (at, it) in text.char_indices().filter(|it| matches!(it.1, '.' | '#')) {
        let is_begin = at == 0 || !bytes[at - 1].is_ascii_digit() && bytes[at - 1] != b'\\';
        let name: String =
            text[at + 1..].chars().take_while(|it| it.is_alphanumeric() || matches!(it, '-' | '_')).collect();
        let starts_well = name.chars().next().is_some_and(|it| it.is_alphabetic() || it == '_' || it == '-');
        let whole = format!("{it}{name}");
        if is_begin && starts_well && seen.insert(whole.clone()) {
            let position = sheet.position(from + at);
            if let Some(decl) = sheet.declare(NodeKind::Selector, &whole, position, position.line, trimmed) {
                sheet.offer("css", &whole, decl);
            }
        }
    }
}

fn declaration(
    sheet: &mut Sheet<'_>,
    text: &str,
    from: usize,
    seen: &mut FxHashSet<String>,
    uses: &mut Vec<(String, usize)>,
) {
    let lead = text.len() - text.trim_start().len();
    let trimmed = text.trim();
    let imports = ["@import", "@use", "@forward"].iter().find_map(|it| trimmed.strip_prefix(it));
    if let Some(rest) = imports {
        for path in rest.split(['"', '\'']).skip(1).step_by(2).filter(|it| !it.contains("://")) {
            let position = sheet.position(from + lead);
            let stem = path.trim_end_matches(".scss").trim_end_matches(".css");
            let (directory, name) = stem.rsplit_once('/').map_or(("", stem), |it| it);
            let slash = if directory.is_empty() { "" } else { "/" };
            for candidate in [
                path.to_owned(),
                format!("{stem}.scss"),
                format!("{directory}{slash}_{name}.scss"),
                format!("{stem}.css"),
                format!("{stem}/_index.scss"),
            ] {
                if (candidate.ends_with(".css") || candidate.ends_with(".scss"))
                    && let Some(to) = sheet.path_end(&candidate)
                {
                    sheet.link(LinkEnd::File, EdgeKind::Imports, to, position);
                }
            }
        }
        return;
    }
    if let Some(rest) = trimmed.strip_prefix("@include ") {
        let name = rest.split(['(', ' ', ';']).next().unwrap_or_default();
        uses.push((name.rsplit('.').next().unwrap_or(name).to_owned(), from + lead));
    }
    if let Some((name, value)) = trimmed.split_once(':') {
        let name = name.trim();
        if (name.starts_with("--") || name.starts_with('$'))
            && !name.contains(char::is_whitespace)
            && seen.insert(name.to_owned())
        {
            let position = sheet.position(from + lead);
            if let Some(decl) = sheet.declare(NodeKind::Var, name, position, position.line, name) {
                sheet.offer("css", name, decl);
            }
        }
        for part in value.split("var(").skip(1) {
            let name: String = part
                .trim_start()
                .chars()
                .take_while(|it| it.is_alphanumeric() || matches!(it, '-' | '_'))
                .collect();
            uses.push((name, from + lead));
        }
        if value.contains('$') {
            for part in value.split('$').skip(1) {
                let name: String =
                    part.chars().take_while(|it| it.is_alphanumeric() || matches!(it, '-' | '_')).collect();
                uses.push((format!("${name}"), from + lead));
            }
        }
    }
}
