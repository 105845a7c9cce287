//! Arguments of a call as they are written, and the texts of literals: enough of each language to find commas and quotes.

/// One argument, without the white space around it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Arg {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// `name = value`, `name: value`.
    pub(crate) name: Option<String>,
}

/// How far arguments are looked for.
const MAX_LENGTH: usize = 1 << 16;
const MAX_ARGUMENTS: usize = 256;

/// The arguments behind a name (or a chain of names) at an offset.
pub(crate) fn arguments_at(bytes: &[u8], offset: usize, language: &str) -> Vec<Arg> {
    let mut at = offset;
    let end = bytes.len().min(offset + MAX_LENGTH);
    while at < end
        && (is_word(bytes[at]) || matches!(bytes[at], b'.' | b'\\' | b'?' | b'!') || is_colons(bytes, at))
    {
        at += 1;
    }
    at = blank(bytes, at, end, false);
    if at < end && bytes[at] == b'<' {
        at = blank(bytes, matching_angle(bytes, at, end), end, false);
    }
    match bytes.get(at) {
        Some(b'(') => split(bytes, at + 1, end, language, false),
        // `get "/x", to: "a#b"`: up to the end of the line.
        Some(b'\'' | b'"' | b':' | b'%') if language == "ruby" => split(bytes, at, end, language, true),
        Some(byte) if language == "ruby" && at > offset && is_word(*byte) => {
            split(bytes, at, end, language, true)
        }
        _ => Vec::new(),
    }
}

/// Splits what stands up to the closing bracket (or the end of the line) at commas.
pub(crate) fn split(bytes: &[u8], from: usize, end: usize, language: &str, to_line_end: bool) -> Vec<Arg> {
    let mut args = Vec::new();
    let mut at = from;
    let mut begin = from;
    let mut depth = 0_usize;
    let mut after_comma = true;
    while at < end && args.len() < MAX_ARGUMENTS {
        let byte = bytes[at];
        match byte {
            b'"' | b'\'' | b'`' => {
                after_comma = false;
                at = skip_string(bytes, at, end, language);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') && slash_comments(language) => {
                at = line_end(bytes, at, end);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') && slash_comments(language) => {
                let rest = &bytes[at..end];
                at += memchr::memmem::find(rest, b"*/").map_or(rest.len(), |it| it + 2);
                continue;
            }
            b'#' if matches!(language, "python" | "ruby") => {
                at = line_end(bytes, at, end);
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                if depth == 0 {
                    break;
                }
                depth -= 1;
            }
            b',' if depth == 0 => {
                push(bytes, begin, at, language, &mut args);
                begin = at + 1;
                after_comma = true;
                at += 1;
                continue;
            }
            b'\n' | b';' if to_line_end && depth == 0 && !after_comma => break,
            b'd' if to_line_end && depth == 0 && is_do(bytes, at) => break,
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            after_comma = false;
        }
        at += 1;
    }
    push(bytes, begin, at, language, &mut args);
    args
}

/// The items of a list, given without its brackets.
pub(crate) fn split_list<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let items = split(text.as_bytes(), 0, text.len(), language, false);
    items.into_iter().filter_map(|it| text.get(it.from..it.to)).collect()
}

fn is_do(bytes: &[u8], at: usize) -> bool {
    bytes[at..].starts_with(b"do")
        && at > 0
        && bytes[at - 1] == b' '
        && bytes.get(at + 2).is_none_or(|it| matches!(it, b' ' | b'\n' | b'\r' | b'|'))
}

fn push(bytes: &[u8], from: usize, to: usize, language: &str, args: &mut Vec<Arg>) {
    let (mut from, mut to) = (blank(bytes, from, to, true), to);
    while to > from && bytes[to - 1].is_ascii_whitespace() {
        to -= 1;
    }
    // Comments before an argument.
    while from < to && slash_comments(language) && bytes[from..to].starts_with(b"//") {
        from = blank(bytes, line_end(bytes, from, to), to, true);
    }
    if from >= to {
        return;
    }
    let name = keyword(&bytes[from..to], language);
    let value = match &name {
        Some((_, skip)) => blank(bytes, from + skip, to, true),
        None => from,
    };
    args.push(Arg { from: value, to, name: name.map(|it| it.0) });
}

/// `name=`, `name:`, `:name =>`, with how many bytes that takes.
fn keyword(text: &[u8], language: &str) -> Option<(String, usize)> {
    let rocket = language == "ruby" && text.first() == Some(&b':');
    let begin = usize::from(rocket);
    let n = text[begin..].iter().take_while(|it| is_word(**it)).count();
    if n == 0 {
        return None;
    }
    let name = String::from_utf8_lossy(&text[begin..begin + n]).into_owned();
    let rest = &text[begin + n..];
    let gap = rest.iter().take_while(|it| **it == b' ').count();
    let rest = &rest[gap..];
    let fits = match language {
        "ruby" if rocket => rest.starts_with(b"=>").then_some(2),
        "ruby" | "csharp" | "php" => (rest.starts_with(b":") && !rest.starts_with(b"::")).then_some(1),
        "python" | "java" | "kotlin" => (rest.starts_with(b"=") && !rest.starts_with(b"==")).then_some(1),
        "rust" => {
            (rest.starts_with(b"=") && !rest.starts_with(b"==") && !rest.starts_with(b"=>")).then_some(1)
        }
        _ => None,
    };
    let fits = fits.or_else(|| {
        // Properties of C# attributes.
        (language == "csharp"
            && rest.starts_with(b"=")
            && !rest.starts_with(b"==")
            && !rest.starts_with(b"=>"))
        .then_some(1)
    })?;
    Some((name, begin + n + gap + fits))
}

fn slash_comments(language: &str) -> bool {
    !matches!(language, "python" | "ruby")
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_colons(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b':' && (bytes.get(at + 1) == Some(&b':') || at > 0 && bytes[at - 1] == b':')
}

fn blank(bytes: &[u8], from: usize, end: usize, lines: bool) -> usize {
    let is_blank = |it: u8| it == b' ' || it == b'\t' || lines && (it == b'\n' || it == b'\r');
    from + bytes[from.min(end)..end].iter().take_while(|it| is_blank(**it)).count()
}

fn line_end(bytes: &[u8], from: usize, end: usize) -> usize {
    memchr::memchr(b'\n', &bytes[from..end]).map_or(end, |it| from + it)
}

fn matching_angle(bytes: &[u8], from: usize, end: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in bytes[from..end].iter().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => {
                depth -= 1;
                if depth == 0 {
                    return from + at + 1;
                }
            }
            b';' | b'{' => return from,
            _ => {}
        }
    }
    from
}

/// The offset behind a string that begins at a quote.
fn skip_string(bytes: &[u8], from: usize, end: usize, language: &str) -> usize {
    let quote = bytes[from];
    if quote == b'\'' && language == "rust" {
        // A lifetime, unless it closes soon.
        let is_char = bytes.get(from + 1) == Some(&b'\\') || bytes.get(from + 2) == Some(&b'\'');
        if !is_char {
            return from + 1;
        }
    }
    let triple = [quote; 3];
    if bytes[from..end].starts_with(&triple) && matches!(language, "python" | "kotlin" | "java" | "csharp") {
        let rest = &bytes[from + 3..end];
        return from + 3 + memchr::memmem::find(rest, &triple).map_or(rest.len(), |it| it + 3);
    }
    let raw =
        quote == b'`' && language == "go" || from > 0 && bytes[from - 1] == b'@' && language == "csharp";
    let mut at = from + 1;
    while at < end {
        match bytes[at] {
            b'\\' if !raw => at += 2,
            byte if byte == quote => return at + 1,
            b'\n' if quote != b'`' && !matches!(language, "ruby" | "php" | "rust") => return at,
            _ => at += 1,
        }
    }
    end
}

/// The text of an expression that is one string literal, or several that are joined.
pub(crate) fn literal(
    text: &str,
    language: &str,
    constant: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let mut rest = text.trim();
    let mut out = String::new();
    let mut is_first = true;
    loop {
        let (part, length) = match one_literal(rest, language) {
            Some(it) => it,
            None => {
                let n = rest
                    .bytes()
                    .take_while(|it| is_word(*it) || matches!(it, b'.' | b':' | b'\\' | b'$'))
                    .count();
                if n == 0 || rest.as_bytes()[0].is_ascii_digit() {
                    return None;
                }
                let name = rest[..n].trim_end_matches(['.', ':']);
                (constant(name.trim_start_matches('$'))?, name.len())
            }
        };
        out.push_str(&part);
        rest = rest[length..].trim_start();
        if rest.is_empty() {
            return Some(out);
        }
        // `"a".to_owned()` and the like say the same.
        for same in [".to_owned()", ".to_string()", ".into()", ".freeze"] {
            rest = rest.strip_prefix(same).unwrap_or(rest).trim_start();
        }
        if rest.is_empty() {
            return Some(out);
        }
        let joins = match language {
            "php" => rest.strip_prefix('.'),
            "python" if rest.starts_with(['"', '\'']) => Some(rest),
            _ => rest.strip_prefix('+'),
        };
        rest = joins?.trim_start();
        if rest.is_empty() || !is_first && out.len() > MAX_LENGTH {
            return None;
        }
        is_first = false;
    }
}

/// The text of the literal that a text begins with, and how long that is.
fn one_literal(text: &str, language: &str) -> Option<(String, usize)> {
    if language == "ruby"
        && let Some(rest) = text.strip_prefix(':')
    {
        let n = rest.bytes().take_while(|it| is_word(*it) || *it == b'?').count();
        return (n > 0).then(|| (rest[..n].to_owned(), n + 1));
    }
    let prefix = text
        .bytes()
        .take_while(|it| matches!(it, b'r' | b'R' | b'u' | b'b' | b'f' | b'F' | b'@' | b'$' | b'#'))
        .count();
    let (marks, body) = text.split_at(prefix);
    let quote = *body.as_bytes().first()?;
    if !matches!(quote, b'"' | b'\'' | b'`') {
        return None;
    }
    let q = quote as char;
    let triple: String = [q; 3].iter().collect();
    let (inner, length) = if body.starts_with(&triple)
        && matches!(language, "python" | "kotlin" | "java" | "csharp")
    {
        let end = body[3..].find(&triple)?;
        (&body[3..3 + end], 6 + end)
    } else if language == "rust" && marks.contains('#') {
        let close = format!("\"{}", "#".repeat(marks.matches('#').count()));
        let end = body[1..].find(&close)?;
        (&body[1..1 + end], 1 + end + close.len())
    } else {
        let raw = marks.contains(['r', 'R', '@']) && language != "ruby" || quote == b'`' && language == "go";
        let bytes = body.as_bytes();
        let mut at = 1;
        loop {
            match bytes.get(at)? {
                b'\\' if !raw => at += 2,
                byte if *byte == quote => break,
                _ => at += 1,
            }
        }
        (body.get(1..at)?, at + 1)
    };
    let computed = match language {
        "python" => marks.contains(['f', 'F']) && inner.contains('{'),
        "typescript" => quote == b'`' && inner.contains("${"),
        "ruby" => quote == b'"' && inner.contains("#{"),
        "php" => quote == b'"' && inner.contains('$'),
        "csharp" => marks.contains('$') && inner.contains('{'),
        "kotlin" => inner.contains('$') && !inner.contains("{$"),
        _ => false,
    };
    if computed {
        return None;
    }
    let text =
        if inner.contains('\\') && !marks.contains(['r', 'R', '@']) && !(quote == b'`' && language == "go") {
            unescaped(inner)
        } else {
            inner.to_owned()
        };
    Some((text, prefix + length))
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(it) = characters.next() {
        match it {
            '\\' => match characters.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                // Regular expressions are written in plain strings, too.
                Some(it @ ('d' | 'w' | 's' | '.' | '-' | '/')) => out.extend(['\\', it]),
                Some(it) => out.push(it),
                None => {}
            },
            it => out.push(it),
        }
    }
    out
}
