//! The lines of a task by what they are: prose, code, trace; and the subject among them.

use super::code::{self, Fence};
use super::{noise, words};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Prose,
    Code,
    Trace,
    /// Nothing, or nothing worth keeping.
    Blank,
}

#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) kind: Kind,
    /// Cleaned; empty when blank.
    pub(super) text: String,
}

impl Line {
    fn new(kind: Kind, text: String) -> Line {
        if text.trim().is_empty() { Line::blank() } else { Line { kind, text } }
    }

    fn blank() -> Line {
        Line { kind: Kind::Blank, text: String::new() }
    }
}

/// One [`Line`] for each raw line; `is_trace` comes from reading the stack traces.
pub(super) fn classify(raw: &[&str], is_trace: &[bool]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::with_capacity(raw.len());
    let mut fence: Option<Fence> = None;
    let mut environment = false;
    let mut started = false;
    for (index, &text) in raw.iter().enumerate() {
        if let Some(open) = fence {
            if open.closes(text) {
                fence = None;
                lines.push(Line::blank());
                continue;
            }
        } else if let Some(open) = Fence::opens(text) {
            fence = Some(open);
            lines.push(Line::blank());
            continue;
        }
        if is_trace[index] {
            lines.push(Line::new(Kind::Trace, noise::clean_code(text)));
            started = true;
            continue;
        }
        if fence.is_some() {
            let is_noise = environment
                || text.contains(char::is_alphanumeric) && noise::is_noise_line(text) && code::is_plain(text);
            let text = if is_noise { String::new() } else { noise::clean_code(code::without_prompt(text)) };
            lines.push(Line::new(Kind::Code, text));
            continue;
        }
        if noise::is_heading(text) {
            environment = started && noise::opens_environment(text);
            if environment {
                lines.push(Line::blank());
                continue;
            }
        }
        if environment {
            if text.split_whitespace().count() <= 8 || text.starts_with("<details>") {
                lines.push(Line::blank());
                continue;
            }
            environment = false;
        }
        let before = lines.last().map_or(Kind::Blank, |it| it.kind);
        let line = if started && code::is_code(text, before) {
            Line::new(Kind::Code, noise::clean_code(code::without_prompt(text)))
        } else if text.trim().is_empty() || noise::is_noise_line(text) {
            Line::blank()
        } else {
            Line::new(Kind::Prose, noise::clean_prose(without_quote_mark(text)))
        };
        started |= line.kind != Kind::Blank;
        lines.push(line);
    }
    lines
}

fn without_quote_mark(line: &str) -> &str {
    let line = line.trim_start();
    match line.strip_prefix('>') {
        Some(rest) if rest.starts_with([' ', '>']) => rest.trim_start_matches(['>', ' ']),
        _ => line,
    }
}

/// Longer first lines are paragraphs: their first sentence is the subject.
const SUBJECT_BYTES: usize = 240;

/// The first line, taken apart.
#[derive(Default)]
pub(super) struct Subject {
    /// What stood before: `fix(scope): `.
    pub(super) opening: String,
    pub(super) scope: Option<String>,
    pub(super) text: String,
}

/// Takes the subject out of the lines: the first line of prose, else of code.
pub(super) fn take_subject(lines: &mut [Line]) -> Subject {
    let first = lines
        .iter()
        .position(|it| it.kind == Kind::Prose && it.text.contains(char::is_alphanumeric))
        .or_else(|| lines.iter().position(|it| it.kind == Kind::Code));
    let Some(first) = first else { return Subject::default() };
    let line = std::mem::replace(&mut lines[first], Line::blank());
    let (scope, rest) = split_scope(&line.text);
    let cut = sentence_end(rest);
    let (subject, remainder) = rest.split_at(cut);
    if !remainder.trim().is_empty() {
        lines[first] = Line::new(line.kind, remainder.trim().to_owned());
    }
    let subject = subject.trim().trim_end_matches("**").trim_end();
    let opening = line.text[..line.text.len() - rest.len()].to_owned();
    Subject { opening, scope, text: subject.to_owned() }
}

fn sentence_end(text: &str) -> usize {
    if text.len() <= SUBJECT_BYTES {
        return text.len();
    }
    text.match_indices(['.', '?', '!'])
        .map(|(at, _)| at + 1)
        .find(|&at| at > 20 && text[at..].starts_with(' '))
        .unwrap_or(text.len())
}

/// Takes `[Bug]: `, `feat(scope)!: `, `Fixed #12 -- `, `KEY-12: `, `scope: ` off the front.
fn split_scope(line: &str) -> (Option<String>, &str) {
    let mut scope = None;
    let mut rest = without_marks(line);
    // Each round takes one opening; more than four in a row is no opening any more.
    for _ in 0..4 {
        let next = bracketed(rest, &mut scope)
            .or_else(|| dashed(rest))
            .or_else(|| prefixed(rest, &mut scope))
            .map(without_marks);
        match next {
            Some(next) if next.contains(char::is_alphanumeric) => rest = next,
            _ => break,
        }
    }
    (scope, rest)
}

/// Without heading and bullet marks, emoji and `:shortcodes:` at the front.
fn without_marks(text: &str) -> &str {
    let is_mark = |it: char| {
        it.is_whitespace()
            || "#*>=|~".contains(it)
            || !it.is_ascii() && !it.is_alphanumeric() && !"“‘«".contains(it)
    };
    let mut rest = text;
    loop {
        if let Some(after) = rest.strip_prefix(':')
            && let Some(end) = after.bytes().take(30).position(|it| it == b':')
            && end > 0
            && after[..end].bytes().all(|it| it.is_ascii_lowercase() || it == b'_')
        {
            rest = after[end + 1..].trim_start();
            continue;
        }
        let next = rest.trim_start_matches(is_mark);
        // A dash opens a bullet before a space and an option (`--flag`) otherwise.
        let next = next.strip_prefix("- ").unwrap_or(next);
        if next.len() == rest.len() {
            return rest;
        }
        rest = next;
    }
}

/// `[Bug]: rest`, `[network] rest`.
fn bracketed<'a>(text: &'a str, scope: &mut Option<String>) -> Option<&'a str> {
    let after = text.strip_prefix('[')?;
    let end = after.bytes().take(60).position(|it| it == b']')?;
    let (tag, rest) = (&after[..end], after[end + 1..].trim_start_matches([':', ' ', '-']));
    if tag.contains(['`', '(', '"', '\'']) || rest.is_empty() || after[end + 1..].starts_with('(') {
        return None;
    }
    if !tag.contains(' ') && is_scope(tag) && !is_commit_type(&tag.to_lowercase()) {
        scope.get_or_insert_with(|| tag.to_owned());
    }
    Some(rest)
}

/// `Fixed #36519 -- rest`; the number is already gone.
fn dashed(text: &str) -> Option<&str> {
    let (head, rest) = text.split_once("-- ")?;
    let mut words = head.split_whitespace();
    let verb = words.next()?.to_lowercase();
    let is_reference =
        matches!(verb.as_str(), "fixed" | "fixes" | "fix" | "refs" | "ref" | "closes" | "closed");
    (is_reference && words.all(|it| it.len() <= 3 || it.starts_with('#'))).then_some(rest)
}

/// `feat(scope)!: rest`, `KAFKA-12: rest`, `net/http: rest`.
fn prefixed<'a>(text: &'a str, scope: &mut Option<String>) -> Option<&'a str> {
    let at = text.bytes().take(80).position(|it| it == b':')?;
    let (head, rest) = (&text[..at], &text[at + 1..]);
    if !rest.starts_with(' ') {
        return None;
    }
    let head = head.strip_suffix('!').unwrap_or(head);
    let (kind, inner) = match head.split_once('(') {
        Some((kind, inner)) => (kind, Some(inner.strip_suffix(')')?)),
        None => (head, None),
    };
    let lower = kind.trim().to_lowercase();
    if is_commit_type(&lower) {
        if let Some(inner) = inner.filter(|it| !it.is_empty()) {
            scope.get_or_insert_with(|| inner.to_owned());
        }
        return Some(rest);
    }
    if inner.is_some() {
        return None;
    }
    if is_ticket(kind) {
        return Some(rest);
    }
    // A sentence or an error may end in a colon too: only one lower-case word or path is a scope.
    let is_plain = is_scope(kind) && !kind.contains(|it: char| it.is_uppercase());
    if !is_plain
        || words::is_english(&lower)
        || matches!(lower.as_str(), "error" | "warning" | "panic" | "fatal" | "http" | "https" | "example")
    {
        return None;
    }
    scope.get_or_insert_with(|| kind.to_owned());
    Some(rest)
}

fn is_scope(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 50
        && text.contains(|it: char| it.is_ascii_alphabetic())
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-./,*+".contains(&it))
}

fn is_ticket(text: &str) -> bool {
    text.rsplit_once('-').is_some_and(|(key, number)| {
        !key.is_empty()
            && !number.is_empty()
            && number.bytes().all(|it| it.is_ascii_digit())
            && (key.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit())
                || key == "gh"
                || key == "bpo")
    })
}

/// `fix` of `fix(scope): `.
pub(super) fn is_commit_type(lower: &str) -> bool {
    matches!(
        lower,
        "feat"
            | "feature"
            | "fix"
            | "bug"
            | "bugfix"
            | "hotfix"
            | "docs"
            | "doc"
            | "style"
            | "refactor"
            | "perf"
            | "test"
            | "tests"
            | "build"
            | "ci"
            | "chore"
            | "revert"
            | "wip"
            | "minor"
            | "major"
            | "patch"
            | "enh"
            | "enhancement"
            | "improvement"
            | "regression"
            | "rfc"
            | "question"
            | "feature request"
            | "bug report"
            | "deps"
            | "release"
            | "maint"
            | "mnt"
            | "issue"
            | "usage"
            | "proposal"
            | "task"
            | "add"
            | "update"
            | "breaking"
            | "todo"
            | "cleanup"
            | "security"
            | "misc"
            | "tst"
            | "dep"
            | "rel"
    )
}
