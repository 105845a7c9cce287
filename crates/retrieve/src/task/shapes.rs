//! One line of a stack trace in the shape of each language.

use super::messages;
use super::paths;

/// `path:line`, `path:line:column`.
pub(super) fn location(text: &str) -> Option<(&str, Option<u32>)> {
    let text = text.trim();
    let (head, last) = text.rsplit_once(':')?;
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    if !is_number(last) {
        return None;
    }
    let (file, line) = match head.rsplit_once(':') {
        Some((file, line)) if is_number(line) => (file, line),
        _ => (head, last),
    };
    (!file.is_empty()).then(|| (file, paths::number(line)))
}

/// Names of closures and top levels say nothing.
pub(super) fn plain_function(name: &str) -> Option<String> {
    let name = name.trim();
    let is_name = !name.is_empty()
        && name.len() <= 200
        && !name.starts_with('<')
        && name.contains(char::is_alphanumeric);
    is_name
        .then(|| name.trim_end_matches("()").to_owned())
        .filter(|it| !it.contains("<anonymous>") && !it.contains(' '))
}

/// File, line, function.
pub(super) type Located<'a> = (&'a str, Option<u32>, Option<String>);

pub(super) fn python_frame(text: &str) -> Option<Located<'_>> {
    let without_arguments = |it: &str| it.split('(').next().unwrap_or(it).trim().to_owned();
    if let Some(rest) = text.strip_prefix("File ") {
        if let Some(rest) = rest.strip_prefix('"') {
            let (file, rest) = rest.split_once('"')?;
            let rest = rest.strip_prefix(", line ")?;
            let function =
                rest.split_once(", in ").and_then(|(_, it)| plain_function(&without_arguments(it)));
            return Some((file, paths::number(rest), function));
        }
        let (place, function) = rest.split_once(", in ").unwrap_or((rest, ""));
        let (file, line) = location(place)?;
        return file.ends_with(".py").then(|| (file, line, plain_function(&without_arguments(function))));
    }
    // pytest: x.py:3: in f, x.py:3: SomeError
    if let Some(at) = text.find(".py:") {
        let (file, rest) = (&text[..at + 3], &text[at + 4..]);
        let line = paths::number(rest)?;
        let rest = rest.trim_start_matches(|it: char| it.is_ascii_digit()).strip_prefix(':')?.trim();
        if file.contains(' ') {
            return None;
        }
        return match rest.strip_prefix("in ") {
            Some(name) => Some((file, Some(line), plain_function(name))),
            None => {
                (rest.is_empty() || messages::is_exception_name(rest)).then_some((file, Some(line), None))
            }
        };
    }
    // IPython of old: /a/x.py in f(a, b)
    for mark in [".py in ", ".pyc in "] {
        if let Some((file, function)) = text.split_once(mark)
            && !file.contains(' ')
            && file.contains(['/', '\\'])
        {
            return Some((
                &text[..file.len() + mark.len() - 4],
                None,
                plain_function(&without_arguments(function)),
            ));
        }
    }
    None
}

/// `a.b.Outer$Inner.m(Outer.java:12)`: the package is the folder.
pub(super) fn java_frame(rest: &str) -> Option<(String, Option<u32>, Option<String>)> {
    let (name, place) = rest.split_once('(')?;
    let (place, _) = place.split_once(')')?;
    if name.contains(' ') || !name.contains('.') {
        return None;
    }
    let (file, line) =
        place.split_once(':').map_or((place, None), |(file, line)| (file, paths::number(line)));
    let is_unknown = matches!(place, "Native Method" | "Unknown Source");
    let is_file = [".java", ".kt", ".scala", ".groovy", ".clj"].iter().any(|it| file.ends_with(it));
    if !is_unknown && !is_file {
        return None;
    }
    // java.base/java.util.List.of, app//a.b.C.m
    let name = name.rsplit('/').next().unwrap_or(name);
    let (class, method) = name.rsplit_once('.')?;
    let (package, class) = class.rsplit_once('.').unwrap_or(("", class));
    let outer = class.split('$').next().unwrap_or(class);
    let file = if is_unknown { format!("{outer}.java") } else { file.to_owned() };
    let file = if package.is_empty() { file } else { format!("{}/{file}", package.replace('.', "/")) };
    let owner: Vec<&str> = class
        .split('$')
        .filter(|it| it.starts_with(|it: char| it.is_alphabetic() || it == '_') && !it.contains("Lambda"))
        .collect();
    let function = match method {
        "<init>" | "<clinit>" => owner.join("."),
        // lambda$run$0 stands in `run`
        _ => format!(
            "{}.{}",
            owner.join("."),
            method.strip_prefix("lambda$").and_then(|it| it.split('$').next()).unwrap_or(method)
        ),
    };
    Some((file, line, Some(function)))
}

/// `[from ]x.rb:3:in 'm'[: message (Class)]`, with either quote before the name.
pub(super) fn ruby_frame(text: &str) -> Option<(Located<'_>, Option<&str>)> {
    let text = match text.split_once("from ") {
        Some((head, rest)) if head.bytes().all(|it| it.is_ascii_digit() || b": ".contains(&it)) => rest,
        _ => text,
    };
    let (place, rest) = text.split_once(":in ")?;
    let (file, line) = location(place)?;
    if file.contains(' ') {
        return None;
    }
    let rest = rest.strip_prefix(['`', '\''])?;
    let end = rest.find('\'')?;
    let (name, tail) = (&rest[..end], &rest[end + 1..]);
    let name = name.rsplit(" in ").next().unwrap_or(name);
    Some(((file, line, plain_function(name)), tail.strip_prefix(": ")))
}

/// An indented `/a/b.go:12 +0x1d`.
pub(super) fn go_location<'a>(raw: &str, text: &'a str) -> Option<(&'a str, Option<u32>)> {
    let (place, offset) = text.split_once(' ').map_or((text, ""), |(place, offset)| (place, offset));
    let (file, line) = location(place)?;
    let fits = file.ends_with(".go")
        && (offset.is_empty() && raw.starts_with([' ', '\t']) || offset.starts_with("+0x"));
    fits.then_some((file, line))
}

/// `github.com/a/b.(*Type).Method(0x1, ...)`, `created by a.b in goroutine 1`.
pub(super) fn go_function(text: &str) -> Option<String> {
    let text = text.strip_prefix("created by ").unwrap_or(text);
    let text = text.split(" in goroutine ").next().unwrap_or(text);
    let name = match text.rfind('(') {
        Some(at) if text.ends_with(')') => &text[..at],
        _ => text,
    };
    if name.contains(' ') || !name.contains('.') {
        return None;
    }
    let name = name.rsplit('/').next().unwrap_or(name);
    let (_, name) = name.split_once('.')?;
    let name: Vec<&str> = name
        .split('.')
        .map(|it| it.trim_matches(['(', ')', '*']))
        .map(|it| it.split('[').next().unwrap_or(it))
        .filter(|it| !it.is_empty() && !is_closure_part(it))
        .collect();
    plain_function(&name.join("."))
}

/// `func1`, `gowrap2`, `1`.
fn is_closure_part(part: &str) -> bool {
    let rest = part.strip_prefix("func").or_else(|| part.strip_prefix("gowrap")).unwrap_or(part);
    rest.bytes().all(|it| it.is_ascii_digit())
}

/// `12: a::b::c`, `12: 0x55 - a::b::c::h0123456789abcdef`.
pub(super) fn rust_name(text: &str) -> Option<String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 5 {
        return None;
    }
    let rest = text[digits..].strip_prefix(": ")?.trim();
    let rest = rest.strip_prefix("0x").and_then(|it| it.split_once(" - ")).map_or(rest, |(_, it)| it);
    if !rest.contains("::") && rest.contains(' ') || rest.is_empty() {
        return None;
    }
    // <a::B<T> as c::Trait>::d is the function `a::B::d`
    let rest = match rest.strip_prefix('<').and_then(|it| it.split_once(" as ")) {
        Some((owner, tail)) => format!("{owner}::{}", tail.rsplit_once(">::").map_or("", |(_, it)| it)),
        None => rest.to_owned(),
    };
    let mut depth = 0_usize;
    let mut plain = String::with_capacity(rest.len());
    for it in rest.chars() {
        match it {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            it if depth == 0 => plain.push(it),
            _ => {}
        }
    }
    let is_hash =
        |it: &str| it.len() == 17 && it.starts_with('h') && it[1..].bytes().all(|it| it.is_ascii_hexdigit());
    let parts: Vec<&str> = plain
        .split("::")
        .filter(|it| !it.is_empty() && !it.starts_with("{{") && !it.starts_with("{closure") && !is_hash(it))
        .collect();
    plain_function(&parts.join("::"))
}

pub(super) fn is_script(file: &str) -> bool {
    let file = file.split(['?', '#']).next().unwrap_or(file);
    [".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"]
        .iter()
        .any(|it| file.ends_with(it))
}

pub(super) fn script_language(file: &str) -> &'static str {
    let file = file.split(['?', '#']).next().unwrap_or(file);
    if [".ts", ".tsx", ".mts", ".cts"].iter().any(|it| file.ends_with(it)) {
        "typescript"
    } else {
        "javascript"
    }
}
