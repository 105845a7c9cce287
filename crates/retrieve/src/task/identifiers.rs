//! Names of code in a task: in prose what looks like code, in code every name that is no keyword.

use rustc_hash::FxHashMap;

use super::imports;
use super::lines::is_commit_type;
use super::paths;
use super::words;

/// Where a name stands; the best place first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    Subject,
    Backtick,
    Prose,
    Trace,
    Code,
}

/// A name of code: `django.utils.text.slugify()` has four segments and is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identifier {
    /// As written, without call brackets and a leading `self.`.
    pub text: String,
    pub segments: Vec<String>,
    pub place: Place,
    /// How often the task says it.
    pub count: u32,
    /// Somewhere it is followed by `(`.
    pub called: bool,
}

/// Gathers names in order of first appearance, each once, at its best place.
#[derive(Default)]
pub(super) struct Collector {
    found: Vec<Identifier>,
    known: FxHashMap<String, usize>,
}

impl Collector {
    /// Prose, where a name must look like code or stand in backticks.
    pub(super) fn prose(&mut self, text: &str, place: Place) {
        for (span, is_code) in spans(text) {
            if is_code {
                self.backtick(span, if place == Place::Subject { place } else { Place::Backtick });
            } else {
                self.each(span, place, looks_like_code);
            }
        }
    }

    /// Code, where strings are skipped and comments are prose.
    pub(super) fn code(&mut self, text: &str, place: Place) {
        let (code, comment) = split_comment(text);
        self.each(comment, place, looks_like_code);
        if is_talk(code) {
            self.each(code, place, looks_like_code);
            return;
        }
        for piece in outside_strings(code) {
            self.each(piece, place, is_name_in_code);
        }
    }

    pub(super) fn finish(self) -> Vec<Identifier> {
        self.found
    }

    fn backtick(&mut self, span: &str, place: Place) {
        let span = span.trim();
        if span.is_empty() || span.starts_with('-') || paths::is_path(span) {
            return;
        }
        let is_kebab = span.contains('-') && span.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
        let is_said =
            span.contains(' ') && !span.contains(['=', '(', '{', '[', ';']) && !imports::is_import(span);
        if is_said {
            self.each(span, place, looks_like_code);
        } else if !is_kebab {
            self.code(span, place);
        }
    }

    fn each(&mut self, text: &str, place: Place, fits: impl Fn(&Chain<'_>) -> bool) {
        chains(text, |chain| {
            if fits(&chain) {
                self.add(&chain, place);
            }
        });
    }

    fn add(&mut self, chain: &Chain<'_>, place: Place) {
        let mut parts = chain.parts.as_slice();
        while let [(_, "self" | "this" | "cls" | "super" | "Self" | "crate"), rest @ ..] = parts {
            parts = rest;
        }
        let [(_, first), rest @ ..] = parts else { return };
        if rest.is_empty() && (first.len() < 2 || words::is_language_keyword(first)) {
            return;
        }
        let mut text = (*first).to_owned();
        for (separator, part) in rest {
            text.push_str(separator);
            text.push_str(part);
        }
        if let Some(&index) = self.known.get(&text) {
            let known = &mut self.found[index];
            known.count += 1;
            known.called |= chain.called;
            known.place = known.place.min(place);
            return;
        }
        self.known.insert(text.clone(), self.found.len());
        let segments = parts.iter().map(|(_, it)| (*it).to_owned()).collect();
        self.found.push(Identifier { text, segments, place, count: 1, called: chain.called });
    }
}

/// Text in pieces, with whether it stood between backticks. What is not closed is plain text.
pub(super) fn spans(text: &str) -> Vec<(&str, bool)> {
    let mut out = Vec::new();
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'`' {
            let length = bytes[at..].iter().take_while(|it| **it == b'`').count();
            runs.push((at, length));
            at += length;
        } else {
            at += 1;
        }
    }
    // Lengths that have no partner any more, so that odd text is not searched again and again.
    let mut single = rustc_hash::FxHashSet::default();
    let (mut from, mut index) = (0, 0);
    while let Some(&(open, length)) = runs.get(index) {
        let partner = match single.contains(&length) {
            true => None,
            false => (index + 1..runs.len()).find(|it| runs[*it].1 == length),
        };
        match partner {
            Some(close) => {
                out.push((&text[from..open], false));
                out.push((&text[open + length..runs[close].0], true));
                from = runs[close].0 + length;
                index = close + 1;
            }
            None => {
                single.insert(length);
                index += 1;
            }
        }
    }
    out.push((&text[from..], false));
    out
}

/// Segments joined by `.`, `::`, `#`, `->`, `?.` without spaces; each with the separator before it.
pub(super) struct Chain<'a> {
    parts: Vec<(&'static str, &'a str)>,
    called: bool,
    /// What stands between the call brackets, cut short.
    arguments: &'a str,
    /// A slash on either side: part of a path.
    in_path: bool,
}

fn is_start(it: char) -> bool {
    it.is_ascii_alphabetic() || it == '_' || is_latin(it)
}

fn is_inner(it: char) -> bool {
    it.is_ascii_alphanumeric() || it == '_' || is_latin(it)
}

/// Scripts without spaces between words would glue names to the words around them.
fn is_latin(it: char) -> bool {
    !it.is_ascii() && it < '\u{250}' && it.is_alphabetic()
}

/// Longer runs are data, not names.
const MAX_NAME: usize = 120;

fn chains<'a>(text: &'a str, mut visit: impl FnMut(Chain<'a>)) {
    let mut at = 0;
    let mut before = ' ';
    while let Some(it) = text[at..].chars().next() {
        if !is_inner(it) {
            at += it.len_utf8();
            before = it;
            continue;
        }
        if !is_start(it) {
            // `2to3`, `100j`: a run that starts with a digit is no name.
            at += name_length(&text[at..]);
            before = '0';
            continue;
        }
        let in_path = matches!(before, '/' | '\\');
        let mut chain = Chain { parts: Vec::new(), called: false, arguments: "", in_path };
        let mut separator = "";
        loop {
            let length = name_length(&text[at..]);
            chain.parts.push((separator, &text[at..at + length]));
            at += length;
            let mut next = &text[at..];
            if let Some(rest) = next.strip_prefix("()") {
                chain.called = true;
                next = rest;
            }
            let joined = [".", "::", "->", "?.", "#"].into_iter().find_map(|it| {
                let rest = next.strip_prefix(it)?;
                let fits = it != "#"
                    || chain.parts.last().is_some_and(|(_, part)| part.starts_with(char::is_uppercase));
                (fits && rest.starts_with(is_start)).then_some((it, rest))
            });
            match joined {
                Some((it, rest)) => {
                    separator = it;
                    at = text.len() - rest.len();
                    chain.called = false;
                }
                None => break,
            }
        }
        let tail = &text[at..];
        if let Some(inner) = tail.strip_prefix('(') {
            chain.called = true;
            let end = inner.bytes().take(80).position(|it| it == b')').unwrap_or(0);
            chain.arguments = inner.get(..end).unwrap_or_default();
        } else if tail.starts_with(['/', '\\']) {
            chain.in_path = true;
        }
        before = '_';
        if chain.parts.iter().all(|(_, it)| it.len() <= MAX_NAME) && chain.parts.len() <= 24 {
            visit(chain);
        }
    }
}

fn name_length(text: &str) -> usize {
    text.find(|it| !is_inner(it)).unwrap_or(text.len())
}

/// A name in prose that cannot be a word.
fn looks_like_code(chain: &Chain<'_>) -> bool {
    if chain.in_path {
        return false;
    }
    match chain.parts.as_slice() {
        [(_, name)] => {
            (is_snake(name) || is_camel(name)) && !words::is_product(&name.to_lowercase())
                || is_plain_call(chain, name)
        }
        parts => is_dotted_name(parts, chain.called),
    }
}

fn is_name_in_code(chain: &Chain<'_>) -> bool {
    !chain.in_path && !is_file_name(&chain.parts, chain.called)
}

/// `foo()`, `foo(x)`, `foo(a=1)`; not "name(s)".
fn is_plain_call(chain: &Chain<'_>, name: &str) -> bool {
    if !chain.called || name.len() < 2 || words::is_english(&name.to_lowercase()) || is_commit_type(name) {
        return false;
    }
    let inner = chain.arguments;
    if matches!(inner, "s" | "es" | "ies") {
        return false;
    }
    inner.is_empty() || inner.contains(['=', '"', '\'', '[']) || !inner.contains(' ')
}

/// `Class.method`, `a::b`; not "e.g", `example.com`, "ends.Then".
fn is_dotted_name(parts: &[(&'static str, &str)], called: bool) -> bool {
    if parts.iter().skip(1).any(|(separator, _)| *separator != ".") {
        return true;
    }
    if parts.iter().all(|(_, it)| it.len() < 3) || is_file_name(parts, called) {
        return false;
    }
    let (Some((_, first)), Some((_, last))) = (parts.first(), parts.last()) else { return false };
    if !called && matches!(*last, "com" | "org" | "net" | "html" | "io") {
        return false;
    }
    let whole = format!("{first}.{last}").to_lowercase();
    if words::is_product(&whole) {
        return false;
    }
    let is_sentence = parts.len() == 2
        && (words::is_english(&last.to_lowercase())
            || words::is_english(&first.to_lowercase()) && *last == capitalised(last));
    called || !is_sentence
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |it| it.to_uppercase().chain(letters).collect())
}

fn is_file_name(parts: &[(&'static str, &str)], called: bool) -> bool {
    !called
        && parts.len() > 1
        && parts.last().is_some_and(|(separator, it)| *separator == "." && paths::is_extension(it))
}

pub(super) fn is_snake(name: &str) -> bool {
    name.len() >= 3 && name.contains('_') && name.contains(|it: char| it.is_ascii_alphabetic())
}

/// `fooBar`, `FooBar`, `HTTPServer`; not "Foo", "HTTP", "APIs".
pub(super) fn is_camel(name: &str) -> bool {
    let mut n_upper = 0;
    let mut seen_lower = false;
    for (index, it) in name.char_indices() {
        if it.is_uppercase() {
            if seen_lower {
                return true;
            }
            n_upper += 1;
        } else if it.is_lowercase() {
            let is_plural = n_upper > 1 && &name[index..] == "s";
            if n_upper > 2 && !is_plural {
                return true;
            }
            seen_lower = true;
        }
    }
    false
}

/// A line within code that is talk: four words in a row, keywords not counted, without marks between them.
fn is_talk(line: &str) -> bool {
    if line.contains(['=', '(', '{', ';']) {
        return false;
    }
    let mut run = 0;
    for word in line.split(' ') {
        let is_word =
            !word.is_empty() && word.bytes().all(|it| it.is_ascii_alphabetic() || b",.'".contains(&it));
        match is_word {
            true if words::is_language_keyword(word) => {}
            true => run += 1,
            false => run = 0,
        }
        if run >= 4 {
            return true;
        }
    }
    false
}

/// Code and the comment that ends the line.
fn split_comment(line: &str) -> (&str, &str) {
    let trimmed = line.trim_start();
    if trimmed.starts_with("#[") || trimmed.starts_with("#!") || trimmed.starts_with("#include") {
        return (line, "");
    }
    let hash = if trimmed.starts_with('#') { Some(line.len() - trimmed.len()) } else { line.find(" #") };
    let slashes = line.find("//").filter(|at| !line[..*at].ends_with(':'));
    match [hash, slashes].into_iter().flatten().min() {
        // A quote before it: the mark may be part of a string.
        Some(at) if !line[..at].contains(['"', '\'']) => line.split_at(at),
        _ => (line, ""),
    }
}

/// The pieces of a line between its string literals.
fn outside_strings(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let bytes = line.as_bytes();
    let mut unclosed = [false; 256];
    let (mut from, mut at) = (0, 0);
    while at < bytes.len() {
        let quote = bytes[at];
        if !matches!(quote, b'"' | b'\'') || unclosed[usize::from(quote)] {
            at += 1;
            continue;
        }
        match closing(bytes, at + 1, quote) {
            Some(end) => {
                out.push(&line[from..at]);
                at = end + 1;
                from = at;
            }
            None => {
                unclosed[usize::from(quote)] = true;
                at += 1;
            }
        }
    }
    out.push(&line[from..]);
    out
}

fn closing(bytes: &[u8], from: usize, quote: u8) -> Option<usize> {
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            it if it == quote => return Some(at),
            _ => at += 1,
        }
    }
    None
}
