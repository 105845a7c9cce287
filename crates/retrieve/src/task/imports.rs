//! Import statements in a task: which modules and names its author had in hand.

use super::lines::{Kind, Line};

/// More alternatives in one statement than this are a dump, not an example.
const MAX_NAMES: usize = 200;

/// Modules and names of every import, in order, each once.
pub(super) fn read(subject: &str, lines: &[Line]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut open = String::new();
    for line in lines {
        if line.kind == Kind::Code {
            let text = line.text.trim();
            if !open.is_empty() {
                open.push(' ');
                open.push_str(text);
                if text.contains([')', '}']) || text.contains(';') || open.len() > 2000 {
                    statement(&open, &mut found);
                    open.clear();
                }
                continue;
            }
            if starts_import(text) && is_open(text) {
                open.push_str(text);
            } else {
                statement(text, &mut found);
            }
        } else {
            open.clear();
            if line.kind == Kind::Prose {
                inline(&line.text, &mut found);
            }
        }
    }
    inline(subject, &mut found);
    let mut seen = rustc_hash::FxHashSet::default();
    found.retain(|it| !it.is_empty() && seen.insert(it.clone()));
    found
}

/// The line is an import statement and nothing else.
pub(super) fn is_import(text: &str) -> bool {
    if !starts_import(text) {
        return false;
    }
    let mut found = Vec::new();
    statement(text, &mut found);
    !found.is_empty() || is_open(text)
}

/// Imports in backticks; "import errors" without them is prose.
fn inline(text: &str, found: &mut Vec<Vec<String>>) {
    for span in text.split('`').skip(1).step_by(2) {
        statement(span.trim(), found);
    }
}

fn starts_import(text: &str) -> bool {
    [
        "from ",
        "import ",
        "use ",
        "pub use ",
        "using ",
        "require ",
        "require_relative ",
        "const ",
        "let ",
        "var ",
    ]
    .iter()
    .any(|it| text.starts_with(it))
}

/// A bracket is open: the statement goes on in the next line.
fn is_open(text: &str) -> bool {
    let opening = text.find(['(', '{']);
    opening.is_some_and(|it| !text[it..].contains([')', '}']))
        && (text.contains(" import (")
            || text.starts_with("import {")
            || text.contains("use ") && text.contains("::{"))
}

fn statement(text: &str, found: &mut Vec<Vec<String>>) {
    let text = text.trim_end_matches(';').trim_end();
    if let Some(rest) = text.strip_prefix("from ") {
        from_import(rest, found);
    } else if let Some(rest) = text.strip_prefix("import ") {
        import(rest, found);
    } else if let Some(rest) = text.strip_prefix("pub ").unwrap_or(text).strip_prefix("use ") {
        if rest.contains("::") {
            use_tree(rest, found);
        }
    } else if let Some(rest) = text.strip_prefix("using ") {
        let rest = rest.strip_prefix("static ").unwrap_or(rest);
        if rest.contains('.')
            && let Some(path) = dotted(rest)
        {
            found.push(path);
        }
    } else if let Some(rest) =
        text.strip_prefix("require ").or_else(|| text.strip_prefix("require_relative "))
    {
        found.extend(quoted(rest).map(slashed));
    } else if let Some((_, rest)) = text.split_once("require(")
        && (text.starts_with("const ") || text.starts_with("let ") || text.starts_with("var "))
    {
        found.extend(quoted(rest).map(slashed));
    }
}

/// `a.b import c, d as e`, also with brackets.
fn from_import(rest: &str, found: &mut Vec<Vec<String>>) {
    let Some((module, names)) = rest.split_once(" import ") else { return };
    let module = module.trim().trim_start_matches('.');
    let base = if module.is_empty() { Some(Vec::new()) } else { dotted(module) };
    let Some(base) = base else { return };
    let names = names.split('#').next().unwrap_or_default();
    let names = names.trim().trim_start_matches('(').trim_end_matches([')', ',', ' ', ':']);
    let start = found.len();
    for name in names.split(',').take(MAX_NAMES) {
        let mut words = name.split_whitespace();
        let Some(name) = words.next() else { continue };
        let is_alias = match words.next() {
            None => true,
            Some(word) => word == "as",
        };
        if name == "*" {
            found.push(base.clone());
        } else if is_alias && is_name(name) {
            found.push(with(&base, name));
        } else {
            // "from the docs import nothing": prose after all.
            found.truncate(start);
            return;
        }
    }
}

/// `a.b as c, d`, `static a.b.C`, `x from "m"`, `{ x } from "m"`, `"m"`.
fn import(rest: &str, found: &mut Vec<Vec<String>>) {
    let rest = rest.strip_prefix("static ").or_else(|| rest.strip_prefix("type ")).unwrap_or(rest);
    if let Some((names, module)) = rest.split_once(" from ") {
        let Some(module) = quoted(module).map(slashed) else { return };
        let mut any = false;
        for name in names.split(['{', '}', ',']).take(MAX_NAMES) {
            let name = name.split_whitespace().next().unwrap_or_default();
            if is_name(name) {
                found.push(with(&module, name));
                any = true;
            }
        }
        if !any {
            found.push(module);
        }
        return;
    }
    if let Some(module) = quoted(rest) {
        found.push(slashed(module));
        return;
    }
    let start = found.len();
    for module in rest.split('#').next().unwrap_or_default().split(',').take(MAX_NAMES) {
        let mut words = module.split_whitespace();
        let path = words.next().and_then(|it| dotted(it.trim_end_matches(".*")));
        let fits = match (words.next(), words.next(), words.next()) {
            (None, ..) => true,
            (Some("as"), Some(alias), None) => is_name(alias),
            _ => false,
        };
        match path {
            Some(path) if fits => found.push(path),
            _ => {
                found.truncate(start);
                return;
            }
        }
    }
}

/// `a::b::{c, d::e, self}`; nested braces are read with a stack.
fn use_tree(rest: &str, found: &mut Vec<Vec<String>>) {
    let mut bases: Vec<usize> = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let start = found.len();
    let mut token = String::new();
    let mut is_alias = false;
    let mut ended_by_brace = false;
    let finish = |token: &mut String, path: &mut Vec<String>, is_alias: &mut bool| {
        if is_name(token) && !*is_alias && !matches!(token.as_str(), "self" | "crate" | "super") {
            path.push(token.clone());
        }
        token.clear();
    };
    for it in rest.chars() {
        if found.len() - start >= MAX_NAMES || bases.len() > 8 {
            return;
        }
        match it {
            ':' => finish(&mut token, &mut path, &mut is_alias),
            '{' => {
                bases.push(path.len());
                ended_by_brace = false;
            }
            ',' | '}' => {
                finish(&mut token, &mut path, &mut is_alias);
                let base = bases.last().copied().unwrap_or(0);
                if !ended_by_brace && !path.is_empty() {
                    found.push(path.clone());
                }
                path.truncate(base);
                is_alias = false;
                ended_by_brace = it == '}';
                if it == '}' {
                    bases.pop();
                }
            }
            it if it.is_whitespace() => {
                if token == "as" {
                    is_alias = true;
                    token.clear();
                } else {
                    finish(&mut token, &mut path, &mut is_alias);
                }
            }
            it if it.is_alphanumeric() || it == '_' => token.push(it),
            '*' => {}
            _ => break,
        }
    }
    finish(&mut token, &mut path, &mut is_alias);
    if !ended_by_brace && !path.is_empty() {
        found.push(path);
    }
}

fn with(base: &[String], name: &str) -> Vec<String> {
    base.iter().cloned().chain([name.to_owned()]).collect()
}

fn dotted(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    (text.len() < 200 && text.split('.').all(is_name)).then(|| text.split('.').map(str::to_owned).collect())
}

/// `./a/b`, `@scope/a/b`, `github.com/a/b`.
fn slashed(module: &str) -> Vec<String> {
    module
        .split(['/', '\\'])
        .filter(|it| !it.is_empty() && *it != "." && *it != "..")
        .map(|it| it.trim_start_matches('@').to_owned())
        .collect()
}

fn quoted(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    let (inner, _) = text[1..].split_once(quote)?;
    (!inner.is_empty() && inner.len() < 200 && !inner.contains(' ')).then_some(inner)
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 100
        && !text.starts_with(|it: char| it.is_ascii_digit())
        && text.chars().all(|it| it.is_alphanumeric() || it == '_' || it == '$')
}
