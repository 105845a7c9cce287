//! Which lines are code: fenced blocks, prompts, indented blocks, and bare lines that can be nothing else.

use super::imports;
use super::lines::Kind;
use super::noise::starts_with_ignoring_case;

/// An open block of code: closed by at least as many of the same mark.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    pub(super) fn opens(line: &str) -> Option<Fence> {
        let line = line.trim_start().trim_start_matches(['>', ' ']);
        let mark = line.chars().next().filter(|it| matches!(it, '`' | '~'))?;
        let length = line.bytes().take_while(|it| char::from(*it) == mark).count();
        // Marks further on make it inline code.
        (length >= 3 && !line[length..].contains(mark)).then_some(Fence { mark, length })
    }

    pub(super) fn closes(self, line: &str) -> bool {
        let line = line.trim().trim_start_matches(['>', ' ']);
        line.len() >= self.length && line.chars().all(|it| it == self.mark)
    }
}

/// Reads a line outside of fences; `before` is what the line before it was.
pub(super) fn is_code(line: &str, before: Kind) -> bool {
    let text = line.trim();
    if text.is_empty() {
        return false;
    }
    if prompt(text).is_some() || is_diff_header(text) {
        return true;
    }
    let indent = line.len() - line.trim_start().len();
    let is_indented = indent >= 4 || line.starts_with('\t');
    if before == Kind::Code {
        let goes_on = indent >= 2 || line.starts_with('\t') || text.starts_with([')', ']', '}']);
        if goes_on && !is_list_item(text) || text.starts_with(['+', '-']) && !text.starts_with("- ") {
            return true;
        }
    }
    if is_list_item(text) {
        return false;
    }
    is_statement(text) || is_indented && before != Kind::Prose && has_code_marks(text)
}

/// No mark of code in it: words and numbers.
pub(super) fn is_plain(line: &str) -> bool {
    !line.contains(['(', '{', ';']) && !line.contains(" = ")
}

/// The line without `>>> `, `In [1]: `, `$ `.
pub(super) fn without_prompt(line: &str) -> &str {
    prompt(line.trim_start()).unwrap_or(line)
}

/// What a prompt is followed by.
fn prompt(text: &str) -> Option<&str> {
    for opening in [">>> ", "... ", "$ "] {
        if let Some(rest) = text.strip_prefix(opening) {
            // "... and so on" is prose; a continued statement is indented or has marks.
            let is_ellipsis = opening == "... " && !rest.starts_with(' ') && !has_code_marks(rest);
            return (!is_ellipsis).then_some(rest);
        }
    }
    if text == ">>>" {
        return Some("");
    }
    for opening in ["In [", "Out[", "irb(main):"] {
        if let Some(rest) = text.strip_prefix(opening) {
            let end = rest.bytes().take(16).position(|it| it == b':' || it == b'>')?;
            return Some(rest[end + 1..].trim_start());
        }
    }
    None
}

/// `--- a/x`, `+++ b/x`, `@@ -1 +1 @@`, `index 01ab..23cd 100644`.
fn is_diff_header(text: &str) -> bool {
    ["diff --git ", "@@ -"].iter().any(|it| text.starts_with(it))
        || diff_path(text).is_some()
        || text
            .strip_prefix("index ")
            .is_some_and(|it| it.contains("..") && it.starts_with(|it: char| it.is_ascii_hexdigit()))
}

/// The file of a diff's header, without the one letter before it.
pub(super) fn diff_path(text: &str) -> Option<&str> {
    let path = text.strip_prefix("--- ").or_else(|| text.strip_prefix("+++ "))?;
    path.strip_prefix(|it: char| it.is_ascii_lowercase())?.strip_prefix('/')
}

fn is_list_item(text: &str) -> bool {
    text.starts_with("- ") || text.starts_with("* ") || {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && digits < 4 && text[digits..].starts_with(". ")
    }
}

/// Marks that prose does not have.
fn has_code_marks(text: &str) -> bool {
    text.contains("()")
        || text.contains("::")
        || text.contains("->")
        || text.contains("==")
        || text.contains(" = ")
        || text.contains("={")
        || text.ends_with([';', '{', '}'])
        || text.ends_with(':') && text.contains(['(', '_'])
        || text.contains('(') && text.contains(['_', '=', '['])
}

/// The line is a whole statement or opens one.
fn is_statement(text: &str) -> bool {
    imports::is_import(text)
        || opens_definition(text)
        || opens_block(text)
        || is_decorator(text)
        || is_assignment(text)
        || is_call(text)
        || is_markup(text)
        || is_query(text)
        || text.ends_with(';') && text.contains(['(', '=', '{', '.'])
        || text.ends_with('{') && text.contains(['(', '=']) && !text.starts_with('{')
        || matches!(text, "{" | "}" | "});" | "};" | ")" | "]" | "];" | "),")
}

fn opens_definition(text: &str) -> bool {
    let text = text.strip_prefix("async ").unwrap_or(text);
    let text = text.strip_prefix("export ").unwrap_or(text);
    let text = text.strip_prefix("pub ").unwrap_or(text);
    let Some((keyword, rest)) = text.split_once(' ') else { return false };
    let name = rest.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
    let after = rest[name..].trim_start();
    match keyword {
        "def" | "fn" | "function" => name > 0 && after.starts_with(['(', '<']),
        "func" => after.starts_with('('),
        "class" | "struct" | "interface" | "trait" | "enum" => {
            name > 0 && rest.starts_with(|it: char| it.is_ascii_uppercase() || it == '_') && {
                after.starts_with(['(', ':', '{', '<']) || after.starts_with("extends ") || after.is_empty()
            }
        }
        "impl" => text.ends_with('{'),
        "let" | "const" | "var" => after.contains('='),
        "public" | "private" | "protected" => text.ends_with(['{', ';', ')']),
        _ => false,
    }
}

fn opens_block(text: &str) -> bool {
    if matches!(text, "else:" | "try:" | "finally:" | "else {" | "} else {" | "begin" | "ensure") {
        return true;
    }
    let Some((keyword, rest)) = text.split_once([' ', '(']) else { return false };
    let is_block =
        matches!(keyword, "if" | "elif" | "for" | "while" | "with" | "except" | "match" | "switch" | "catch");
    is_block && text.ends_with([':', '{']) && rest.contains(['(', '=', '[', '_', '<', '>'])
}

fn is_decorator(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('@') else { return text.starts_with("#[") && text.ends_with(']') };
    let name = rest.bytes().take_while(|it| it.is_ascii_alphanumeric() || b"_.".contains(it)).count();
    name > 1 && (rest.len() == name || rest[name..].starts_with('('))
}

/// `a.b[0], c = ...`, `x: int = 1`, `x += 1`.
fn is_assignment(text: &str) -> bool {
    let Some(at) = text.find('=') else { return false };
    let (left, right) = (&text[..at], &text[at + 1..]);
    if right.starts_with(['=', '>', '~']) || right.trim().is_empty() {
        return false;
    }
    let left = left.strip_suffix(['+', '-', '*', '/', '|', '&', ':', '%']).unwrap_or(left);
    let Some(left) = left.strip_suffix(' ').or(if right.starts_with(' ') { None } else { Some(left) }) else {
        return false;
    };
    let first_is_name = left.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    let mut previous = ' ';
    let has_one_target = left.trim_end().chars().all(|it| {
        let fits =
            it.is_ascii_alphanumeric() || "_.[]'\",:()".contains(it) || it == ' ' && ",:".contains(previous);
        previous = it;
        fits
    });
    // "key=value" alone is as often a setting in prose, but it is code to the reader as well.
    first_is_name && has_one_target && left.len() < 120
}

/// The whole line is one call: `plt.show()`, `a(b).c(d);`, or an open one: `foo(`.
fn is_call(text: &str) -> bool {
    let text = text.strip_prefix("await ").or_else(|| text.strip_prefix("return ")).unwrap_or(text);
    let name = text.bytes().take_while(|it| it.is_ascii_alphanumeric() || b"_.:!".contains(it)).count();
    if name < 2
        || !text[name..].starts_with('(')
        || !text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
    {
        return false;
    }
    let mut depth = 0_usize;
    let mut closed = false;
    for it in text[name..].chars() {
        if closed && depth == 0 && !".[(;,#?".contains(it) && !(it.is_ascii_alphanumeric() || it == '_') {
            return false;
        }
        // "foo() fails": a word after a space has been refused above, `.name` goes on.
        match it {
            '(' | '[' => depth += 1,
            ')' | ']' => {
                depth = depth.saturating_sub(1);
                closed = depth == 0;
            }
            _ => {}
        }
    }
    text.ends_with([')', ';', '(', ',', ']']) || depth > 0 && text.ends_with('{')
}

fn is_markup(text: &str) -> bool {
    let is_tag = text.starts_with('<') && text.ends_with('>') && text.contains(['=', '/']);
    let is_template =
        text.starts_with("{%") && text.ends_with("%}") || text.starts_with("{{") && text.ends_with("}}");
    is_template
        || is_tag
            && !["<details", "</details", "<summary", "</summary", "<img", "<br", "<p", "</p"]
                .iter()
                .any(|it| text.starts_with(it))
}

fn is_query(text: &str) -> bool {
    ["SELECT ", "INSERT INTO ", "UPDATE ", "DELETE FROM ", "CREATE TABLE ", "ALTER TABLE ", "CREATE INDEX "]
        .iter()
        .any(|it| text.starts_with(it) && starts_with_ignoring_case(text, it))
        && text.contains(['(', '=', '*', ';', '"', '.'])
}
