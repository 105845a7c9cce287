//! Terraform: resources, variables, outputs and modules of a directory, and what refers to what.

use knowing_model::facts::{DeclId, LinkEnd};
use knowing_model::{EdgeKind, NodeKind, Position};

use super::lexer::{Manner, Token, TokenKind, block, closing, tokens};
use super::yaml::{Id, Yaml};
use super::{Format, Sheet};

pub(crate) const TERRAFORM: Format = Format {
    name: "terraform",
    accepts: |_, name| {
        [".tf", ".tofu", ".hcl", ".tf.json"].iter().any(|it| name.ends_with(it))
            && !name.starts_with(".terraform.lock")
    },
    takes: &["*.tf", "*.tofu", "*.hcl", "*.tf.json"],
    read,
};

const MANNER: Manner = Manner {
    comments: &["#", "//"],
    block_comments: true,
    word_signs: b"-.",
    quotes: b"\"",
    heredocs: true,
    doubled: false,
};

/// What blocks at the top begin with.
const HEADS: &[&str] = &[
    "resource",
    "data",
    "variable",
    "output",
    "module",
    "provider",
    "locals",
    "terraform",
    "moved",
    "import",
];

fn read(sheet: &mut Sheet<'_>) {
    // Names are those of the module: the directory.
    let space = format!("terraform:{}", sheet.directory());
    if sheet.path.ends_with(".json") {
        return read_json(sheet, &space);
    }
    let all = tokens(sheet.text, &MANNER);
    let mut blocks: Vec<(DeclId, usize, usize)> = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let token = all[at];
        let labels: Vec<Token<'_>> =
            all[at + 1..].iter().copied().take_while(|it| it.kind == TokenKind::Text).take(2).collect();
        let open = at + 1 + labels.len();
        if !token.is_word() || !all.get(open).is_some_and(|it| it.is_sign("{")) {
            at += 1;
            continue;
        }
        let (close, next) = block(sheet.text, &all, open, HEADS);
        let position = sheet.position(labels.last().map_or(token.offset, |it| it.offset + 1));
        if close == next {
            sheet.partial(position.line);
        }
        let last = sheet.position(all.get(close).map_or(sheet.text.len(), |it| it.offset)).line;
        let label = |at: usize| labels.get(at).map_or("", |it| it.text);
        let found = match token.text {
            "resource" => Some((NodeKind::Resource, format!("{}.{}", label(0), label(1)))),
            "data" => Some((NodeKind::Resource, format!("data.{}.{}", label(0), label(1)))),
            "variable" => Some((NodeKind::Var, format!("var.{}", label(0)))),
            "output" => Some((NodeKind::Var, format!("output.{}", label(0)))),
            "module" => Some((NodeKind::Module, format!("module.{}", label(0)))),
            "provider" => Some((NodeKind::Resource, format!("provider.{}", label(0)))),
            "locals" => {
                locals(sheet, &all, open + 1, close, &space, &mut blocks);
                None
            }
            _ => None,
        };
        if let Some((kind, path)) = found.filter(|it| !it.1.ends_with('.')) {
            let signature =
                format!("{} {}", token.text, labels.iter().map(|it| it.text).collect::<Vec<_>>().join(" "));
            if let Some(decl) = sheet.declare(kind, &path, position, last, &signature) {
                sheet.offer(&space, &path, decl);
                blocks.push((decl, open + 1, close));
                if kind == NodeKind::Module {
                    source(sheet, &all[open + 1..close.min(all.len())], decl);
                }
            }
        }
        at = next;
    }
    for (decl, from, to) in blocks {
        references(sheet, &all[from..to.min(all.len())], decl, &space);
    }
}

fn locals(
    sheet: &mut Sheet<'_>,
    all: &[Token<'_>],
    from: usize,
    to: usize,
    space: &str,
    blocks: &mut Vec<(DeclId, usize, usize)>,
) {
    let mut at = from;
    while at + 1 < to.min(all.len()) {
        if all[at].is_word() && all[at + 1].is_sign("=") {
            let path = format!("local.{}", all[at].text);
            let position = sheet.position(all[at].offset);
            let begin = at + 2;
            let mut end = begin;
            while end < to.min(all.len()) {
                if ["{", "(", "["].iter().any(|it| all[end].is_sign(it)) {
                    end = closing(all, end) + 1;
                    continue;
                }
                if end > begin
                    && all[end].is_word()
                    && all.get(end + 1).is_some_and(|it| it.is_sign("="))
                    && !all.get(end + 2).is_some_and(|it| it.is_sign("="))
                {
                    break;
                }
                end += 1;
            }
            if let Some(decl) = sheet.declare(NodeKind::Var, &path, position, position.line, &path) {
                sheet.offer(space, &path, decl);
                blocks.push((decl, begin, end));
            }
            at = end;
        } else {
            at += 1;
        }
    }
}

/// Where a module comes from: a directory of the repository, or outside.
fn source(sheet: &mut Sheet<'_>, body: &[Token<'_>], decl: DeclId) {
    let Some(it) = body
        .windows(3)
        .find(|it| it[0].text == "source" && it[1].is_sign("=") && it[2].kind == TokenKind::Text)
    else {
        return;
    };
    let position = sheet.position(it[2].offset);
    called(sheet, it[2].text, position, decl);
}

fn called(sheet: &mut Sheet<'_>, text: &str, position: Position, decl: DeclId) {
    let to = match text.starts_with('.').then(|| sheet.relative(text)).flatten() {
        Some(path) => LinkEnd::Directory(sheet.str(if path.is_empty() { "." } else { &path })),
        None => {
            let name = text.split(['?', '#']).next().unwrap_or(text);
            sheet.outside(NodeKind::External, &format!("terraform/{name}"), "")
        }
    };
    sheet.link(LinkEnd::Decl(decl), EdgeKind::Calls, to, position);
}

/// `var.x`, `aws_vpc.main.id`, also inside of `"${...}"`.
fn references(sheet: &mut Sheet<'_>, body: &[Token<'_>], decl: DeclId, space: &str) {
    for (at, token) in body.iter().enumerate() {
        match token.kind {
            // A name before `=` or `{` is an argument.
            TokenKind::Word
                if !body.get(at + 1).is_some_and(|it| {
                    it.is_sign("=") && !body.get(at + 2).is_some_and(|it| it.is_sign("="))
                }) =>
            {
                let position = sheet.position(token.offset);
                refer(sheet, token.text, position, decl, space);
            }
            TokenKind::Text => {
                let position = sheet.position(token.offset);
                inside(sheet, token.text, position, decl, space);
            }
            _ => {}
        }
    }
}

/// What a text with `${...}` names.
fn inside(sheet: &mut Sheet<'_>, text: &str, position: Position, decl: DeclId, space: &str) {
    let mut from = 0;
    while let Some(begin) = text[from..].find("${").map(|it| from + it + 2) {
        let end = text[begin..].find('}').map_or(text.len(), |it| begin + it);
        let words = text[begin..end].split(|it: char| !it.is_alphanumeric() && !"_-.".contains(it));
        for word in words.filter(|it| it.contains('.')) {
            refer(sheet, word, position, decl, space);
        }
        from = end;
    }
}

fn refer(sheet: &mut Sheet<'_>, word: &str, position: Position, decl: DeclId, space: &str) {
    let parts: Vec<&str> = word.split('.').collect();
    let n = match parts.as_slice() {
        ["var" | "local" | "module", _, ..] => 2,
        ["data", _, _, ..] => 3,
        [first, _, ..] if first.contains('_') => 2,
        _ => return,
    };
    let path = parts[..n].join(".");
    let to = sheet.offered(space, &path);
    sheet.link(LinkEnd::Decl(decl), EdgeKind::DependsOn, to, position);
}

/// The same in JSON: blocks are objects, labels are keys, expressions are texts with `${...}`.
fn read_json(sheet: &mut Sheet<'_>, space: &str) {
    let yaml = Yaml::parse(sheet.text);
    if let Some(line) = yaml.error {
        sheet.partial(line);
    }
    let Some(root) = yaml.documents.first().copied() else { return };
    let mut blocks: Vec<(DeclId, Id)> = Vec::new();
    for (word, _, body) in yaml.pairs(root) {
        for (label, key, inner) in yaml.pairs(body) {
            let mut add = |kind, path: String, key: Id, inner: Id| {
                let (position, last) = (yaml.position(key), yaml.last_line(inner));
                let Some(decl) = sheet.declare(kind, &path, position, last, &format!("{word} {path}")) else {
                    return;
                };
                sheet.offer(space, &path, decl);
                if kind == NodeKind::Module
                    && let Some(source) = yaml.get(inner, "source")
                    && let Some(text) = yaml.text(source)
                {
                    called(sheet, text, yaml.position(source), decl);
                }
                blocks.push((decl, inner));
            };
            match word {
                "resource" | "data" => {
                    let before = if word == "data" { "data." } else { "" };
                    for (name, key, inner) in yaml.pairs(inner) {
                        add(NodeKind::Resource, format!("{before}{label}.{name}"), key, inner);
                    }
                }
                "variable" => add(NodeKind::Var, format!("var.{label}"), key, inner),
                "output" => add(NodeKind::Var, format!("output.{label}"), key, inner),
                "locals" => add(NodeKind::Var, format!("local.{label}"), key, inner),
                "module" => add(NodeKind::Module, format!("module.{label}"), key, inner),
                "provider" => add(NodeKind::Resource, format!("provider.{label}"), key, inner),
                _ => {}
            }
        }
    }
    for (decl, body) in blocks {
        for id in yaml.all(body) {
            let Some(text) = yaml.text(id) else { continue };
            let position = yaml.position(id);
            inside(sheet, text, position, decl, space);
        }
        for (text, position) in yaml.get(body, "depends_on").map(|it| yaml.texts(it)).unwrap_or_default() {
            refer(sheet, text, position, decl, space);
        }
    }
}
